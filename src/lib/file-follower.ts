/*
 * Follows files by looking at them every second. Events of the file system would miss what a mounted Secret or
 * ConfigMap does: it is a symbolic link that is replaced. A look returns what is compared: the state of files, their
 * names, or their contents; {@link changesOf} yields those that differ from the one before. {@link FollowedFiles} keeps
 * what was last read of files that are read at once.
 */

import { statSync } from 'node:fs'
import { sleep } from './backoff.ts'

/** The pause between two looks. It is longer if a look takes long: looking may take a fiftieth of the time. */
const pauseMs = 1_000
const pauseShare = 50

/**
 * What `look` finds: at once, unless it equals `seen`, and then each time that it differs from the look before. Errors
 * are compared by their messages, all else as JSON. Ends with the signal. With `isBackground` it does not keep the process
 * alive.
 */
export async function* changesOf<Found>(
  look: () => Found | Promise<Found>,
  signal: AbortSignal,
  { seen, isBackground = false }: { readonly seen?: Found; readonly isBackground?: boolean } = {},
): AsyncGenerator<Found, void, void> {
  let before = textOf(seen)
  if (seen !== undefined) await sleep(pauseMs, signal, isBackground)
  while (!signal.aborted) {
    const beganMs = performance.now()
    const found = await look()
    const tookMs = performance.now() - beganMs
    const now = textOf(found)
    if (now !== before) {
      before = now
      yield found
    }
    await sleep(Math.max(pauseMs, pauseShare * tookMs), signal, isBackground)
  }
}

function textOf(found: unknown): string | undefined {
  return found instanceof Error ? found.message : JSON.stringify(found)
}

/** What tells a file from what it was before: it is the same for a file that has not changed. */
export function stateOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [ino, size, mtimeMs, ctimeMs].join(':')
  } catch {
    return 'none'
  }
}

/**
 * What is read of files, now and about a second after one was changed, created or removed. While they cannot be read,
 * the value before stays. Does not keep the process alive.
 */
export class FollowedFiles<Value> implements Disposable {
  readonly #stop = new AbortController()
  #value: Value

  /** Throws as `read` does. `failed` receives what a later `read` throws, `changed` each further value. */
  constructor(
    files: readonly string[],
    read: () => Value,
    failed: (error: unknown) => void,
    changed: (value: Value) => void = () => {},
  ) {
    const look = (): readonly string[] => files.map(stateOf)
    // Before the first read, so that no change is missed.
    const seen = look()
    this.#value = read()
    const follow = async (): Promise<void> => {
      for await (const _ of changesOf(look, this.#stop.signal, { seen, isBackground: true })) {
        try {
          this.#value = read()
          changed(this.#value)
        } catch (error) {
          failed(error)
        }
      }
    }
    void follow()
  }

  get value(): Value {
    return this.#value
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }
}
