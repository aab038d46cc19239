/** What the groups of subscribers may hold. */
export interface LiveLimits {
  /** Frames that a group keeps for those who have not read them; who is further behind begins anew. */
  readonly maxFrames: number
  /** The same in bytes. */
  readonly maxBytes: number
  /**
   * What all groups hold together: rows, snapshots, and frames that somebody has not read. What would be held beyond that is
   * refused with `QUERY_TOO_COSTLY`.
   */
  readonly maxHeldBytes: number
  /** The same for one user, who counts for a part of what is shared with others. */
  readonly maxHeldBytesPerUser: number
}

/** Every default of {@link LiveLimits}. */
export const defaultLiveLimits: LiveLimits = {
  maxFrames: 256,
  maxBytes: 8 << 20,
  maxHeldBytes: 512 << 20,
  maxHeldBytesPerUser: 256 << 20,
}

/** How subscriptions are. */
export interface LiveState extends Readonly<LiveCounts> {
  readonly groups: number
  readonly members: number
  /** What all groups hold: rows, and frames on their way. */
  readonly heldBytes: number
}

/** What has become of subscriptions, counted since the process began. */
export interface LiveCounts {
  /** Several frames that became one, for a reader that was behind. */
  merged: number
  /** Frames that subscribers of groups were given. */
  frames: number
  /** Readers that had to begin anew, as they were too far behind. */
  resets: number
  /** Subscriptions that went on where they stood. */
  resumed: number
  /** Subscriptions that came with a token and had to begin anew. */
  notResumed: number
}
