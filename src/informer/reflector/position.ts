import {
  anyResourceVersion,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'

/**
 * Where a reflector stands in the history of its resource, and how far it may rely on that. A value: each step makes a
 * new one.
 *
 * Two doubts can hang over a position. The server may have said that it cannot serve it: it has forgotten that moment
 * (410), or has not come so far ("too large"). Then the next list asks for the most recent state, once, whatever that
 * costs the server. And the connection may have been lost, in which case nobody knows yet whether the server that
 * answers next has the same history.
 *
 * The second doubt is there because of servers that were restored from a backup. Such a one is behind, and a WATCH from
 * a position in its future is not refused: it is answered with 200 and silence, until the server has lived through as
 * many changes again, and the cache would believe all the while that nothing happens. A LIST is refused, as "too
 * large". So before a watch is opened again a list of one item is asked for at the position: the probe. It costs one
 * small request for each lost connection, and none where a watch ended as it should.
 */
export class Position {
  /** Before the first list. */
  static readonly beginning: Position = new Position(latestResourceVersion, false, false)

  /** The last resource version that was seen; `''` before the first, or where the server gives none. */
  readonly last: ResourceVersion
  readonly #isUnavailable: boolean
  readonly #isDoubted: boolean

  private constructor(last: ResourceVersion, isUnavailable: boolean, isDoubted: boolean) {
    this.last = last
    this.#isUnavailable = isUnavailable
    this.#isDoubted = isDoubted
  }

  /** What a LIST asks for: any state at first, later nothing older than what was seen. */
  get listFrom(): ResourceVersion {
    if (this.#isUnavailable) return latestResourceVersion
    return this.last === latestResourceVersion ? anyResourceVersion : this.last
  }

  /** What a streaming list asks for; never `"0"`. */
  get streamFrom(): ResourceVersion {
    return this.#isUnavailable ? latestResourceVersion : this.last
  }

  /** Whether the server is to be asked if it knows this position. Without one there is nothing that it could have lost. */
  get isProbeDue(): boolean {
    return this.#isDoubted && this.last !== latestResourceVersion
  }

  /** A whole list has arrived: nothing is left of earlier doubts. */
  listed(at: ResourceVersion): Position {
    return new Position(at, false, false)
  }

  /** An event or bookmark has arrived. */
  moved(to: ResourceVersion): Position {
    return new Position(to, this.#isUnavailable, this.#isDoubted)
  }

  /** The server cannot serve this position. */
  lost(): Position {
    return new Position(this.last, true, this.#isDoubted)
  }

  /** The connection was lost. */
  doubted(): Position {
    return new Position(this.last, this.#isUnavailable, true)
  }

  /** The server knows this position. */
  confirmed(): Position {
    return new Position(this.last, this.#isUnavailable, false)
  }
}
