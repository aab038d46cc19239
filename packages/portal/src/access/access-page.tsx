import { useNavigate, useSearch } from '@tanstack/react-router'
import { ViewMenu } from '../frame/view-menu.tsx'
import { useViewTitle } from '../frame/view-title.ts'
import { AccessGrantsDocument } from '../gateway/documents.ts'
import { useKinds } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { PageHead } from '../look/page-head.tsx'
import type { AccessSearch } from '../router.tsx'
import { clustersOf, hasSeveralClusters, useScope } from '../scope.ts'
import { accessWords as said } from './access-words.ts'
import { Grants, type Subject, subjectName } from './grants.tsx'
import styles from './grants.module.css'
import { askedOf, KindField } from './kind-field.tsx'
import { VerbField } from './verb-field.tsx'

type SubjectKind = Subject['kind']

const subjectKinds = Object.keys(said.kinds) as readonly SubjectKind[]

/** Who may do what in the clusters of the scope: by verb, kind and subject, in the namespace of the scope. The address has the question. */
export function AccessPage() {
  useViewTitle(said.title)
  const { verb = '', type = '', who = '' } = useSearch({ from: '/access' })
  const navigate = useNavigate({ from: '/access' })
  const { scope } = useScope()
  const { kinds, isPending } = useKinds()
  const change = (changed: Partial<AccessSearch>): void => {
    void navigate({ search: (before: AccessSearch) => ({ ...before, ...changed }) })
  }
  const subject = subjectOf(who)
  const [namespace, ...others] = scope.namespaces ?? []
  const [cluster = said.defaultCluster] = scope.clusters ?? []
  const clusters = cluster === '*' ? said.allClusters : (scope.clusters?.join(', ') ?? cluster)
  const asked = {
    ...clustersOf(scope),
    verb: verb === '' ? null : verb,
    ...askedOf(type, kinds),
    namespace: others.length === 0 ? (namespace ?? null) : null,
    subject: subject?.name === '' ? null : (subject ?? null),
  }
  return (
    <section className={styles['page']}>
      <PageHead title={said.title}>
        <ViewMenu document={AccessGrantsDocument} variables={asked} />
      </PageHead>
      <p className={styles['dim']}>
        {said.in(asked.namespace ?? undefined, clusters)}{' '}
        {hasSeveralClusters(scope) ? said.each : null}
      </p>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          const name = new FormData(event.currentTarget).get('name')
          change({ who: `${subject?.kind ?? ''}:${typeof name === 'string' ? name.trim() : ''}` })
        }}
      >
        <VerbField
          verb={verb}
          change={(chosen) => {
            change({ verb: chosen })
          }}
        />
        <KindField
          typed={type}
          kinds={kinds}
          change={(typed) => {
            change({ type: typed })
          }}
        />
        <label>
          {said.subjectKind}
          <select
            className={controls['field']}
            value={subject?.kind ?? ''}
            onChange={({ target }) => {
              change({ who: target.value === '' ? '' : `${target.value}:` })
            }}
          >
            <option value="">{said.anybody}</option>
            {subjectKinds.map((kind) => (
              <option key={kind} value={kind}>
                {said.kinds[kind]}
              </option>
            ))}
          </select>
        </label>
        {subject === undefined ? null : (
          <>
            <label>
              {said.subjectName}
              <input
                key={who}
                name="name"
                className={controls['field']}
                defaultValue={subject.name === '' ? '' : subjectName(subject)}
                placeholder={subject.kind === 'SERVICE_ACCOUNT' ? said.accountHint : ''}
              />
            </label>
            <button type="submit" className={controls['button']}>
              {said.ask}
            </button>
          </>
        )}
      </form>
      {isPending && type !== '' ? (
        <div aria-busy="true" />
      ) : (
        <Grants
          key={JSON.stringify(asked)}
          title={said.title}
          asked={asked}
          visit={({ kind, ...of }) => {
            change({ who: `${kind}:${subjectName({ kind, ...of })}`, verb: '', type: '' })
          }}
        />
      )}
    </section>
  )
}

/** The subject of an address, such as `SERVICE_ACCOUNT:shop/default`. */
function subjectOf(who: string): Subject | undefined {
  const kind = subjectKinds.find((one) => who.startsWith(`${one}:`))
  if (kind === undefined) return undefined
  const name = who.slice(kind.length + 1)
  if (kind !== 'SERVICE_ACCOUNT') return { kind, namespace: null, name }
  const slash = name.indexOf('/')
  return slash < 0
    ? { kind, namespace: 'default', name }
    : { kind, namespace: name.slice(0, slash), name: name.slice(slash + 1) }
}
