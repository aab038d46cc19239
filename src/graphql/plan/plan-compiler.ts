import { type GraphQLObjectType, isObjectType, type SelectionSetNode } from 'graphql'
import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { filterNeeds } from '../reads/list-read.ts'
import { RelationRead } from '../reads/relation-read.ts'
import { relationNeeds } from '../served/schema-relations.ts'
import type { CollectContext } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { AskedKinds, PlanNeeds } from './plan-needs.ts'
import type { PageWriter, RowWriter } from './writers.ts'

/** The compilers of rows and connections, which contain each other. */
export interface PlanWriters {
  readonly row: (
    kind: Kind,
    selections: readonly SelectionSetNode[],
    compiler: PlanCompiler,
  ) => RowWriter
  readonly connection: (
    kind: Kind,
    args: FieldArguments,
    selections: readonly SelectionSetNode[],
    compiler: PlanCompiler,
  ) => PageWriter
}

/** Compiles the parts of one plan, and collects the kinds that they read. */
export class PlanCompiler {
  readonly served: ServedSchema
  readonly collect: CollectContext
  readonly #writers: PlanWriters
  /** The kinds that the relations compiled so far read. */
  readonly #ledTo = new Set<Kind>()
  /** The kinds that the current root field reads, including those of its relations. */
  #kinds = new Map<Kind, { readonly needed: Set<string>; readonly useful: Set<string> }>()
  /** Fields of the current root field whose arguments may name further kinds. */
  #asked: AskedKinds[] = []
  #place = ''
  #isLive = false
  #needsViewer = false

  constructor(served: ServedSchema, collect: CollectContext, writers: PlanWriters) {
    this.served = served
    this.collect = collect
    this.#writers = writers
  }

  /** Compiles the objects of a kind. */
  row(kind: Kind, selections: readonly SelectionSetNode[]): RowWriter {
    return this.#writers.row(kind, selections, this)
  }

  /** Compiles the pages of lists of a kind. */
  connection(
    kind: Kind,
    args: FieldArguments,
    selections: readonly SelectionSetNode[],
  ): PageWriter {
    return this.#writers.connection(kind, args, selections, this)
  }

  /** The response path of the field being compiled, without connection keys. */
  get place(): string {
    return this.#place
  }

  /** Whether the current rows belong to a subscription. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Compiles rows; `isLive`: of a subscription. */
  live<T>(isLive: boolean, compile: () => T): T {
    const outer = this.#isLive
    this.#isLive = isLive
    try {
      return compile()
    } finally {
      this.#isLive = outer
    }
  }

  /** Records that a field depends on the viewer beyond the viewer's permission to list. */
  dependsOnViewer(): void {
    this.#needsViewer = true
  }

  /** Whether a compiled field called {@link dependsOnViewer}. */
  get needsViewer(): boolean {
    return this.#needsViewer
  }

  /** Compiles a field of a row, or a root field, and extends {@link place} by its key. */
  within<T>(key: string, compile: () => T): T {
    return this.at(this.#place === '' ? key : `${this.#place}.${key}`, compile)
  }

  /** Compiles the field at a response path, now or later. */
  at<T>(place: string, compile: () => T): T {
    const outer = this.#place
    this.#place = place
    try {
      return compile()
    } finally {
      this.#place = outer
    }
  }

  /** Records that the current root field reads this kind by these indexes. */
  reads(kind: Kind, indexes: WantedIndexes = {}): void {
    let known = this.#kinds.get(kind)
    if (known === undefined) {
      this.#kinds.set(kind, (known = { needed: new Set(), useful: new Set() }))
    }
    for (const name of indexes.needed ?? []) known.needed.add(name)
    for (const name of indexes.useful ?? []) known.useful.add(name)
  }

  /** Records the kinds that a relation reads. */
  leadsTo(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#ledTo.add(kind)
  }

  /** Whether a relation compiled so far reads a kind. */
  isLedTo(kind: Kind): boolean {
    return this.#ledTo.has(kind)
  }

  /** Allows a direct read of a field. Throws {@link NotCoveredError} in a subscription. */
  readsDirectly(field: string): void {
    if (this.#isLive) throw new NotCoveredError(`${field}, which is read directly`)
  }

  /** Compiles the read of a relation and records the kinds that it needs. Throws {@link NotCoveredError}. */
  relation(field: RelationField): RelationRead {
    const relation = this.served.relations.byField.get(field)
    if (relation === undefined) throw new NotCoveredError(field.definition.name)
    const { reads, to, name } = relation
    if (to.uncached) this.readsDirectly(name)
    this.leadsTo(reads)
    for (const { kind, indexes } of relationNeeds(this.served.relations, field)) {
      this.reads(kind, indexes)
    }
    return new RelationRead(field, relation)
  }

  /** Records the kinds that the filter of a list reads. */
  filters(kind: Kind, args: FieldArguments): void {
    if (args.constant === undefined) {
      this.asks({ args, needs: ({ where }) => filterNeeds(this.served, kind, where) })
    } else {
      const needs = filterNeeds(this.served, kind, args.constant['where'])
      for (const need of needs) this.reads(need.kind, need.indexes)
      this.leadsTo(needs.map((need) => need.kind))
    }
  }

  /** Records a field whose arguments may name further kinds. */
  asks(asked: AskedKinds): void {
    this.#asked.push(asked)
  }

  /** Adds the needs of a part that {@link apart} compiled to those of the current root field. */
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
  apart<T>(compile: () => T): { readonly compiled: T; readonly needs: PlanNeeds } {
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

  typeOf(kind: Kind): GraphQLObjectType {
    return this.objectType(kind.typeName)
  }

  connectionTypeOf(kind: Kind): GraphQLObjectType {
    return this.objectType(`${kind.typeName}Connection`)
  }

  /** The type conditions that match a type: its own name and those of its interfaces. */
  namesOf(type: GraphQLObjectType): ReadonlySet<string> {
    return new Set([type.name, ...type.getInterfaces().map(({ name }) => name)])
  }

  /** Throws {@link NotCoveredError} if the schema lacks an object type of that name. */
  objectType(name: string): GraphQLObjectType {
    const type = this.served.schema.getType(name)
    if (!isObjectType(type)) throw new NotCoveredError(`type ${name}`)
    return type
  }
}
