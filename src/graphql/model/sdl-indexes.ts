import { type IndexDefinition, builtInDefinitions } from '../../query/index/index-definition.ts'
import { builtInIndexes } from '../../informer/store/store-view.ts'
import { PathError, parsePath } from '../../query/index/path.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { indexType } from '../sdl/sdl-directives.ts'
import { scalarFormOf, type SchemaScalar } from './scalar-form.ts'
import type { SchemaAtPath } from './schema-at-path.ts'
import type { IndexDeclaration } from '../sdl/sdl-document.ts'
import { SdlError, type SdlPlace, unknownFieldHint } from '../sdl/sdl-error.ts'

/** `and`, `or`, `not` and `labels` are fields of `where` themselves; the others are indexes that every kind has. */
const reserved: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'labels',
  'health',
  ...builtInIndexes,
  ...builtInDefinitions.map(({ name }) => name),
])

const numbers: ReadonlySet<string> = new Set(['int', 'quantity'])

/** Whether no declared index may have the name: it is a field of `where`, or that of an index which every kind has. */
export function isReservedIndexName(name: string): boolean {
  return reserved.has(name)
}

/** What {@link SdlIndexes} checks declarations against. */
export interface IndexedKind {
  readonly typeName: string
  readonly apiVersion: string
  /** What the API says of a path. */
  readonly at: (path: string) => SchemaAtPath
  /** What it has besides the indexes of every store. */
  readonly given: readonly IndexDefinition[]
}

/** Collects the declared indexes of one kind. */
export class SdlIndexes {
  readonly #kind: IndexedKind
  readonly #declared = new Map<string, { definition: IndexDefinition; place: SdlPlace }>()

  constructor(kind: IndexedKind) {
    this.#kind = kind
  }

  has(name: string): boolean {
    return this.#declared.has(name)
  }

  /** All indexes of the kind: those of every kind, then the declared ones. */
  definitions(): readonly IndexDefinition[] {
    return [
      ...builtInDefinitions,
      ...this.#kind.given,
      ...[...this.#declared.values()].map((one) => one.definition),
    ]
  }

  /** Takes one in. Returns what is wrong with it, if anything. */
  add({ place, arguments: args }: IndexDeclaration): SdlError | undefined {
    const { typeName, apiVersion, at } = this.#kind
    const { name, path: paths, type } = args
    if (reserved.has(name)) {
      const message = `${typeName}: index name ${JSON.stringify(name)} is reserved`
      return new SdlError('reserved-index-name', place, message, 'choose another name')
    }
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      const message = `index name ${JSON.stringify(name)} cannot be a field of ${typeName}Where`
      return new SdlError('unsupported', place, message, 'use letters, digits and _')
    }
    const earlier = this.#declared.get(name)
    if (earlier !== undefined) {
      const { file, line } = earlier.place
      const message = `${typeName} has an index ${name} already, declared at ${file}:${line}`
      return new SdlError('duplicate-index', place, message, 'give one of them another name')
    }
    if (paths.length === 0) {
      return new SdlError('bad-path', place, `index ${name} has no path`, 'give it one')
    }
    const reduce = args.reduce ?? undefined
    if (reduce === 'sum' && !numbers.has(type)) {
      const message = `index ${name} cannot have reduce: SUM: it is not of numbers`
      return new SdlError('unsupported', place, message, 'give it type: INT or type: QUANTITY')
    }
    const searchable = args.searchable === true
    if (searchable && type !== 'string') {
      const message = `index ${name} cannot be searchable: it is not of strings`
      return new SdlError('unsupported', place, message, 'leave `searchable` out')
    }
    for (const path of paths) {
      const unreadable = pathProblem(path, place, `index ${name} of ${typeName}`)
      if (unreadable !== undefined) return unreadable
      const there = at(path)
      if (there.form === 'absent') {
        const message = `index ${name}: a ${typeName} of ${apiVersion} has nothing at ${path}`
        return new SdlError('unknown-field', place, message, unknownFieldHint)
      }
      const scalar = there.form === 'described' ? scalarFormOf(there.schema) : undefined
      if (scalar !== undefined && !mayHold[type].has(scalar)) {
        const message = `index ${name} of ${typeName}: what stands at ${path} is never of this type`
        const fitting = indexType
          .getValues()
          .filter(({ value }) => mayHold[value as IndexType].has(scalar))
        const hint = `write type: ${fitting.map((one) => one.name).join(' or ')}`
        return new SdlError('field-type', place, message, hint)
      }
    }
    const definition: IndexDefinition = {
      name,
      paths,
      type,
      ...(reduce === undefined ? {} : { reduce }),
      ...(searchable ? { searchable } : {}),
    }
    this.#declared.set(name, { definition, place })
    return undefined
  }
}

/**
 * What the values of an index may be read from. Text may hold whatever is written as text: labels and annotations, which are
 * nothing else, have numbers and times, so an index of these takes what is written like one, and passes over the rest.
 */
const mayHold: Readonly<Record<IndexType, ReadonlySet<SchemaScalar>>> = {
  string: new Set([
    'string',
    'boolean',
    'int',
    'int64',
    'float',
    'dateTime',
    'quantity',
    'intOrString',
  ]),
  int: new Set(['int', 'int64', 'float', 'quantity', 'intOrString', 'string']),
  quantity: new Set(['int', 'int64', 'float', 'quantity', 'intOrString', 'string']),
  dateTime: new Set(['dateTime', 'string']),
  boolean: new Set(['boolean']),
}

/** What is wrong with a path, if anything; `about` says what it is a path of. */
export function pathProblem(path: string, place: SdlPlace, about: string): SdlError | undefined {
  try {
    parsePath(path)
    return undefined
  } catch (error) {
    if (!(error instanceof PathError)) throw error
    const message = `${about}: ${error.message}`
    return new SdlError('bad-path', place, message, error.hint ?? 'correct the path')
  }
}
