import {
  CordonDocument,
  DeleteDocument,
  EvictDocument,
  PauseRolloutDocument,
  RestartDocument,
  ResumeDocument,
  ResumeRolloutDocument,
  RollBackDocument,
  RunNowDocument,
  ScaleDocument,
  SetAnnotationsDocument,
  SetImageDocument,
  SetLabelsDocument,
  SuspendDocument,
  UncordonDocument,
} from '../gateway/documents.ts'
import { flagAt, listAt, textAt } from '../object/json.ts'
import { words } from '../words.ts'
import type { InputForm } from './action-inputs.tsx'
import { controllerOf } from './makers.ts'
import { type Acted, type ActionTarget, builtInKind, type Right } from './target.ts'
import type { WriteDocument } from './write.ts'

export type ActionName = keyof typeof words.actions.of

/** Something that can be done with an object. */
export interface Action {
  readonly name: ActionName
  readonly right: Right
  /** Absent: a drain, which is a subscription. */
  readonly document?: WriteDocument
  /** What it asks for. Absent: nothing. */
  readonly form?: InputForm
}

const actions = {
  restart: { right: 'patch', document: RestartDocument },
  scale: { right: 'scale', document: ScaleDocument, form: 'replicas' },
  setImage: { right: 'patch', document: SetImageDocument, form: 'image' },
  rollBack: { right: 'patch', document: RollBackDocument, form: 'revision' },
  pauseRollout: { right: 'patch', document: PauseRolloutDocument },
  resumeRollout: { right: 'patch', document: ResumeRolloutDocument },
  suspend: { right: 'patch', document: SuspendDocument },
  resume: { right: 'patch', document: ResumeDocument },
  runNow: { right: 'run', document: RunNowDocument },
  cordon: { right: 'patch', document: CordonDocument },
  uncordon: { right: 'patch', document: UncordonDocument },
  drain: { right: 'drain' },
  evict: { right: 'evict', document: EvictDocument },
  label: { right: 'patch', document: SetLabelsDocument, form: 'label' },
  annotate: { right: 'patch', document: SetAnnotationsDocument, form: 'annotation' },
  delete: { right: 'delete', document: DeleteDocument, form: 'propagation' },
} as const satisfies Readonly<Record<ActionName, Omit<Action, 'name'>>>

/** All actions. */
export const actionNames = Object.keys(actions) as readonly ActionName[]

/** The kinds that may have an action; `undefined`: all. */
export function kindsOf(name: ActionName): readonly string[] | undefined {
  const hasAny = name === 'label' || name === 'annotate' || name === 'delete'
  return hasAny ? undefined : ownKinds[name]
}

const scalable = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController']
const rolled = ['Deployment', 'StatefulSet', 'DaemonSet']

const ownKinds: Readonly<
  Record<Exclude<ActionName, 'label' | 'annotate' | 'delete'>, readonly string[]>
> = {
  restart: rolled,
  scale: scalable,
  setImage: [...scalable, 'DaemonSet', 'CronJob'],
  rollBack: rolled,
  pauseRollout: ['Deployment'],
  resumeRollout: ['Deployment'],
  suspend: ['CronJob', 'Job'],
  resume: ['CronJob', 'Job'],
  runNow: ['CronJob'],
  cordon: ['Node'],
  uncordon: ['Node'],
  drain: ['Node'],
  evict: ['Pod'],
}

/** The actions for an object in its state, in groups: those of its kind, its labels, its deletion. */
export function actionsOf(target: ActionTarget): readonly (readonly Action[])[] {
  const groups: readonly (readonly ActionName[])[] = [
    ofKind(target),
    ['label', 'annotate'],
    ['delete'],
  ]
  return groups
    .filter((names) => names.length > 0)
    .map((names) => names.map((name) => ({ name, ...actions[name] })))
}

/** The actions that many objects of a kind can take at once. */
export function bulkActionsOf(of: Pick<Acted, 'kind' | 'apiVersion'>): readonly Action[] {
  const names: readonly ActionName[] = [
    ...bulkOfKind(builtInKind(of)),
    'label',
    'annotate',
    'delete',
  ]
  return names.map((name) => ({ name, ...actions[name] }))
}

function bulkOfKind(kind: string | undefined): readonly ActionName[] {
  switch (kind) {
    case 'Deployment':
    case 'StatefulSet':
      return ['restart', 'scale']
    case 'DaemonSet':
      return ['restart']
    case 'ReplicaSet':
    case 'ReplicationController':
      return ['scale']
    case 'Node':
      return ['cordon', 'uncordon']
    case 'Pod':
      return ['evict']
    default:
      return []
  }
}

function ofKind(target: ActionTarget): readonly ActionName[] {
  const { json } = target
  const kind = builtInKind(target)
  const suspension = flagAt(json, 'spec', 'suspend') ? 'resume' : 'suspend'
  switch (kind) {
    case 'Deployment': {
      const pausing = flagAt(json, 'spec', 'paused') ? 'resumeRollout' : 'pauseRollout'
      return ['restart', 'scale', 'setImage', 'rollBack', pausing]
    }
    case 'StatefulSet':
      return ['restart', 'scale', 'setImage', 'rollBack']
    case 'DaemonSet':
      return ['restart', 'setImage', 'rollBack']
    case 'ReplicaSet':
    case 'ReplicationController':
      // Its Deployment would undo it.
      return controllerOf(json) === undefined ? ['scale', 'setImage'] : []
    case 'CronJob':
      return ['runNow', suspension, 'setImage']
    case 'Job':
      return isFinished(json) ? [] : [suspension]
    case 'Node':
      return [flagAt(json, 'spec', 'unschedulable') ? 'uncordon' : 'cordon', 'drain']
    case 'Pod':
      return ['evict']
    default:
      return []
  }
}

/** Why an action cannot be done in the present state of the object. */
export function obstacleOf({ name }: Action, { json }: ActionTarget): string | undefined {
  const needsRollout = name === 'restart' || name === 'rollBack'
  return needsRollout && flagAt(json, 'spec', 'paused') ? words.actions.paused : undefined
}

function isFinished(json: unknown): boolean {
  return listAt(json, 'status', 'conditions').some(
    (one) =>
      ['Complete', 'Failed'].includes(textAt(one, 'type') ?? '') &&
      textAt(one, 'status') === 'True',
  )
}
