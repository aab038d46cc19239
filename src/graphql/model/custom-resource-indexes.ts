import { CodedError } from '../../lib/coded-error.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'
import type { IndexType } from '../../query/index/index-key.ts'
import { PathError } from '../../query/index/path.ts'
import { capitalised } from '../../lib/letter-case.ts'
import type { CustomResourceVersion } from './custom-resource-definition.ts'
import type { SchemaAtPath } from './kind-catalog.ts'
import { scalarFormOf, type SchemaScalar } from './scalar-form.ts'

/** The options of {@link customResourceIndexes}. */
export interface CustomResourceIndexOptions {
  readonly typeName: string
  readonly version: CustomResourceVersion
  /** Whether an index of this name exists, or the name is reserved. */
  readonly isTaken: (name: string) => boolean
  /** What the API has at a path. Throws `PathError`. */
  readonly at: (path: string) => SchemaAtPath
}

/** Every kind has an index of its creation time. */
const creation = 'metadata.creationTimestamp'

/**
 * The indexes of a CRD's printer columns, which are named after the title (`Last Sync`: `lastSync`), and of its selectable
 * fields, which are named after the path (`.spec.colour`: `specColour`).
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
      const problem = found === undefined ? 'it is no plain path' : 'the schema has no such field'
      const message = `${typeName} has no index of ${jsonPath}: ${problem}`
      const hint = 'declare the index with @index'
      problems.push(new CodedError('CRD_INDEX', message, { value: jsonPath, hint }))
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

/** The words in lower camel case; `undefined` if they form no name. */
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

/** The type by the schema, or else by the column; `undefined` for lists and objects. */
function typeOf(at: SchemaAtPath, columnType: string): IndexType | undefined {
  if (at.form === 'described') {
    const scalar = scalarFormOf(at.schema)
    if (scalar === undefined && at.schema.type !== undefined) return undefined
    const type = scalar && typesOfScalars[scalar]
    if (type !== undefined) return type
  }
  return typesOfColumns[columnType] ?? 'string'
}

const typesOfScalars: Readonly<Partial<Record<SchemaScalar, IndexType>>> = {
  int: 'int',
  int64: 'int',
  float: 'quantity',
  quantity: 'quantity',
  boolean: 'boolean',
  dateTime: 'dateTime',
}

const typesOfColumns: Readonly<Record<string, IndexType | undefined>> = {
  integer: 'int',
  number: 'quantity',
  boolean: 'boolean',
  date: 'dateTime',
}

const fieldStep = /^(?:[^.[\]\\\s"'*?@()]|\\.)+/
const quotedStep = /^\[(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/
const everyStep = /^\[(?:\*|:)?\]/
const filterStep =
  /^\[\?\(\s*@\.([A-Za-z_]\w*)\s*==\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\)\]/

/**
 * The SDL path (`status.conditions[type="Ready"].status`) of a CRD's JSONPath
 * (`.status.conditions[?(@.type=="Ready")].status`); `undefined` if a path cannot express it.
 */
function pathOfJsonPath(jsonPath: string): string | undefined {
  const braces = /^\{(.*)\}$/s.exec(jsonPath.trim())
  let rest = (braces?.[1] ?? jsonPath).trim().replace(/^\$/, '')
  let path = ''
  while (rest !== '') {
    const dotted = rest.startsWith('.') ? fieldStep.exec(rest.slice(1)) : null
    const [match, step] =
      dotted === null ? bracketStep(rest) : [`.${dotted[0]}`, member(unescaped(dotted[0]))]
    if (match === undefined) return undefined
    path += path !== '' && !step.startsWith('[') ? `.${step}` : step
    rest = rest.slice(match.length)
  }
  return path === '' ? undefined : path
}

function bracketStep(rest: string): readonly [match: string | undefined, step: string] {
  const all = everyStep.exec(rest)
  if (all !== null) return [all[0], '[*]']
  const key = quotedStep.exec(rest)
  if (key !== null) return [key[0], member(unescaped(key[1] ?? key[2] ?? ''))]
  const matching = filterStep.exec(rest)
  if (matching === null) return [undefined, '']
  const value = unescaped(matching[2] ?? matching[3] ?? '')
  return [matching[0], `[${matching[1]}=${JSON.stringify(value)}]`]
}

function member(text: string): string {
  return /^[^.[\]"\s]+$/.test(text) ? text : `[${JSON.stringify(text)}]`
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}
