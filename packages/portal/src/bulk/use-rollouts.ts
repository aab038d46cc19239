import { liveCollection } from '@informerql/client'
import { useEffect, useState } from 'react'
import { BulkRolloutsDocument, type BulkRolloutsSubscription } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { followedAtOnce } from '../kinds/picked.ts'
import { groupOf, textAt } from '../object/json.ts'
import type { BulkObject } from './bulk-objects.ts'
import type { Outcome } from './bulk-run.ts'

type Workload = NonNullable<
  NonNullable<BulkRolloutsSubscription['objectList']>['changes'][number]['object']
>

/** How far a rollout is: `out` once all pods are replaced and healthy. */
export type Rollout = 'going' | 'out' | 'stuck'

/** Workloads by their `id`s, as the gateway sees them now. */
export type Workloads = ReadonlyMap<string, Workload>

/** Follows workloads while it `isWanted`. */
export function useWorkloads(
  objects: ReadonlyMap<string, BulkObject>,
  isWanted: boolean,
): Workloads {
  const gateway = useGateway()
  const [known, setKnown] = useState<Workloads>(new Map())
  useEffect(() => {
    const [first] = objects.values()
    if (!isWanted || first === undefined) return undefined
    const all = [...objects.keys()]
    const clusters = [...new Set(Array.from(objects.values(), ({ clusterName }) => clusterName))]
    const followed = Array.from({ length: Math.ceil(all.length / followedAtOnce) }, (_, at) =>
      liveCollection({
        client: gateway.socket,
        query: BulkRolloutsDocument,
        variables: {
          group: groupOf(first.apiVersion),
          kind: first.kind,
          clusters,
          ids: all.slice(at * followedAtOnce, (at + 1) * followedAtOnce),
        },
      }),
    )
    const tell = (): void =>
      setKnown(
        new Map(followed.flatMap((live) => live.getSnapshot().rows.map((row) => [row.id, row]))),
      )
    for (const live of followed) live.subscribe(tell)
    return () => {
      for (const live of followed) live.close()
    }
  }, [gateway, objects, isWanted])
  return known
}

/** The rollout of a restart; `undefined`: it has not begun. */
export function rolloutOf(outcome: Outcome, workload: Workload | undefined): Rollout | undefined {
  if (outcome.state !== 'done') return undefined
  if (workload === undefined) return 'going'
  const [change] = outcome.written.changes
  const restartedAt = textAt(workload.annotations, 'kubectl.kubernetes.io/restartedAt') ?? ''
  // The gateway has not seen the restart yet.
  if (typeof change?.after === 'string' && restartedAt < change.after) return 'going'
  const status = workload.health?.status
  if (status === 'DEGRADED') return 'stuck'
  // With a partition, or where pods are replaced when they are deleted, some stay as they are.
  const [wanted, updated] =
    'replicas' in workload ? [workload.replicas ?? 0, workload.updatedReplicas ?? 0] : [0, 0]
  return status === 'HEALTHY' && updated >= wanted ? 'out' : 'going'
}
