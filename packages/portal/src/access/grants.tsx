import { Fragment, useEffect, useRef, useState } from 'react'
import {
  AccessGrantsDocument,
  type AccessGrantsQuery,
  type AccessGrantsQueryVariables,
  FollowRbacDocument,
} from '../gateway/documents.ts'
import { useAnswer, useGateway } from '../gateway/gateway.ts'
import { useKinds } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { useGapSentences } from '../look/gaps.ts'
import { Failure } from '../look/notice.tsx'
import { PlaceLink } from '../look/place-link.tsx'
import stacked from '../look/stacked-table.module.css'
import { accessWords as said } from './access-words.ts'
import styles from './grants.module.css'
import { partWords } from './part-words.ts'

export type Asked = Omit<AccessGrantsQueryVariables, 'first'>

type Answer = NonNullable<AccessGrantsQuery['accessGrants']>
type Grant = Answer['nodes'][number]
export type Subject = Pick<Grant['subject'], 'kind' | 'namespace' | 'name'>

const firstPage = 50
const furtherPages = 200
const mostGrants = 500
/** Names of a rule that stand in its row at first. */
const fewNames = 6

/** How long changes are gathered before grants are asked for again. */
const gatherMs = 500

/** Calls a function soon after objects of RBAC have changed, as far as the user may list them. */
function useRbacChanges({ cluster, clusters }: Asked, changed: () => void): void {
  const { socket } = useGateway()
  const latest = useRef(changed)
  latest.current = changed
  const where = JSON.stringify({ cluster, clusters })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const request = { query: FollowRbacDocument.toString(), variables: JSON.parse(where) }
    const leave = socket.subscribe(request, {
      // The first frame, too: something may have changed between the answer and it.
      next() {
        timer ??= setTimeout(() => {
          timer = undefined
          latest.current()
        }, gatherMs)
      },
      error() {},
      complete() {},
    })
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [socket, where])
}

/** What RBAC grants, a row for each subject, binding and rule. `visit`: shows what one subject may do. */
export function Grants({
  asked,
  title,
  hasNotes = true,
  visit,
}: {
  readonly asked: Asked
  /** The name of the table. */
  readonly title: string
  /** Whether the answer's notes stand below. Default: yes. */
  readonly hasNotes?: boolean
  readonly visit?: (subject: Subject) => void
}) {
  const [first, setFirst] = useState(firstPage)
  const { data, errors, isPending, again } = useAnswer(AccessGrantsDocument, { ...asked, first })
  useRbacChanges(asked, again)
  const isAsked = useAskedNames(asked)
  const answer = data?.accessGrants
  if (answer === null || answer === undefined) {
    if (isPending) return <div aria-busy="true" />
    return <Failure title={said.failed} errors={errors} again={again} />
  }
  const { nodes, totalCount, notes } = answer
  const isSubject = asked.subject !== undefined && asked.subject !== null
  const isOver = asked.clusters !== undefined && asked.clusters !== null
  const { cluster, ...own } = said.columns
  return (
    <div className={styles['grants']}>
      <Missing answer={answer} isOver={isOver} />
      {nodes.length === 0 ? (
        <p>{emptySentence(answer, isSubject)}</p>
      ) : (
        <table className={`${stacked['table']} ${styles['table']}`} aria-label={title}>
          <thead>
            <tr>
              {[...Object.values(own), ...(isOver ? [cluster] : [])].map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {nodes.map((grant, at) => (
              <Row key={at} grant={grant} isAsked={isAsked} isOver={isOver} visit={visit} />
            ))}
          </tbody>
        </table>
      )}
      {nodes.length < totalCount ? (
        <p className={styles['dim']}>
          {said.more(nodes.length, totalCount)}{' '}
          {first >= mostGrants ? (
            said.narrow
          ) : (
            <button
              type="button"
              className={controls['quiet']}
              onClick={() => {
                setFirst(Math.min(mostGrants, first + furtherPages))
              }}
            >
              {said.showMore}
            </button>
          )}
        </p>
      ) : null}
      {(hasNotes ? notes : []).map((note) => (
        <p key={note} className={styles['dim']}>
          {note}
        </p>
      ))}
    </div>
  )
}

function isPart({ visible, incomplete, unseenRoles }: Answer): boolean {
  return visible !== 'ALL' || incomplete.length > 0 || unseenRoles.length > 0
}

function emptySentence(answer: Answer, isSubject: boolean): string {
  if (isSubject) return isPart(answer) ? said.nothingSeen : said.nothing
  return isPart(answer) ? said.nobodySeen : said.nobody
}

/** What the answer lacks, so that nobody takes it for all. */
function Missing({ answer, isOver }: { readonly answer: Answer; readonly isOver: boolean }) {
  const { incomplete, unseenRoles } = answer
  const refused = Map.groupBy(
    incomplete.filter(({ code, type }) => code === 'FORBIDDEN' && type !== null),
    ({ cluster }) => cluster,
  )
  const others = useGapSentences(
    incomplete.flatMap(({ type, ...gap }) => (gap.code === 'FORBIDDEN' && type ? [] : [gap])),
    'roles',
  )
  return (
    <div role="status">
      {refused.size > 0 || answer.visible === 'ALL' ? null : (
        <p className={styles['part']}>{said.part}</p>
      )}
      {Array.from(refused, ([cluster, gaps]) => (
        <p key={cluster} className={styles['part']}>
          {said.refused(
            gaps.map(({ type }) => `${type}s`),
            isOver ? cluster : undefined,
          )}
        </p>
      ))}
      {others.map((sentence) => (
        <p key={sentence} className={styles['part']}>
          {sentence}
        </p>
      ))}
      {unseenRoles.length === 0 ? null : (
        <p className={styles['part']}>
          {said.unseen}{' '}
          {[...new Set(unseenRoles.map(({ kind, name }) => `${kind} ${name}`))].join(', ')}
        </p>
      )}
    </div>
  )
}

/** Whether a name of a rule is what was asked for, by the list that has it. */
type IsAsked = (of: 'verbs' | 'resources' | 'resourceNames' | 'apiGroups', name: string) => boolean

/** What makes a rule grant what is asked for. */
function useAskedNames({ verb, type, resource, subresource, name }: Asked): IsAsked {
  const { kinds } = useKinds()
  const kind = type == null ? undefined : kinds.find((one) => one.type === type)
  const plural = resource ?? kind?.resource
  const part = subresource == null ? '' : `/${subresource}`
  const asked = {
    verbs: [verb],
    resources: plural === undefined ? [] : [`${plural}${part}`, `*${part}`, '*'],
    resourceNames: [name],
    apiGroups: [kind?.group],
  }
  return (of, one) => asked[of].includes(one) || (one === '*' && asked[of].some((all) => all))
}

function Row({
  grant,
  isAsked,
  isOver,
  visit,
}: {
  readonly grant: Grant
  readonly isAsked: IsAsked
  readonly isOver: boolean
  readonly visit: ((subject: Subject) => void) | undefined
}) {
  const { subject, namespace, binding, role, rule } = grant
  const { columns } = said
  return (
    <tr>
      <th scope="row" data-label={columns.who}>
        <span className={styles['dim']}>{said.kinds[subject.kind]}</span>{' '}
        {visit === undefined ? (
          <SubjectName subject={subject} />
        ) : (
          <button
            type="button"
            className={styles['subject']}
            onClick={() => {
              visit(subject)
            }}
          >
            {subjectName(subject)}
          </button>
        )}
      </th>
      <td data-label={columns.may}>
        <Names names={rule.verbs} isAsked={(verb) => isAsked('verbs', verb)} />
      </td>
      <td data-label={columns.on}>
        <On rule={rule} isAsked={isAsked} />
      </td>
      <td data-label={columns.where}>{namespace ?? said.everywhere}</td>
      <td data-label={columns.why}>
        <PlaceLink to={{ object: role.nameId }} title={role.kind}>
          {role.name}
        </PlaceLink>{' '}
        <span className={styles['dim']}>{said.by}</span>{' '}
        <PlaceLink to={{ object: binding.nameId }} title={binding.kind}>
          {binding.name}
        </PlaceLink>
      </td>
      {isOver ? <td data-label={columns.cluster}>{grant.cluster}</td> : null}
    </tr>
  )
}

function SubjectName({ subject }: { readonly subject: Grant['subject'] }) {
  const { serviceAccount } = subject
  const name = subjectName(subject)
  if (serviceAccount === null) return <>{name}</>
  return <PlaceLink to={{ object: serviceAccount.nameId }}>{name}</PlaceLink>
}

export function subjectName({ namespace, name }: Subject): string {
  return namespace === null ? name : `${namespace}/${name}`
}

/** What a rule is about: resources with their group, or paths. Many of them are shown on a click. */
function On({ rule, isAsked }: { readonly rule: Grant['rule']; readonly isAsked: IsAsked }) {
  const { apiGroups, resources, resourceNames, nonResourceURLs } = rule
  const [isOpen, setOpen] = useState(false)
  // Resources by name alone are those of the core group.
  const isCoreSaid = apiGroups.length > 1 || resources.includes('*')
  const groups = apiGroups.filter((group) => (group === '' ? isCoreSaid : group !== '*'))
  const things = [...resources, ...nonResourceURLs]
  const most = isOpen ? Infinity : fewNames
  const hidden = [things, resourceNames, groups].reduce(
    (sum, { length }) => sum + Math.max(0, length - most),
    0,
  )
  return (
    <>
      <Names names={things} most={most} isAsked={(thing) => isAsked('resources', thing)} />{' '}
      {resourceNames.length === 0 ? null : (
        <>
          {said.only}{' '}
          <Names
            names={resourceNames}
            most={most}
            isAsked={(name) => isAsked('resourceNames', name)}
          />{' '}
        </>
      )}
      <span className={styles['dim']}>
        <Names names={groups} most={most} isAsked={(group) => isAsked('apiGroups', group)} />
      </span>{' '}
      {hidden === 0 ? null : (
        <button
          type="button"
          className={controls['quiet']}
          onClick={() => {
            setOpen(true)
          }}
        >
          {said.further(hidden)}
        </button>
      )}
    </>
  )
}

/** Names of a rule: what was asked for first, and marked where there are others. */
function Names({
  names,
  isAsked,
  most = Infinity,
}: {
  readonly names: readonly string[]
  readonly isAsked: (name: string) => boolean
  readonly most?: number
}) {
  return names
    .toSorted((one, other) => Number(isAsked(other)) - Number(isAsked(one)))
    .slice(0, most)
    .map((name, at) => (
      <Fragment key={name}>
        {at === 0 ? '' : ', '}
        {names.length > 1 && isAsked(name) ? (
          <mark className={styles['asked']}>{named(name)}</mark>
        ) : (
          named(name)
        )}
      </Fragment>
    ))
}

/** A verb, a resource, or a group, whose name may be empty. */
function named(name: string): string {
  if (name === '') return partWords.core
  return name === '*' ? said.everything : name
}
