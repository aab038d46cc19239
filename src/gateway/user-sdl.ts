import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SdlSource } from '../graphql/sdl/sdl-source.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'

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

/** How often to check the files for changes. */
const intervalMs = 1_000

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
   * Calls `changed` after each change and `failed` after a failed read, until the signal aborts. Compares contents
   * instead of listening to file events: a mounted ConfigMap is a link whose target changes. Never rejects.
   */
  async follow(
    changed: (sources: readonly SdlSource[]) => void,
    failed: (error: Error) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { files, directory } = this.#options
    if (files.length === 0 && directory === undefined) return
    let text = JSON.stringify(this.#sources)
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await sleep(intervalMs, signal)
      if (signal.aborted) return
      try {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other
        const sources = await this.read()
        const now = JSON.stringify(sources)
        if (now === text) continue
        text = now
        changed(sources)
      } catch (error) {
        if (text === String(error)) continue
        text = String(error)
        failed(error as Error)
      }
    }
  }
}
