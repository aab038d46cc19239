import type { MarkedChangesQuery, UseOverTimeQuery } from '../gateway/documents.ts'
import { listAt, textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { chartWords } from './chart-words.ts'

/** What happened at a time, to be seen beside what was used. */
export interface Mark {
  readonly atMs: number
  readonly text: string
}

type MarkedChange = NonNullable<MarkedChangesQuery['changes']>['nodes'][number]

const revision = 'deployment.kubernetes.io/revision'
const revisionPath = `/metadata/annotations/${revision.replace('/', '~1')}`
const updatePath = '/status/updateRevision'
const cordonPath = '/spec/unschedulable'

/** The fields whose changes are marks, by kind. */
export const markedPaths: Readonly<Record<string, string[]>> = {
  Deployment: [revisionPath],
  StatefulSet: [updatePath],
  Node: [cordonPath, '/status/conditions/*/status'],
}

/**
 * The restarts of a pod's containers, or of those of its pods, rollouts and rollbacks, and what befell a node, within a time; the
 * oldest first.
 */
export function marksOf(
  { json, kind }: SeenObject,
  data: UseOverTimeQuery | undefined,
  changes: readonly MarkedChange[],
  fromMs: number,
): readonly Mark[] {
  const marks: Mark[] = []
  const add = (time: string | null | undefined, text: string): void => {
    const atMs = Date.parse(time ?? '')
    if (atMs >= fromMs) marks.push({ atMs, text })
  }
  if (kind === 'Pod') {
    add(textAt(json, 'metadata', 'creationTimestamp'), chartWords.created)
    addRestarts(listAt(json, 'status', 'containerStatuses'), add)
  }
  if (data?.object != null) {
    const { object: answered } = data
    if ('pods' in answered) {
      for (const pod of answered.pods?.nodes ?? []) {
        const statuses: unknown = pod.json
        addRestarts(Array.isArray(statuses) ? statuses : [], add, `${pod.name}/`)
      }
    }
    const revisions =
      'replicaSets' in answered
        ? answered.replicaSets
        : 'controllerRevisions' in answered
          ? answered.controllerRevisions
          : null
    for (const { name, creationTimestamp } of revisions?.nodes ?? []) {
      add(creationTimestamp, chartWords.rollout(name))
    }
    for (const { time, fields } of changes) {
      for (const { path, after } of fields) {
        if (path !== revisionPath && path !== updatePath) continue
        const made = revisions?.nodes.find((one) => isRevision(one, String(after)))
        const wasThere = Date.parse(time) - Date.parse(made?.creationTimestamp ?? time) > rolloutMs
        if (made !== undefined && wasThere) add(time, chartWords.rollback(made.name))
      }
    }
  }
  if (kind === 'Node') addNodeMarks(json, changes, add)
  return marks.toSorted((a, b) => a.atMs - b.atMs)
}

/** The last restart of each container: the API keeps no earlier one. */
function addRestarts(
  statuses: readonly unknown[],
  add: (time: string | undefined, text: string) => void,
  of = '',
): void {
  for (const status of statuses) {
    const ended = textAt(status, 'lastState', 'terminated', 'finishedAt')
    const reason = textAt(status, 'lastState', 'terminated', 'reason')
    add(ended, chartWords.restarted(`${of}${textAt(status, 'name') ?? ''}`, reason))
  }
}

/** A ReplicaSet that is older than this when its revision is wanted was there before. */
const rolloutMs = 60_000

/** Whether a ReplicaSet is, or was, the revision of this number; or a ControllerRevision has this name. */
function isRevision(
  made: { readonly name: string; readonly annotations?: unknown },
  wanted: string,
): boolean {
  const numbers = [revision, `${revision}-history`].map((name) => textAt(made.annotations, name))
  return made.name === wanted || numbers.some((list) => list?.split(',').includes(wanted) === true)
}

function addNodeMarks(
  json: unknown,
  changes: readonly MarkedChange[],
  add: (time: string, text: string) => void,
): void {
  const conditions = listAt(json, 'status', 'conditions')
  const ready = conditions.findIndex((one) => textAt(one, 'type') === 'Ready')
  for (const { time, manager, fields } of changes) {
    for (const { path, after } of fields) {
      if (path === cordonPath)
        add(time, chartWords.by(chartWords.cordoned(after === true), manager))
      if (path === `/status/conditions/${ready}/status`) {
        add(time, chartWords.nodeReady(String(after)))
      }
    }
  }
}
