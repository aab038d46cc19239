import {
  anyResourceVersion,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'

/**
 * The position of a reflector in the history of its resource, and how reliable it is. Immutable: each step creates a
 * new one.
 *
 * Two doubts may affect a position. First, the server may have said that it cannot serve the position: it has forgotten
 * that moment (410), or has not reached it yet ("too large"). Then the next list asks for the most recent state, once,
 * whatever that costs the server. Second, the watch may have ended early; then the server that answers next may have
 * another history.
 *
 * The second doubt concerns servers that were restored from a backup. Such a server is behind, but it does not refuse a
 * WATCH from a position in its future: it answers 200 and stays silent until it has seen as many changes again.
 * Meanwhile the cache would believe that nothing happens. A LIST is refused, as "too large". So the reflector requests
 * a list of one item at the position: the probe. If the connection was lost or refused, the probe comes before the next
 * watch. If the server ended the watch in order, it most likely is the same server, and an event or bookmark of the
 * next watch proves it: the probe only comes if that watch is silent.
 */
export class Position {
  /** Before the first list. */
  static readonly beginning: Position = new Position(latestResourceVersion, false, 'none')

  /** The last seen resource version; `''` before the first, or if the server sends none. */
  readonly last: ResourceVersion
  readonly #isUnavailable: boolean
  readonly #doubt: Doubt

  private constructor(last: ResourceVersion, isUnavailable: boolean, doubt: Doubt) {
    this.last = last
    this.#isUnavailable = isUnavailable
    this.#doubt = doubt
  }

  /** Whether the server has said that it cannot serve the position. */
  get isUnavailable(): boolean {
    return this.#isUnavailable
  }

  /** The position for a LIST: any state at first, later nothing older than the last seen version. */
  get listFrom(): ResourceVersion {
    if (this.#isUnavailable) return latestResourceVersion
    return this.last === latestResourceVersion ? anyResourceVersion : this.last
  }

  /** The position for a streaming list; never `"0"`. */
  get streamFrom(): ResourceVersion {
    const { last } = this
    return this.#isUnavailable || last === anyResourceVersion ? latestResourceVersion : last
  }

  /**
   * When to ask the server whether it knows the position: before the next watch, or once that watch is silent. Not
   * needed without a position.
   */
  get probeDue(): 'first' | 'when silent' | undefined {
    if (this.#doubt === 'none' || this.last === latestResourceVersion) return undefined
    return this.#doubt === 'lost' ? 'first' : 'when silent'
  }

  /** A whole list arrived, which ends all doubts. */
  listed(at: ResourceVersion): Position {
    return new Position(at, false, 'none')
  }

  /** An event or bookmark arrived: the server continues from here. */
  moved(to: ResourceVersion): Position {
    return new Position(to, this.#isUnavailable, 'none')
  }

  /** The server cannot serve this position. */
  lost(): Position {
    return new Position(this.last, true, this.#doubt)
  }

  /** The server ended the watch in order, but early. */
  ended(): Position {
    return this.#doubt === 'none' ? new Position(this.last, this.#isUnavailable, 'ended') : this
  }

  /** The connection was lost or refused. */
  doubted(): Position {
    return new Position(this.last, this.#isUnavailable, 'lost')
  }

  /** The server knows this position. */
  confirmed(): Position {
    return new Position(this.last, this.#isUnavailable, 'none')
  }
}

/** How the last watch ended, until the server is known to continue from there. */
type Doubt = 'none' | 'ended' | 'lost'
