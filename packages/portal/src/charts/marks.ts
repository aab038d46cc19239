import type { UseOverTimeQuery } from '../gateway/documents.ts'
import { listAt, textAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import { chartWords } from './chart-words.ts'

/** What happened at a time, to be seen beside what was used. */
export interface Mark {
  readonly atMs: number
  readonly text: string
}

/** The restarts of a pod's containers, or of those of its pods, and the rollouts, within a time; the oldest first. */
export function marksOf(
  { json, kind }: SeenObject,
  data: UseOverTimeQuery | undefined,
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
  }
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
