import { GoneWithDocument, type GoneWithQuery } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { useKinds } from '../gateway/kinds.ts'
import { gapSentences } from '../look/gaps.ts'
import { words } from '../words.ts'
import styles from './actions.module.css'

const say = words.actions.consequences.gone

/** How many kinds are named. */
const namedKinds = 10

/** What comes first: its loss is felt most. The others follow, the most frequent first. */
const first = [
  'Pod',
  'PersistentVolumeClaim',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'CronJob',
  'Job',
  'Service',
  'Ingress',
]

/** Says how much goes with namespaces, or with an object that owns others: a number for each kind that the user may list. */
export function GoneWith(
  of:
    | { readonly cluster: string; readonly namespaces: readonly string[] }
    | { readonly cluster: string; readonly id: string },
) {
  const isNamespace = 'namespaces' in of
  const { kinds } = useKinds()
  const { data, errors } = useAnswer(GoneWithDocument, {
    id: isNamespace ? '' : of.id,
    cluster: of.cluster,
    namespaces: isNamespace ? [...of.namespaces] : [],
    isNamespace,
    isOwner: !isNamespace,
  })
  if (data === undefined) {
    return errors.length === 0 ? null : <p>{say.unknown(errors[0]?.message ?? '')}</p>
  }
  const { counts, unread, gaps, isWhole } = goneIn(data)
  const counted = [...counts].map(([type, count]) => {
    const kind = kinds.find((one) => one.type === type)
    return `${count.toLocaleString('en')} ${(count === 1 ? kind?.kind : kind?.title) ?? type}`
  })
  const others = counted.length - namedKinds
  return (
    <>
      {counted.length === 0 ? null : (
        <p>
          {(isNamespace ? say.inNamespace : say.owned)(
            counted.slice(0, namedKinds).join(', '),
            Math.max(0, others),
          )}
        </p>
      )}
      {isNamespace && counts.has('PersistentVolumeClaim') ? <p>{say.claims}</p> : null}
      {isWhole ? null : <p className={styles['dim']}>{say.part}</p>}
      {unread.length === 0 || (!isNamespace && counted.length === 0) ? null : (
        <p className={styles['dim']} title={unread.join(', ')}>
          {words.search.notLookedAt(unread)}
        </p>
      )}
      {gapSentences(gaps, say.what).map((sentence) => (
        <p key={sentence} className={styles['dim']}>
          {sentence}
        </p>
      ))}
    </>
  )
}

const weight = ([type, count]: readonly [string, number]): number =>
  first.includes(type) ? Number.MAX_SAFE_INTEGER - first.indexOf(type) : count

/** The numbers of an answer, by type, and what is missing in them. */
function goneIn({ kubernetesObjects, object }: GoneWithQuery) {
  const owned = object?.owned
  const below = (owned?.nodes ?? []).flatMap(({ owned: further }) => further ?? [])
  const parts = [kubernetesObjects, owned, ...below].filter(
    (one) => one !== null && one !== undefined,
  )
  const counts = new Map<string, number>()
  for (const { type, count } of parts.flatMap((part) => part.counts)) {
    counts.set(type, (counts.get(type) ?? 0) + count)
  }
  return {
    counts: new Map([...counts].toSorted((one, other) => weight(other) - weight(one))),
    unread: [...new Set(parts.flatMap(({ notLookedAt }) => notLookedAt))].toSorted(),
    gaps: kubernetesObjects?.incomplete ?? [],
    isWhole: owned === undefined || owned === null || owned.nodes.length === owned.totalCount,
  }
}
