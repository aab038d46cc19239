import { setTimeout as sleep } from 'node:timers/promises'
import { holdersBy, type SharingGateway } from './shared-gateways.ts'

export type Holders = Readonly<Record<string, string | null>>

type Asked = Parameters<typeof holdersBy>[0] & Pick<SharingGateway, 'address'>

/** A gateway that has just come takes its clusters over one after the other: it must be quiet for so many looks. */
const stableTimes = 15
const deadlineMs = 120_000

/**
 * Waits until all gateways say the same of who holds what, and go on saying it. Of several gateways, what each of them holds
 * itself is left out. `isRight`: what else must be so. Rejects after two minutes.
 */
export async function agreedHolders(
  gateways: readonly Asked[],
  isRight: (held: Holders) => boolean = () => true,
): Promise<Holders> {
  const untilMs = performance.now() + deadlineMs
  let before = ''
  for (let stable = 0; ;) {
    const all = await Promise.all(gateways.map(holdersBy))
    const [held = {}] = all.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter(
          ([name]) =>
            gateways.length === 1 || !all.every((said, at) => said[name] === gateways[at]?.address),
        ),
      ),
    )
    const areAlike = Object.entries(held).every(
      ([name, holder]) => holder !== null && all.every((one) => one[name] === holder),
    )
    const now = JSON.stringify(held)
    stable = areAlike && isRight(held) && now === before ? stable + 1 : 0
    if (stable >= stableTimes) return held
    if (performance.now() > untilMs) throw new Error(`no agreement: ${JSON.stringify(all)}`)
    before = now
    await sleep(200)
  }
}

/**
 * Starts a second gateway, and waits until each of the two holds something. Hashing may give one of them nothing: then
 * another one is started, at another address.
 */
export async function sharedBetween<T extends SharingGateway>(
  here: Asked,
  start: () => Promise<T>,
): Promise<{ readonly there: T; readonly held: Holders }> {
  const there = await start()
  const held = await agreedHolders([here, there])
  const holders = new Set(Object.values(held))
  if ([here, there].every(({ address }) => holders.has(address))) return { there, held }
  await there[Symbol.asyncDispose]()
  return await sharedBetween(here, start)
}

/** The clusters that a gateway holds. */
export function heldAt({ address }: Pick<SharingGateway, 'address'>, held: Holders): string[] {
  return Object.entries(held).flatMap(([name, holder]) => (holder === address ? [name] : []))
}
