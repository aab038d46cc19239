/**
 * Whether what has been read is to be read anew although nothing is said to have changed: the definition of a kind decides what an
 * API server shows of its objects, and another definition changes no resource version.
 *
 * It is read twice: at once, and when the watch that follows has ended. For a moment behind such a change an API server goes on
 * to answer by the old definition; the watches that it has opened by it, it ends then.
 */
export class Rereading {
  #step: 'none' | 'list' | 'listing' | 'watch' | 'list once more' = 'none'

  /** Whether a list is due instead of a watch. */
  get isDue(): boolean {
    return this.#step === 'list' || this.#step === 'list once more'
  }

  want(): void {
    this.#step = 'list'
  }

  /** A list is asked for; whether states that are known already may look otherwise in it. */
  listBegins(): boolean {
    if (this.#step === 'list') this.#step = 'listing'
    return this.#step !== 'none'
  }

  listed(): void {
    if (this.#step === 'listing') this.#step = 'watch'
    else if (this.#step === 'list once more') this.#step = 'none'
  }

  watchEnded(): void {
    if (this.#step === 'watch') this.#step = 'list once more'
  }
}
