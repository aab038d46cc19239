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

/** How rows and connections are compiled, which contain each other. */
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

/** What the parts of one plan are compiled with, and what they tell of it. */
export class PlanCompiler {
  readonly served: ServedSchema
  readonly collect: CollectContext
  readonly #writers: PlanWriters
  /** The kinds that relations read which have been compiled. */
  readonly #ledTo = new Set<Kind>()
  /** The kinds that the root field which is being compiled reads, its relations' included. */
  #kinds = new Map<Kind, { readonly needed: Set<string>; readonly useful: Set<string> }>()
  /** The fields of it whose arguments may name further kinds. */
  #asked: AskedKinds[] = []
  #place = ''
  #isLive = false
  #needsViewer = false

  constructor(served: ServedSchema, collect: CollectContext, writers: PlanWriters) {
    this.served = served
    this.collect = collect
    this.#writers = writers
  }

  /** What is written of the objects of a kind. */
  row(kind: Kind, selections: readonly SelectionSetNode[]): RowWriter {
    return this.#writers.row(kind, selections, this)
  }

  /** What is written of the pages of lists of a kind. */
  connection(
    kind: Kind,
    args: FieldArguments,
    selections: readonly SelectionSetNode[],
  ): PageWriter {
    return this.#writers.connection(kind, args, selections, this)
  }

  /** Where in the answer that is written which is being compiled: response keys, without those of connections. */
  get place(): string {
    return this.#place
  }

  /** Whether the rows of a subscription are being compiled. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Compiles rows, of a subscription if `isLive`. */
  live<T>(isLive: boolean, compile: () => T): T {
    const outer = this.#isLive
    this.#isLive = isLive
    try {
      return compile()
    } finally {
      this.#isLive = outer
    }
  }

  /** A field is being compiled whose value depends on the viewer, and not only on what the viewer may list. */
  dependsOnViewer(): void {
    this.#needsViewer = true
  }

  /** Whether such a field has been compiled. */
  get needsViewer(): boolean {
    return this.#needsViewer
  }

  /** Compiles a field of a row, or a root field. */
  within<T>(key: string, compile: () => T): T {
    return this.at(this.#place === '' ? key : `${this.#place}.${key}`, compile)
  }

  /** Compiles what stands at a place, whenever that is. */
  at<T>(place: string, compile: () => T): T {
    const outer = this.#place
    this.#place = place
    try {
      return compile()
    } finally {
      this.#place = outer
    }
  }

  /** The root field that is being compiled reads this kind, by these indexes. */
  reads(kind: Kind, indexes: WantedIndexes = {}): void {
    let known = this.#kinds.get(kind)
    if (known === undefined) {
      this.#kinds.set(kind, (known = { needed: new Set(), useful: new Set() }))
    }
    for (const name of indexes.needed ?? []) known.needed.add(name)
    for (const name of indexes.useful ?? []) known.useful.add(name)
  }

  /** A relation is compiled that reads these kinds. */
  leadsTo(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#ledTo.add(kind)
  }

  /** Whether a relation that has been compiled reads a kind. */
  isLedTo(kind: Kind): boolean {
    return this.#ledTo.has(kind)
  }

  /** A field is compiled that is read directly. Throws {@link NotCoveredError} in a subscription. */
  readsDirectly(field: string): void {
    if (this.#isLive) throw new NotCoveredError(`${field}, which is read directly`)
  }

  /** A relation is followed: what it reads is needed. Throws {@link NotCoveredError}. */
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

  /** The root field that is being compiled reads a list of this kind with these arguments. */
  filters(kind: Kind, args: FieldArguments): void {
    if (args.constant === undefined) {
      this.asks({ args, needs: ({ where }) => filterNeeds(this.served, kind, where) })
    } else {
      const needs = filterNeeds(this.served, kind, args.constant['where'])
      for (const need of needs) this.reads(need.kind, need.indexes)
      this.leadsTo(needs.map((need) => need.kind))
    }
  }

  /** The arguments of a field of the root field that is being compiled may name further kinds. */
  asks(asked: AskedKinds): void {
    this.#asked.push(asked)
  }

  /** The root field that is being compiled reads what one of its parts needs, which was compiled apart. */
  needs({ kinds, asked }: PlanNeeds): void {
    for (const { kind, indexes } of kinds) this.reads(kind, indexes)
    this.#asked.push(...asked)
  }

  /** What has been read since this was last asked. */
  takeNeeds(): PlanNeeds {
    const kinds = Array.from(this.#kinds, ([kind, indexes]) => ({ kind, indexes }))
    const asked = this.#asked
    this.#kinds = new Map()
    this.#asked = []
    return { kinds, asked }
  }

  /** Compiles what only some requests read, or in another cluster: what it needs is not needed by the root field. */
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

  /** The names that fragments on a type may have: its own and those of its interfaces. */
  namesOf(type: GraphQLObjectType): ReadonlySet<string> {
    return new Set([type.name, ...type.getInterfaces().map(({ name }) => name)])
  }

  /** Throws {@link NotCoveredError} where the schema has no object type of that name. */
  objectType(name: string): GraphQLObjectType {
    const type = this.served.schema.getType(name)
    if (!isObjectType(type)) throw new NotCoveredError(`type ${name}`)
    return type
  }
}
