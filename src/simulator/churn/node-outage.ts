import type { Unstructured } from '../../kubernetes/object.ts'
import {
  evictedPod,
  foundNode,
  foundPod,
  isReadyObject,
  lostNode,
  strandedPod,
} from '../population/node-health.ts'
import { resources } from '../population/resources.ts'
import type { ChurnContext } from './churn-context.ts'
import type { Activity } from './cluster.ts'
import {
  type DeploymentRecord,
  isSettled,
  type PodGroup,
  type PodRecord,
} from './cluster-records.ts'
import { desiredReplicas } from './rollout.ts'
import { settle } from './scaling.ts'
import { restartStatefulPod } from './stateful-restart.ts'
import { syncGroup } from './status-sync.ts'

/** A pod of a node, with its controller. */
interface NodePod {
  readonly group: PodGroup
  readonly pod: PodRecord
}

/**
 * A node falls silent, and after a while it is heard of again. Meanwhile its pods are not ready; they are evicted, and
 * their Deployments start others elsewhere. Pods of StatefulSets wait for the node, those of DaemonSets stay on it.
 */
export function* nodeOutage(context: ChurnContext, name: string): Activity {
  const { cluster } = context
  const { addresses } = cluster.index
  const held: DeploymentRecord[] = []
  addresses.close(name)
  try {
    report(context, name, lostNode, 'NodeNotReady')
    yield
    for (const { group, pod } of podsOn(context, name)) {
      if (group.deployment !== undefined && isSettled(group.deployment)) {
        group.deployment.busy = true
        held.push(group.deployment)
      }
      strand(context, group, pod)
      yield
    }
    for (const { group, pod } of podsOn(context, name)) {
      // What somebody else is busy with, or is broken on purpose, is left alone.
      const isHeld = group.deployment !== undefined && held.includes(group.deployment)
      if (!isHeld && (group.kind !== 'StatefulSet' || group.busy)) continue
      evict(context, group, pod)
      yield
    }
    for (const record of held) yield* replace(context, record)
  } finally {
    for (const record of held) record.busy = false
    recover(context, name)
  }
  yield* restore(context, name)
}

function podsOn({ cluster }: ChurnContext, name: string): readonly NodePod[] {
  return Array.from(cluster.index.groups()).flatMap((group) =>
    Array.from(group.pods.values())
      .filter(({ at, finished }) => at?.nodeName === name && !finished)
      .map((pod) => ({ group, pod })),
  )
}

function report(
  { cluster, events }: ChurnContext,
  name: string,
  change: (node: Unstructured, atMs: number) => Unstructured,
  reason: 'NodeNotReady' | 'NodeReady',
): void {
  const node = cluster.change(resources.nodes, '', name, (old) => change(old, cluster.now()))
  const message = `Node ${name} status is now: ${reason}`
  events.record({ regarding: node, type: 'Normal', reason, message, component: 'node-controller' })
}

function strand({ cluster }: ChurnContext, group: PodGroup, pod: PodRecord): void {
  cluster.changeIfThere(resources.pods, group.namespace, pod.name, (object) =>
    strandedPod(object, cluster.now()),
  )
  pod.ready = false
  syncGroup(cluster, group)
}

function evict({ cluster, events }: ChurnContext, group: PodGroup, pod: PodRecord): void {
  const object = cluster.get(resources.pods, group.namespace, pod.name)
  if (object === undefined || pod.terminating || object.metadata.uid !== pod.uid) return
  pod.terminating = true
  const regarding = cluster.replace(resources.pods, object, (old) => evictedPod(old, cluster.now()))
  events.record({
    regarding,
    type: 'Normal',
    reason: 'TaintManagerEviction',
    message: `Marking for deletion Pod ${group.namespace}/${pod.name}`,
    component: 'taint-eviction-controller',
  })
  syncGroup(cluster, group)
}

function* replace(context: ChurnContext, record: DeploymentRecord): Activity {
  const { namespace, name } = record
  const deployment = context.cluster.get(resources.deployments, namespace, name)
  if (deployment !== undefined) yield* settle(context, record, desiredReplicas(deployment))
}

function recover(context: ChurnContext, name: string): void {
  const { cluster } = context
  if (cluster.get(resources.nodes, '', name) === undefined) return
  report(context, name, foundNode, 'NodeReady')
  cluster.index.addresses.open(name)
}

/** What the kubelet says once it is heard of again: what was to end has ended, the rest is as ready as before. */
function* restore(context: ChurnContext, name: string): Activity {
  const { cluster, lifecycle } = context
  const stateful = new Set<PodGroup>()
  for (const { group, pod } of podsOn(context, name)) {
    if (pod.terminating) {
      lifecycle.remove(group, pod)
      if (group.kind === 'StatefulSet') stateful.add(group)
    } else {
      cluster.changeIfThere(resources.pods, group.namespace, pod.name, (object) =>
        foundPod(object, cluster.now()),
      )
    }
    notice(context, group, pod)
    yield
  }
  for (const group of stateful) if (!group.busy) yield* restartStatefulPod(context, group)
}

/** Takes note of what others have made of a pod. */
function notice({ cluster, lifecycle }: ChurnContext, group: PodGroup, pod: PodRecord): void {
  const object = cluster.get(resources.pods, group.namespace, pod.name)
  if (object === undefined || object.metadata.uid !== pod.uid) {
    lifecycle.forget(group, pod)
    return
  }
  pod.ready = isReadyObject(object)
  pod.terminating = object.metadata.deletionTimestamp !== undefined
  syncGroup(cluster, group)
}

/** Looks at a node that others may have let fail, or brought back: pods come only to those that are ready. */
export function noticeNode(context: ChurnContext, name: string): boolean {
  const { cluster } = context
  const { addresses } = cluster.index
  const node = cluster.get(resources.nodes, '', name)
  const ready = node !== undefined && isReadyObject(node)
  if (ready === addresses.isOpen(name)) return ready
  if (ready) addresses.open(name)
  else addresses.close(name)
  for (const { group, pod } of podsOn(context, name)) notice(context, group, pod)
  return ready
}
