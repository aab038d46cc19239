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
 * costs the server. And the watch may have ended before its time, in which case nobody knows yet whether the server that
 * answers next has the same history.
 *
 * The second doubt is there because of servers that were restored from a backup. Such a one is behind, and a WATCH from
 * a position in its future is not refused: it is answered with 200 and silence, until the server has lived through as
 * many changes again, and the cache would believe all the while that nothing happens. A LIST is refused, as "too
 * large". So a list of one item is asked for at the position: the probe. Where the connection was lost, or refused, that is
 * done before a watch is opened again. Where the server ended the watch in order it most likely is still the same one, and an
 * event or a bookmark of the next watch shows it: the probe is left until that one turns out to be silent.
 */
export class Position {
  /** Before the first list. */
  static readonly beginning: Position = new Position(latestResourceVersion, false, 'none')

  /** The last resource version that was seen; `''` before the first, or where the server gives none. */
  readonly last: ResourceVersion
  readonly #isUnavailable: boolean
  readonly #doubt: Doubt

  private constructor(last: ResourceVersion, isUnavailable: boolean, doubt: Doubt) {
    this.last = last
    this.#isUnavailable = isUnavailable
    this.#doubt = doubt
  }

  /** Whether the server has said that it cannot serve it. */
  get isUnavailable(): boolean {
    return this.#isUnavailable
  }

  /** What a LIST asks for: any state at first, later nothing older than what was seen. */
  get listFrom(): ResourceVersion {
    if (this.#isUnavailable) return latestResourceVersion
    return this.last === latestResourceVersion ? anyResourceVersion : this.last
  }

  /** What a streaming list asks for; never `"0"`. */
  get streamFrom(): ResourceVersion {
    const { last } = this
    return this.#isUnavailable || last === anyResourceVersion ? latestResourceVersion : last
  }

  /**
   * When the server is to be asked whether it knows this position: before a watch is opened there, or once that one is silent.
   * Without a position there is nothing that it could have lost.
   */
  get probeDue(): 'first' | 'when silent' | undefined {
    if (this.#doubt === 'none' || this.last === latestResourceVersion) return undefined
    return this.#doubt === 'lost' ? 'first' : 'when silent'
  }

  /** A whole list has arrived: nothing is left of earlier doubts. */
  listed(at: ResourceVersion): Position {
    return new Position(at, false, 'none')
  }

  /** An event or bookmark has arrived: the server goes on from here. */
  moved(to: ResourceVersion): Position {
    return new Position(to, this.#isUnavailable, 'none')
  }

  /** The server cannot serve this position. */
  lost(): Position {
    return new Position(this.last, true, this.#doubt)
  }

  /** The server ended the watch, in order but before its time. */
  ended(): Position {
    return this.#doubt === 'none' ? new Position(this.last, this.#isUnavailable, 'ended') : this
  }

  /** The connection was lost, or was refused. */
  doubted(): Position {
    return new Position(this.last, this.#isUnavailable, 'lost')
  }

  /** The server knows this position. */
  confirmed(): Position {
    return new Position(this.last, this.#isUnavailable, 'none')
  }
}

/** How the last watch came to its end, as long as nothing shows that the server goes on from there. */
type Doubt = 'none' | 'ended' | 'lost'
