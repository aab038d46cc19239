import { resources } from '../population/resources.ts'
import { nodeLeaseNamespace } from '../population/node.ts'
import { microTimestamp, timestamp } from '../../kubernetes/timestamp.ts'
import type { ChurnContext } from './churn-context.ts'
import { noticeNode } from './node-outage.ts'

/** How many renewals of its Lease come with one report of a node's status. */
const renewalsPerReport = 6

/** One node says that it is alive: it renews its Lease, and now and then reports its status. */
export function beat(context: ChurnContext): void {
  const { cluster } = context
  const { readyNodes } = cluster.index.addresses
  if (readyNodes.length === 0) return
  const name = cluster.random.pick(readyNodes)
  if (!noticeNode(context, name)) return
  const nowMs = cluster.now()
  cluster.changeIfThere(resources.leases, nodeLeaseNamespace, name, (lease) => ({
    ...lease,
    spec: { ...(lease['spec'] as object), renewTime: microTimestamp(nowMs) },
  }))
  if (!cluster.random.chance(1 / renewalsPerReport)) return
  const lastHeartbeatTime = timestamp(nowMs)
  cluster.changeIfThere(resources.nodes, '', name, (node) => {
    const status = node['status'] as { readonly conditions?: readonly object[] }
    const conditions = (status.conditions ?? []).map((condition) => ({
      ...condition,
      lastHeartbeatTime,
    }))
    return { ...node, status: { ...status, conditions } }
  })
}
