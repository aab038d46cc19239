/** What the groups of subscribers may hold. */
export interface LiveLimits {
  /** Frames that a group keeps for those who have not read them; who is further behind begins anew. */
  readonly maxFrames: number
  /** The same in bytes. */
  readonly maxBytes: number
  /**
   * Texts of objects that all groups hold together, and of the snapshots that newcomers are reading; the subscriptions of a group
   * that grows past it are answered one by one.
   */
  readonly maxHeldBytes: number
}

/** Every default of {@link LiveLimits}. */
export const defaultLiveLimits: LiveLimits = {
  maxFrames: 256,
  maxBytes: 8 << 20,
  maxHeldBytes: 512 << 20,
}

/** How subscriptions are. */
export interface LiveState extends Readonly<LiveCounts> {
  readonly groups: number
  readonly members: number
  /** What the texts take that all groups hold: of objects, and of frames for newcomers and for who is behind. */
  readonly heldBytes: number
}

/** What has become of subscriptions, counted since the process began. */
export interface LiveCounts {
  /** Several frames that became one, for a reader that was behind. */
  merged: number
  /** Readers that had to begin anew, as they were too far behind. */
  resets: number
  /** Subscriptions that went on where they stood. */
  resumed: number
  /** Subscriptions that came with a token and had to begin anew. */
  notResumed: number
}
