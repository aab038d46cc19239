import { type Effect } from '../delivery/delivery-words.ts'
import { ManagedBy } from '../delivery/managed-by.tsx'
import { ConsequencesDocument, type ConsequencesQuery } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { PlaceLink } from '../look/place-link.tsx'
import { isNamespace, numberAt } from '../object/json.ts'
import { words } from '../words.ts'
import type { ActionName } from './action-list.ts'
import styles from './actions.module.css'
import { GoneWith } from './gone-with.tsx'
import { hasEmptyDir, makerOf } from './makers.ts'
import { type ActionTarget, builtInKind } from './target.ts'

const say = words.actions.consequences

type Concerned = NonNullable<NonNullable<ConsequencesQuery['objects']>[number]>

export type Users = NonNullable<Concerned['usedBy']>

export interface Autoscaler {
  readonly nameId: string
  readonly name: string
  /** `undefined`: its bounds are not known. */
  readonly bounds: readonly [least: number, most: number] | undefined
}

/** What else an action concerns. */
export interface Consequences {
  readonly isPending: boolean
  /** Who uses the object that is deleted. `undefined`: it is not deleted, or they are not known. */
  readonly users: Users | undefined
  readonly autoscalers: readonly Autoscaler[]
  readonly errors: readonly AnswerError[]
  /** Whether much may go with the object: its name has to be typed. */
  readonly isPrecious: boolean
}

/** The actions that nothing reverts: fields of their own, or none. */
const kept: readonly ActionName[] = ['restart', 'runNow', 'cordon', 'uncordon', 'drain', 'evict']

/** What the manager of an object does about an action on it. */
export function effectOf(name: ActionName): Effect {
  if (kept.includes(name)) return 'keeps'
  return name === 'delete' ? 'makes' : 'sets'
}

/** Asks what else an action on an object concerns. */
export function useConsequences(name: ActionName, target: ActionTarget): Consequences {
  const { id, namespace, kind } = target
  // What makes the object again is told already.
  const isDeleted = name === 'delete' && makerOf(target) === undefined
  const isScaled = name === 'scale'
  const { data, errors, isPending } = useAnswer(
    ConsequencesDocument,
    { ids: [id], isDeleted, isScaled },
    { enabled: isDeleted || isScaled },
  )
  const [object] = data?.objects ?? []
  const users = object?.usedBy ?? undefined
  const isAsked = name === 'delete' && (namespace === null || kind === 'PersistentVolumeClaim')
  const isUsed = users === undefined || users.totalCount > 0
  return {
    isPending,
    users,
    autoscalers: autoscalersOf(object ?? undefined),
    errors,
    isPrecious: isAsked || (isDeleted && isUsed),
  }
}

/** The autoscalers that target an object. */
export function autoscalersOf(
  object: Pick<Concerned, 'autoscalers'> | undefined,
): readonly Autoscaler[] {
  return (object?.autoscalers?.nodes ?? []).map(({ object: { nameId, name, object: held } }) => {
    const most = numberAt(held?.spec, 'maxReplicas')
    const least = numberAt(held?.spec, 'minReplicas') ?? 1
    return { nameId, name, bounds: most === undefined ? undefined : [least, most] }
  })
}

/** Says what else an action concerns: nothing where there is nothing to say. */
export function ConsequencesView({
  name,
  target,
  consequences: { isPending, users, autoscalers, errors },
}: {
  readonly name: ActionName
  readonly target: ActionTarget
  readonly consequences: Consequences
}) {
  const [error] = errors
  const ofKind = name === 'delete' ? say.ofKind[target.kind] : undefined
  const emptyDir = losesData(name, target) ? say.emptyDir : undefined
  const isUsed = users !== undefined && users.totalCount > 0
  const managers = target.managers ?? []
  const isEmpty =
    !isPending &&
    !isUsed &&
    managers.length === 0 &&
    [ofKind, emptyDir, error, ...autoscalers].every((one) => one === undefined)
  if (isEmpty && name !== 'delete') return null
  return (
    <section className={styles['consequences']} aria-label={say.title} aria-live="polite">
      {ofKind === undefined ? null : <p>{ofKind}</p>}
      {name === 'delete' ? <GoneWith {...goneOf(target)} /> : null}
      {emptyDir === undefined ? null : <p>{emptyDir}</p>}
      {isPending ? <p className={styles['dim']}>{say.asking}</p> : null}
      {error === undefined ? null : (
        <p>
          {name === 'scale'
            ? say.autoscalerUnknown(error.message)
            : say.usersUnknown(error.message)}
        </p>
      )}
      {isUsed ? <UsersList users={users} namespace={target.namespace} /> : null}
      {autoscalers.map(({ nameId, name: scaler, bounds }) => (
        <p key={nameId}>
          {say.autoscaler.before} <PlaceLink to={{ object: nameId }}>{scaler}</PlaceLink>{' '}
          {bounds === undefined ? null : say.autoscaler.bounds(...bounds)}
        </p>
      ))}
      <ManagedBy managers={managers} effect={effectOf(name)} />
    </section>
  )
}

function goneOf(target: ActionTarget) {
  const { id, name, clusterName: cluster } = target
  return isNamespace(target) ? { cluster, namespaces: [name] } : { cluster, id }
}

/** Whether a pod ends that keeps data in volumes which end with it. */
function losesData(name: ActionName, target: ActionTarget): boolean {
  if (builtInKind(target) !== 'Pod' || !['delete', 'evict'].includes(name)) return false
  return hasEmptyDir(target.json)
}

/** How many users are named. */
const namedUsers = 8

function UsersList({
  users: { totalCount, nodes },
  namespace,
}: {
  readonly users: Users
  readonly namespace: string | null
}) {
  const named = nodes.slice(0, namedUsers)
  return (
    <div>
      <p>{say.usedBy(totalCount)}</p>
      <ul className={styles['users']}>
        {named.map(({ object: user }) => (
          <li key={user.id}>
            {user.kind}{' '}
            <PlaceLink to={{ object: user.nameId }}>
              {user.namespace === null || user.namespace === namespace ? '' : `${user.namespace}/`}
              {user.name}
            </PlaceLink>
          </li>
        ))}
        {totalCount > named.length ? <li>{say.moreUsers(totalCount - named.length)}</li> : null}
      </ul>
    </div>
  )
}
