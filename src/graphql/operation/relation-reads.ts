import { objectKey } from '../../kubernetes/object.ts'
import { type Condition, nothing } from '../../query/condition/condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { objectByKey } from '../../query/page/lookup.ts'
import { findObject } from '../../query/page/page.ts'
import type { MixedRelationField, RelationField } from '../model/kind.ts'
import type {
  ListFieldArguments,
  OwnedArguments,
  RelationArguments,
} from '../schema/read-arguments.ts'
import type {
  ConnectionSource,
  OwnedConnectionSource,
  Row,
  StoreReads,
} from '../schema/read-context.ts'
import { mixedConnection } from './connection.ts'
import type { CachedParts, KindPart } from './kind-part.ts'
import type { LiveReads } from './live-reads.ts'
import { liveRelated } from './live-relation.ts'
import { mixedParts } from './mixed-relation.ts'
import { namedKinds } from './named-kinds.ts'
import { namespacesOfRelated, originOf, partOnTheWay, targetOf } from './related-parts.ts'
import { rowOf } from './row-of.ts'
import type { SchemaRelation } from './schema-relations.ts'
import type { ServedSchema } from './served-schema.ts'

export interface RelationReadsOptions {
  readonly served: ServedSchema
  readonly parts: CachedParts
  readonly budget: WorkBudget
  readonly live: LiveReads
  readonly maxPageSize: number
  /** A page of what a relation leads to. */
  readonly connection: (
    part: KindPart,
    list: string,
    condition: Condition,
    args: ListFieldArguments,
  ) => ConnectionSource
}

/** Reads what relations lead to. */
export class RelationReads {
  readonly #options: RelationReadsOptions
  readonly #served: ServedSchema
  readonly #parts: CachedParts
  readonly #budget: WorkBudget

  constructor(options: RelationReadsOptions) {
    this.#options = options
    this.#served = options.served
    this.#parts = options.parts
    this.#budget = options.budget
  }

  followMixed(row: Row, field: MixedRelationField, args: OwnedArguments): OwnedConnectionSource {
    const { cluster, kind, object } = row
    const budget = this.#budget
    const named = namedKinds(this.#served, args.kinds)
    const at = originOf(this.#parts, row)
    const found =
      at === undefined
        ? { parts: [], failures: [] }
        : mixedParts(field, {
            relations: this.#served.relations,
            kinds: this.#served.kinds.values(),
            kindOf: this.#served.kindOf,
            parts: this.#parts,
            cluster,
            named,
            origin: { ...at, object, budget },
          })
    const origin = object.metadata.uid ?? objectKey(object.metadata)
    const list = `${cluster}/${kind.typeName}.${field.name}/${origin}`
    const { maxPageSize } = this.#options
    return mixedConnection({ ...found, cluster, list, budget, maxPageSize }, args)
  }

  follow(row: Row, field: RelationField, args: RelationArguments): ConnectionSource {
    const relation = this.#relation(field)
    const withRelated = args.related === true
    const condition = this.#leadsTo(row, relation, withRelated)
    const part = this.#parts.part(targetOf(relation, row.cluster), {
      within: () => namespacesOfRelated(relation, condition, row.object.metadata.namespace),
    })
    const origin = row.object.metadata.uid ?? objectKey(row.object.metadata)
    const list = `${relation.name}${withRelated ? '+related' : ''}/${origin}`
    return this.#options.connection(part, list, condition, args)
  }

  followOne(row: Row, field: RelationField): FoundRow {
    const relation = this.#relation(field)
    if (relation.to.uncached) {
      const means = { parts: this.#parts, budget: this.#budget, live: this.#options.live }
      return liveRelated(means, row, relation)
    }
    const condition = this.#leadsTo(row, relation)
    const at = targetOf(relation, row.cluster)
    if (condition.form !== 'keys') {
      if (condition.form === 'nothing') return null
      const { namespace } = row.object.metadata
      const within = () => namespacesOfRelated(relation, condition, namespace)
      const part = this.#parts.part(at, { within })
      return rowOf(part, findObject({ ...part, budget: this.#budget, condition }))
    }
    const part = this.#parts.named(at, condition.keys)
    if (part === undefined) return null
    const options = { ...part, budget: this.#budget }
    for (const key of condition.keys.toSorted()) {
      const id = objectByKey(options, key)
      if (id !== undefined) return rowOf(part, id)
    }
    return null
  }

  #relation(field: RelationField): SchemaRelation {
    const relation = this.#served.relations.byField.get(field)
    if (relation !== undefined) return relation
    const { from, name } = field.definition
    throw new TypeError(`the schema has no relation ${from}.${name}`)
  }

  /** What a relation leads to. From an object that is no more, it leads nowhere, whoever has its name now. */
  #leadsTo(row: Row, relation: SchemaRelation, withRelated = false): Condition {
    const at = originOf(this.#parts, row)
    if (at === undefined) return nothing
    const { cluster, object } = row
    const { namespace } = object.metadata
    const part = (type: string): KindPart =>
      partOnTheWay(this.#parts, relation, { cluster, type, namespace })
    const origin = { ...at, object, withRelated, budget: this.#budget, part }
    return relation.relation.follow(origin)
  }
}

type FoundRow = ReturnType<StoreReads['lookup']>
