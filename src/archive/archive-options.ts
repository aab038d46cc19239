import { resolve } from 'node:path'
import { CodedError } from '../lib/coded-error.ts'
import { InvalidOptionError } from '../lib/options.ts'

/** Where and for how long the archive keeps what the caches saw. */
export interface ArchiveOptions {
  /** `file:PATH`: SQLite. `postgres://…`. `memory:`: SQLite in memory, at most 64 MiB, gone with the process. */
  readonly url: string
  /** How long changes are kept, in milliseconds; default 24 hours. */
  readonly keepMs?: number
  /** The largest size, in bytes; default 2 GiB. The oldest changes go first. */
  readonly maxBytes?: number
  /** List fields (`pods`). Absent: those of `commonKinds` and `problemKinds`. Their kinds are loaded at the start and kept. */
  readonly kinds?: readonly string[]
  /** Fields whose values are not kept, by kind, in paths whose `*` is any step. */
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

/** Where the archive is. */
export type ArchivePlace =
  | { readonly form: 'file'; readonly path: string }
  | { readonly form: 'postgres'; readonly url: string }
  | { readonly form: 'memory' }

/** Reads `ArchiveOptions.url`. Throws `InvalidOptionError`, without the password that the address may have. */
export function archivePlace(url: string): ArchivePlace {
  if (url === 'memory:') return { form: 'memory' }
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return { form: 'postgres', url }
  const path = /^file:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  if (path !== undefined) return { form: 'file', path: resolve(path) }
  const expected = 'file:PATH, postgres://… or memory:'
  throw new InvalidOptionError('archive.url', withoutPassword(url), expected)
}

/** An address as it may be shown. */
export function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^:@/?]*):[^@]*@/, '$1:…@').replace(/([?&]password=)[^&]*/, '$1…')
}

/** Fields of a kind whose values are not kept. */
export interface MaskedField {
  /** `Pod`, or `apps/Deployment`. */
  readonly kind: string
  readonly path: string
}

/** The paths of a kind whose values are not kept. */
export function maskedPaths(
  { masked = [] }: Pick<ArchiveOptions, 'masked'>,
  { group, kind }: { readonly group: string; readonly kind: string },
): readonly string[] {
  return masked
    .map(maskedField)
    .filter((one) => one.kind === kind || one.kind === `${group}/${kind}`)
    .map(({ path }) => path)
}

/** Reads one of `ArchiveOptions.masked`. Throws `InvalidOptionError`. */
export function maskedField(text: string): MaskedField {
  const [, kind = '', path = ''] = /^([\w./-]+):(\/.+)$/.exec(text) ?? []
  if (kind !== '') return { kind, path }
  const expected = 'a kind and a path, such as Pod:/spec/containers/*/env'
  throw new InvalidOptionError('archive.masked', text, expected)
}

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
