/** So long may the listeners be told, one after the other, before the event loop gets its turn. */
const sliceMs = 8

/** Whom there is something to tell. */
interface Announced {
  announce(): void
}

/**
 * Tells many that there is something for them, in slices between which the event loop runs. What comes while it tells them is told
 * in another round: one at a time, however fast it comes.
 */
export class MemberNotifier {
  readonly #listeners: ReadonlySet<Announced>
  #rounds = 0
  #isTelling = false

  /** Who is in the set when it is their turn is told. */
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
