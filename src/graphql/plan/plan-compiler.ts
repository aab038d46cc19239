/*
 * The parts that all compilers of a plan share. `PlanField` is a field of the document with its definition and arguments.
 * `PlanCompiler` knows the place that is being compiled, and collects what the current root field reads: kinds with their
 * indexes, and fields whose arguments name further kinds in each request. A part that only some requests read is compiled
 * apart, with its own needs: so are rows of a kind that is known only from the object. `collectFields` finds the selected
 * fields of an object (CollectFields in the GraphQL specification).
 */

import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isObjectType,
  type SelectionSetNode,
  type FragmentDefinitionNode,
  type VariableValues,
} from 'graphql'
import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { filterNeeds, type ReadPage } from '../reads/list-read.ts'
import { RelationRead } from '../reads/relation-read.ts'
import { type FieldSource, fieldSourceOf } from '../schema/field-source.ts'
import { type RelatedNeed, relationNeeds } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import {
  FieldArguments,
  answered,
  type PlanRun,
  type QuickText,
  type ValueRun,
} from './plan-run.ts'
import { compactText } from '../../lib/text.ts'
import { fragmentsOf, isIncluded, visitSelections } from '../documents/selections.ts'

/** Writes one object of a kind, or one member of it, as JSON text. */
export type RowWriter = (run: PlanRun, part: KindView, id: ObjectId) => string

/** A field whose arguments may name further kinds, depending on the request's variables or the cluster. */
interface AskedKinds {
  readonly args: FieldArguments
  needs(values: Readonly<Record<string, unknown>>, cluster: string): readonly RelatedNeed[]
}

/** The kinds that a part of a plan reads in the cluster of its root field. */
export interface PlanNeeds {
  readonly kinds: readonly RelatedNeed[]
  readonly asked: readonly AskedKinds[]
}

/** A field of an object in the document: all nodes of one response key. */
export class PlanField {
  readonly parent: GraphQLObjectType
  readonly key: string
  readonly nodes: readonly FieldNode[]
  readonly compiler: PlanCompiler
  /** The response path of the field, without connection keys. */
  readonly place: string
  #args: FieldArguments | undefined

  constructor(
    parent: GraphQLObjectType,
    key: string,
    nodes: readonly FieldNode[],
    compiler: PlanCompiler,
  ) {
    this.parent = parent
    this.key = key
    this.nodes = nodes
    this.compiler = compiler
    this.place = compiler.scope.place
  }

  get name(): string {
    return this.nodes[0]?.name.value ?? ''
  }

  get definition(): GraphQLField<unknown, unknown> {
    // Also finds the fields of introspection.
    const field = this.compiler.served.schema.getField(this.parent, this.name)
    if (field === undefined) throw this.notCovered()
    return field
  }

  get source(): FieldSource {
    return fieldSourceOf(this.definition)
  }

  get type(): GraphQLOutputType {
    return this.definition.type
  }

  /** The type of the objects that the field contains. */
  get objectType(): GraphQLObjectType {
    const type = getNamedType(this.type)
    if (!isObjectType(type)) throw this.notCovered()
    return type
  }

  /** Throws the GraphQLError of a constant argument. */
  get args(): FieldArguments {
    const [node] = this.nodes
    if (node === undefined) throw this.notCovered()
    return (this.#args ??= new FieldArguments(this.definition, node))
  }

  get selections(): readonly SelectionSetNode[] {
    return selectionsOf(this.nodes)
  }

  /** The error of a field without a writer, which is a fault of the gateway. */
  notCovered(): TypeError {
    return new TypeError(`no writer of ${this.parent.name}.${this.name}`)
  }
}

interface Written<W> {
  readonly name: string
  readonly before: string
  readonly write: W | (() => string)
  readonly quick: QuickText | undefined
}

/**
 * Compiles the members of an object, each as a field that may fail. `compile` does not get `__typename`. `abstract`:
 * the names of unions that fragments may name besides the type.
 */
export function writtenMembers<W extends (run: never, ...source: never[]) => string>(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  compiler: PlanCompiler,
  compile: (field: PlanField) => (W & { readonly quick?: QuickText }) | undefined,
  abstract: readonly string[] = [],
): Written<W>[] {
  const names = [type.name, ...type.getInterfaces().map(({ name }) => name), ...abstract]
  const fields = collectFields(selections, new Set(names), compiler.collect)
  return writtenFields(type, fields, compiler, compile)
}

/** Like {@link writtenMembers}, for collected fields. */
export function writtenFields<W extends (run: never, ...source: never[]) => string>(
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
  compiler: PlanCompiler,
  compile: (field: PlanField) => (W & { readonly quick?: QuickText }) | undefined,
): Written<W>[] {
  // Response paths omit the keys of connections.
  const isPart = /(Connection|Edge)$/.test(type.name)
  return Array.from(fields, ([key, nodes], position) => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    const name = nodes[0]?.name.value ?? ''
    if (name === '__typename') {
      const named = JSON.stringify(type.name)
      return { name, before, write: () => named, quick: (_run, _value, text) => text + named }
    }
    const written = (): Written<W> => {
      const field = new PlanField(type, key, nodes, compiler)
      const write = compile(field)
      if (write === undefined) throw field.notCovered()
      return { name, before, write: answered(field, write), quick: write.quick }
    }
    return isPart ? written() : compiler.within(key, written)
  })
}

/** The compilers of rows and connections, which contain each other. */
export interface PlanWriters {
  readonly row: (
    kind: Kind,
    selections: readonly SelectionSetNode[],
    compiler: PlanCompiler,
  ) => RowWriter
  readonly list: (kind: Kind, field: PlanField) => (run: PlanRun, read: ReadPage) => string
}

export interface CompileScope {
  /** The response path of the field being compiled, without connection keys. */
  readonly place: string
  /** Whether the rows belong to a subscription. */
  readonly isLive: boolean
  /** Compiles a field whose text is written before the value around it; `undefined` for other fields. */
  readonly writtenBefore?: (
    field: PlanField,
  ) => ((run: ValueRun, value: never) => string) | undefined
}

export interface Compiled<T> {
  readonly compiled: T
  readonly needs: PlanNeeds
}

export class PlanCompiler {
  readonly served: ServedSchema
  readonly collect: CollectContext
  readonly #writers: PlanWriters
  /** The kinds that the relations compiled so far read. */
  readonly #ledTo = new Set<Kind>()
  /** The kinds that the current root field reads, including the kinds of its relations. */
  #kinds = new Map<Kind, { readonly needed: Set<string>; readonly useful: Set<string> }>()
  /** Fields of the current root field whose arguments may name further kinds. */
  #asked: AskedKinds[] = []
  #scope: CompileScope = { place: '', isLive: false }
  #needsViewer = false
  #rowNeeds: ((kind: Kind) => PlanNeeds)[] | undefined

  constructor(served: ServedSchema, collect: CollectContext, writers: PlanWriters) {
    this.served = served
    this.collect = collect
    this.#writers = writers
  }

  another(): PlanCompiler {
    return new PlanCompiler(this.served, this.collect, this.#writers)
  }

  row(kind: Kind, selections: readonly SelectionSetNode[]): RowWriter {
    return this.#writers.row(kind, selections, this)
  }

  list(kind: Kind, field: PlanField): (run: PlanRun, read: ReadPage) => string {
    return this.#writers.list(kind, field)
  }

  get scope(): CompileScope {
    return this.#scope
  }

  /** Compiles a part in a scope, now or later. */
  in<T>(scope: CompileScope, compile: () => T): T {
    const outer = this.#scope
    this.#scope = scope
    try {
      return compile()
    } finally {
      this.#scope = outer
    }
  }

  /** Compiles a field of a row, or a root field, whose place ends with its key. */
  within<T>(key: string, compile: () => T): T {
    const scope = this.#scope
    const place = scope.place === '' ? key : `${scope.place}.${key}`
    return this.in({ ...scope, place }, compile)
  }

  /** Records that a field depends on the viewer beyond the viewer's permission to list. */
  dependsOnViewer(): void {
    this.#needsViewer = true
  }

  get needsViewer(): boolean {
    return this.#needsViewer
  }

  /** Records that the current root field reads this kind by these indexes. */
  reads(kind: Kind, indexes: WantedIndexes = {}): void {
    const known = getOrInsert(this.#kinds, kind, () => ({
      needed: new Set<string>(),
      useful: new Set<string>(),
    }))
    for (const name of indexes.needed ?? []) known.needed.add(name)
    for (const name of indexes.useful ?? []) known.useful.add(name)
  }

  leadsTo(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#ledTo.add(kind)
  }

  isLedTo(kind: Kind): boolean {
    return this.#ledTo.has(kind)
  }

  /** Allows a direct read of a field. Throws `ClientError` in a subscription. */
  readsDirectly({ parent, name }: PlanField): void {
    if (!this.#scope.isLive) return
    const message = `${parent.name}.${name} is read live, so subscriptions do not include it`
    const hint = 'leave the field out, and read it by a query after a change'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }

  /** Compiles the read of a relation for a field, and records the kinds that it needs. Throws as {@link readsDirectly}. */
  relation(relationField: RelationField, field: PlanField): RelationRead {
    const relation = this.served.relations.byField.get(relationField)
    if (relation === undefined) throw field.notCovered()
    const { reads, to } = relation
    if (to.uncached) this.readsDirectly(field)
    this.leadsTo(reads)
    for (const { kind, indexes } of relationNeeds(this.served.relations, relationField)) {
      this.reads(kind, indexes)
    }
    return new RelationRead(relationField, relation)
  }

  filters(kind: Kind, args: FieldArguments): void {
    if (args.constant === undefined) {
      const known = new WeakMap<object, readonly RelatedNeed[]>()
      this.asks({
        args,
        needs: (values) => getOrInsert(known, values, () => filterNeeds(this.served, kind, values)),
      })
    } else {
      const needs = filterNeeds(this.served, kind, args.constant)
      for (const need of needs) this.reads(need.kind, need.indexes)
      this.leadsTo(needs.map((need) => need.kind))
    }
  }

  asks(asked: AskedKinds): void {
    this.#asked.push(asked)
  }

  /** Adds the needs of a part that {@link apart} compiled to the current root field. */
  needs({ kinds, asked }: PlanNeeds): void {
    for (const { kind, indexes } of kinds) this.reads(kind, indexes)
    this.#asked.push(...asked)
  }

  /** Returns the needs recorded since the last call, and clears them. */
  takeNeeds(): PlanNeeds {
    const kinds = Array.from(this.#kinds, ([kind, indexes]) => ({ kind, indexes }))
    const asked = this.#asked
    this.#kinds = new Map()
    this.#asked = []
    return { kinds, asked }
  }

  /** Compiles a part that only some requests read, or in another cluster. The root field's needs exclude its needs. */
  apart<T>(compile: () => T): Compiled<T> {
    const [kinds, asked] = [this.#kinds, this.#asked]
    this.takeNeeds()
    try {
      const compiled = compile()
      return { compiled, needs: this.takeNeeds() }
    } finally {
      this.#kinds = kinds
      this.#asked = asked
    }
  }

  /** Compiles a field whose arguments name the kinds of its rows. Returns what the rows of each kind need. */
  ofNamedKinds<T>(compile: () => T): {
    readonly compiled: T
    readonly rowNeeds: readonly ((kind: Kind) => PlanNeeds)[]
  } {
    const rowNeeds = (this.#rowNeeds = [] as ((kind: Kind) => PlanNeeds)[])
    try {
      return { compiled: compile(), rowNeeds }
    } finally {
      this.#rowNeeds = undefined
    }
  }

  /** Whether {@link ofNamedKinds} is compiling the rows: it takes their needs. */
  isOfNamedKinds(needs: (kind: Kind) => PlanNeeds): boolean {
    this.#rowNeeds?.push(needs)
    return this.#rowNeeds !== undefined
  }

  typeOf({ typeName }: Kind): GraphQLObjectType {
    const type = this.served.schema.getType(typeName)
    if (!isObjectType(type)) throw new TypeError(`the schema has no type ${typeName}`)
    return type
  }
}

export interface CollectContext {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly flags: ReadonlyMap<string, boolean>
  /** Receives the size of the collected fields in a plan, in bytes. */
  readonly grown: (bytes: number) => void
}

/** The approximate size of a field in a plan, without its name. */
const bytesPerField = 700

/** The fields of one object by response key, in the order of the answer, each with all of its nodes. */
export type CollectedFields = ReadonlyMap<string, readonly FieldNode[]>

/**
 * Collects the fields. `names`: the type and its interfaces. Fragments on other types do not apply. The size of the fields
 * counts as the plan's, and so as that of the cached document.
 */
export function collectFields(
  selectionSets: readonly SelectionSetNode[],
  names: ReadonlySet<string>,
  context: CollectContext,
): CollectedFields {
  const fields = new Map<string, FieldNode[]>()
  const flag = (name: string): boolean => context.flags.get(name) === true
  visitSelections(selectionSets, context.fragments, {
    keeps: (selection) => isIncluded(selection, flag),
    enters: (condition) => condition === undefined || names.has(condition),
    field(node) {
      const key = compactText(node.alias?.value ?? node.name.value)
      getOrInsert(fields, key, () => []).push(node)
    },
  })
  let bytes = 0
  for (const key of fields.keys()) bytes += bytesPerField + 2 * key.length
  context.grown(bytes)
  return fields
}

/** Collects the fields of selection sets, outside of plans. `names`: the type and its interfaces. */
export function fieldCollector(
  document: DocumentNode,
  { coerced }: VariableValues,
): (selectionSets: readonly SelectionSetNode[], names: readonly string[]) => CollectedFields {
  const flags = new Map(Object.entries(coerced).map(([name, value]) => [name, value === true]))
  const context = { fragments: fragmentsOf(document), flags, grown: () => {} }
  return (sets, names) => collectFields(sets, new Set(names), context)
}

export function selectionsOf(nodes: readonly FieldNode[]): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]))
}

/** The part of a plan that a field compiles for each kind. The first use of a kind compiles it. */
export function compiledByKind<T>(
  { compiler }: PlanField,
  compile: (kind: Kind) => T,
): (kind: Kind) => Compiled<T> {
  const { scope } = compiler
  const known = new Map<Kind, Compiled<T>>()
  return (kind) => {
    return getOrInsert(known, kind, () =>
      compiler.apart(() => compiler.in(scope, () => compile(kind))),
    )
  }
}

/**
 * Compiles objects of any kind: at once for kinds that fragments name, or for the `expected` kinds, unless the arguments
 * of the field name the kinds; on first use for others.
 */
export function anyRowWriter(field: PlanField, expected?: readonly Kind[]): RowWriter {
  const { compiler, selections } = field
  const rowOf = compiledByKind(field, (kind) => compiler.row(kind, selections))
  const needs = (kind: Kind): PlanNeeds => rowOf(kind).needs
  if (!compiler.isOfNamedKinds(needs)) {
    for (const kind of expected ?? []) if (!kind.uncached) compiler.reads(kind)
    const named = new Set(expected)
    if (expected === undefined) {
      visitSelections(selections, compiler.collect.fragments, {
        enters(condition = '') {
          const kind = compiler.served.kinds.get(condition)
          if (kind !== undefined) named.add(kind)
          return true
        },
      })
    }
    for (const kind of named) compiler.needs(needs(kind))
  }
  let lastKind: Kind | undefined
  let lastWrite: RowWriter | undefined
  return (run, part, id) => {
    const { kind } = part
    if (kind !== lastKind || lastWrite === undefined) {
      lastWrite = rowOf(kind).compiled
      lastKind = kind
    }
    return lastWrite(run, part, id)
  }
}
