/*
 * The user's SDL, from single files and a directory. Read at the start, and again when the contents change.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { CodedError } from '../lib/coded-error.ts'
import { changesOf } from '../lib/file-follower.ts'

function unreadable(path: string, cause: unknown): CodedError {
  const problem = `schema ${path} cannot be read: ${String(cause)}`
  const hint = 'name a file of SDL, or a directory with files that end in .graphql'
  return new CodedError('SCHEMA_FILE', problem, { value: path, hint, cause })
}

interface UserSdlOptions {
  readonly files: readonly string[]
  /** A directory: all its files that end in `.graphql`, sorted by name. */
  readonly directory: string | undefined
}

export class UserSdl {
  readonly #options: UserSdlOptions
  #sources: readonly SdlSource[] = []

  constructor(options: UserSdlOptions) {
    this.#options = options
  }

  get sources(): readonly SdlSource[] {
    return this.#sources
  }

  /** Reads all files. Rejects with SCHEMA_FILE. */
  async read(): Promise<readonly SdlSource[]> {
    const { files, directory } = this.#options
    let names: readonly string[] = []
    if (directory !== undefined) {
      const found = await readdir(directory).catch((cause: unknown) => {
        throw unreadable(directory, cause)
      })
      const sdl = found.filter((name) => name.endsWith('.graphql')).toSorted()
      names = sdl.map((name) => join(directory, name))
    }
    const reading = [...files, ...names].map(async (file): Promise<SdlSource> => {
      try {
        return { file, text: await readFile(file, 'utf8') }
      } catch (cause) {
        throw unreadable(file, cause)
      }
    })
    return (this.#sources = await Promise.all(reading))
  }

  /**
   * Calls `changed` after each change and `failed` after a failed read, until the signal aborts. Compares contents, since
   * files may change within one moment. Never rejects.
   */
  async follow(
    changed: (sources: readonly SdlSource[]) => void,
    failed: (error: Error) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { files, directory } = this.#options
    if (files.length === 0 && directory === undefined) return
    const look = (): Promise<readonly SdlSource[] | Error> =>
      this.read().catch((error: unknown) => error as Error)
    for await (const found of changesOf(look, signal, { seen: this.#sources })) {
      if (found instanceof Error) failed(found)
      else changed(found)
    }
  }
}
