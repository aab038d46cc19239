import { statSync } from 'node:fs'

/**
 * Polls, because a mounted Secret or ConfigMap is a symbolic link that is replaced: events of its folder miss that.
 */
const intervalMs = 2_000

/**
 * Watches files by polling their state. Create it before the first read, so that no change is missed. Does not keep the
 * process alive.
 */
export class FileWatcher implements Disposable {
  readonly #files: readonly string[]
  readonly #timer: NodeJS.Timeout
  #state: string

  /** Calls `changed` within two seconds after a file was changed, created or removed. `changed` must not throw. */
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
