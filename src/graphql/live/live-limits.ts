import { defaultsOf, heldBytesOptions, type NumberOptions } from '../../lib/options.ts'
import { heapShare } from '../../lib/process-memory.ts'

/** Bounds of the memory that groups of subscribers hold. */
export interface LiveLimits {
  /** The frames that a group keeps for members that have not read them. A member further behind starts again. */
  readonly maxFrames: number
  /** The bytes of these frames. */
  readonly maxBytes: number
  /**
   * The memory of all groups: rows, snapshots and unread frames. More is refused with `QUERY_TOO_COSTLY`. Default: 15 % of
   * the heap.
   */
  readonly maxHeldBytes: number
  /** The same for one user, who counts for a part of what users share. Default: a half of that. */
  readonly maxHeldBytesPerUser: number
}

/** Every default and bound of {@link LiveLimits}. */
export const liveOptions: NumberOptions<LiveLimits> = {
  maxFrames: { byDefault: 256, least: 1, most: 1_000_000 },
  maxBytes: { byDefault: 8 << 20, least: 65_536, most: 1_099_511_627_776 },
  ...heldBytesOptions(heapShare('subscriptions')),
}

export const defaultLiveLimits: LiveLimits = defaultsOf(liveOptions)

export interface LiveState extends Readonly<LiveCounts> {
  readonly groups: number
  readonly members: number
  /** The memory of all groups: rows, snapshots and unread frames. */
  readonly heldBytes: number
}

/** Counts since the process began. */
export interface LiveCounts {
  /** Merges of several frames into one, for a reader that was behind. */
  merged: number
  /** Frames of changes that groups have written, each once for all its readers. */
  written: number
  /** The bytes of these frames. */
  writtenBytes: number
  /** Frames that readers have taken. */
  frames: number
  /** Readers that were too far behind and started again. */
  resets: number
  /** Subscriptions that resumed from their token. */
  resumed: number
  /** Subscriptions that had a token and started again. */
  notResumed: number
}
