import type { Client } from 'graphql-ws'
import { listFieldOf } from './caught-up.ts'
import type { Fields, Type } from './random-cluster.ts'

/** One subscriber to a filtered list, who folds what it is sent and notes what breaks a promise. */
export class FilteredClient {
  readonly type: Type
  readonly where: Fields
  readonly problems: string[] = []
  /** By id. */
  readonly held: Map<string, Fields> = new Map()
  /** Why each object that is not held any more was removed last. */
  readonly removed: Map<string, string> = new Map()
  /** The ids of all that has been removed since this was emptied. */
  readonly removals: Set<string> = new Set()
  resets = 0
  changes = 0
  error: unknown
  #token: string | undefined
  #leave: (() => void) | undefined
  #hasResumed = false
  #told = Promise.withResolvers<void>()

  constructor(type: Type, where: Fields) {
    this.type = type
    this.where = where
  }

  /** Begins, or goes on from where it left. */
  follow(client: Client): void {
    const { type, where } = this
    this.#hasResumed = this.#token !== undefined
    const query = `subscription ($where: ${type}Where, $from: String) {
      frame: ${listFieldOf(type)}(where: $where, resumeFrom: $from, coalesceMs: 5) {
        reset synced resumeToken
        changes { type removal objectId  object { metadata { name namespace resourceVersion } } }
      }
    }`
    this.#leave = client.subscribe<{ frame: Fields }>(
      { query, variables: { where, from: this.#token } },
      {
        next: ({ data, errors }) => {
          if (data == null) this.error = errors
          else this.#apply(data.frame)
          this.#tell()
        },
        error: (error) => {
          this.error = error
          this.#tell()
        },
        complete: () => this.#tell(),
      },
    )
  }

  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  /** Resolves when something more has come. */
  told(): Promise<void> {
    return this.#told.promise
  }

  /** `namespace/name` of all that is held, sorted. */
  keys(): readonly string[] {
    return Array.from(this.held.values(), keyOf).toSorted()
  }

  #tell(): void {
    this.#told.resolve()
    this.#told = Promise.withResolvers()
  }

  #apply({ reset, changes, resumeToken }: Fields): void {
    if (reset) {
      this.resets += 1
      this.held.clear()
      this.#hasResumed = false
    }
    for (const { type, removal, objectId, object } of changes) {
      this.changes += 1
      const isHeld = this.held.has(objectId)
      // Right after resuming something may be told again.
      if (!this.#hasResumed) {
        if (type === 'ADDED' && isHeld) this.problems.push(`ADDED twice: ${objectId}`)
        if (type !== 'ADDED' && !isHeld) this.problems.push(`${type}, never ADDED: ${objectId}`)
      }
      if (type === 'REMOVED') {
        this.held.delete(objectId)
        this.removed.set(objectId, removal)
        this.removals.add(objectId)
      } else {
        this.held.set(objectId, object)
        this.removed.delete(objectId)
      }
    }
    this.#token = resumeToken
  }
}

/** As an object is called by its key. */
export function keyOf({ metadata: { namespace, name } }: Fields): string {
  return `${namespace ?? ''}/${name}`
}
