import { ViewMenu } from '../frame/view-menu.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { CertificatesDocument, type CertificatesQuery } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { useKinds } from '../gateway/kinds.ts'
import { spanOf } from '../look/age.tsx'
import { useGapSentences } from '../look/gaps.ts'
import { Failure } from '../look/notice.tsx'
import { PageHead } from '../look/page-head.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import stacked from '../look/stacked-table.module.css'
import { clustersOf, hasSeveralClusters, useScope } from '../scope.ts'
import { words } from '../words.ts'
import { nearnessOf } from './certificate-end.ts'
import { certificateWords as said } from './certificate-words.ts'
import styles from './certificates.module.css'
import { dayAndTime } from '../look/times.ts'

type Answer = NonNullable<CertificatesQuery['tlsCertificates']>
type Certificate = Answer['nodes'][number]

/** Those of Secrets over several clusters come with a later answer. */
const [soonAgainMs, againMs] = [10_000, 300_000]
const users = new Set(['Ingress', 'Gateway'])
const severities = { over: 'CRITICAL', soon: 'WARNING' } as const

/** The certificates of the scope, those that are not issued and then the soonest end first, with what uses them. */
export function CertificatesPage() {
  useViewTitle(said.title)
  const { scope } = useScope()
  const { kinds, isPending: isFinding } = useKinds()
  const isOver = hasSeveralClusters(scope)
  const variables = {
    ...clustersOf(scope),
    namespaces: scope.namespaces === undefined ? null : [...scope.namespaces],
    first: 200,
    users: kinds.map(({ type }) => type).filter((type) => users.has(type)),
  }
  const { data, errors, isPending, again } = useAnswer(CertificatesDocument, variables, {
    enabled: !isFinding,
    everyMs: (last) =>
      isOver && last?.tlsCertificates?.incomplete.some(({ code }) => code === 'NOT_SYNCED') === true
        ? soonAgainMs
        : againMs,
  })
  const answer = data?.tlsCertificates
  return (
    <section className={styles['page']} aria-busy={isFinding || isPending}>
      <PageHead title={said.title}>
        <ViewMenu document={CertificatesDocument} variables={variables} />
      </PageHead>
      {answer === null || answer === undefined ? (
        isFinding || isPending ? null : (
          <Failure title={said.failed} errors={errors} again={again} />
        )
      ) : (
        <Certificates answer={answer} isOver={isOver} />
      )}
    </section>
  )
}

function Certificates({ answer, isOver }: { readonly answer: Answer; readonly isOver: boolean }) {
  const { nodes, totalCount, visible, notLookedAt, incomplete } = answer
  const isPart = visible !== 'ALL' || notLookedAt.length > 0 || incomplete.length > 0
  const hasManager = useKinds().kinds.some(({ type }) => type === 'CertManagerCertificate')
  const sentences = [
    ...useNotLookedInto(incomplete),
    ...(visible === 'ALL' ? [] : [said.part]),
    ...(nodes.length > 0 || hasManager ? [] : [said.noManager]),
  ]
  const now = Date.now()
  return (
    <>
      <div role="status">
        {sentences.map((sentence) => (
          <p key={sentence} className={styles['dim']}>
            {sentence}
          </p>
        ))}
      </div>
      {nodes.length === 0 ? (
        <p>{isPart ? said.noneSeen : said.none}</p>
      ) : (
        <table className={`${stacked['table']} ${styles['table']}`} aria-label={said.title}>
          <thead>
            <tr>
              {Object.values(said.columns).map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {nodes.map((certificate) => (
              <Row
                key={certificate.object.id}
                certificate={certificate}
                now={now}
                isOver={isOver}
              />
            ))}
          </tbody>
        </table>
      )}
      {nodes.length < totalCount ? (
        <p className={styles['dim']}>{said.more(nodes.length, totalCount)}</p>
      ) : null}
    </>
  )
}

/** A sentence for each kind that was not looked at and each reason why; then what is missing of whole clusters. */
function useNotLookedInto(incomplete: Answer['incomplete']): readonly string[] {
  const ofKinds = new Map<string, Set<string>>()
  const others = incomplete.flatMap(({ type, ...gap }) => {
    if (type === null || gap.since !== null) return [gap]
    const isOff = type === 'Secret' && gap.code === 'UNSUPPORTED'
    const reason = said.notLookedAt(type, isOff ? said.notSetUp : gap.message)
    ofKinds.set(reason, (ofKinds.get(reason) ?? new Set()).add(gap.cluster))
    return []
  })
  return [
    ...Array.from(ofKinds, ([reason, clusters]) => said.inClusters(reason, [...clusters])),
    ...useGapSentences(others, said.title),
  ]
}

function Row({
  certificate,
  now,
  isOver,
}: {
  readonly certificate: Certificate
  readonly now: number
  readonly isOver: boolean
}) {
  const { object, names, issuer, secret, cluster } = certificate
  const usedBy = secret?.object?.usedBy
  const { columns } = said
  return (
    <tr>
      <td data-label={columns.ends}>
        <Ends certificate={certificate} now={now} />
      </td>
      <td data-label={columns.names} title={names.join(', ')}>
        {names.slice(0, 3).join(', ')}
        {names.length > 3 ? ` +${names.length - 3}` : ''}
      </td>
      <th scope="row" data-label={columns.object}>
        <PlaceLink to={{ object: object.nameId }}>{object.name}</PlaceLink>{' '}
        <span className={styles['dim']}>
          {[object.kind, object.namespace, isOver ? cluster : null]
            .filter((part) => part !== null)
            .join(' · ')}
        </span>
      </th>
      <td data-label={columns.issuer}>{issuer}</td>
      <td data-label={columns.usedBy}>
        {usedBy?.nodes.map(({ object: user }, at) => (
          <span key={user.id}>
            {at > 0 ? ', ' : ''}
            <span className={styles['dim']}>{user.kind}</span>{' '}
            <PlaceLink to={{ object: user.nameId }}>{user.name}</PlaceLink>
          </span>
        ))}
        {usedBy != null && usedBy.totalCount > usedBy.nodes.length
          ? ` +${usedBy.totalCount - usedBy.nodes.length}`
          : ''}
      </td>
    </tr>
  )
}

/** When a certificate ends, and when it is renewed before that. */
function Ends({
  certificate: { notAfter, renewalTime },
  now,
}: {
  readonly certificate: Certificate
  readonly now: number
}) {
  const nearness = nearnessOf(notAfter, renewalTime, now)
  const severity = nearness === 'far' ? undefined : words.problems.severities[severities[nearness]]
  const sign =
    severity === undefined ? null : (
      <>
        <span aria-hidden="true" title={severity}>
          {nearness === 'over' ? '▲' : '△'}
        </span>
        <span className="visually-hidden">{severity}</span>{' '}
      </>
    )
  if (notAfter === null) {
    return (
      <span className={styles[nearness]}>
        {sign}
        {said.notIssued}
      </span>
    )
  }
  const leftMs = Date.parse(notAfter) - now
  const text = leftMs <= 0 ? said.ended(spanOf(-leftMs)) : said.in(spanOf(leftMs))
  const renewalMs = renewalTime === null ? undefined : Date.parse(renewalTime) - now
  return (
    <>
      <span className={styles[nearness]}>
        {sign}
        <time dateTime={notAfter} title={dayAndTime(new Date(notAfter))}>
          {text}
        </time>
      </span>
      {renewalMs === undefined || leftMs <= 0 ? null : (
        <span className={styles['dim']}>
          {' '}
          {renewalMs > 0 ? said.renewed(spanOf(renewalMs)) : said.renewalDue}
        </span>
      )}
    </>
  )
}
