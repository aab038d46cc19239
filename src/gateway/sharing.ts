/*
 * Which of the clusters this gateway holds, where gateways share them by the Postgres of their archive.
 *
 * Each gateway has a row that it prolongs again and again, and reads the rows of the others meanwhile. Of the gateways that
 * live, rendezvous hashing says which one should hold a cluster: so joining and leaving move only what must move. A second
 * row says which one serves the cluster now. The gateway that should hold it makes it a cluster of its own first: it
 * connects, and takes the objects from the archive, while the former holder goes on answering. When it is loaded, it takes
 * the row. The former holder sees that, and lets the cluster go once all the others must have seen it, too: until then they
 * may still ask it. The cluster of a gateway that lives no more is taken at once: when its row is over, or when its process
 * is seen to have ended (`gone-members.ts`).
 *
 * While Postgres is away, everything stays as it was last known. When it is back, all rows are over; so for a while every
 * gateway that lived before counts as living, until each has had the time to prolong its row.
 *
 * Who serves a cluster is no lock: for a moment two gateways may hold it, and both answer rightly. Who writes it into the
 * archive is one (`archive/store/holders.ts`).
 */

import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { AuthenticationOptions } from '../access/authentication/authentication-options.ts'
import type { Archive } from '../archive/archive.ts'
import type { SharedClusters, SharedMember, SharingCalls } from '../archive/archive-calls.ts'
import { archivePlace, type ArchiveOptions } from '../archive/archive-options.ts'
import { sleep } from '../lib/backoff.ts'
import { withDeadline } from '../lib/deadline.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { InvalidOptionError } from '../lib/options.ts'
import { GoneMembers } from './gone-members.ts'
import type { FailureLog, GatewayLog } from './observers.ts'
import type { DirectorySourceOptions } from './sources/directory-source.ts'
import type { HubSourceOptions } from './sources/hub-source.ts'

/** How this gateway shares the clusters with others. */
export interface ShareOptions {
  /** The address at which the other gateways reach this one, as `http://10.0.0.7:4000`. Absent: clusters are not shared. */
  readonly address?: string | undefined
  /** The file of the CA that has signed the certificates of the other gateways. Default: those that Node trusts. */
  readonly caFile?: string | undefined
  /**
   * The file of a client certificate. By it the other gateways trust the headers that name a caller (`auth.mode: request-header`), and it
   * is sent for such callers only.
   */
  readonly certFile?: string | undefined
  /** The file of its key. */
  readonly keyFile?: string | undefined
}

/** How far a cluster is that this gateway should hold. */
export type Loading = 'absent' | 'connecting' | 'loading' | 'loaded'

export interface SharingParts {
  readonly archive: SharingCalls & Pick<Archive, 'onMembers'>
  readonly log: GatewayLog
  readonly failures: FailureLog
  /** The clusters that gateways share, as this one knows them. */
  readonly clusters: () => readonly string[]
  readonly loading: (cluster: string) => Loading
  /** Called again and again after a cluster was taken over: its former holder may have let go of it. */
  readonly claim: (cluster: string) => void
  /** Called after something about any cluster has changed. */
  readonly changed: () => void
}

const beatMs = 1_500
/** While clusters are being taken over. */
const takeMs = 250
/** How long a gateway counts as living after its row is over, if Postgres was away: the time of a row, and a beat. */
const graceMs = 7_500
/** How long the former holder of a cluster is waited with until the caches of the next one are loaded. */
const loadDeadlineMs = 60_000
/** How long the former holder of a cluster still answers for it. By then, each gateway has read the rows twice. */
const handOverMs = 5_000
/** How long after it was taken over a cluster may still be written by its former holder. */
const claimMs = 20_000
/** How long a cluster is expected to be served again after its gateway has gone. */
const comingMs = 5_000
const startDeadlineMs = 10_000
const leaveDeadlineMs = 15_000

export class Sharing implements AsyncDisposable {
  readonly address: string
  readonly #parts: SharingParts
  readonly #instance = randomUUID()
  readonly #stop = new AbortController()
  /** The members that want clusters, the members that live, and who serves each cluster. `undefined`: not known yet. */
  #wanting: readonly string[] = []
  #living: ReadonlySet<string> = new Set()
  /** The rows of those that live. */
  #members: readonly SharedMember[] = []
  readonly #gone: GoneMembers
  /** When the gateways of clusters were seen to be gone. */
  readonly #lostMs = new Map<string, number>()
  #holders: ReadonlyMap<string, string> | undefined
  /** Who should hold each cluster, of those that want clusters now. */
  #wanted = new Map<string, string | undefined>()
  /** Since when clusters are being loaded to be taken over. */
  readonly #loadingSinceMs = new Map<string, number>()
  /** When clusters were taken over. */
  readonly #takenMs = new Map<string, number>()
  /** When clusters were handed over to another gateway. */
  readonly #handedOverMs = new Map<string, number>()
  #isLeaving = false
  /** Since when the rows have been read without a pause in which this gateway's own could end. */
  #contactSinceMs = 0
  #contactMs = -Infinity
  /** When the rows are read again: no later than the first of them is over. */
  #dueMs = -Infinity
  #isWoken = false
  #woken = Promise.withResolvers<void>()
  #first = Promise.withResolvers<void>()
  /** The reading that begins next. */
  #nextRead = reading()
  #running: Promise<void> = Promise.resolve()

  constructor(address: string, parts: SharingParts) {
    this.address = new URL(address).origin
    this.#parts = parts
    this.#gone = new GoneMembers({
      address: this.address,
      living: () => this.#members,
      read: () => {
        const { promise } = this.#nextRead
        this.wake()
        return promise
      },
      remove: (member) => parts.archive.removeGone(member),
      log: parts.log,
    })
  }

  /** Whether this gateway should have the cluster in its caches: it serves it, is to take it over, or has just handed it over. */
  isHere(cluster: string): boolean {
    if (this.#holders === undefined) return false
    if (this.#handedOverMs.has(cluster)) return true
    return this.#holders.get(cluster) === this.address || this.#wantedOf(cluster) === this.address
  }

  /** The address of the living gateway that serves a cluster; `null`: none. */
  holderOf(cluster: string): string | null {
    const holder = this.#holders?.get(cluster)
    return holder !== undefined && this.#living.has(holder) ? holder : null
  }

  isLiving(address: string): boolean {
    return this.#living.has(address)
  }

  /** Whether a cluster whose gateway is gone, or has just taken it over from one that is, will be served in a moment. */
  isComing(cluster: string): boolean {
    const holder = this.#holders?.get(cluster)
    if (holder === undefined) return false
    if (this.#gone.isInDoubt(holder)) return true
    const lostMs = this.#lostMs.get(cluster)
    if (lostMs === undefined) return false
    if (performance.now() - lostMs > comingMs) {
      this.#lostMs.delete(cluster)
      return false
    }
    // From then on, a question waits for the kinds that it is about.
    if (holder === this.address) return isConnecting(this.#parts.loading(cluster))
    return !this.#living.has(holder) && this.#wanting.length > 0
  }

  /** A question to the gateway at an address has found it closed, or has lost its connection. */
  suspect(address: string): void {
    this.#gone.suspect(address)
  }

  /** Shows other gateways that this one has made a document, and no client. */
  proofOf(document: string): string {
    return proofBy(this.#instance, document)
  }

  /** Whether a living gateway has made a document: the one of this address, by its {@link proofOf}. */
  isProven(address: string, document: string, proof: string): boolean {
    // Only who reads the rows knows the instance.
    const instance = this.#members.find((one) => one.address === address)?.instance
    if (instance === undefined) return false
    const [right, given] = [proofBy(instance, document), proof].map((text) => Buffer.from(text))
    return right?.length === given?.length && timingSafeEqual(right ?? empty, given ?? empty)
  }

  get counts(): Readonly<Record<'members' | 'held' | 'remote' | 'none', number>> {
    const counts = { members: this.#living.size, held: 0, remote: 0, none: 0 }
    for (const cluster of this.#parts.clusters()) {
      const holder = this.holderOf(cluster)
      counts[holder === this.address ? 'held' : holder === null ? 'none' : 'remote'] += 1
    }
    return counts
  }

  /** Why the gateway is not ready. */
  get reasons(): readonly string[] {
    return this.#holders === undefined
      ? ['it is not known yet which gateways share the clusters: Postgres does not answer']
      : []
  }

  /** Begins. Resolves when it is known who holds what, or after a while. Never rejects. */
  async start(): Promise<void> {
    const forget = this.#parts.archive.onMembers(() => this.wake())
    this.#running = this.#run().finally(forget)
    this.#gone.run()
    await withDeadline(
      'reading who shares the clusters',
      this.#first.promise,
      startDeadlineMs,
    ).catch((error: Error) =>
      this.#parts.log.warn(`${error.message}; none is held until it is known`),
    )
  }

  /** Looks now, instead of a moment later. */
  wake(): void {
    this.#isWoken = true
    this.#woken.resolve()
  }

  /** Asks the other gateways to take over what this one holds. Resolves when they have, or after a while. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    this.wake()
    const untilMs = performance.now() + leaveDeadlineMs
    const { signal } = this.#stop
    const holds = () =>
      this.#handedOverMs.size > 0 || [...(this.#holders?.values() ?? [])].includes(this.address)
    const hasOthers = () => [...this.#living].some((one) => one !== this.address)
    // While Postgres is away, nobody can.
    const canTake = () => performance.now() - this.#contactMs < graceMs
    while (holds() && hasOthers() && canTake() && performance.now() < untilMs && !signal.aborted) {
      await sleep(takeMs, signal)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
    this.#nextRead.reject(new Error('the gateway is stopping'))
    await this.#gone.end()
    await this.#parts.archive.removeMember(this.#member).catch(() => undefined)
  }

  get #member(): { address: string; instance: string; isLeaving: boolean } {
    return { address: this.address, instance: this.#instance, isLeaving: this.#isLeaving }
  }

  /** Rendezvous hashing: each cluster has an order of all gateways of its own, and the first one that lives should hold it. */
  #wantedOf(cluster: string): string | undefined {
    if (this.#wanted.has(cluster)) return this.#wanted.get(cluster)
    let wanted: string | undefined
    let most = ''
    for (const address of this.#wanting) {
      const weight = createHash('sha256').update(`${cluster}\n${address}`).digest('hex')
      if (wanted === undefined || weight > most) [wanted, most] = [address, weight]
    }
    this.#wanted.set(cluster, wanted)
    return wanted
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    const { archive, failures } = this.#parts
    let isFirst = true
    while (!signal.aborted) {
      const read = this.#nextRead
      try {
        if (this.#isWoken || performance.now() >= this.#dueMs) {
          this.#isWoken = false
          this.#dueMs = performance.now() + beatMs
          this.#nextRead = reading()
          const shared = await archive.prolongMember(this.#member)
          // The first time, it is the process before this one.
          if (shared.isOther && !isFirst) {
            const text = `another gateway has the address ${this.address}, too`
            failures.error(text, { hint: 'give each gateway a share.address of its own' })
          }
          isFirst = false
          this.#take(shared)
          this.#letGo()
          this.#first.resolve()
          read.resolve()
        }
        await this.#takeOver()
      } catch (error) {
        // What is held is held on, by what was known last.
        const { message } = error as Error
        if (read !== this.#nextRead) read.reject(error)
        failures.warn(`the gateways that share the clusters are not known at present: ${message}`)
      }
      if (this.#isWoken) continue
      this.#woken = Promise.withResolvers()
      const untilDueMs = Math.max(0, this.#dueMs - performance.now())
      const pauseMs = this.#loadingSinceMs.size > 0 ? Math.min(takeMs, untilDueMs) : untilDueMs
      await Promise.race([this.#woken.promise, sleep(pauseMs, signal)])
    }
  }

  /** Notes what the rows say. */
  #take({ members, holders }: SharedClusters): void {
    const { log, changed } = this.#parts
    const nowMs = performance.now()
    for (const { remainingMs } of members) {
      if (remainingMs >= 0) this.#dueMs = Math.min(this.#dueMs, nowMs + remainingMs + 1)
    }
    if (nowMs - this.#contactMs > graceMs - beatMs) this.#contactSinceMs = nowMs
    this.#contactMs = nowMs
    const isGrace = nowMs - this.#contactSinceMs < graceMs
    // If another one lives when this gateway starts, Postgres was not away.
    const isAlone = members.every((one) => one.remainingMs < 0 || one.address === this.address)
    const isKnown = (address: string): boolean =>
      this.#holders === undefined ? isAlone : this.#living.has(address)
    const living = members.filter(
      (one) => one.remainingMs >= 0 || (isGrace && isKnown(one.address)),
    )
    const addresses = living.map(({ address }) => address).toSorted()
    this.#members = living
    const wanting = living
      .flatMap(({ address, isLeaving }) => (isLeaving ? [] : [address]))
      .toSorted()
    const before = this.#holders
    const areSame =
      before !== undefined &&
      wanting.join(' ') === this.#wanting.join(' ') &&
      addresses.join(' ') === [...this.#living].join(' ') &&
      before.size === holders.length &&
      holders.every(([cluster, address]) => before.get(cluster) === address)
    if (areSame) return
    for (const one of addresses) {
      if (!this.#living.has(one) && one !== this.address) log.info(`shares clusters with ${one}`)
    }
    for (const one of this.#living) {
      if (!addresses.includes(one)) log.info(`the gateway ${one} is gone`)
    }
    for (const [cluster, address] of holders) {
      const isLost = this.#living.has(address) && !addresses.includes(address)
      if (isLost) this.#lostMs.set(cluster, nowMs)
      if (before?.get(cluster) !== this.address || address === this.address) continue
      log.info(`is handed over to ${address}`, { cluster })
      this.#handedOverMs.set(cluster, nowMs)
    }
    if (wanting.join(' ') !== this.#wanting.join(' ')) this.#wanted = new Map()
    this.#wanting = wanting
    this.#living = new Set(addresses)
    this.#holders = new Map(holders)
    changed()
  }

  /** Forgets what was handed over a while ago. */
  #letGo(): void {
    const before = this.#handedOverMs.size
    for (const [cluster, handedOverMs] of this.#handedOverMs) {
      if (performance.now() - handedOverMs > handOverMs) this.#handedOverMs.delete(cluster)
    }
    if (this.#handedOverMs.size < before) this.#parts.changed()
  }

  /** Takes the clusters over that this gateway should serve, once it can: at once if nobody serves them. */
  async #takeOver(): Promise<void> {
    const { clusters, loading, archive, log, changed, claim } = this.#parts
    const nowMs = performance.now()
    for (const [cluster, takenMs] of this.#takenMs) {
      if (nowMs - takenMs > claimMs) this.#takenMs.delete(cluster)
      else claim(cluster)
    }
    const waiting = clusters().filter(
      (one) => this.#wantedOf(one) === this.address && this.#holders?.get(one) !== this.address,
    )
    const waits = new Set(waiting)
    for (const one of this.#loadingSinceMs.keys()) {
      if (!waits.has(one)) this.#loadingSinceMs.delete(one)
    }
    const due = waiting.filter((cluster) => {
      const state = loading(cluster)
      if (state === 'absent') return false
      const sinceMs = getOrInsert(this.#loadingSinceMs, cluster, () => nowMs)
      if (state === 'loaded' || this.holderOf(cluster) === null) return true
      // The former holder may reach a cluster that this gateway cannot.
      return state === 'loading' && nowMs - sinceMs > loadDeadlineMs
    })
    if (due.length === 0) return
    const takings = due.map((cluster) => ({ cluster, former: this.#holders?.get(cluster) }))
    const taken = await archive.takeClusters(this.#member, takings)
    if (taken.length === 0) return
    for (const cluster of taken) {
      const former = this.#holders?.get(cluster)
      log.info(former === undefined ? 'is held from now on' : `is taken over from ${former}`, {
        cluster,
      })
      this.#loadingSinceMs.delete(cluster)
      this.#takenMs.set(cluster, performance.now())
    }
    this.#holders = new Map([
      ...(this.#holders ?? []),
      ...taken.map((cluster) => [cluster, this.address] as const),
    ])
    changed()
  }
}

const empty = Buffer.alloc(0)

function isConnecting(loading: Loading): boolean {
  return loading === 'absent' || loading === 'connecting'
}

function reading(): PromiseWithResolvers<void> {
  const read = Promise.withResolvers<void>()
  // Node reports a rejected promise that nobody handles, and often nobody waits for a reading.
  read.promise.catch(() => undefined)
  return read
}

function proofBy(instance: string, document: string): string {
  return createHmac('sha256', instance).update(document).digest('hex')
}

/** Throws `InvalidOptionError` unless gateways can share clusters by this archive, and each has the hubs that it reads. */
export function checkShare({
  share,
  archive,
  clusters,
  clusterSources = [],
}: {
  readonly share?: ShareOptions
  readonly archive?: Pick<ArchiveOptions, 'url'>
  readonly clusters: readonly { readonly name: string; readonly everywhere?: boolean }[]
  readonly clusterSources?: readonly (DirectorySourceOptions | HubSourceOptions)[]
}): void {
  if (share?.address === undefined) return
  if (archive === undefined || archivePlace(archive.url).form !== 'postgres') {
    const problem = 'gateways share clusters (share.address) by a database that all of them reach'
    throw new InvalidOptionError('archive.url', archive?.url, 'the address of a Postgres', problem)
  }
  for (const source of clusterSources) {
    if (source.type === 'directory') continue
    const at = clusters.findIndex(({ name, everywhere }) => name === source.hub && !everywhere)
    if (at < 0) continue
    const problem = `all gateways read the hub ${source.hub}, and one alone would hold it`
    throw new InvalidOptionError(`clusters[${at}].everywhere`, false, 'true', problem)
  }
}

/** Throws `InvalidOptionError` if the gateways would not take each other's sessions. */
export function checkSessions(
  share: ShareOptions | undefined,
  { mode, login }: Pick<AuthenticationOptions, 'mode' | 'login'>,
): void {
  const isShared = share?.address !== undefined && mode === 'oidc-login' && login !== undefined
  if (!isShared || login.sessionSecretFile !== undefined) return
  const problem = 'gateways that share clusters (share.address) take the sessions of each other'
  const expected = 'a file with the same secrets for all of them'
  throw new InvalidOptionError('auth.login.sessionSecretFile', undefined, expected, problem)
}

/** Whether a text is an address of a gateway: `http` or `https`, without a path. */
export function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin } = new URL(text)
  return /^https?:$/.test(protocol) && origin === text.replace(/\/$/, '')
}
