/*
 * One candidate's view of a lease (client-go's `resourcelock` and `tryAcquireOrRenew`). Times in the lease come from other
 * clocks, so they are only compared for change: a lease runs out when it has not changed for its duration by the clock of
 * this process. Every write carries the resource version that it is based on.
 */

import type { ObjectClient } from '../api-server/writes/object-client.ts'
import { ApiStatusError, isConflict, isNotFound } from '../kubernetes/status.ts'
import { microTimestamp } from '../kubernetes/timestamp.ts'
import type { Lease, LeaseSpec } from '../kubernetes/wire/coordination-v1.ts'

/** The lease of one election, and who competes for it. */
interface LeaseLockOptions {
  readonly client: Pick<ObjectClient<Lease>, 'create' | 'get' | 'update'>
  readonly namespace: string
  readonly name: string
  readonly identity: string
  /** Whole seconds. */
  readonly leaseDurationMs: number
  /** For each request. */
  readonly requestDeadlineMs: number
  /** A renewal has to read the lease first, because another client has changed it. */
  readonly slowPath: () => void
}

/** A write that made this process the holder. */
export interface Hold {
  /**
   * `performance.now()` when the write was sent. Rivals see it later, so none of them takes the lease before the lease's
   * duration has passed since then.
   */
  readonly sentAtMs: number
  readonly transitions: number
}

/** Why this process holds the lease no longer. */
export type LeaseLoss = 'deleted' | 'taken'

/** How many own writes are remembered. A lease by a forgotten one counts as another process's until it runs out. */
const mostOwnWrites = 100

export class LeaseLock {
  readonly #options: LeaseLockOptions
  #lease: Lease | undefined
  /** `performance.now()` when the lease was first seen with its present spec. */
  #seenAtMs = 0
  /**
   * The `renewTime` of the writes of this process that the server may hold now: the last one that succeeded, and those
   * after it without an answer. Tells this process from another one with its identity.
   */
  #ownWrites = new Set<string>()

  constructor(options: LeaseLockOptions) {
    this.#options = options
  }

  /** The holder that was last seen; `''` if there is none. */
  get holder(): string {
    return this.#spec.holderIdentity ?? ''
  }

  get transitions(): number {
    return this.#spec.leaseTransitions ?? 0
  }

  /**
   * Takes the lease if it is free or has run out. Resolves with `undefined` if it has not, or if a rival was faster. The
   * signal ends reading only: whether a write arrived has to be known.
   */
  async tryToTake(signal: AbortSignal): Promise<Hold | undefined> {
    const lease = await this.#read(signal)
    if (lease !== undefined && !this.#isOwn && !this.#isFree) return undefined
    try {
      return await this.#hold()
    } catch (error) {
      if (error instanceof ApiStatusError && error.httpStatus === 409) return undefined
      throw error
    }
  }

  /**
   * Extends the lease that this process holds. Resolves with a loss if the lease is gone or is another's. Rejects if the
   * outcome is unknown, or if the server refuses.
   */
  async renew(signal: AbortSignal): Promise<Hold | LeaseLoss> {
    try {
      return await this.#hold(signal)
    } catch (error) {
      if (!isOutdated(error)) throw error
    }
    this.#options.slowPath()
    const lease = await this.#read(signal)
    if (lease === undefined) return 'deleted'
    return this.#isOwn ? await this.#hold(signal) : 'taken'
  }

  /** Gives the lease up, so that a rival can take it at once. Does nothing if this process holds it no longer. */
  async release(deadlineMs: number): Promise<void> {
    const { signal } = new AbortController()
    try {
      await this.#free(deadlineMs)
    } catch (error) {
      if (!isOutdated(error)) throw error
      // Another client has changed the lease, perhaps its labels only.
      if ((await this.#read(signal)) !== undefined && this.#isOwn) await this.#free(deadlineMs)
    }
  }

  get #spec(): LeaseSpec {
    return this.#lease?.spec ?? {}
  }

  get #isOwn(): boolean {
    const { holderIdentity, renewTime = '' } = this.#spec
    return holderIdentity === this.#options.identity && this.#ownWrites.has(renewTime)
  }

  get #isFree(): boolean {
    const { leaseDurationSeconds = 0 } = this.#spec
    const durationMs =
      leaseDurationSeconds > 0 ? leaseDurationSeconds * 1000 : this.#options.leaseDurationMs
    return this.holder === '' || performance.now() - this.#seenAtMs >= durationMs
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name, requestDeadlineMs: deadlineMs } = this.#options
    try {
      this.#seen(await client.get({ namespace, name }, { deadlineMs, signal }))
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.#lease = undefined
    }
    return this.#lease
  }

  #seen(lease: Lease): void {
    const isChanged = JSON.stringify(lease.spec) !== JSON.stringify(this.#lease?.spec)
    if (this.#lease === undefined || isChanged) this.#seenAtMs = performance.now()
    this.#lease = lease
  }

  /** Writes this process as the holder, on the state that was last seen. */
  async #hold(signal?: AbortSignal): Promise<Hold> {
    const { client, namespace, name, identity, leaseDurationMs } = this.#options
    const now = microTimestamp(Date.now())
    const spec = {
      ...this.#spec,
      holderIdentity: identity,
      leaseDurationSeconds: leaseDurationMs / 1000,
      renewTime: now,
      ...(this.#isOwn ? {} : { acquireTime: now, leaseTransitions: this.#nextTransitions }),
    }
    const request = {
      deadlineMs: this.#options.requestDeadlineMs,
      ...(signal === undefined ? {} : { signal }),
    }
    const sentAtMs = performance.now()
    if (this.#ownWrites.size >= mostOwnWrites) this.#ownWrites.clear()
    this.#ownWrites.add(now)
    const written =
      this.#lease === undefined
        ? await client.create({ metadata: { namespace, name }, spec }, request)
        : await client.update({ ...this.#lease, spec }, request)
    this.#seen(written)
    this.#ownWrites = new Set([now])
    return { sentAtMs, transitions: this.transitions }
  }

  get #nextTransitions(): number {
    return this.#lease === undefined ? 0 : this.transitions + 1
  }

  async #free(deadlineMs: number): Promise<void> {
    if (this.#lease === undefined || !this.#isOwn) return
    const now = microTimestamp(Date.now())
    const spec = {
      ...this.#spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: now,
      acquireTime: now,
    }
    this.#seen(await this.#options.client.update({ ...this.#lease, spec }, { deadlineMs }))
  }
}

/** The lease has another version, or is gone. */
function isOutdated(error: unknown): boolean {
  return isConflict(error) || isNotFound(error)
}
