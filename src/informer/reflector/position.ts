import {
  anyResourceVersion,
  latestResourceVersion,
  type ResourceVersion,
} from '../../kubernetes/resource-version.ts'

/**
 * The position of a reflector in the history of its resource, and how reliable it is. Immutable. Two doubts may affect
 * a position.
 *
 * First, the server may have said that it cannot serve the position: it has forgotten that moment (410), or has not
 * reached it yet ("too large"). Then the next list asks for the most recent state, once.
 *
 * Second, the watch may have ended early; then the server that answers next may have been restored from a backup. Such
 * a server does not refuse a WATCH from a position in its future: it answers 200 and stays silent until it has seen as
 * many changes again, and the cache would believe that nothing happens. It refuses a LIST, as "too large". So the
 * reflector requests a list of one item at the position: the probe. If the connection was lost or refused, the probe
 * comes before the next watch. If the server ended the watch in order, it most likely is the same server, and the probe
 * only comes if the next watch is silent.
 */
export class Position {
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

  /** When to probe: before the next watch, or once that watch is silent. */
  get probeDue(): 'first' | 'when silent' | undefined {
    if (this.#doubt === 'none' || this.last === latestResourceVersion) return undefined
    return this.#doubt === 'lost' ? 'first' : 'when silent'
  }

  listed(at: ResourceVersion): Position {
    return new Position(at, false, 'none')
  }

  /** An event or bookmark arrived: the server continues from here. */
  moved(to: ResourceVersion): Position {
    return new Position(to, this.#isUnavailable, 'none')
  }

  lost(): Position {
    return new Position(this.last, true, this.#doubt)
  }

  /** The server ended the watch in order, but early. */
  ended(): Position {
    return this.#doubt === 'none' ? new Position(this.last, this.#isUnavailable, 'ended') : this
  }

  doubted(): Position {
    return new Position(this.last, this.#isUnavailable, 'lost')
  }

  confirmed(): Position {
    return new Position(this.last, this.#isUnavailable, 'none')
  }
}

/** How the last watch ended, until the server is known to continue from there. */
type Doubt = 'none' | 'ended' | 'lost'
