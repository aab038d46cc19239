import { createHash, randomBytes } from 'node:crypto'
import {
  compareResourceVersions,
  latestOf,
  latestResourceVersion,
  type ResourceVersion,
  writeJointPosition,
} from '../kubernetes/resource-version.ts'

/**
 * The positions of a store that one watch per namespace fills, and the one position that its readers see.
 *
 * One API server counts the versions of one resource over all namespaces, so the watches move on one line. Each is
 * somewhere else on it: a quiet namespace hears of later versions by bookmarks only. A reader that resumes from the
 * furthest watch would miss changes that the others have still to send; so the position is the least one.
 */
export class NamespacePositions {
  readonly #store = randomBytes(6)
    .toString('base64url')
    .replaceAll(/[^a-z0-9]/gi, '0')
  /** The applied position of each namespace; `undefined` before its first list. */
  #positions: Map<string, ResourceVersion | undefined>
  #extent = ''
  #low = latestResourceVersion
  #step = 0

  constructor(positions: ReadonlyMap<string, ResourceVersion> = new Map()) {
    this.#positions = new Map(positions)
    this.#low = this.#least()
  }

  get areListed(): boolean {
    for (const position of this.#positions.values()) if (position === undefined) return false
    return true
  }

  get covered(): ReadonlyMap<string, ResourceVersion | undefined> {
    return this.#positions
  }

  isListed(namespace: string): boolean {
    return this.#positions.get(namespace) !== undefined
  }

  /** Covers these namespaces from now on. Namespaces that stay keep their positions. */
  cover(namespaces: ReadonlySet<string>): void {
    const before = this.#positions
    this.#positions = new Map(Array.from(namespaces, (name) => [name, before.get(name)]))
    const sorted = [...namespaces].toSorted().join()
    this.#extent = createHash('sha256').update(sorted).digest('hex').slice(0, 12)
    this.#low = this.#least()
  }

  /** The position of the store after another change of it. */
  next(): ResourceVersion {
    this.#step += 1
    return this.#text()
  }

  /** The position of the store after one namespace has reached a resource version. */
  reached(namespace: string, to: ResourceVersion): ResourceVersion {
    const before = this.#positions.get(namespace)
    this.#positions.set(namespace, to)
    // Only a namespace at the least position can move it.
    if (before === undefined || before === this.#low) this.#low = this.#least()
    return this.next()
  }

  /** The highest position of a namespace; `''` if the versions have no order. */
  get highest(): ResourceVersion {
    const listed = [...this.#positions.values()].filter((position) => position !== undefined)
    return latestOf(listed) ?? latestResourceVersion
  }

  #least(): ResourceVersion {
    let least: ResourceVersion | undefined
    for (const position of this.#positions.values()) {
      if (position === undefined) continue
      const order = least === undefined ? -1 : compareResourceVersions(position, least)
      if (order === undefined) return latestResourceVersion
      if (order < 0) least = position
    }
    return least ?? latestResourceVersion
  }

  #text(): ResourceVersion {
    return writeJointPosition({
      low: this.#low,
      extent: this.#extent,
      store: this.#store,
      step: this.#step,
    })
  }

  /** The version that a list of one more namespace has to reach, so that the least position does not go back. */
  get low(): ResourceVersion | undefined {
    return this.#low === latestResourceVersion ? undefined : this.#low
  }
}
