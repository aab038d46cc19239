import type { AnswerReader } from './pod-questions.ts'

/** What a load process is to do. */
export interface Load {
  readonly url: string
  /** Sent as a POST; GET without one. */
  readonly body?: string
  /** Sent one after the other, instead of `body`. */
  readonly bodies?: readonly string[]
  /** The header of that name. */
  readonly authorization?: string
  readonly connections: number
  readonly warmUpMs: number
  readonly durationMs: number
  /** What is done with each answer. */
  readonly reader: AnswerReader
  /** How many rows each answer must have. */
  readonly rows: number
}
