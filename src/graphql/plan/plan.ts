/*
 * An operation compiled against one schema. A plan has a variation for each combination of the variables in `@skip` and
 * `@include`; the first request with the combination compiles it. A variation has a writer for each root field. It says
 * which kinds a request needs before the run, and then writes the whole `data` within one tick.
 *
 * Below are the writers of root fields. Lists and look-ups read a kind; all other fields are members of `QueryValues`, or
 * results of writes, which the value writer writes. If arguments name the kinds, the writer says which they are in a
 * request, so that these are loaded before the run. Lists of a kind write rows from bare ids, as most answers consist of
 * them.
 */

import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getVariableValues,
  type GraphQLError,
  Kind as NodeKind,
  type OperationDefinitionNode,
  type VariableValues,
  visit,
  getNullableType,
  isObjectType,
} from 'graphql'
import {
  QueryTooCostlyError,
  type WorkBudget,
  type WorkLimits,
} from '../../query/condition/work-budget.ts'
import { compactText } from '../../lib/text.ts'
import { fragmentsOf } from '../documents/selections.ts'
import {
  type ClusterKind,
  clusterNamed,
  type ClusterNames,
  clustersPrepared,
  isOverClusters,
} from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { ClientError } from '../errors/client-error.ts'
import {
  AskedArguments,
  type FieldArguments,
  nullBelow,
  type PlanRun,
  schemaWork,
  leastLengthOf,
  listText,
  objectText,
  type WrittenMember,
} from './plan-run.ts'
import {
  collectFields,
  compiledByKind,
  PlanCompiler,
  type PlanField,
  type PlanNeeds,
  type PlanWriters,
  type RowWriter,
  writtenMembers,
} from './plan-compiler.ts'
import { rowWriter } from './row-writer.ts'
import type { Kind } from '../model/kind.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { memberWriter, extensionWriter, valueWriter } from './value-writer.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import {
  type ListRequest,
  listRequest,
  readList,
  paidEdges,
  paidRows,
  type ReadPage,
} from '../reads/list-read.ts'
import { namedList } from '../reads/list-arguments.ts'
import { foundByKey } from '../reads/object-read.ts'
import { type FollowedChanges, readChangesFrame } from '../reads/past/followed-changes.ts'
import {
  namedByArguments,
  type NamedByArguments,
  objectOf,
  queryValues,
} from '../reads/query-values.ts'
import type { KindLookupArguments, ObjectListArguments } from '../schema/gateway-types.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import { isServed, kindNamed } from '../served/named-kinds.ts'

/** The number of variations that a plan keeps. A further one replaces the oldest. */
const maxVariations = 64

/** The number of answers that a variation keeps if they depend on the schema alone. A further one replaces the oldest. */
const maxTexts = 16

/** The coerced variables of a request, or the errors of the coercion. */
export type RequestVariables =
  | { readonly variableValues: VariableValues }
  | { readonly errors: readonly GraphQLError[] }

/** One operation of a document, compiled against one schema. */
export class Plan<V> {
  readonly #served: ServedSchema
  readonly #operation: OperationDefinitionNode
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #flags: readonly string[]
  readonly #variations = new Map<string, KeptVariation<V>>()
  readonly #grown: (bytes: number) => void
  readonly #compile: CompileVariation<V>

  constructor(
    served: ServedSchema,
    { document, operation, grown }: PlannedOperation,
    compile: CompileVariation<V>,
  ) {
    this.#compile = compile
    this.#served = served
    this.#operation = operation
    this.#grown = grown
    this.#fragments = fragmentsOf(document)
    this.#flags = flagsOf(document)
  }

  /** Coerces the request's variables by the rules of GraphQL. */
  coerce(inputs: Readonly<Record<string, unknown>>): RequestVariables {
    const { variableDefinitions = [] } = this.#operation
    if (variableDefinitions.length === 0) return none
    const result = getVariableValues(this.#served.schema, variableDefinitions, inputs, tellsNothing)
    return result.errors === undefined
      ? { variableValues: result.variableValues }
      : { errors: result.errors }
  }

  /**
   * The variation for a request. Throws a `ClientError` for a null in `@skip` or `@include`, which a nullable variable
   * with a default may have.
   */
  variation(variables: VariableValues): V {
    for (const name of this.#flags) {
      if (variables.coerced[name] !== null) continue
      const message = `$${name} is null, and @skip and @include need true or false`
      const hint = 'omit the variable to use its default'
      throw new ClientError('BAD_USER_INPUT', message, { argument: 'if', value: null, hint })
    }
    const flags = new Map(this.#flags.map((name) => [name, variables.coerced[name] === true]))
    const key = this.#flags.map((name) => Number(flags.get(name))).join('')
    const kept = this.#variations.get(key)
    if (kept !== undefined) return kept.variation
    for (const [oldest, dropped] of this.#variations) {
      if (this.#variations.size < maxVariations) break
      this.#variations.delete(oldest)
      this.#grown(-dropped.size.bytes)
      dropped.size.isKept = false
    }
    const size = { bytes: 0, isKept: true }
    const grown = (bytes: number): void => {
      if (!size.isKept) return
      size.bytes += bytes
      this.#grown(bytes)
    }
    const context = { fragments: this.#fragments, flags, grown }
    const compiler = new PlanCompiler(this.#served, context, writers)
    const variation = this.#compile(this.#operation, compiler)
    this.#variations.set(key, { variation, size })
    return variation
  }
}

interface KeptVariation<V> {
  readonly variation: V
  readonly size: { bytes: number; isKept: boolean }
}

const writers: PlanWriters = { row: rowWriter, list: listWriter }

/** The pipeline refuses these requests and describes the errors. A second description costs more than most answers. */
const tellsNothing = { maxErrors: 0, hideSuggestions: true } as const

const none: RequestVariables = { variableValues: { sources: {}, coerced: {} } }

/** A plan for one combination of the variables in `@skip` and `@include`. */
export class PlanVariation {
  /** Whether the answer depends only on the schema and the variables, like introspection. */
  readonly isOfSchema: boolean
  /** Whether it reads all types of the schema. */
  readonly readsSchema: boolean
  readonly #roots: (RootWriter & { readonly args: FieldArguments; readonly needs: PlanNeeds })[] =
    []
  readonly #members: readonly WrittenMember<[], PlanRun>[]
  /** The answers of a plan that depends on the schema alone, by the request's variables. All callers share them. */
  readonly #texts = new Map<string, string>()
  readonly #grown: (bytes: number) => void

  constructor(operation: OperationDefinitionNode, compiler: PlanCompiler) {
    const query = compiler.served.schema.getRootType(operation.operation)
    if (!query) throw new TypeError(`the schema has no ${operation.operation}`)
    this.#members = writtenMembers(query, [operation.selectionSet], compiler, (field) => {
      try {
        const root = rootWriter(field)
        this.#roots.push({ ...root, args: field.args, needs: compiler.takeNeeds() })
        return root.write
      } catch (error) {
        // The error of this field, such as a wrong constant path. The other fields have their answers.
        compiler.takeNeeds()
        return () => {
          throw error
        }
      }
    })
    this.readsSchema = this.#roots.some(({ ofSchema }) => ofSchema === 'whole')
    this.isOfSchema = this.#roots.every(({ ofSchema }) => ofSchema !== undefined)
    this.#grown = compiler.collect.grown
  }

  /** The limits of one run. An operation that reads the whole schema once is never too costly. */
  work({ schema }: ServedSchema, work: Partial<WorkLimits>): Partial<WorkLimits> {
    const [root, ...others] = this.#roots
    const readsOnce = root?.ofSchema === 'whole' && others.length === 0
    return readsOnce ? schemaWork(schema, work) : work
  }

  /**
   * The kinds that the plan reads, each in the cluster of its root field, and once however many fields read it. `budget` bounds
   * how much of the arguments is read for that. The run, which pays the same for them, reports what exceeds it.
   */
  kinds(
    served: ServedSchema,
    variables: VariableValues,
    budget: WorkBudget,
  ): readonly ClusterKind[] {
    const asked = new AskedArguments(variables, budget)
    const kinds = new Map<string, ClusterKind>()
    let found = 0
    for (const { args, needs, further } of this.#roots) {
      if (found > maxNeeds || budget.failure !== undefined) break
      try {
        const values = asked.of(args)
        const needed = neededIn(served, values, needs, asked)
        const all = [...needed, ...(further?.(served, values, asked) ?? [])]
        for (const at of all) kinds.set(needKey(at), at)
        found += all.length
      } catch {
        // The field reports its wrong arguments when the plan writes it.
      }
    }
    return [...kinds.values()]
  }

  /**
   * Writes the `data` of the answer: `null` if it exceeds the budget, or if a root field fails that may not be null. The
   * run collects the errors of the fields.
   */
  write(run: PlanRun): string {
    if (!this.isOfSchema) return this.#written(run)
    const key = JSON.stringify(run.variables.coerced)
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const text = compactText(this.#written(run))
    if (run.errors.count > 0) return text
    for (const [oldest, dropped] of this.#texts) {
      if (this.#texts.size < maxTexts) break
      this.#texts.delete(oldest)
      this.#grown(-2 * (oldest.length + dropped.length))
    }
    this.#texts.set(key, text)
    this.#grown(2 * (key.length + text.length))
    return text
  }

  #written(run: PlanRun): string {
    try {
      return objectText(run, this.#members)
    } catch (error) {
      if (error instanceof QueryTooCostlyError) run.errors.costly(error)
      else if (error !== nullBelow) throw error
      return 'null'
    }
  }
}

type CompileVariation<V> = (operation: OperationDefinitionNode, compiler: PlanCompiler) => V

export interface PlannedOperation {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** Receives each change of the plan's size, in bytes. */
  readonly grown: (bytes: number) => void
}

/** The names of the variables in `@skip` and `@include`. */
function flagsOf(document: DocumentNode): readonly string[] {
  const names = new Set<string>()
  if (document.loc?.source.body.includes('@') === false) return []
  visit(document, {
    Directive({ name, arguments: args }) {
      if (name.value !== 'skip' && name.value !== 'include') return
      const value = args?.find((one) => one.name.value === 'if')?.value
      if (value?.kind === NodeKind.VARIABLE) names.add(value.name.value)
    },
  })
  return [...names].toSorted()
}

/**
 * Compiles the pages of a list of a kind. A page is the value of its connection without the rows, which are written from
 * their bare ids, without an object for each. A page of several kinds is a value with its rows
 * (`reads/over-kinds/kinds-connection.ts`).
 */
function listWriter(kind: Kind, field: PlanField): (run: PlanRun, read: ReadPage) => string {
  const { compiler, args } = field
  compiler.reads(kind)
  compiler.filters(kind, args)
  const rowOf = ({ selections }: PlanField): RowWriter => compiler.row(kind, selections)
  type MemberWriter = (run: PlanRun, read: ReadPage) => string
  const { objectType, selections } = field
  const members = writtenMembers(objectType, selections, compiler, (member): MemberWriter => {
    if (member.name === 'nodes') {
      const write = rowOf(member)
      return (run, { page }) =>
        listText(run, paidRows(run.budget, page), (id, at) => write(run, page.partAt(at), id))
    }
    return member.name === 'edges' ? edgesWriter(member, rowOf) : memberWriter(member)
  })
  return (run, read) => objectText(run, members, read)
}

function edgesWriter(
  { objectType, selections, compiler }: PlanField,
  rowOf: (field: PlanField) => RowWriter,
): (run: PlanRun, read: ReadPage) => string {
  type MemberWriter = (run: PlanRun, read: ReadPage, id: ObjectId, at: number) => string
  let cursors = 0
  const members = writtenMembers(objectType, selections, compiler, (field): MemberWriter => {
    if (field.name === 'node') {
      const write = rowOf(field)
      return (run, { page }, id, at) => write(run, page.partAt(at), id)
    }
    if (field.name !== 'cursor') throw field.notCovered()
    cursors += 1
    return (_run, { page }, _id, at) => JSON.stringify(page.cursorAt(at))
  })
  const leastLength = leastLengthOf(members)
  return (run, read) => {
    const rows = paidEdges(run.budget, read.page, cursors)
    return listText(run, rows, (id, at) => objectText(run, members, read, id, at), leastLength)
  }
}

/** One field of `Query` in a plan. */
export interface RootWriter {
  /** The kinds that depend on the request's arguments, each in its cluster. The compiler has recorded all others. */
  readonly further?: (
    served: ServedSchema,
    args: Readonly<Record<string, unknown>>,
    asked: AskedArguments,
  ) => readonly ClusterKind[]
  /** Set if the value depends only on the arguments and on the schema: on all of it, or on one type. */
  readonly ofSchema?: 'whole' | 'type'
  readonly write: (run: PlanRun) => string
}

/**
 * Compiles a root field: of `Query`, `Mutation` or a subscription of an extension. Throws the GraphQLError of a constant
 * argument.
 */
function rootWriter(field: PlanField): RootWriter {
  const ofSchema = schemaFields.get(field.name)
  if (ofSchema !== undefined) return { ...valueRoot(field), ofSchema }
  const { source } = field
  switch (source.form) {
    case 'list': {
      const { kind } = source
      const write = listPageWriter(kind, field)
      return { write: (run) => write(run, run.requestOf(field.args, kind)) }
    }
    case 'lookup':
      return lookupRoot(source.kind, field)
    case 'objectList':
      return objectListRoot(field)
    case 'write':
      return writeRoot(field)
    case 'extension':
      return field.parent === field.compiler.served.schema.getMutationType()
        ? writeRoot(field)
        : extensionRoot(source.field, field)
    case 'extensionEvents':
      return extensionRoot(source.field, field)
    case 'changeFrames': {
      const write = valueWriter(field)
      return {
        write: (run) =>
          write(
            run,
            readChangesFrame(run, run.argumentsOf(field.args), run.event as FollowedChanges),
          ),
      }
    }
    case 'clusterFrames':
    case 'value':
      return valueRoot(field)
    default: {
      const named = namedByArguments[source.form]
      if (named === undefined) throw field.notCovered()
      return placedRoot(named, field)
    }
  }
}

/** The fields that depend on the schema alone: on the whole of it, or on one type. */
const schemaFields: ReadonlyMap<string, 'whole' | 'type'> = new Map([
  ['__schema', 'whole'],
  ['__type', 'type'],
  ['_service', 'whole'],
])

/** Compiles a field that is a member of {@link queryValues}. */
function valueRoot(field: PlanField): RootWriter {
  const write = memberWriter(field)
  return { write: (run) => write(run, queryValues) }
}

/** Compiles a field that a program adds to `Query`, or to `Subscription`, which each event answers. */
function extensionRoot(extension: ExtensionField, field: PlanField): RootWriter {
  const write = extensionWriter(extension, field)
  return { write: (run) => write(run, run.extensions.of(run.event, undefined)) }
}

/**
 * Compiles a field of `Mutation`. Its write was made before the answer is read. If the `errors` of a payload are selected,
 * a failed write has a payload.
 */
function writeRoot(field: PlanField): RootWriter {
  const { key, compiler, selections, source } = field
  const write = valueWriter(field)
  const selected = collectFields(selections, new Set(['WritePayload']), compiler.collect)
  const isToldAsData =
    source.form === 'write' &&
    [...selected.values()].some(([node]) => node?.name.value === 'errors')
  return { write: (run) => write(run, run.writes?.result(key, isToldAsData)) }
}

/** Compiles the list of a kind, in the clusters that the arguments of a request name. */
function listPageWriter(
  kind: Kind,
  field: PlanField,
): (run: PlanRun, request: ListRequest) => string {
  const { compiler, nodes } = field
  const write = compiler.list(kind, field)
  return (run, request) => {
    const read = readList(run, kind, request)
    run.errors.beside(read.failures, nodes)
    return write(run, read)
  }
}

type Values = Readonly<Record<string, unknown>>

function lookupRoot(kind: Kind, { compiler, args, selections }: PlanField): RootWriter {
  const write = compiler.row(kind, selections)
  const at = (served: ServedSchema, { cluster }: Partial<KindLookupArguments>): ClusterKind => ({
    cluster: clusterNamed(served, cluster),
    kind,
  })
  return {
    further(served, given: Partial<KindLookupArguments>) {
      return kind.uncached || given.live === true ? [] : [at(served, given)]
    },
    write(run) {
      const asked = run.argumentsOf(args) as unknown as KindLookupArguments
      const found = foundByKey(run, at(run.served, asked), objectKey(asked), asked.live === true)
      return found === undefined ? 'null' : write(run, found.part, found.id)
    },
  }
}

/** Compiles `objectList`: the list of each kind that a request names. */
function objectListRoot(field: PlanField): RootWriter {
  const { args } = field
  const listOf = compiledByKind(field, (kind) => listPageWriter(kind, field))
  /** By the coerced arguments: each run of a request has the same object. */
  const lists = new WeakMap<Values, { readonly kind: Kind; readonly request: ListRequest }>()
  return {
    further(served, values, asked) {
      const named = values as unknown as ObjectListArguments
      // The field reports unknown kinds when the plan writes it.
      const kind = kindNamed(served, named, { introspection: false })
      return neededIn(served, named, listOf(kind).needs, asked)
    },
    write(run) {
      const asked = run.argumentsOf(args)
      const list = getOrInsert(lists, asked, () => {
        const { served, limits } = run
        const { kind, typed } = namedList(served, asked as unknown as ObjectListArguments, limits)
        return { kind, request: listRequest(served, kind, typed) }
      })
      return listOf(list.kind).compiled(run, list.request)
    },
  }
}

/**
 * Compiles a member of {@link queryValues} whose arguments name the kinds of its objects. Each request determines the kinds to
 * read. The fields by which Relay fetches objects of one type are `object(id:)` for that type.
 */
function placedRoot(kindsOf: NamedByArguments, field: PlanField): RootWriter {
  const type = getNullableType(field.type)
  const typeName = field.source.form === 'objectById' && isObjectType(type) ? type.name : undefined
  const { compiled, rowNeeds } = field.compiler.ofNamedKinds(() => {
    if (typeName === undefined) return valueRoot(field)
    const write = valueWriter(field)
    const read = (run: PlanRun): unknown =>
      objectOf(run, String(run.argumentsOf(field.args)['id']), typeName)
    return { write: (run: PlanRun) => write(run, read(run)) }
  })
  return {
    ...compiled,
    further(served, values, asked) {
      const places = new Map<string, ClusterKind>()
      for (const at of kindsOf(served, values, asked.budget, typeName)) {
        places.set(`${at.cluster}/${at.kind.typeName}`, at)
      }
      return Array.from(places.values(), (at) => {
        const { cluster, kind, isOptional = false } = at
        const needed = rowNeeds.flatMap((needs) => neededKinds(needs(kind), cluster, asked))
        const rows = needed.map((need) => (isOptional ? { ...need, isOptional } : need))
        return kind.uncached ? rows : [at, ...rows]
      }).flat()
    },
  }
}

/** From so many needs on, the kinds of further root fields are prepared when a run lacks them. Few operations can pay for as many. */
const maxNeeds = 20_000

/** Equal for needs that are prepared alike. */
function needKey({ cluster, kind, indexes, isOptional = false }: ClusterKind): string {
  const { needed = [], useful = [] } = indexes ?? {}
  const wanted = indexes === undefined ? '' : `${[...needed].join()} ${[...useful].join()}`
  return `${cluster}/${kind.typeName}/${isOptional ? 1 : 0}/${wanted}`
}

/** The kinds that a request needs from a cluster. Throws as {@link AskedArguments.of} does. */
export function neededKinds(
  { kinds, asked: fields }: PlanNeeds,
  cluster: string,
  asked: AskedArguments,
): readonly ClusterKind[] {
  const further = fields.flatMap((one) => one.needs(asked.of(one.args), cluster))
  return [...kinds, ...further].map((need) => ({ cluster, ...need }))
}

/**
 * The kinds that a request needs from the clusters that arguments of a field name. In several clusters, only kinds that
 * they serve are prepared. Throws as `clustersPrepared` and {@link neededKinds} do.
 */
function neededIn(
  served: ServedSchema,
  args: ClusterNames,
  needs: PlanNeeds,
  asked: AskedArguments,
): readonly ClusterKind[] {
  const needed = clustersPrepared(served, args).flatMap((cluster) =>
    neededKinds(needs, cluster, asked),
  )
  if (!isOverClusters(args)) return needed
  return needed
    .filter(({ cluster, kind }) => isServed(served, cluster, kind.typeName))
    .map((need) => ({ ...need, isOptional: true }))
}
