/*
 * The definitions of indexes, and the functions that stores build them with. An index has the values at some paths of each
 * object, or one value made of them: their sum, the first one, the restarts or the total of a pod.
 */

import {
  builtInIndexes,
  type Indexers,
  type IndexFunction,
} from '../../informer/store/store-view.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { restartsOf } from '../../kubernetes/printing/pod-columns.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { decimalKey, decimalOfKey, sumOf } from '../../kubernetes/decimal.ts'
import { type IndexType, indexKeyOf } from './index-key.ts'
import { parsePath, valuesAt } from './path.ts'
import { containerResourceAt, podTotalOf } from './pod-total.ts'

export interface FilterableIndex {
  /** The name of the `where` field, and of the index in the store. */
  readonly name: string
  readonly type: IndexType
  /** All possible values, if they are few. A filter by another value is refused. */
  readonly values?: readonly string[]
}

export type IndexReduction = 'sum' | 'first' | 'restarts' | 'podTotal'

/** An index of the values at some paths of each object. */
export interface IndexDefinition extends FilterableIndex {
  /** Several if the API has several places for the same thing. */
  readonly paths: readonly string[]
  /**
   * `sum`, for numbers and quantities: the index has one value, the sum of all values at the paths, 0 without any.
   * `first`: one value, the first at the first path that has one. `restarts`: one value, the restarts that kubectl shows
   * of a pod. `podTotal`: one value, what the scheduler counts of a resource of a pod's containers; none if nothing in
   * the pod has it. Absent: each value counts.
   */
  readonly reduce?: IndexReduction
  readonly lazy?: boolean
  /** Whether search covers its values, which must be strings. */
  readonly searchable?: true
  /** The index of the object's measurements that has these values. The object itself lacks them. */
  readonly measured?: string
  /** Whether readers derive the values from other objects: those in the namespace. The object itself tells only a part. */
  readonly isOfContents?: true
  /** Computes string values, instead of paths. */
  readonly valuesOf?: IndexFunction
  /** What the values are, in a sentence; absent: the paths say it. */
  readonly description?: string
}

/** An index cannot be declared. Thrown at start. */
export class IndexDefinitionError extends CodedError {
  constructor(name: string, problem: string, hint: string) {
    super('INDEX_DEFINITION', `index ${JSON.stringify(name)} ${problem}`, { value: name, hint })
  }
}

export const builtInDefinitions: readonly IndexDefinition[] = [
  {
    name: 'name',
    paths: ['metadata.name'],
    type: 'string',
    description: 'The name of the object.',
  },
  {
    name: 'namespace',
    paths: ['metadata.namespace'],
    type: 'string',
    description: 'The namespace of the object.',
  },
  {
    name: 'creationTimestamp',
    paths: ['metadata.creationTimestamp'],
    type: 'dateTime',
    description: 'When the object was created.',
  },
]

/** `where` uses these names itself: `labels` filters by labels, the others combine conditions. */
const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not', 'labels', ...builtInIndexes])
const graphqlName = /^[A-Za-z][A-Za-z0-9_]*$/

/**
 * The index functions that a store needs for these definitions, by name, without those that every store has. Throws
 * {@link IndexDefinitionError} and `PathError`.
 */
export function indexersOf(definitions: readonly IndexDefinition[]): Indexers {
  const indexers: Record<string, IndexFunction> = {}
  for (const definition of definitions) {
    const { name, paths } = definition
    const isInEveryStore = builtInDefinitions.some(
      (builtIn) =>
        builtIn.name === name &&
        paths.length === 1 &&
        builtIn.paths[0] === paths[0] &&
        (builtInIndexes as readonly string[]).includes(name),
    )
    if (isInEveryStore) continue
    if (reserved.has(name)) {
      throw new IndexDefinitionError(name, 'has a reserved name', 'choose another name')
    }
    if (!graphqlName.test(name)) {
      throw new IndexDefinitionError(name, 'cannot be a field', 'use letters, digits and _')
    }
    if (Object.hasOwn(indexers, name)) {
      throw new IndexDefinitionError(name, 'is declared twice', 'give one of them another name')
    }
    indexers[name] = indexFunctionOf(definition)
  }
  return indexers
}

/** The index values of an object, as keys of the index's type. Values of other types are skipped. */
export function indexFunctionOf({
  name,
  paths: texts,
  type,
  reduce,
  measured,
  valuesOf,
}: IndexDefinition): IndexFunction {
  if (measured !== undefined) return () => none
  if (valuesOf !== undefined) {
    // If the user's function throws, the index has failed, and the object counts as having no value.
    return (object) => {
      const values: unknown = valuesOf(object)
      const isTexts = Array.isArray(values) && values.every((value) => typeof value === 'string')
      if (isTexts) return values
      throw new TypeError(`the function of index ${name} does not return a list of strings`)
    }
  }
  if (reduce === 'restarts') {
    return (pod) => {
      const key = indexKeyOf('int', restartsOf(pod as Unstructured))
      return key === undefined ? none : [key]
    }
  }
  const paths = texts.map(parsePath)
  if (reduce === 'podTotal') {
    const resource = paths[0] && containerResourceAt(paths[0])
    if (resource === undefined) {
      const hint = 'give it one path: spec.containers[*].resources.requests.NAME, or limits.NAME'
      throw new IndexDefinitionError(name, 'is not of a resource of containers', hint)
    }
    return podTotalOf(resource)
  }
  const keysOf: IndexFunction = (object) => {
    let keys: string[] | undefined
    for (const path of paths) {
      for (const value of valuesAt(path, object)) {
        const key = indexKeyOf(type, value)
        if (key !== undefined) (keys ??= []).push(key)
      }
    }
    return keys ?? none
  }
  if (reduce === undefined) return keysOf
  if (reduce === 'first') return (object) => keysOf(object).slice(0, 1)
  return (object) => {
    const keys = keysOf(object)
    const [only] = keys
    return [keys.length === 1 && only ? only : decimalKey(sumOf(keys.map(decimalOfKey)))]
  }
}

const none: readonly string[] = []

/**
 * Whether the values of an index can be added up: numbers, of which each object has one at most. An index keeps each
 * value of an object once, so several would not add up.
 */
export function isSummable({ type, reduce, paths }: IndexDefinition): boolean {
  if (type !== 'int' && type !== 'quantity') return false
  return (
    reduce !== undefined || (paths.length === 1 && paths.every((path) => !parsePath(path).many))
  )
}

/** Whether the values of an index are bytes, which Kubernetes writes by powers of 1,024: `3Gi`. */
export function isOfBytes({ type, paths }: IndexDefinition): boolean {
  return (
    type === 'quantity' &&
    paths.some((path) => {
      const last = parsePath(path).steps.at(-1)
      return last?.form === 'field' && byteResource.test(last.name)
    })
  )
}

const byteResource = /^(?:memory|storage|ephemeral-storage|hugepages-.+)$/

/** Objects of a type have finished if they have one of the values at one of the paths. */
export interface EndedRule {
  readonly type: string
  readonly paths: readonly string[]
  readonly values: readonly string[]
}

export const endedValue = 'true'

export function endedIndexName({ type }: EndedRule): string {
  return `ended:${type}`
}

/** The index of finished objects; none without a rule. Throws `PathError`. */
export function endedIndexers(rule: EndedRule | undefined): Indexers {
  if (rule === undefined) return {}
  const paths = rule.paths.map(parsePath)
  const values: ReadonlySet<string> = new Set(rule.values)
  const [ended, lasting] = [[endedValue], []]
  return {
    [endedIndexName(rule)]: (object) =>
      paths.some((path) => valuesAt(path, object).some((value) => values.has(String(value))))
        ? ended
        : lasting,
  }
}
