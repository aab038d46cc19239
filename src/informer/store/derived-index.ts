import { ObjectIndex } from './object-index.ts'
import type { IndexView, ObjectId, PostingView } from './store-view.ts'

export interface DerivedIndexOptions {
  readonly name: string
  /** The value of an object that is stored; `undefined` where it has none. */
  readonly valueOf: (id: ObjectId) => string | undefined
  /** The ids of all objects that are stored. */
  readonly ids: () => Iterable<ObjectId>
}

/**
 * An index of something that the store knows of each object anyway. The way from an object to its value costs nothing;
 * the way back is built when it is first asked for, and kept up to date from then on.
 */
export class DerivedIndex implements IndexView {
  readonly name: string
  readonly #options: DerivedIndexOptions
  #index: ObjectIndex | undefined

  constructor(options: DerivedIndexOptions) {
    this.name = options.name
    this.#options = options
  }

  /** About what it takes in memory. */
  get bytes(): number {
    return this.#index?.bytes ?? 0
  }

  get objectCount(): number {
    return this.#built().objectCount
  }

  orderedValues(from: string | undefined, descending: boolean): IterableIterator<string> {
    return this.#built().orderedValues(from, descending)
  }

  posting(value: string): PostingView | undefined {
    return this.#built().posting(value)
  }

  /** One of the objects with this value. */
  anyOf(value: string): ObjectId | undefined {
    return this.#built().anyOf(value)
  }

  has(id: ObjectId, value: string): boolean {
    return this.#options.valueOf(id) === value
  }

  isSame(one: ObjectId, other: ObjectId): boolean {
    return this.#options.valueOf(one) === this.#options.valueOf(other)
  }

  valuesOf(id: ObjectId): readonly string[] {
    const value = this.#options.valueOf(id)
    return value === undefined ? [] : [value]
  }

  endValue(id: ObjectId): string | undefined {
    return this.#options.valueOf(id)
  }

  values(): IterableIterator<string> {
    return this.#built().values()
  }

  /** An object has been stored, or its value may have changed. */
  update(id: ObjectId): void {
    this.#index?.set(id, this.valuesOf(id))
  }

  /** An object is no longer stored. */
  delete(id: ObjectId): void {
    this.#index?.delete(id)
  }

  #built(): ObjectIndex {
    if (this.#index === undefined) {
      const index = new ObjectIndex(this.name)
      for (const id of this.#options.ids()) index.set(id, this.valuesOf(id))
      this.#index = index
    }
    return this.#index
  }
}
