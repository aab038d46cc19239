import type { OpenApiSchema } from '../../kubernetes/open-api.ts'
import { CodedError } from '../../lib/coded-error.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { PathError } from '../../query/index/path.ts'
import { capitalised } from '../naming/letter-case.ts'
import { scalarFormOf } from './scalar-form.ts'
import type { CustomResourceVersion } from './custom-resource-definition.ts'
import { pathOfJsonPath } from './json-path.ts'
import type { SchemaAtPath } from './schema-at-path.ts'

/** A printer column or selectable field of a CRD that cannot be an index. */
export class CustomResourceIndexError extends CodedError {
  constructor(typeName: string, jsonPath: string, problem: string) {
    super('CRD_INDEX', `${typeName} has no index of ${jsonPath}: ${problem}`, {
      value: jsonPath,
      hint: 'declare what is needed of it with @index',
    })
  }
}

/** What {@link customResourceIndexes} goes by. */
export interface CustomResourceIndexOptions {
  readonly typeName: string
  readonly version: CustomResourceVersion
  /** Names that are taken already, or that no index may have. */
  readonly isTaken: (name: string) => boolean
  /** Throws `PathError`. */
  readonly at: (path: string) => SchemaAtPath
}

/** The creation time, which every kind has an index of. */
const creation = 'metadata.creationTimestamp'

/**
 * The indexes that a CRD asks for by itself: one for each printer column, by its title (`Last Sync`: `lastSync`), and one
 * for each selectable field, by its path (`.spec.colour`: `specColour`).
 */
export function customResourceIndexes(options: CustomResourceIndexOptions): {
  readonly indexes: readonly IndexDefinition[]
  readonly problems: readonly CodedError[]
} {
  const { typeName, version, isTaken, at } = options
  const indexes = new Map<string, IndexDefinition>()
  const problems: CodedError[] = []
  const add = (words: string, jsonPath: string, columnType: string): void => {
    const name = nameOf(words)
    if (name === undefined || isTaken(name) || indexes.has(name)) return
    const found = pathAt(jsonPath, at)
    if (found === undefined || found.at.form === 'absent') {
      const problem =
        found === undefined ? 'it is more than a path' : 'the schema has no such field'
      problems.push(new CustomResourceIndexError(typeName, jsonPath, problem))
      return
    }
    if (found.path === creation) return
    const type = typeOf(found.at, columnType)
    if (type !== undefined) indexes.set(name, { name, paths: [found.path], type })
  }
  for (const { name, jsonPath, type } of version.printerColumns) add(name, jsonPath, type)
  for (const jsonPath of version.selectableFields) add(jsonPath, jsonPath, 'string')
  return { indexes: [...indexes.values()], problems }
}

/** Words in lower camel case; `undefined` where they do not make a name. */
function nameOf(text: string): string | undefined {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = words
    .map((word) => (/^[A-Z0-9]+$/.test(word) ? word.toLowerCase() : word))
    .map((word, at) =>
      at === 0 ? word.charAt(0).toLowerCase() + word.slice(1) : capitalised(word),
    )
    .join('')
  return /^[A-Za-z]/.test(name) ? name : undefined
}

function pathAt(
  jsonPath: string,
  at: (path: string) => SchemaAtPath,
): { readonly path: string; readonly at: SchemaAtPath } | undefined {
  const path = pathOfJsonPath(jsonPath)
  try {
    return path === undefined ? undefined : { path, at: at(path) }
  } catch (error) {
    if (error instanceof PathError) return undefined
    throw error
  }
}

/** What the schema says, or else the column; `undefined` for what is no single value. */
function typeOf(at: SchemaAtPath, columnType: string): IndexType | undefined {
  const described = at.form === 'described' ? indexTypeOf(at.schema) : 'string'
  if (described !== 'string') return described
  switch (columnType) {
    case 'integer':
      return 'int'
    case 'number':
      return 'quantity'
    case 'boolean':
      return 'boolean'
    case 'date':
      return 'dateTime'
    default:
      return 'string'
  }
}

function indexTypeOf(schema: OpenApiSchema): IndexType | undefined {
  switch (scalarFormOf(schema)) {
    case 'int':
    case 'int64':
      return 'int'
    case 'float':
    case 'quantity':
      return 'quantity'
    case 'boolean':
      return 'boolean'
    case 'dateTime':
      return 'dateTime'
    case 'string':
    case 'intOrString':
      return 'string'
    case undefined:
      return schema.type === undefined ? 'string' : undefined
  }
}
