/** What the texts of objects take that all groups hold together. Bounded; the policy is that the group that grows past it ends. */
export class HeldTexts {
  readonly #maxBytes: number
  readonly #ofGroup = new Map<object, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of all groups. */
  get bytes(): number {
    return this.#bytes
  }

  /** A group holds so many bytes now: whether there is room for them. */
  hold(group: object, bytes: number): boolean {
    this.#bytes += bytes - (this.#ofGroup.get(group) ?? 0)
    this.#ofGroup.set(group, bytes)
    return this.#bytes <= this.#maxBytes
  }

  /** A group is over. */
  release(group: object): void {
    this.#bytes -= this.#ofGroup.get(group) ?? 0
    this.#ofGroup.delete(group)
  }
}
