import { setTimeout as sleep } from 'node:timers/promises'
import type { SharingGateway } from './shared-gateways.ts'

type Holders = Readonly<Record<string, string>>

/** A gateway that has just come takes over a little later. */
const stableTimes = 15

/**
 * Waits until all gateways agree who holds what, but for clusters that each of them holds. `undefined` if one of them holds
 * nothing else.
 */
export async function settledHolders(
  gateways: readonly SharingGateway[],
): Promise<Holders | undefined> {
  let held: Holders = {}
  for (let stable = 0; stable < stableTimes;) {
    // oxlint-disable-next-line no-await-in-loop -- until they agree
    const all = await Promise.all(gateways.map(holdersOf))
    const [first = {}] = all
    const shared = Object.keys(first).filter(
      (name) => !all.every((one, at) => one[name] === gateways[at]?.address),
    )
    const isAlike = shared.every(
      (name) => first[name] !== null && all.every((one) => one[name] === first[name]),
    )
    stable = isAlike ? stable + 1 : 0
    held = Object.fromEntries(shared.map((name) => [name, String(first[name])]))
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(200)
  }
  const holders = new Set(Object.values(held))
  return gateways.every(({ address }) => holders.has(address)) ? held : undefined
}

async function holdersOf(
  gateway: SharingGateway,
): Promise<Readonly<Record<string, string | null>>> {
  const { gatewayClusters } = await gateway.data('{ gatewayClusters { name holder } }')
  return Object.fromEntries(
    gatewayClusters.map(({ name, holder }: { name: string; holder: string | null }) => [
      name,
      holder,
    ]),
  )
}
