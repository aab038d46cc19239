/*
 * What a problem says besides what is wrong, each only if it is selected:
 *
 * - `change`: what the last revision of the workload has changed of the last one that came up, by their templates:
 *   ReplicaSets of a Deployment, ControllerRevisions of a StatefulSet or DaemonSet. These are listed from the API server if
 *   they are not in memory, and so is who manages the changed fields (`by`), as the caches hold no `managedFields`.
 * - `lastLines`: what the container that ended wrote last, read as `podLogs` are, with the rights of the caller. Each row is
 *   a log of its own, so an operation reads as few as it may name in `podLogs`. Further rows have an error, and stand.
 * - `actions`: the mutations that apply to the object, with their arguments, and whether the caller may.
 */

import { groupResourceOf } from '../../../kubernetes/api-resource.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../../../kubernetes/fields.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { atOnce } from '../../../lib/event-loop.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import type { ListedProblem } from '../../../query/problems/problem-page.ts'
import type { ProblemPart, ProblemPlace } from '../../../query/problems/problem-part.ts'
import { ClientError, type ClientErrorCode, unlessRefused } from '../../errors/client-error.ts'
import { objectIdOf } from '../../model/object-id.ts'
import type { ClusterKind, KindView } from '../../prepare/kind-view.ts'
import type {
  EndedLines,
  ProblemActionName,
  ProblemActionValue,
  ProblemLastLinesArguments,
  RevisionChangeValue,
} from '../../schema/gateway-types.ts'
import { fieldChanges, type FieldChange } from '../../../kubernetes/field-changes.ts'
import { refOf } from '../object-read.ts'
import { explainingFirst, isRestart } from '../past/problem-changes.ts'
import { canDo } from '../permissions.ts'
import type { ReadRun } from '../read-run.ts'

type Part = ProblemPart & KindView
type Found = Extract<ProblemPlace<Part>, { readonly form: 'object' }>

type Remedied = ListedProblem<Part>

/** The members of `Problem` that say what to do about it. */
export function remediesOf(
  run: ReadRun,
  problem: Remedied,
): {
  readonly change: () => RevisionChangeValue | null
  readonly lastLines: (args: ProblemLastLinesArguments) => EndedLines | null
  readonly actions: () => readonly ProblemActionValue[]
} {
  return {
    change: () => changeOf(run, problem),
    lastLines: (args) => lastLinesOf(run, problem, args),
    actions: () => actionsOf(run, problem),
  }
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** Decoding and comparing two templates takes as long as writing so many fields. */
const fieldsPerChange = 200
/** The most revisions and objects that one row looks at. */
const maxLookedAt = 50

interface Revision {
  readonly number: number
  readonly object: Fields
}

/**
 * The revisions of a workload, the newest first, as the viewer may see them; `undefined` if they are not known. `mayList`:
 * whether to list those that are not in memory.
 */
function revisionsOf(
  run: ReadRun,
  { part, id }: Found,
  mayList: boolean,
): readonly Revision[] | undefined {
  const { served, parts, budget } = run
  const resource = groupResourceOf(part.kind.resource)
  const isDeployment = resource === 'deployments.apps'
  if (!isDeployment && resource !== 'statefulsets.apps' && resource !== 'daemonsets.apps') {
    return undefined
  }
  const kind = served.kindOf('apps', isDeployment ? 'ReplicaSet' : 'ControllerRevision')
  if (kind === undefined) return undefined
  const { cluster } = part
  const of = run.late(() =>
    isDeployment
      ? unlessRefused(() => parts.part({ cluster, kind }))
      : parts.cachedPart({ cluster, kind }),
  )
  if (of === undefined)
    return mayList ? listedRevisions(run, { cluster, kind }, { part, id }) : undefined
  const owned = of.view.index('ownerUid').posting(part.view.uidOf(id)) ?? []
  const revisions: Revision[] = []
  for (const revision of owned) {
    budget.spend('examined', 1)
    if (!isInScope(of.scope, of.view.keyOf(revision))) continue
    const object: Fields = of.view.object(revision) as unknown as Fields
    const { annotations } = fieldsOf(object['metadata'])
    const text = textOf(fieldsOf(annotations)[revisionAnnotation])
    const number = isDeployment ? Number(text ?? 0) : (numberOf(object['revision']) ?? 0)
    if (number > 0) revisions.push({ number, object })
    if (revisions.length === maxLookedAt) break
  }
  return revisions.toSorted((a, b) => b.number - a.number)
}

/** The ControllerRevisions of a workload, as the API server lists them by its selector. */
function listedRevisions(
  { direct, budget }: ReadRun,
  at: ClusterKind,
  { part: { view }, id }: Pick<Found, 'part' | 'id'>,
): readonly Revision[] {
  const { matchLabels } = fieldsOf(specOf(view.object(id) as unknown as Fields)['selector'])
  const labels = Object.entries(fieldsOf(matchLabels)).map(
    ([key, value]) => `${key}=${String(value)}`,
  )
  if (labels.length === 0) return []
  const { namespace } = splitObjectKey(view.keyOf(id))
  const asked = { namespace, labelSelector: labels.join(), limit: maxLookedAt }
  const { objects } = direct.list(at, asked, budget).list
  budget.spend('examined', objects.length)
  return (objects as readonly unknown[] as readonly Fields[])
    .filter(({ metadata }) =>
      itemsOf(fieldsOf(metadata)['ownerReferences']).some(({ uid }) => uid === view.uidOf(id)),
    )
    .map((object) => ({ number: numberOf(object['revision']) ?? 0, object }))
    .toSorted((a, b) => b.number - a.number)
}

/** The workload that a problem is about: its topmost owner, or the first of its objects that keeps revisions. */
function workloadOf({ root, objects }: Remedied): Found | undefined {
  return [root, ...objects.slice(0, maxLookedAt)].find((place): place is Found => {
    if (place.form !== 'object') return false
    return /^(?:deployments|statefulsets|daemonsets)\.apps$/.test(
      groupResourceOf(place.part.kind.resource),
    )
  })
}

function changeOf(run: ReadRun, problem: Remedied): RevisionChangeValue | null {
  const workload = workloadOf(problem)
  if (workload === undefined) return null
  const found = lastChange(run, workload, run.isDirect)
  if (found === undefined) return null
  const { newest, former } = found
  const changes = explainingFirst(problem, found.changes, '/spec/template')
  const metadata = fieldsOf(newest.object['metadata'])
  return {
    from: former.number,
    to: newest.number,
    at: textOf(metadata['creationTimestamp']) ?? null,
    cause: textOf(fieldsOf(metadata['annotations'])['kubernetes.io/change-cause']) ?? null,
    by: () =>
      (run.isDirect
        ? managerOf(
            run,
            workload,
            changes.filter((one) => !isRestart(one)),
          )
        : undefined) ??
      textOf(fieldsOf(metadata['labels'])['app.kubernetes.io/managed-by']) ??
      null,
    changes,
  }
}

/**
 * The present revision of a workload, and what it changes of the one before: of the newest earlier one that came up, which has
 * available pods or is the `currentRevision` of a StatefulSet. If none is known to have, of the newest that differs in more
 * than a restart. `undefined` if nothing else differs.
 */
function lastChange(
  run: ReadRun,
  workload: Found,
  mayList: boolean,
):
  | {
      readonly newest: Revision
      readonly former: Revision
      readonly changes: readonly FieldChange[]
    }
  | undefined {
  const [newest, ...earlier] = revisionsOf(run, workload, mayList) ?? []
  if (newest === undefined) return undefined
  const { part, id } = workload
  const { currentRevision } = statusOf(part.view.object(id) as unknown as Fields)
  const cameUp = earlier.find(({ object }) => {
    const { name } = fieldsOf(object['metadata'])
    return name === currentRevision || (numberOf(statusOf(object)['availableReplicas']) ?? 0) > 0
  })
  const template = templateOf(newest.object)
  for (const former of cameUp === undefined ? earlier : [cameUp]) {
    run.budget.spend('fields', fieldsPerChange)
    const changes = atOnce(fieldChanges(templateOf(former.object), template, { masked: false }))
    if (!changes.every(isRestart)) return { newest, former, changes }
  }
  return undefined
}

/** The manager of the changed fields of a workload's template that wrote last; of all fields of the template if they are gone. */
function managerOf(
  { direct, budget }: ReadRun,
  { part, id }: Found,
  changes: readonly FieldChange[],
): string | undefined {
  const { namespace, name } = splitObjectKey(part.view.keyOf(id))
  const managers = direct.managers(part, { namespace, name }, budget) ?? []
  const ofTemplate = managers.flatMap(({ manager, time, subresource, fieldsV1 }) => {
    const template = fieldsOf(fieldsOf(fieldsV1)['f:spec'])['f:template']
    if (template === undefined || textOf(subresource) !== undefined) return []
    const isOfChange = changes.some(({ path }) => owns(template, path.split('/').slice(1)))
    return [{ manager: textOf(manager), time: textOf(time) ?? '', isOfChange }]
  })
  const some = ofTemplate.filter(({ isOfChange }) => isOfChange)
  const [last] = (some.length > 0 ? some : ofTemplate).toSorted((a, b) =>
    a.time > b.time ? -1 : 1,
  )
  return last?.manager
}

/** Whether a manager owns a field (`f:image`). Its fields name the items of lists by their keys: any of them will do. */
function owns(fields: unknown, [step, ...further]: readonly string[]): boolean {
  if (step === undefined) return true
  const names = fieldsOf(fields)
  const own = names[`f:${step.replaceAll('~1', '/').replaceAll('~0', '~')}`]
  if (own !== undefined) return owns(own, further)
  if (!/^\d+$/.test(step)) return false
  return Object.entries(names).some(([name, item]) => /^[kvi]:/.test(name) && owns(item, further))
}

/** The pod template of a revision, without the label that tells revisions apart. */
function templateOf(revision: Fields): Fields {
  const { spec } = { ...revision, ...fieldsOf(revision['data']) } as Fields
  const { metadata, ...template } = fieldsOf(fieldsOf(spec)['template'])
  const { labels, ...rest } = fieldsOf(metadata)
  const { 'pod-template-hash': _, ...kept } = fieldsOf(labels)
  return { ...template, metadata: { ...rest, labels: kept } }
}

const defaultLines = 3
const maxLines = 20

interface Ended {
  readonly container: string
  /** Whether it has run again since, or waits to. */
  readonly previous: boolean
  readonly exitCode: number | null
  readonly at: string | null
}

function lastLinesOf(
  run: ReadRun,
  { objects }: Remedied,
  args: ProblemLastLinesArguments,
): EndedLines | null {
  const lines = args.lines ?? defaultLines
  if (lines < 1 || lines > maxLines) {
    const message = `lines: must be from 1 to ${maxLines}, not ${lines}`
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'lines', value: lines })
  }
  const pods = objects
    .filter((place): place is Found => {
      return place.form === 'object' && groupResourceOf(place.part.kind.resource) === 'pods'
    })
    .slice(0, maxLookedAt)
    .map((place) => ({ place, key: place.part.view.keyOf(place.id) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  for (const { place, key } of pods) {
    run.budget.spend('examined', 1)
    const { part, id } = place
    const ended = endedIn(statusOf(part.view.object(id) as unknown as Fields))
    if (ended === undefined) continue
    const { container, previous } = ended
    const ids = [objectIdOf(part, { key, uid: part.view.uidOf(id) })]
    const logs = run.direct.logs({ ids, container, previous, tailLines: lines }, run.budget)
    if (logs === undefined) return null
    const failed = logs.streams?.find(({ state }) => state === 'FAILED')
    if (failed !== undefined && logs.lines.length === 0) throw unreadLog(part, failed)
    run.budget.spend('rows', logs.lines.length)
    return { ...ended, pod: refOf(place), lines: logs.lines.map(({ text }) => text) }
  }
  return null
}

/** The first container that has ended with an error, else the first that has ended. */
function endedIn(status: Fields): Ended | undefined {
  const all = [...itemsOf(status['initContainerStatuses']), ...itemsOf(status['containerStatuses'])]
  const runs = all.flatMap(({ name, state, lastState }): (Ended & { readonly isBad: boolean })[] =>
    [state, lastState].flatMap((one, at) => {
      const { terminated } = fieldsOf(one)
      if (terminated === undefined || terminated === null) return []
      const { exitCode, finishedAt } = fieldsOf(terminated)
      const code = numberOf(exitCode) ?? null
      const told = { container: textOf(name) ?? '', previous: at === 1, exitCode: code }
      return [{ ...told, at: textOf(finishedAt) ?? null, isBad: code !== 0 }]
    }),
  )
  const found = runs.find(({ isBad }) => isBad) ?? runs[0]
  if (found === undefined) return undefined
  const { isBad: _, ...ended } = found
  return ended
}

function unreadLog(
  { cluster, kind }: Part,
  { reason, message }: { readonly reason: string | null; readonly message: string | null },
): ClientError {
  const code = reason !== null && /^[A-Z_]+$/.test(reason) ? reason : 'NOT_FOUND'
  const text = message ?? 'the log cannot be read'
  return new ClientError(code as ClientErrorCode, text, { cluster, type: kind.typeName })
}

interface Applying {
  readonly action: ProblemActionName
  readonly mutation: string
  readonly arguments?: Readonly<Record<string, unknown>>
  /** What the caller must be allowed. Default: to patch the object. */
  readonly needs?: { readonly verb: string; readonly subresource?: string }
}

/** The mutations of this gateway that apply to the object of a problem. None if it serves no writes. */
function actionsOf(run: ReadRun, problem: Remedied): readonly ProblemActionValue[] {
  const mutations = run.served.schema.getMutationType()?.getFields() ?? {}
  const { root } = problem
  if (root.form !== 'object') return []
  const { part, id } = root
  const object: Fields = part.view.object(id) as unknown as Fields
  const key = part.view.keyOf(id)
  const own = objectIdOf(part, { key, uid: part.view.uidOf(id) })
  run.budget.spend('examined', 1)
  return applyingTo(run, root, object)
    .filter(({ mutation }) => Object.hasOwn(mutations, mutation))
    .map(({ action, mutation, arguments: args = {}, needs = { verb: 'patch' } }) => ({
      action,
      mutation,
      object: refOf(root),
      arguments: action === 'EDIT' ? { cluster: part.cluster, ...args } : { id: own, ...args },
      can: () => canDo(run, part, splitObjectKey(key), needs) ?? null,
    }))
}

/** The actions for an object, what helps most first. */
function applyingTo(run: ReadRun, place: Found, object: Fields): readonly Applying[] {
  const spec = specOf(object)
  const { deletionTimestamp, ownerReferences } = fieldsOf(object['metadata'])
  const edit: Applying = { action: 'EDIT', mutation: 'apply' }
  if (deletionTimestamp !== undefined) return [edit]
  const scale: Applying = {
    action: 'SCALE',
    mutation: 'scale',
    arguments: { replicas: numberOf(spec['replicas']) ?? 1 },
    needs: { verb: 'patch', subresource: 'scale' },
  }
  const restart: Applying = { action: 'RESTART', mutation: 'restart' }
  const remove: Applying = { action: 'DELETE', mutation: 'delete', needs: { verb: 'delete' } }
  const resource = groupResourceOf(place.part.kind.resource)
  switch (resource) {
    case 'deployments.apps':
    case 'statefulsets.apps':
    case 'daemonsets.apps': {
      const former = lastChange(run, place, false)?.former
      const isPaused = spec['paused'] === true
      const back: Applying[] =
        former === undefined || isPaused
          ? []
          : [
              {
                action: 'ROLL_BACK',
                mutation: 'rollback',
                arguments: { toRevision: former.number },
              },
            ]
      const resume: Applying[] = isPaused ? [{ action: 'RESUME', mutation: 'resumeRollout' }] : []
      const scalable = resource === 'daemonsets.apps' ? [] : [scale]
      return [...resume, ...back, restart, ...scalable, edit]
    }
    case 'replicasets.apps':
      return [scale, edit]
    case 'cronjobs.batch':
    case 'jobs.batch': {
      const isSuspended = spec['suspend'] === true
      const resume: Applying[] = isSuspended ? [{ action: 'RESUME', mutation: 'resume' }] : []
      return [...resume, ...(resource === 'jobs.batch' ? [remove] : []), edit]
    }
    case 'nodes':
      return spec['unschedulable'] === true
        ? [{ action: 'UNCORDON', mutation: 'uncordon' }, edit]
        : [{ action: 'CORDON', mutation: 'cordon' }, edit]
    case 'pods':
      return itemsOf(ownerReferences).length === 0 ? [remove] : [remove, edit]
    default:
      return [edit]
  }
}
