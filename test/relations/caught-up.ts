import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedGateway } from '../support/gateway.ts'
import type { RandomCluster, Type } from './random-cluster.ts'

/** The root list field of a kind of the random cluster. */
export function listFieldOf(type: Type): string {
  const field = `${type[0]?.toLowerCase()}${type.slice(1)}`
  return field.endsWith('s') ? `${field}es` : `${field}s`
}

/** Waits until the gateway has heard of all that was written. */
export async function caughtUp(gateway: ServedGateway, cluster: RandomCluster): Promise<void> {
  const written = [...cluster.written]
  const query = `{ ${written.map(([type]) => `${type}: ${listFieldOf(type)}(first: 0) { resourceVersion }`).join(' ')} }`
  for (;;) {
    const data = await gateway.data(query)
    if (written.every(([type, revision]) => Number(data[type].resourceVersion) >= revision)) return
    await sleep(5)
  }
}
