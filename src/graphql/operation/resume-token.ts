/** Where a subscription stood: what a client sends as `resumeFrom`. */
export interface ResumePosition {
  readonly cluster: string
  /** The resource version of each kind, by type name. */
  readonly positions: Readonly<Record<string, string>>
}

const version = 1

/** A resume token: opaque, unsigned like a cursor. Until replay is there, every token is answered by `reset`. */
export function encodeResumeToken({ cluster, positions }: ResumePosition): string {
  return Buffer.from(JSON.stringify([version, cluster, positions])).toString('base64url')
}
