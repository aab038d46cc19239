/*
 * The bounds of writes, in one table, and their counters: the writes of a user in a minute (`WriteQuota`), and the bytes
 * that the writes of an operation hold until its answer is sent (`OperationBytes`), which count together with those of
 * all other operations.
 */

import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../access/viewer.ts'
import { valueBytes } from '../../informer/codec/template.ts'
import { defaultsOf, heldBytesOptions, type NumberOptions } from '../../lib/options.ts'
import { heapShare } from '../../lib/process-memory.ts'
import { ClientError } from '../errors/client-error.ts'
import { type ByteHolder, HeldBytes } from '../prepare/user-shares.ts'

/** The bounds of writes. Times are milliseconds. */
export interface WriteLimits {
  /** Writes of one operation: each mutation is one, and each document of an `apply`. */
  readonly maxWrites: number
  /**
   * The memory of the answers of all writes, until they are sent. Further writes are refused before they are made. Default:
   * 4 % of the heap, up to 128 MiB.
   */
  readonly maxHeldBytes: number
  /** The same for one user. Default: a half of that. */
  readonly maxHeldBytesPerUser: number
  /** Characters of one manifest or patch, as sent and after its YAML aliases are resolved. */
  readonly maxBytes: number
  /** Writes of one user in a minute, evictions of drains included; unused ones add up to this many. */
  readonly writesPerMinute: number
  /** How long one request to the API server may take. */
  readonly requestDeadlineMs: number
  /** How long a write waits until the cache has it. */
  readonly cacheDeadlineMs: number
  /** How long a drain may take. */
  readonly drainDeadlineMs: number
  /** Drains of one user at a time. */
  readonly maxDrains: number
}

/** Every default and bound of {@link WriteLimits}. */
export const writeOptions: NumberOptions<WriteLimits> = {
  maxWrites: { byDefault: 100, least: 1, most: 10_000 },
  ...heldBytesOptions(heapShare('writes', 128 << 20)),
  maxBytes: { byDefault: 1 << 20, least: 1_024, most: 16_777_216 },
  writesPerMinute: { byDefault: 600, least: 1, most: 1_000_000 },
  requestDeadlineMs: { byDefault: 35_000, least: 100, most: 600_000 },
  cacheDeadlineMs: { byDefault: 5_000, least: 0, most: 600_000 },
  drainDeadlineMs: { byDefault: 600_000, least: 1_000, most: 86_400_000 },
  maxDrains: { byDefault: 5, least: 1, most: 1_000 },
}

export const defaultWriteLimits: WriteLimits = defaultsOf(writeOptions)

interface Allowance {
  left: number
  /** By `performance.now()`. */
  atMs: number
}

const maxUsers = 10_000

/** The writes that each user may still make: a bucket that fills steadily. Without authentication there is one user. */
export class WriteQuota {
  readonly #perMinute: number
  readonly #users = new LRUCache<string, Allowance>({ max: maxUsers })

  constructor({ writesPerMinute }: Pick<WriteLimits, 'writesPerMinute'>) {
    this.#perMinute = writesPerMinute
  }

  /** Takes one write. Throws `ClientError` TOO_MANY_WRITES. */
  take(viewer: Viewer | undefined): void {
    const most = this.#perMinute
    const nowMs = performance.now()
    const user = viewer?.username ?? ''
    const known = this.#users.get(user) ?? { left: most, atMs: nowMs }
    const left = Math.min(most, known.left + ((nowMs - known.atMs) * most) / 60_000)
    this.#users.set(user, { left: left < 1 ? left : left - 1, atMs: nowMs })
    if (left >= 1) return
    const retryAfterMs = Math.ceil(((1 - left) * 60_000) / most)
    const message = `this user has made ${most} writes within a minute`
    const details = { value: most, hint: 'wait, then write the rest', retryAfterMs }
    throw new ClientError('TOO_MANY_WRITES', message, details)
  }
}

/** Counts the memory that all writes hold. */
export function heldByWrites(limits: WriteLimits): HeldBytes {
  const hint = 'write fewer or smaller objects in one operation, or try again later'
  return new HeldBytes(limits, { name: 'writes', hint })
}

/**
 * Counts the memory that the writes of one operation hold, until it is disposed: payloads wait for the writes that
 * follow.
 */
export class OperationBytes implements ByteHolder, Disposable {
  readonly users: ReadonlySet<string>
  readonly #all: HeldBytes
  #kept = 0
  /** The memory expected for the write under way. */
  #expected = 0

  constructor(all: HeldBytes, viewer: Viewer | undefined) {
    this.#all = all
    this.users = new Set(viewer === undefined ? [] : [viewer.username])
  }

  get heldBytes(): number {
    return this.#kept + this.#expected
  }

  /** Makes room for the states of an object before and after a write. Throws `NoRoomError` if there is none. */
  expect(before: unknown): void {
    this.#expected = 2 * valueBytes(before)
    const full = this.#all.hold(this)
    if (full === undefined) return
    this.#expected = 0
    this.#all.hold(this)
    throw full
  }

  /** Counts the payload of the write under way. */
  keep(held: unknown): void {
    this.#kept += valueBytes(held)
    this.#expected = 0
    this.#all.hold(this)
  }

  [Symbol.dispose](): void {
    this.#all.release(this)
  }
}
