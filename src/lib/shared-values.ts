/*
 * Equal values of a process, held once. A value is found by a text that says what it was made of, such as a hash of its
 * content, for as long as anything else holds it. Connections to clusters of one version share their OpenAPI documents in
 * this way, and gateways that serve the same share their schema. Shared values must not change.
 */

export class SharedValues<T extends object> {
  readonly #known = new Map<string, WeakRef<T>>()
  readonly #released = new FinalizationRegistry<string>((madeOf) => {
    if (this.#known.get(madeOf)?.deref() === undefined) this.#known.delete(madeOf)
  })

  get(madeOf: string): T | undefined {
    return this.#known.get(madeOf)?.deref()
  }

  add(madeOf: string, value: T): T {
    this.#known.set(madeOf, new WeakRef(value))
    this.#released.register(value, madeOf)
    return value
  }
}
