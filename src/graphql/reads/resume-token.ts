import { ArgumentError } from '../../query/condition/argument-error.ts'

/** Resource versions by type name. */
export type Positions = Readonly<Record<string, string>>

/** Where a subscription stood: what a client sends as `resumeFrom`. */
export interface ResumePosition {
  readonly cluster: string
  /** Which cluster that was, and which of its histories; `''` where that is not known. */
  readonly incarnation: string
  /** The hash of the list that was asked for: its arguments, not what was selected. */
  readonly list: string
  /** What the viewer could see, as a fingerprint. */
  readonly access: string
  /**
   * The resource version of each kind, by type name: whoever has applied all that was sent holds all that happened until
   * then. Empty within a snapshot that is not complete, from where nothing can be resumed.
   */
  readonly positions: Positions
  /**
   * Whether more may have been sent than led to the positions: in the midst of several frames, or where objects were sent as they
   * had come to be meanwhile.
   */
  readonly isAhead: boolean
}

/** Raised when what stands in a token changes. */
const version = 4
const maxLength = 16_384

/** A `resumeFrom` that no gateway has given out. */
export class ResumeTokenError extends ArgumentError {
  constructor(token: string) {
    super('resumeFrom', 'is not a resume token', {
      value: token,
      hint: 'send the `resumeToken` of the last frame that was applied, or nothing',
    })
  }
}

/** A resume token: opaque, the same on every replica, unsigned like a cursor, as a forged one moves only its owner's own position. */
export function encodeResumeToken(position: ResumePosition): string {
  const { cluster, incarnation, list, access, positions, isAhead } = position
  const fields = [version, cluster, incarnation, list, access, positions, Number(isAhead)]
  return Buffer.from(JSON.stringify(fields)).toString('base64url')
}

/** What stands in a token; `undefined` where it is one of another version. Throws {@link ResumeTokenError}. */
export function decodeResumeToken(token: string): ResumePosition | undefined {
  const fields = fieldsOf(token)
  if (fields === undefined) throw new ResumeTokenError(token)
  const [, cluster, incarnation, list, access, positions, ahead] = fields
  if (fields[0] !== version) return undefined
  if (!isText(cluster) || !isText(incarnation)) throw new ResumeTokenError(token)
  if (!isText(list) || !isText(access) || !isPositions(positions)) throw new ResumeTokenError(token)
  return { cluster, incarnation, list, access, positions, isAhead: ahead !== 0 }
}

function fieldsOf(token: string): readonly unknown[] | undefined {
  if (token.length > maxLength) return undefined
  const bytes = Buffer.from(token, 'base64url')
  // Buffer skips what is not base64url; a token has no such characters.
  if (bytes.toString('base64url') !== token) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return Array.isArray(value) && Number.isInteger(value[0]) ? value : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isPositions(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(isText)
}
