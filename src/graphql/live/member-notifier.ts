/** Members are notified for so long before the event loop gets its turn. */
const sliceMs = 8

interface Announced {
  announce(): void
}

/**
 * Notifies all members of a group of new frames, in slices between which the event loop runs. Frames that come meanwhile lead to one
 * more round, however many there are.
 */
export class MemberNotifier {
  readonly #listeners: ReadonlySet<Announced>
  #rounds = 0
  #isTelling = false

  /** A listener is notified if it is in the set when its turn comes. */
  constructor(listeners: ReadonlySet<Announced>) {
    this.#listeners = listeners
  }

  announce(): void {
    this.#rounds += 1
    if (this.#isTelling) return
    this.#isTelling = true
    void this.#tell()
  }

  async #tell(): Promise<void> {
    let told = 0
    while (told !== this.#rounds) {
      told = this.#rounds
      let sliceStart = performance.now()
      for (const listener of this.#listeners) {
        listener.announce()
        if (performance.now() - sliceStart < sliceMs) continue
        // oxlint-disable-next-line no-await-in-loop -- gives way
        await new Promise<void>((resolve) => setImmediate(resolve))
        sliceStart = performance.now()
      }
    }
    this.#isTelling = false
  }
}
