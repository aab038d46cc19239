import { joinedResumeToken, splitResumeToken } from '../reads/resume-token.ts'
import { type FrameParts, readPart } from './frame-plan.ts'
import type { GroupMember, MemberStream, StreamEnd } from './group-member.ts'

interface MergedPart {
  readonly member: GroupMember
  /** The token of the last frame taken. */
  token: string
  staleSince: string | null
  isSynced: boolean
  /** Whether its next frame begins its part of the snapshot that is under way. */
  isBeginning: boolean
}

export interface MergedStreamOptions {
  /** Writes a frame as the subscriber receives it. */
  readonly write: (frame: FrameParts) => string
  /** The token that the members resume from, if each of them has a position in it. */
  readonly resumedFrom: string | null | undefined
}

/**
 * The members of several groups as one subscriber: the lists of several kinds and clusters. Each frame is one of a
 * member, with what the subscriber needs to know of all of them: `synced` when every list is, a token with the position
 * in each list. A list that begins again would leave objects behind, so then all begin again: the subscriber gets one
 * `reset`, and the snapshots of all lists.
 */
export class MergedStream implements MemberStream {
  readonly #parts: readonly MergedPart[]
  readonly #write: (frame: FrameParts) => string
  /** The part whose turn it is. */
  #turn = 0
  /** Whether the next frame resets. */
  #resets: boolean
  #isClosed = false
  #left: () => void = () => {}

  constructor(members: readonly GroupMember[], { write, resumedFrom }: MergedStreamOptions) {
    const isResumed = typeof resumedFrom === 'string'
    const tokens = isResumed ? splitResumeToken(resumedFrom) : []
    this.#write = write
    this.#resets = !isResumed
    this.#parts = members.map((member, at) => ({
      member,
      token: tokens[at] ?? '',
      staleSince: null,
      isSynced: isResumed,
      isBeginning: !isResumed,
    }))
  }

  take(): Buffer | undefined {
    const { length } = this.#parts
    for (let tried = 0; tried < length && !this.isClosed; tried += 1) {
      const part = this.#parts[this.#turn]
      this.#turn = (this.#turn + 1) % length
      const payload = part?.member.take()
      if (part !== undefined && payload !== undefined) return this.#merged(part, readPart(payload))
    }
    return undefined
  }

  #merged(part: MergedPart, frame: FrameParts): Buffer {
    if (frame.reset && !part.isBeginning) this.#beginAnew(part)
    part.isBeginning = false
    part.isSynced = frame.synced
    part.token = frame.resumeToken
    part.staleSince = frame.staleSince
    const reset = this.#resets
    this.#resets = false
    const text = this.#write({
      ...frame,
      reset,
      synced: this.#parts.every(({ isSynced }) => isSynced),
      resumeToken: joinedResumeToken(this.#parts.map(({ token }) => token)),
      resourceVersion: this.#parts.length === 1 ? frame.resourceVersion : '',
      staleSince: earliest(this.#parts),
    })
    return Buffer.from(text)
  }

  /** Begins a snapshot of all lists with a frame of one of them. */
  #beginAnew(first: MergedPart): void {
    this.#resets = true
    for (const part of this.#parts) {
      if (part === first) continue
      part.member.beginAnew()
      part.isBeginning = true
      part.isSynced = false
      part.token = ''
    }
  }

  get end(): StreamEnd | undefined {
    const ends = this.#parts.flatMap(({ member: { end } }) => end ?? [])
    return ends.find(({ form }) => form === 'failed') ?? ends[0]
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#parts.some(({ member }) => member.isClosed)
  }

  get rows(): number {
    return this.#parts.reduce((sum, { member }) => sum + member.rows, 0)
  }

  onReady(ready: () => void): void {
    for (const { member } of this.#parts) member.onReady(ready)
  }

  onLeft(left: () => void): void {
    this.#left = left
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { member } of this.#parts) member.close()
    this.#left()
  }
}

/** The earliest time; times of one form order as texts do. */
function earliest(parts: readonly MergedPart[]): string | null {
  return parts.reduce<string | null>(
    (least, { staleSince }) =>
      staleSince !== null && (least === null || staleSince < least) ? staleSince : least,
    null,
  )
}
