import type { KubernetesObject } from '../../kubernetes/object.ts'
import { ObjectIndex } from './object-index.ts'
import { IndexFunctionError } from './store-errors.ts'
import type { IndexFunction, Indexers, ObjectId } from './store-view.ts'

/**
 * So many values of one object are kept in one index. An API server takes objects with some twenty thousand, and to index these
 * anew with each of their states would hold up the informer's loop.
 */
export const maxValuesPerObject = 5_000

/** An index that is computed from each object. */
export interface FunctionIndex {
  readonly index: ObjectIndex
  readonly compute: IndexFunction
}

export interface FunctionIndexesOptions {
  /** For error messages: `pods`. */
  readonly resourceName: string
  readonly onIndexFailure: (error: IndexFunctionError) => void
}

/** The indexes of a store that are computed from each object by functions. */
export class FunctionIndexes {
  readonly #options: FunctionIndexesOptions
  readonly #all: FunctionIndex[] = []

  constructor(options: FunctionIndexesOptions) {
    this.#options = options
  }

  /** About what they take in memory. */
  get bytes(): number {
    return this.#all.reduce((sum, { index }) => sum + index.bytes, 0)
  }

  has(name: string): boolean {
    return this.#all.some(({ index }) => index.name === name)
  }

  /** Adds indexes, which are empty. From now on they are kept up to date with what changes. */
  add(indexers: Indexers): readonly FunctionIndex[] {
    const added = Object.entries(indexers).map(([name, compute]) => ({
      index: new ObjectIndex(name),
      compute,
    }))
    this.#all.push(...added)
    return added
  }

  /** Takes out indexes that have been added. */
  drop(added: readonly FunctionIndex[]): void {
    for (const one of added) this.#all.splice(this.#all.indexOf(one), 1)
  }

  /** An object has been stored, or another state of it. */
  update(id: ObjectId, key: string, object: KubernetesObject): void {
    for (const one of this.#all) this.set(one, id, key, object)
  }

  /** Computes one index of an object. Where the function throws, or gives too many values, the object is not in that index. */
  set(
    { index, compute }: FunctionIndex,
    id: ObjectId,
    key: string,
    object: KubernetesObject,
  ): void {
    try {
      const values = compute(object)
      if (values.length > maxValuesPerObject) {
        throw new RangeError(`it gave ${values.length} values, more than ${maxValuesPerObject}`)
      }
      for (const value of values) {
        if (typeof value !== 'string') throw new TypeError(`a value is no string: ${typeof value}`)
      }
      index.set(id, values)
    } catch (cause) {
      index.delete(id)
      const { resourceName, onIndexFailure } = this.#options
      onIndexFailure(new IndexFunctionError(resourceName, index.name, key, cause))
    }
  }

  delete(id: ObjectId): void {
    for (const { index } of this.#all) index.delete(id)
  }
}
