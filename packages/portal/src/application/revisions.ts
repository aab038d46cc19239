import type { ApplicationSubscription } from '../gateway/documents.ts'

/** An object of an application's page: a workload, or any other that its address names. */
export type AnyObject = NonNullable<
  NonNullable<ApplicationSubscription['object']>['changes'][number]['object']
>

/** A workload with its surroundings. */
export type Workload = Extract<AnyObject, { readonly pods: unknown }>

/** Whether an object has pods. */
export function isWorkload(object: AnyObject): object is Workload {
  return 'pods' in object
}

export type WorkloadPod = NonNullable<Workload['pods']>['nodes'][number]

/** The pods of one revision of a workload, and what they run. */
export interface Revision {
  /** The hash that the pods have as a label; empty for workloads without revisions. */
  readonly hash: string
  /** `Revision 12`, by the annotation of its ReplicaSet. */
  readonly number: string | undefined
  /** The `nameId` of its ReplicaSet. */
  readonly nameId: string | undefined
  readonly isCurrent: boolean
  /** The pods that it should have; undefined where only its pods are known. */
  readonly desired: number | undefined
  readonly images: readonly string[]
  readonly pods: readonly WorkloadPod[]
}

const revisionAnnotation = 'deployment.kubernetes.io/revision'
const hashLabels = ['pod-template-hash', 'controller-revision-hash', 'batch.kubernetes.io/job-name']

/** The revisions of a workload that have pods or should have some, the newest first. */
export function revisionsOf(workload: Workload): readonly Revision[] {
  const podsOf = Map.groupBy(workload.pods?.nodes ?? [], ({ labels }) => hashIn(labels))
  const sets =
    'replicaSets' in workload && workload.replicaSets !== null ? workload.replicaSets.nodes : []
  const known = sets
    .map((set): Revision => {
      const hash = hashIn(set.labels)
      return {
        hash,
        number: set.metadata.annotations?.[revisionAnnotation],
        nameId: set.nameId,
        isCurrent: false,
        desired: set.spec?.replicas ?? undefined,
        images: imagesOf(set.spec?.template?.spec?.containers),
        pods: podsOf.get(hash) ?? [],
      }
    })
    .toSorted((a, b) => Number(b.number ?? 0) - Number(a.number ?? 0))
    .map((revision, position) => ({ ...revision, isCurrent: position === 0 }))
  const hashes = new Set(known.map(({ hash }) => hash))
  const others = [...podsOf]
    .filter(([hash]) => !hashes.has(hash))
    .map(([hash, pods]): Revision => ({
      hash,
      number: undefined,
      nameId: undefined,
      isCurrent: hash === currentHash(workload),
      desired: undefined,
      images: [...new Set(pods.flatMap(({ spec }) => imagesOf(spec?.containers)))],
      pods,
    }))
    .toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent))
  return [
    ...known.filter((one) => one.isCurrent || one.pods.length > 0 || one.desired !== 0),
    ...others,
  ]
}

/** The hash that a StatefulSet gives its new pods. */
function currentHash(workload: Workload): string | undefined {
  return 'status' in workload ? (workload.status?.updateRevision ?? undefined) : undefined
}

function hashIn(labels: Record<string, string> | null): string {
  const label = hashLabels.find((name) => labels?.[name] !== undefined)
  return label === undefined ? '' : (labels?.[label] ?? '')
}

function imagesOf(
  containers: readonly ({ readonly image: string | null } | null)[] | null | undefined,
): readonly string[] {
  return (containers ?? []).flatMap((container) => container?.image ?? [])
}

/** How far a rollout is: all pods that should be there, those of the current revision, and those that are ready. */
export interface Rollout {
  readonly desired: number
  readonly updated: number
  readonly ready: number
  readonly isGoing: boolean
}

/** `undefined` for a workload without a number of pods, such as a CronJob. */
export function rolloutOf(workload: Workload): Rollout | undefined {
  const { replicas: desired, updatedReplicas, readyReplicas } = workload
  if (desired === null) return undefined
  const updated = updatedReplicas ?? 0
  const ready = readyReplicas ?? 0
  return { desired, updated, ready, isGoing: updated < desired || ready < desired }
}
