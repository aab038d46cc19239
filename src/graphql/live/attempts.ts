/** So often a group may be found that one cannot join, without anything having been learnt from that. */
const maxAttempts = 5
/** So often more may be learnt. */
const maxLessons = 60

/** How often something is tried that gets further each time something has been learnt. */
export class Attempts {
  readonly #learnt: () => string
  #before: string | undefined
  #rest = maxAttempts
  #lessons = maxLessons

  /** `learnt`: what is known; two with the same know the same. */
  constructor(learnt: () => string) {
    this.#learnt = learnt
  }

  /** Whether it is to be tried once more. */
  another(): boolean {
    const now = this.#learnt()
    if (this.#before === undefined || now === this.#before) this.#rest -= 1
    else this.#lessons -= 1
    this.#before = now
    return this.#rest >= 0 && this.#lessons >= 0
  }
}
