import { CodedError } from '../lib/coded-error.ts'

/** Where and for how long the archive keeps what the caches saw. */
export interface ArchiveOptions {
  /** `file:PATH`, `postgres://…`, or `memory:` (at most 64 MiB, gone with the process). */
  readonly url: string
  /** How long changes are kept, in milliseconds; default 24 hours. */
  readonly keepMs?: number
  /** The largest size, in bytes; default 2 GiB. The oldest changes go first. */
  readonly maxBytes?: number
  /** List fields (`pods`). Absent: those of `commonKinds` and `problemKinds`. Their kinds are loaded at the start and kept. */
  readonly kinds?: readonly string[]
  /** Fields whose values are not kept, by kind: `Pod:/spec/containers/*` and what follows. */
  readonly masked?: readonly string[]
  /** Whether the gateway is ready only while the archive can be written. Default false. */
  readonly required?: boolean
}

/** In milliseconds and bytes. */
export const archiveDefaults: Required<Pick<ArchiveOptions, 'keepMs' | 'maxBytes'>> = {
  keepMs: 24 * 3_600_000,
  maxBytes: 2 * 2 ** 30,
}

/** The most bytes of an archive in memory. */
export const maxMemoryArchiveBytes: number = 64 * 2 ** 20

export type ArchiveErrorCode =
  /** The database cannot be reached, or its disk is full. */
  | 'ARCHIVE_UNREACHABLE'
  /** Another process writes the file. */
  | 'ARCHIVE_IN_USE'
  /** Another process writes the cluster, in a database that they share. */
  | 'ARCHIVE_HELD'
  /** Changes of a kind were not written: only a whole list of it can be written next. */
  | 'ARCHIVE_BEHIND'
  /** A newer program made its tables. */
  | 'ARCHIVE_TOO_NEW'
  | 'ARCHIVE_CLOSED'

export class ArchiveError extends CodedError {
  constructor(code: ArchiveErrorCode, message: string, hint: string, cause?: unknown) {
    super(code, message, { hint, cause })
  }
}
