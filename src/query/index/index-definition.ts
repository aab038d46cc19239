import {
  builtInIndexes,
  type IndexFunction,
  type Indexers,
} from '../../informer/store/store-view.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { type IndexType, indexKeyOf } from './index-key.ts'
import { parsePath, valuesAt } from './path.ts'

/** An index as filters see it. */
export interface FilterableIndex {
  /** The name of the `where` field and of the index in the store. */
  readonly name: string
  readonly type: IndexType
  /** Whether it can be compared (`lt`, `lte`, `gt`, `gte`, and `startsWith` for strings). */
  readonly ordered: boolean
}

/** An index over what stands at a path of each object. */
export interface IndexDefinition extends FilterableIndex {
  readonly path: string
}

/** An index that cannot be declared. Thrown at start. */
export class IndexDefinitionError extends CodedError {
  constructor(name: string, problem: string, hint: string) {
    super('INDEX_DEFINITION', `index ${JSON.stringify(name)} ${problem}`, { value: name, hint })
  }
}

/** The indexes that every kind has. */
export const builtInDefinitions: readonly IndexDefinition[] = [
  { name: 'name', path: 'metadata.name', type: 'string', ordered: true },
  { name: 'namespace', path: 'metadata.namespace', type: 'string', ordered: true },
  { name: 'creationTime', path: 'metadata.creationTimestamp', type: 'dateTime', ordered: true },
]

const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not', ...builtInIndexes])
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

function isInEveryStore({ name, path }: IndexDefinition): boolean {
  return builtInDefinitions.some(
    (builtIn) =>
      builtIn.name === name &&
      builtIn.path === path &&
      (builtInIndexes as readonly string[]).includes(name),
  )
}

/**
 * The values of each object in the index, as the keys of its type. Values that are not of the type are left out, so
 * the object counts as having none.
 */
export function indexFunctionOf({ path: text, type }: IndexDefinition): IndexFunction {
  const path = parsePath(text)
  return (object) => {
    const values = valuesAt(path, object)
    if (values.length === 0) return none
    const keys: string[] = []
    for (const value of values) {
      const key = indexKeyOf(type, value)
      if (key !== undefined) keys.push(key)
    }
    return keys
  }
}

const none: readonly string[] = []
