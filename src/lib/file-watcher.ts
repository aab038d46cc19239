import { statSync } from 'node:fs'

/**
 * Polls, because a mounted Secret or ConfigMap is a symbolic link that is replaced: events of its folder miss that.
 */
const intervalMs = 2_000

/**
 * What is read of files, now and within two seconds after one was changed, created or removed. While they cannot be read, the value
 * before stays. Does not keep the process alive.
 */
export class FollowedFiles<Value> implements Disposable {
  readonly #timer: NodeJS.Timeout
  #value: Value

  /** Throws as `read` does. `failed` receives what a later `read` throws, `changed` each further value. */
  constructor(
    files: readonly string[],
    read: () => Value,
    failed: (error: unknown) => void,
    changed: (value: Value) => void = () => {},
  ) {
    // Before the first read, so that no change is missed.
    let state = stateOf(files)
    this.#value = read()
    this.#timer = setInterval(() => {
      const now = stateOf(files)
      if (now === state) return
      state = now
      try {
        this.#value = read()
        changed(this.#value)
      } catch (error) {
        failed(error)
      }
    }, intervalMs)
    this.#timer.unref()
  }

  get value(): Value {
    return this.#value
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = statSync(file)
      return [ino, size, mtimeMs, ctimeMs].join(':')
    } catch {
      return 'none'
    }
  })
  return states.join()
}
