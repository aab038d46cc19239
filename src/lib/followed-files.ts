import { statSync } from 'node:fs'

/** Asked for by their state rather than by the events of their folder: a mounted Secret or ConfigMap is a link that is put elsewhere. */
const intervalMs = 2_000

/**
 * Files that are read again when they have changed. Made before they are read for the first time, it misses no change. Keeps no
 * process alive.
 */
export class FollowedFiles implements Disposable {
  readonly #files: readonly string[]
  readonly #timer: NodeJS.Timeout
  #state: string

  /** `changed` is called some seconds after any of them has changed, or has come or gone; it must not throw. */
  constructor(files: readonly string[], changed: () => void) {
    this.#files = files
    this.#state = this.#stateNow()
    this.#timer = setInterval(() => {
      const now = this.#stateNow()
      if (now === this.#state) return
      this.#state = now
      changed()
    }, intervalMs)
    this.#timer.unref()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #stateNow(): string {
    return this.#files.map(stateOf).join()
  }
}

function stateOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [ino, size, mtimeMs, ctimeMs].join(':')
  } catch {
    return 'none'
  }
}
