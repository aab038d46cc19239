import { setTimeout as sleep } from 'node:timers/promises'
import type { KubernetesObject } from 'informerql/informer'
import type { ControlPlane } from '../support/control-plane.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { type FleetMember, fleetMembers, memberListPath } from './fleet-member.ts'
import type { FleetMemory } from './fleet-question.ts'
import { createRotatedToken, type RotatedToken } from './rotated-token.ts'
import { SoakWriter } from './soak-writer.ts'

export interface SoakOptions {
  readonly plane: ControlPlane
  /** Whole rounds of incidents, at least one, until this time has passed. */
  readonly minutes: number
  /** Of writes before each incident and during it. */
  readonly writeMs: number
  readonly seed: number
  /** Told after each incident. */
  readonly onLevel?: (level: SoakLevel) => void
}

/** The fleet at rest, all objects there, after something has happened. */
export interface SoakLevel {
  readonly after: string
  readonly round: number
  /** From the end of the incident and of the writes until every store was equal to its LIST. */
  readonly convergedMs: number
  /** Writes that the server has accepted so far. */
  readonly writes: number
  readonly memory: FleetMemory
}

const convergeDeadlineMs = 60_000

interface Soak {
  readonly plane: ControlPlane
  readonly fleet: Fleet
  readonly token: RotatedToken
}

const restart = async ({ plane }: Soak): Promise<void> => {
  await plane.killServer()
  await sleep(500)
  await plane.startServer()
}

/** What happens while writes go on, by its name. */
const incidents: Readonly<Record<string, (soak: Soak) => Promise<void>>> = {
  'the token file was rotated': async ({ token, fleet }) => {
    await token.rotate()
    const user = await fleet.ask('user')
    if (user !== token.user()) throw new Error(`the fleet is ${user} and not ${token.user()}`)
  },
  'the server was killed': restart,
  'etcd was compacted': async ({ plane }) => {
    await plane.compact()
  },
  'etcd was compacted and the server killed': async (soak) => {
    await soak.plane.compact()
    await restart(soak)
  },
}

/**
 * Fifty informers over one connection, while objects are written and everything happens to their server that it should
 * survive. Rejects when a store or a handler's view does not become what the server lists.
 */
export async function runSoak(options: SoakOptions): Promise<readonly SoakLevel[]> {
  const { plane, minutes, writeMs, seed } = options
  const end = performance.now() + minutes * 60_000
  await using token = await createRotatedToken(plane)
  const writer = new SoakWriter(plane, seed)
  await writer.fill()
  await using fleet = await startFleet(token.kubeconfigPath)
  const soak = { plane, fleet, token }
  const levels: SoakLevel[] = []

  const level = async (after: string, round: number): Promise<void> => {
    const began = performance.now()
    await converge(soak)
    const convergedMs = performance.now() - began
    await writer.fill()
    await converge(soak)
    const { writes } = writer
    const reached = { after, round, convergedMs, writes, memory: await fleet.ask('memory') }
    levels.push(reached)
    options.onLevel?.(reached)
  }

  await level('the start', 0)
  for (let round = 1; round === 1 || performance.now() < end; round++) {
    for (const [name, happen] of Object.entries(incidents)) {
      const stopping = new AbortController()
      const writing = writer.run(stopping.signal)
      try {
        await sleep(writeMs)
        await happen(soak)
        await sleep(writeMs)
      } finally {
        stopping.abort()
        await writing
      }
      await level(name, round)
    }
  }
  return levels
}

async function converge(soak: Soak): Promise<void> {
  const end = performance.now() + convergeDeadlineMs
  for (;;) {
    const different = await differences(soak)
    if (different.length === 0) return
    if (performance.now() > end) throw new Error(`not converged: ${different.join('\n')}`)
    await sleep(100)
  }
}

/** Lists twice, as servers write leases of their own: what is equal to the list before or after is equal. */
async function differences({ plane, fleet }: Soak): Promise<string[]> {
  const before = await listAll(plane)
  const states = await fleet.ask('stores')
  const after = await listAll(plane)
  return states.flatMap(({ name, state, lastError, store, view }, position) => {
    const held = sorted(store)
    const isEqual = held === before[position] || held === after[position]
    if (isEqual && held === sorted(view)) return []
    return [
      `${name}, ${state}, ${lastError}: holds ${held}, its handler ${sorted(view)}, listed ${after[position]}`,
    ]
  })
}

const sorted = (objects: readonly string[]): string => objects.toSorted().join()

const listAll = async (plane: ControlPlane): Promise<readonly string[]> =>
  Promise.all(fleetMembers.map(async (member) => listOf(plane, member)))

async function listOf(plane: ControlPlane, member: FleetMember): Promise<string> {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  const answer = await plane.request(memberListPath(member), { accept })
  if (answer.status !== 200) throw new Error(`${member.name}: ${answer.text}`)
  const { items } = answer.json() as { readonly items: readonly KubernetesObject[] }
  return sorted(
    items.map(({ metadata: { namespace, name, resourceVersion } }) =>
      namespace === undefined
        ? `${name}@${resourceVersion}`
        : `${namespace}/${name}@${resourceVersion}`,
    ),
  )
}
