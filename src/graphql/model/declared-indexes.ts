/*
 * The indexes of a kind, which are the fields of its `where` and `orderBy`: the indexes of every kind, indexes that SDL
 * declares with `@index`, indexes of measured usage, the index functions of a program, and for a custom kind the printer
 * columns and selectable fields of its CRD. If two have the same name, the earlier one wins. A declaration that cannot be
 * an index becomes a problem.
 */

import { CodedError } from '../../lib/coded-error.ts'
import { capitalised } from '../../lib/letter-case.ts'
import { parsePath, PathError, valuesAt } from '../../query/index/path.ts'
import { type TypeDeclaration, type TypeExtension, indexType } from '../sdl/sdl-document.ts'
import type { KindCatalog, SchemaAtPath } from './kind-catalog.ts'
import { type ApiResource, isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { builtInIndexes, type IndexFunction } from '../../informer/store/store-view.ts'
import { ruledHealth } from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { type OpenApiSchema, scalarFormOf, type SchemaScalar } from '../../kubernetes/open-api.ts'
import { type IndexDefinition, builtInDefinitions } from '../../query/index/index-definition.ts'
import { type IndexType, indexKeyOf } from '../../query/index/index-key.ts'
import { containerResourceAt } from '../../query/index/pod-total.ts'
import { usageIndexes } from '../../query/index/usage-index.ts'
import { usageResourceOf } from '../../kubernetes/usage.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import { type BareKind, isNamespace } from './kind.ts'

/** The index functions of a program by list field (`pods`) and by name, which is also the field of `where`. */
export type IndexFunctions = Readonly<
  Record<string, Readonly<Record<string, ObjectIndex['valuesOf']>>>
>

/** A method, because TypeScript then accepts a function of a `Pod` in place of a function of any object. */
interface ObjectIndex {
  valuesOf(object: Unstructured): readonly string[]
}

/** An index function that cannot become a field of `where`. Thrown at start. */
export class IndexFunctionError extends CodedError {
  constructor(name: string, problem: string, hint: string) {
    super('INDEX_FUNCTION', `indexers.${name}: ${problem}`, { value: name, hint })
  }
}

/** All indexes of a kind. Adds a problem for each declaration that cannot be an index. */
export function indexesOf(
  kind: BareKind,
  catalog: KindCatalog,
  extensions: readonly TypeExtension[],
  functions: IndexFunctions,
  problems: CodedError[],
): readonly IndexDefinition[] {
  const { typeName, listField, resource } = kind
  const places = new Map<string, SdlPlace>()
  const declared: IndexDefinition[] = []
  for (const { optional, indexes } of extensions) {
    for (const declaration of indexes) {
      try {
        const earlier = places.get(declaration.arguments.name)
        declared.push(declaredIndex(declaration, kind, catalog, earlier))
        places.set(declaration.arguments.name, declaration.place)
      } catch (error) {
        if (!(error instanceof SdlError)) throw error
        // The package declares indexes of Secrets that a metadata-only cache cannot have.
        const isExpected = optional && kind.metadataOnly && error.problem === 'unknown-field'
        if (!isExpected) problems.push(error)
      }
    }
  }
  const measured = usageResourceOf(resource) === undefined ? [] : usageIndexes
  const known = new Map(
    [
      ...builtInDefinitions,
      healthIndex(kind),
      changedIndex,
      ...declared,
      ...measured.filter(({ name }) => !places.has(name)),
    ].map((index) => [index.name, index]),
  )
  const given = Object.hasOwn(functions, listField) ? functions[listField] : undefined
  for (const [name, valuesOf] of Object.entries(given ?? {})) {
    const fail = (problem: string, hint = 'choose another name'): void =>
      void problems.push(new IndexFunctionError(`${listField}.${name}`, problem, hint))
    if (reserved.has(name)) fail('the name is reserved')
    else if (!indexName.test(name)) {
      fail(`it cannot be a field of ${typeName}Where`, 'use letters, digits and _')
    } else if (places.has(name)) fail(`${typeName} has an index of this name already`)
    else if (typeof valuesOf !== 'function') {
      fail('it is not a function', 'give a function from an object to a list of strings')
    } else known.set(name, { name, paths: [], type: 'string', valuesOf: valuesOf as IndexFunction })
  }
  const version = catalog.customResourceOf(kind)
  if (version === undefined) return [...known.values()]
  // Columns are named after the title (`Last Sync`: `lastSync`), fields after the path (`.spec.colour`: `specColour`).
  const columns = [
    ...version.printerColumns,
    ...version.selectableFields.map((path) => ({ name: path, jsonPath: path, type: 'string' })),
  ]
  for (const { name: words, jsonPath, type: columnType } of columns) {
    const name = nameOf(words)
    if (name === undefined || known.has(name) || reserved.has(name)) continue
    const path = pathOfJsonPath(jsonPath)
    let at: SchemaAtPath | undefined
    try {
      at = path === undefined ? undefined : catalog.at(typeName, path)
    } catch (error) {
      if (!(error instanceof PathError)) throw error
    }
    if (path === undefined || at === undefined || at.form === 'absent') {
      const problem = at === undefined ? 'it is not a plain path' : 'the schema has no such field'
      const message = `${typeName} has no index of ${jsonPath}: ${problem}`
      const hint = 'declare the index with @index'
      problems.push(new CodedError('CRD_INDEX', message, { value: jsonPath, hint }))
      continue
    }
    // Every kind has an index of its creation time.
    if (path === 'metadata.creationTimestamp') continue
    const type = typeOf(at, columnType)
    if (type !== undefined) known.set(name, { name, paths: [path], type })
  }
  return [...known.values()]
}

/** `and`, `or`, `not` and `labels` are fields of every `where`; the others are indexes of every kind. */
const reserved: ReadonlySet<string> = new Set([
  'and',
  'or',
  'not',
  'labels',
  'health',
  'changed',
  ...builtInIndexes,
  ...builtInDefinitions.map(({ name }) => name),
])

const indexName = /^[A-Za-z][A-Za-z0-9_]*$/

const numbers: ReadonlySet<string> = new Set(['int', 'quantity'])

/**
 * The index of a declaration. Throws the problem of one that cannot be an index. `earlier`: the place of an index with
 * its name.
 */
function declaredIndex(
  { place, arguments: args }: TypeDeclaration<'index'>,
  { typeName, apiVersion, resource }: BareKind,
  catalog: KindCatalog,
  earlier: SdlPlace | undefined,
): IndexDefinition {
  const { name, path: paths, type, description } = args
  const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
    new SdlError(problem, place, message, hint)
  if (reserved.has(name)) {
    const message = `${typeName}: index name ${JSON.stringify(name)} is reserved`
    throw fail('reserved-index-name', message, 'choose another name')
  }
  if (!indexName.test(name)) {
    const message = `index name ${JSON.stringify(name)} cannot be a field of ${typeName}Where`
    throw fail('unsupported', message, 'use letters, digits and _')
  }
  if (earlier !== undefined) {
    const { file, line } = earlier
    const message = `${typeName} has an index ${name} already, declared at ${file}:${line}`
    throw fail('duplicate-index', message, 'give one of them another name')
  }
  if (paths.length === 0) throw fail('bad-path', `index ${name} has no path`, 'give it one')
  const reduce = args.reduce ?? undefined
  if (reduce === 'sum' && !numbers.has(type)) {
    const message = `index ${name} cannot have reduce: SUM: it is not of numbers`
    throw fail('unsupported', message, 'give it type: INT or type: QUANTITY')
  }
  if (reduce === 'restarts' && (typeName !== 'Pod' || type !== 'int')) {
    const message = `index ${name} cannot have reduce: RESTARTS: it is not of the restarts of pods`
    throw fail('unsupported', message, 'declare it on Pod, with type: INT')
  }
  const searchable = args.searchable === true
  if (searchable && type !== 'string') {
    const message = `index ${name} cannot be searchable: it is not of strings`
    throw fail('unsupported', message, 'leave `searchable` out')
  }
  const enumerations: OpenApiSchema['enum'][] = []
  for (const path of paths) {
    const unreadable = pathProblem(path, place, `index ${name} of ${typeName}`)
    if (unreadable !== undefined) throw unreadable
    const there = catalog.at(typeName, path)
    if (there.form === 'absent') {
      const message = `index ${name}: a ${typeName} of ${apiVersion} has nothing at ${path}`
      throw fail('unknown-field', message, unknownFieldHint)
    }
    const schema = there.form === 'described' ? there.schema : undefined
    enumerations.push(schema?.enum)
    const scalar = schema && scalarFormOf(schema)
    if (scalar !== undefined && !readableFrom[type].has(scalar)) {
      const message = `index ${name} of ${typeName}: the value at ${path} is never of this type`
      const fitting = indexType
        .getValues()
        .filter(({ value }) => readableFrom[value as IndexType].has(scalar))
      const hint = `write type: ${fitting.map((one) => one.name).join(' or ')}`
      throw fail('field-type', message, hint)
    }
  }
  // All possible values, by the enumerations at its paths. Objects of custom kinds may keep values of an earlier schema.
  const closed = enumerations.filter((one) => one !== undefined)
  const isClosed =
    type === 'string' && isBuiltInGroup(resource.group) && closed.length === enumerations.length
  const closedSet = isClosed ? { values: [...new Set(closed.flat().map(String))] } : {}
  const isPodTotal =
    typeName === 'Pod' &&
    type === 'quantity' &&
    paths.length === 1 &&
    containerResourceAt(parsePath(paths[0] ?? '')) !== undefined
  if (reduce === 'podTotal' && !isPodTotal) {
    const message = `index ${name} cannot have reduce: POD_TOTAL: it is not of a resource of the containers of pods`
    const path = 'spec.containers[*].resources.requests.NAME'
    const hint = `declare it on Pod, with type: QUANTITY and one path: ${path}, or limits.NAME`
    throw fail('unsupported', message, hint)
  }
  return {
    name,
    paths,
    type,
    ...(reduce === undefined ? {} : { reduce }),
    // Computing it for each state of a pod costs some microseconds, and few requests need it.
    ...(reduce === 'podTotal' ? { lazy: true } : {}),
    ...(searchable ? { searchable } : {}),
    ...(description === undefined || description === null ? {} : { description }),
    ...closedSet,
  }
}

const numeric = ['int', 'int64', 'float', 'quantity', 'intOrString', 'string'] as const

/**
 * The scalars that the values of an index can be read from. Labels and annotations hold numbers and times as strings, so
 * an index of these types reads strings, and leaves out strings that it cannot parse.
 */
const readableFrom: Readonly<Record<IndexType, ReadonlySet<SchemaScalar>>> = {
  string: new Set([...numeric, 'boolean', 'dateTime']),
  int: new Set(numeric),
  quantity: new Set(numeric),
  dateTime: new Set(['dateTime', 'string']),
  boolean: new Set(['boolean']),
  healthStatus: new Set(),
}

/** Times in objects, besides their creation, that say when they changed. */
const changes = [
  'metadata.deletionTimestamp',
  'status.conditions[*].lastTransitionTime',
  'status.containerStatuses[*].state.running.startedAt',
  'status.containerStatuses[*].lastState.terminated.finishedAt',
  'status.completionTime',
  'lastTimestamp',
].map(parsePath)

/** The index behind the order `changed` of every kind. It is built on first use. */
const changedIndex: IndexDefinition = {
  name: 'changed',
  paths: [],
  type: 'dateTime',
  lazy: true,
  description:
    'The latest time that the object tells of itself: of its creation, of a transition of a condition, of a start or end of a container.',
  valuesOf(object) {
    const { creationTimestamp } = object.metadata
    const times = [creationTimestamp, ...changes.flatMap((path) => valuesAt(path, object))]
    const keys = times.flatMap((time) => indexKeyOf('dateTime', time) ?? [])
    return keys.toSorted().slice(-1)
  },
}

/** The indexes of every kind. The rule behind `health` depends on the kind. */
export const commonIndexes: readonly IndexDefinition[] = [
  ...builtInDefinitions,
  healthIndex({ resource: { group: '', kind: '' } }),
  changedIndex,
]

/**
 * The index behind the filter `health` of every kind. It is built on first use, as each object's health is computed for
 * it.
 */
function healthIndex({
  resource,
}: {
  readonly resource: Pick<ApiResource, 'group' | 'kind'>
}): IndexDefinition {
  const rule = healthRuleOf(resource)
  return {
    name: 'health',
    paths: [],
    type: 'healthStatus',
    lazy: true,
    ...(isNamespace({ resource }) ? { isOfContents: true } : {}),
    description: 'The `status` of `health`, in the order of `HealthStatus`: the worst first.',
    valuesOf(object) {
      const health = ruledHealth(rule, object as Unstructured)
      return health === undefined ? [] : [indexKeyOf('healthStatus', health.status) ?? '']
    },
  }
}

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
