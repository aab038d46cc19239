/** A group, as far as what it holds is counted. */
export interface TextHolder {
  /** What its texts take now, at the most: of objects, and of frames that are written for more than one. */
  readonly heldBytes: number
}

/** What the texts take that all groups hold together. Bounded; the policy is that the group that grows past it ends. */
export class HeldTexts {
  readonly #maxBytes: number
  readonly #ofGroup = new Map<TextHolder, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of all groups. */
  get bytes(): number {
    this.#countAll()
    return this.#bytes
  }

  /** A group may hold more or less than before: whether there is room for it. */
  hold(group: TextHolder): boolean {
    this.#count(group)
    // What others held may be gone since they were counted, as frames go when nobody reads them any more.
    if (this.#bytes > this.#maxBytes) this.#countAll()
    return this.#bytes <= this.#maxBytes
  }

  /** A group is over. */
  release(group: TextHolder): void {
    this.#bytes -= this.#ofGroup.get(group) ?? 0
    this.#ofGroup.delete(group)
  }

  #countAll(): void {
    for (const group of this.#ofGroup.keys()) this.#count(group)
  }

  #count(group: TextHolder): void {
    const bytes = group.heldBytes
    this.#bytes += bytes - (this.#ofGroup.get(group) ?? 0)
    this.#ofGroup.set(group, bytes)
  }
}
