/** Where the bytes of a streamed answer go. Faults put themselves in between. */
export interface ResponseSink {
  /** Resolves when there is room for more; `false` when the connection is gone. */
  write(chunk: Buffer): Promise<boolean>
  /** Ends the answer cleanly. */
  end(): void
  /** Breaks the connection. */
  destroy(): void
}

/** A piece of a watch stream as faults see it. */
export interface WatchFrame {
  readonly kind: 'event' | 'bookmark' | 'initial-events-end' | 'error'
  readonly bytes: Buffer
}

/** What faults do to the frames of one watch: the pieces to send instead. `end` closes the stream after them. */
export type FrameRewriter = (frame: WatchFrame) => {
  readonly bytes: readonly Buffer[]
  readonly end: boolean
}
