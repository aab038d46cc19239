import {
  builtInIndexes,
  type IndexFunction,
  type Indexers,
} from '../../informer/store/store-view.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { decimalKey, decimalOfKey, sumOf } from './decimal.ts'
import { type IndexType, indexKeyOf } from './index-key.ts'
import { type Path, parsePath, valuesAt } from './path.ts'

/** An index as filters see it. */
export interface FilterableIndex {
  /** The name of the `where` field and of the index in the store. */
  readonly name: string
  readonly type: IndexType
  /** All values that there can be, where they are few; a filter by another one is refused. */
  readonly values?: readonly string[]
}

/** An index over what stands at some paths of each object. */
export interface IndexDefinition extends FilterableIndex {
  /** Several where the API has several places for the same thing. */
  readonly paths: readonly string[]
  /**
   * `sum`, of numbers and quantities only: the one value is the sum of all that stands at the paths, 0 where nothing does.
   * `first`: the one value is the first that stands at the first of the paths where there is any. Without it each is a value.
   */
  readonly reduce?: 'sum' | 'first'
  /** Whether it is made only when it is first read. */
  readonly lazy?: boolean
  /** Whether a search looks at its values, which are strings. */
  readonly searchable?: true
  /** Computes the values, strings, instead of paths. */
  readonly valuesOf?: IndexFunction
}

/** An index that cannot be declared. Thrown at start. */
export class IndexDefinitionError extends CodedError {
  constructor(name: string, problem: string, hint: string) {
    super('INDEX_DEFINITION', `index ${JSON.stringify(name)} ${problem}`, { value: name, hint })
  }
}

/** The indexes that every kind has. */
export const builtInDefinitions: readonly IndexDefinition[] = [
  { name: 'name', paths: ['metadata.name'], type: 'string' },
  { name: 'namespace', paths: ['metadata.namespace'], type: 'string' },
  { name: 'creationTimestamp', paths: ['metadata.creationTimestamp'], type: 'dateTime' },
]

/** `labels` is the field of `where` for labels; `and`, `or` and `not` put conditions together. */
const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not', 'labels', ...builtInIndexes])
const graphqlName = /^[A-Za-z][A-Za-z0-9_]*$/

/**
 * The index functions that a store needs for these definitions, by name. Those which every store has are left out.
 * Throws {@link IndexDefinitionError} and `PathError`.
 */
export function indexersOf(definitions: readonly IndexDefinition[]): Indexers {
  const indexers: Record<string, IndexFunction> = {}
  for (const definition of definitions) {
    const { name } = definition
    if (isInEveryStore(definition)) continue
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

function isInEveryStore({ name, paths }: IndexDefinition): boolean {
  return builtInDefinitions.some(
    (builtIn) =>
      builtIn.name === name &&
      paths.length === 1 &&
      builtIn.paths[0] === paths[0] &&
      (builtInIndexes as readonly string[]).includes(name),
  )
}

/**
 * The values of each object in the index, as the keys of its type. Values that are not of the type are left out, so
 * the object counts as having none.
 */
export function indexFunctionOf({
  name,
  paths: texts,
  type,
  reduce,
  valuesOf,
}: IndexDefinition): IndexFunction {
  if (valuesOf !== undefined) return stringsOf(name, valuesOf)
  const keysOf = keysAt(texts.map(parsePath), type)
  if (reduce === undefined) return keysOf
  if (reduce === 'first') return (object) => keysOf(object).slice(0, 1)
  return (object) => [sumOfKeys(keysOf(object))]
}

/** A function of the user's; what it throws is a failure of the index, and the object counts as having no value. */
function stringsOf(name: string, valuesOf: IndexFunction): IndexFunction {
  return (object) => {
    const values: unknown = valuesOf(object)
    if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values
    throw new TypeError(`the function of index ${name} gives no list of strings`)
  }
}

function keysAt(paths: readonly Path[], type: IndexType): IndexFunction {
  return (object) => {
    let keys: string[] | undefined
    for (const path of paths) {
      for (const value of valuesAt(path, object)) {
        const key = indexKeyOf(type, value)
        if (key !== undefined) (keys ??= []).push(key)
      }
    }
    return keys ?? none
  }
}

function sumOfKeys(keys: readonly string[]): string {
  const [first, ...rest] = keys
  if (first === undefined) return decimalKey(sumOf([]))
  return rest.length === 0 ? first : decimalKey(sumOf(keys.map(decimalOfKey)))
}

const none: readonly string[] = []
