/*
 * The tokens by which a subscription goes on where its client stopped. A token holds the versions of the stores that the
 * client has seen. Hashes bind it to the lists, to the histories of their clusters and to the viewer's access. A token
 * that does not fit leads to a new snapshot.
 */

import { isRecord } from '../../lib/json.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { encodeFields, fieldsOf, isText } from '../../query/page/cursor.ts'
import { joinedHash } from '../prepare/viewer-access.ts'

export type Positions = Readonly<Record<string, string>>

/** The position of a subscription, which a client sends as `resumeFrom`. */
export interface ResumePosition {
  /** A hash of the identities and histories of the clusters of the lists. */
  readonly incarnation: string
  /** A hash of the lists by their clusters and arguments, without the selection. */
  readonly list: string
  readonly access: string
  /**
   * The resource version of each kind of each list, by {@link positionName}. A client that has applied all frames up to
   * the token holds all changes up to these versions. Empty within an incomplete snapshot, which cannot be resumed.
   */
  readonly positions: Positions
  /**
   * Whether the client may hold changes after the positions: in the middle of several frames, or after frames with
   * newer states of objects.
   */
  readonly isAhead: boolean
}

/** The parts of a token besides the positions, joined over all lists. */
export function positionOfLists(of: {
  readonly lists: readonly string[]
  readonly incarnations: readonly string[]
  /** As `joinedFingerprint` makes it. */
  readonly access: string
}): Omit<ResumePosition, 'positions' | 'isAhead'> {
  const [list, incarnation] = [joinedHash(of.lists), joinedHash(of.incarnations)]
  return { incarnation, list, access: of.access }
}

/** The name of a position in a token, from its name within the list. */
export function positionName(listNumber: number, name: string): string {
  return `${listNumber} ${name}`
}

/** Raise when the fields of a token change. */
const version = 5
/** A token has a position for each kind in each of, say, a thousand clusters. */
const maxLength = 262_144

/**
 * An opaque token, the same on every replica. Like a cursor, it has no signature: forging it only moves the position of
 * its own client.
 */
export function encodeResumeToken(position: ResumePosition): string {
  const { incarnation, list, access, positions, isAhead } = position
  const fields = [version, incarnation, list, access, positions, Number(isAhead)]
  return encodeFields(fields)
}

/** The position in a token; `undefined` for a token of another version. Throws `ArgumentError`. */
export function decodeResumeToken(token: string): ResumePosition | undefined {
  const fields = fieldsOf(token, maxLength)
  if (fields !== undefined && fields[0] !== version) return undefined
  const [, incarnation, list, access, positions, ahead] = fields ?? []
  if (isText(incarnation) && isText(list) && isText(access) && isPositions(positions)) {
    return { incarnation, list, access, positions, isAhead: ahead !== 0 }
  }
  throw new ArgumentError('resumeFrom', 'is not a resume token', {
    value: token,
    hint: 'send the `resumeToken` of the last frame that was applied, or nothing',
  })
}

function isPositions(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every(isText)
}
