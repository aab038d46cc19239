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
export const hasHeard = async (served: ViewedGateway, heard: Heard): Promise<void> => {
  // With the first question about anybody RBAC begins to be followed.
  const query =
    '{ can(verb: "list", type: "Pod") gatewayClusters { permissions { state resources { resource resourceVersion } } } }'
  const deadline = performance.now() + deadlineMs
  let seen: Permissions | null | undefined
  while (performance.now() < deadline) {
    const answer = await served.query(administrator, query)
    seen = answer.data?.gatewayClusters[0].permissions as Permissions | null
    const positions = new Map(seen?.resources.map((one) => [one.resource, one.resourceVersion]))
    const isAhead = [...heard].every(
      ([resource, version]) => BigInt(positions.get(resource) ?? 0) >= BigInt(version),
    )
    if (seen?.state === 'FOLLOWING' && isAhead) return
    await sleep(50)
  }
  throw new Error(`not heard of ${JSON.stringify([...heard])}: ${JSON.stringify(seen)}`)
}
