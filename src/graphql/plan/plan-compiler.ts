import { type GraphQLObjectType, isObjectType, type SelectionSetNode } from 'graphql'
import type { WantedIndexes } from '../../cache/lease.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../operation/schema-relations.ts'
import type { ServedSchema } from '../operation/served-schema.ts'
import { whereKinds } from '../operation/where-kinds.ts'
import type { CollectContext } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import type { ConnectionWriter, RowWriter } from './writers.ts'

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
  ) => ConnectionWriter
}

/** A list whose `where` may speak of further kinds, as a request's variables will tell. */
export interface FilteredList {
  readonly kind: Kind
  readonly args: FieldArguments
}

/** What the parts of one plan are compiled with, and what they tell of it. */
export class PlanCompiler {
  readonly served: ServedSchema
  readonly collect: CollectContext
  readonly #writers: PlanWriters
  /** The kinds that the root field which is being compiled reads, its relations' included. */
  #kinds = new Map<Kind, { readonly needed: Set<string>; readonly useful: Set<string> }>()
  /** The lists that it reads whose `where` may speak of further kinds. */
  #filtered: FilteredList[] = []
  #place = ''
  #isLateAllowed = true

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
  ): ConnectionWriter {
    return this.#writers.connection(kind, args, selections, this)
  }

  /** Where in the answer that is written which is being compiled: response keys, without those of connections. */
  get place(): string {
    return this.#place
  }

  /** Compiles what has to be known of all objects that its text depends on: {@link readsLate} is not covered there. */
  withoutLateReads<T>(compile: () => T): T {
    this.#isLateAllowed = false
    try {
      return compile()
    } finally {
      this.#isLateAllowed = true
    }
  }

  /** A field is compiled that reads what only the objects tell, such as their owners. Throws {@link NotCoveredError}. */
  readsLate(field: string): void {
    if (!this.#isLateAllowed) throw new NotCoveredError(`${field}, which depends on other objects`)
  }

  /** Compiles a field of a row, or a root field. */
  within<T>(key: string, compile: () => T): T {
    const outer = this.#place
    this.#place = outer === '' ? key : `${outer}.${key}`
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

  /** The root field that is being compiled reads a list of this kind with these arguments. */
  filters(kind: Kind, args: FieldArguments): void {
    if (args.constant === undefined) {
      this.readsLate('a filter with variables')
      this.#filtered.push({ kind, args })
    } else {
      const needs = whereKinds(this.served, kind, args.constant['where'])
      if (needs.length > 0) this.readsLate('a filter by other objects')
      for (const need of needs) this.reads(need.kind, need.indexes)
    }
  }

  /** The lists whose arguments only a request tells, since this was last asked. */
  takeFiltered(): readonly FilteredList[] {
    const filtered = this.#filtered
    this.#filtered = []
    return filtered
  }

  /** The kinds that have been read since this was last asked. */
  takeKinds(): readonly RelatedNeed[] {
    const kinds = Array.from(this.#kinds, ([kind, indexes]) => ({ kind, indexes }))
    this.#kinds = new Map()
    return kinds
  }

  typeOf(kind: Kind): GraphQLObjectType {
    return this.#type(kind.typeName)
  }

  connectionTypeOf(kind: Kind): GraphQLObjectType {
    return this.#type(`${kind.typeName}Connection`)
  }

  /** The names that fragments on a type may have: its own and those of its interfaces. */
  namesOf(type: GraphQLObjectType): ReadonlySet<string> {
    return new Set([type.name, ...type.getInterfaces().map(({ name }) => name)])
  }

  #type(name: string): GraphQLObjectType {
    const type = this.served.schema.getType(name)
    if (!isObjectType(type)) throw new NotCoveredError(`type ${name}`)
    return type
  }
}
