import { setTimeout as sleep } from 'node:timers/promises'
import type { ViewedGateway } from '../support/viewed-gateway.ts'
import { administrator } from './access-cluster.ts'
import type { Heard } from './random-rbac.ts'

interface Permissions {
  readonly state: string
  readonly resources: readonly {
    readonly resource: string
    readonly resourceVersion: string | null
  }[]
}

const deadlineMs = 30_000

/**
 * Waits as anybody can who wants to know whether a change of RBAC holds: until the gateway has heard of it, and has asked after
 * it again.
 */
export const hasHeard = async (
  served: ViewedGateway,
  heard: Heard,
  cluster?: string,
): Promise<void> => {
  // With the first question about anybody RBAC begins to be followed.
  const query = `query ($cluster: String) {
    can(verb: "list", type: "Pod", cluster: $cluster)
    gatewayClusters { name permissions { state resources { resource resourceVersion } } }
  }`
  const deadline = performance.now() + deadlineMs
  let seen: Permissions | null | undefined
  while (performance.now() < deadline) {
    const answer = await served.query(administrator, query, { cluster })
    const clusters = (answer.data?.gatewayClusters ?? []) as readonly {
      readonly name: string
      readonly permissions: Permissions | null
    }[]
    seen = (clusters.find(({ name }) => name === cluster) ?? clusters[0])?.permissions
    const positions = new Map(seen?.resources.map((one) => [one.resource, one.resourceVersion]))
    const isAhead = [...heard].every(
      ([resource, version]) => BigInt(positions.get(resource) ?? 0) >= BigInt(version),
    )
    if (seen?.state === 'FOLLOWING' && isAhead) return
    await sleep(50)
  }
  throw new Error(`not heard of ${JSON.stringify([...heard])}: ${JSON.stringify(seen)}`)
}
