import { WorkloadRevisionsDocument } from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { listAt, numberAt, textAt, valueAt } from '../object/json.ts'

/** A revision that a Deployment, a StatefulSet or a DaemonSet keeps. */
export interface Revision {
  readonly number: number
  readonly since: string
  readonly images: readonly string[]
  /** The annotation `kubernetes.io/change-cause`. */
  readonly cause: string | undefined
  /** The label `app.kubernetes.io/managed-by` of its pods. */
  readonly by: string | undefined
  /** The template of its pods, without what controllers add. */
  readonly template: unknown
}

/** The revisions of a workload, the newest first, which is the present one. */
export function useRevisions(id: string): {
  readonly revisions: readonly Revision[]
  readonly errors: readonly AnswerError[]
  readonly isPending: boolean
  readonly again: () => void
} {
  const { data, errors, isPending, again } = useAnswer(WorkloadRevisionsDocument, { id })
  const object = data?.object ?? {}
  const found =
    'replicaSets' in object
      ? object.replicaSets?.nodes
      : 'controllerRevisions' in object
        ? object.controllerRevisions?.nodes
        : undefined
  const revisions = (found ?? [])
    .map(revisionOf)
    .filter(({ number }) => number > 0)
    .toSorted((one, other) => other.number - one.number)
  return { revisions, errors, isPending, again }
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** A ReplicaSet or a ControllerRevision as the revision that it keeps. */
function revisionOf({
  creationTimestamp,
  json,
}: {
  readonly creationTimestamp: string | null
  readonly json: unknown
}): Revision {
  const annotations = valueAt(json, 'metadata', 'annotations')
  const object = valueAt(json, 'data') ?? json
  const template = valueAt(object, 'spec', 'template')
  return {
    number: numberAt(json, 'revision') ?? Number(textAt(annotations, revisionAnnotation) ?? 0),
    since: creationTimestamp ?? '',
    images: containersOf(object).map(({ image }) => image),
    cause: textAt(annotations, 'kubernetes.io/change-cause'),
    by: textAt(template, 'metadata', 'labels', 'app.kubernetes.io/managed-by'),
    template: asWritten(template),
  }
}

/** A template without the hash that a ReplicaSet has, and the directive of a ControllerRevision, which is a patch. */
function asWritten(template: unknown): unknown {
  return JSON.parse(
    JSON.stringify(template ?? null, (name, value: unknown) =>
      name === 'pod-template-hash' || name === '$patch' ? undefined : value,
    ),
  )
}

/** The containers of a pod template, also of a CronJob's. */
export function containersOf(
  object: unknown,
): readonly { readonly name: string; readonly image: string }[] {
  const template = valueAt(object, 'spec', 'jobTemplate') ?? object
  return ['containers', 'initContainers'].flatMap((list) =>
    listAt(template, 'spec', 'template', 'spec', list).map((one) => ({
      name: textAt(one, 'name') ?? '',
      image: textAt(one, 'image') ?? '',
    })),
  )
}
