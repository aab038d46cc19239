/*
 * Notices that the process of another gateway has ended, seconds before its row is over (`sharing.ts`). Where no process
 * listens, a computer refuses connections. So a gateway whose address refuses one is judged: its row is read anew, its
 * address is tried once more, and if that is refused, too, its row is removed, unless it was prolonged or made anew
 * meanwhile. The others take over by the ordinary path. Silence is no refusal: the row of a gateway that stands still, or
 * that the network has lost, ends by itself.
 *
 * Each gateway tries the next one in the order of the addresses from time to time, and one that has failed a question at
 * once.
 *
 * A judgement may be wrong, as where a firewall begins to refuse. Then the gateway makes its row anew with its next
 * prolongation, a moment later, and takes its clusters back, as one that joins; what it writes into the archive is checked
 * by epochs. No process is judged twice by the same gateway, and none that has never taken a connection: it may not listen
 * yet, or have a wrong address.
 */

import { connect } from 'node:net'
import type { SharedMember } from '../archive/archive-calls.ts'
import { sleep } from '../lib/backoff.ts'
import { hostOf } from '../lib/url-host.ts'
import type { GatewayLog } from './observers.ts'

interface GoneMembersOptions {
  /** Of this gateway. */
  readonly address: string
  /** The gateways that live, this one included, by the last reading. */
  readonly living: () => readonly SharedMember[]
  /** Reads the rows anew. Rejects while they cannot be read. */
  readonly read: () => Promise<unknown>
  /** Removes a row that is as it was seen. Resolves with whether it was. */
  readonly remove: (member: SharedMember) => Promise<boolean>
  readonly log: GatewayLog
}

const lookMs = 500
/** Between the two refusals. */
const againMs = 100
/** A connection that takes longer is neither taken nor refused. */
const connectDeadlineMs = 1_000
/** How long questions wait for the judgement of a gateway. While Postgres is away, no gateway can judge. */
const doubtMs = 3_000

export class GoneMembers {
  readonly #options: GoneMembersOptions
  readonly #stop = new AbortController()
  /** The processes that have taken a connection, and those that were judged. */
  readonly #reached = new Set<string>()
  readonly #judged = new Set<string>()
  /** The addresses that are tried now. */
  readonly #trying = new Map<string, Promise<void>>()
  /** Since when addresses refuse, or are tried because a question has found them closed. */
  readonly #suspectMs = new Map<string, number>()
  #running: Promise<void> = Promise.resolve()

  constructor(options: GoneMembersOptions) {
    this.#options = options
  }

  run(): void {
    this.#running = this.#run()
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await Promise.all(this.#trying.values())
  }

  /** Whether the gateway at an address may be gone, which will be known in a moment. */
  isInDoubt(address: string): boolean {
    return performance.now() - (this.#suspectMs.get(address) ?? -Infinity) < doubtMs
  }

  /** A connection to the gateway at an address was refused, or has broken. */
  suspect(address: string): void {
    const member = this.#options.living().find((one) => one.address === address)
    if (member === undefined || !this.#mayJudge(member)) return
    this.#doubt(address)
    this.#look(member)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const living = this.#options.living()
      const instances = new Set(living.map(({ instance }) => instance))
      for (const one of this.#reached) if (!instances.has(one)) this.#reached.delete(one)
      const addresses = new Set(living.map(({ address }) => address))
      for (const one of this.#suspectMs.keys()) {
        if (!addresses.has(one)) this.#suspectMs.delete(one)
      }
      const others = living.filter((one) => one.address !== this.#options.address)
      const sorted = others.toSorted((a, b) => (a.address < b.address ? -1 : 1))
      const next = sorted.find(({ address }) => address > this.#options.address) ?? sorted[0]
      for (const one of others) {
        if (one === next || !this.#reached.has(one.instance)) this.#look(one)
      }
      await sleep(lookMs, signal)
    }
  }

  #mayJudge({ instance, isLeaving }: SharedMember): boolean {
    return !isLeaving && this.#reached.has(instance) && !this.#judged.has(instance)
  }

  #doubt(address: string): void {
    if (!this.#suspectMs.has(address)) this.#suspectMs.set(address, performance.now())
  }

  #look(member: SharedMember): void {
    const { address } = member
    if (this.#stop.signal.aborted || this.#trying.has(address)) return
    const tried = this.#tried(member)
      // The database is away.
      .catch(() => undefined)
      .finally(() => void this.#trying.delete(address))
    this.#trying.set(address, tried)
  }

  async #tried(member: SharedMember): Promise<void> {
    const { living, read, remove, log } = this.#options
    const { address, instance } = member
    const state = await connected(address)
    if (state === 'taken') this.#reached.add(instance)
    if (state !== 'refused' || !this.#mayJudge(member)) {
      this.#suspectMs.delete(address)
      return
    }
    this.#doubt(address)
    await read()
    const seen = living().find((one) => one.address === address && one.instance === instance)
    await sleep(againMs, this.#stop.signal)
    if (seen === undefined || seen.isLeaving || this.#stop.signal.aborted) return
    if ((await connected(address)) !== 'refused') return
    if (!(await remove(seen))) return
    this.#judged.add(instance)
    log.warn(`the gateway ${address} refuses connections, so it counts as gone`)
    await read()
    this.#suspectMs.delete(address)
  }
}

/** Tries to connect to an address. */
function connected(address: string): Promise<'taken' | 'refused' | 'unknown'> {
  const { hostname: host, port } = hostOf(new URL(address))
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const end = (state: 'taken' | 'refused' | 'unknown'): void => {
      socket.destroy()
      resolve(state)
    }
    socket.once('connect', () => end('taken'))
    socket.on('error', (error) => end(isRefusal(error) ? 'refused' : 'unknown'))
    socket.setTimeout(connectDeadlineMs, () => end('unknown'))
  })
}

/** Of a name with several addresses, each has to refuse. */
function isRefusal(error: Error): boolean {
  if (error instanceof AggregateError) return (error.errors as Error[]).every(isRefusal)
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
}
