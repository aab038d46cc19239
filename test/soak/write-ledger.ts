import type { Unstructured, ObjectMeta } from 'informerql/informer'

/** Whether an object is in a selection. */
export type Matches = (object: Unstructured) => boolean

/** Everything that was ever written, in the server's order. */
export class WriteLedger {
  readonly #states = new Map<string, (Unstructured | undefined)[]>()

  /** What the server answered; `undefined` for a deletion. */
  add(key: string, written: Unstructured | undefined): void {
    const state = written === undefined ? undefined : withoutManagedFields(written)
    const states = this.#states.get(key) ?? []
    const last = states.at(-1)
    // A replacement by the same is no change.
    if (state !== undefined && versionOf(last) === versionOf(state)) return
    this.#states.set(key, [...states, state])
  }

  get(key: string): Unstructured | undefined {
    return this.#states.get(key)?.at(-1)
  }

  /** The state that had this resource version. */
  at(key: string, version: string | undefined): Unstructured | undefined {
    return this.#states
      .get(key)
      ?.find((state) => state !== undefined && versionOf(state) === version)
  }

  /** What somebody who saw everything of a selection from the beginning was told: `ADDED one/a@5`, `DELETED one/a`. */
  eventsOf(matches: Matches): ReadonlyMap<string, readonly string[]> {
    const events = new Map<string, readonly string[]>()
    for (const [key, states] of this.#states) {
      let present = false
      const ofKey: string[] = []
      for (const state of states) {
        const now = state !== undefined && matches(state)
        if (now) ofKey.push(`${present ? 'MODIFIED' : 'ADDED'} ${key}@${versionOf(state)}`)
        else if (present) ofKey.push(`DELETED ${key}`)
        present = now
      }
      if (ofKey.length > 0) events.set(key, ofKey)
    }
    return events
  }
}

/** Informers keep none. */
function withoutManagedFields(object: Unstructured): Unstructured {
  const whole: ObjectMeta & { readonly managedFields?: unknown } = object.metadata
  const { managedFields: _, ...metadata } = whole
  return { ...object, metadata }
}

const versionOf = (object: Unstructured | undefined): string | undefined =>
  object?.metadata.resourceVersion
