/** Bounds of what groups of subscribers hold. */
export interface LiveLimits {
  /** Frames that a group keeps for members that have not read them. A member that is further behind begins anew. */
  readonly maxFrames: number
  /** The same in bytes. */
  readonly maxBytes: number
  /**
   * What all groups hold together: rows, snapshots, and frames that a member has not read. More is refused with
   * `QUERY_TOO_COSTLY`.
   */
  readonly maxHeldBytes: number
  /** The same for one user, who counts for a part of what is shared. */
  readonly maxHeldBytesPerUser: number
}

/** Every default of {@link LiveLimits}. */
export const defaultLiveLimits: LiveLimits = {
  maxFrames: 256,
  maxBytes: 8 << 20,
  maxHeldBytes: 512 << 20,
  maxHeldBytesPerUser: 256 << 20,
}

/** The state of subscriptions. */
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
  /** Frames that readers have taken. */
  frames: number
  /** Readers that were too far behind and started again. */
  resets: number
  /** Subscriptions that resumed from their token. */
  resumed: number
  /** Subscriptions that had a token and started again. */
  notResumed: number
}
