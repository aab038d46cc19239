import { ArgumentsCache } from '../../query/condition/arguments-cache.ts'
import { type Condition, hasValue, namespacesOf } from '../../query/condition/condition.ts'
import type { RelatedStores } from '../../query/condition/related-by.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind, MixedRelationField, RelationField } from '../model/kind.ts'
import type {
  ListFieldArguments,
  LookupArguments,
  ObjectByRefArguments,
  OwnedArguments,
  RelationArguments,
  UsedByArguments,
} from '../schema/read-arguments.ts'
import type {
  ConnectionSource,
  ObjectRef,
  OwnedConnectionSource,
  Row,
  StoreReads,
  UsedByConnectionSource,
} from '../schema/read-context.ts'
import { clusterNamed } from './cluster-argument.ts'
import { mixedConnection, storeConnection, usedByConnection } from './connection.ts'
import { explorations } from './explorations.ts'
import { idsCondition } from './ids-condition.ts'
import type { CachedParts, KindPart } from './kind-part.ts'
import { type ListRequest, listRequest, pageOf } from './list-request.ts'
import type { LiveLoader } from './live-loader.ts'
import { LiveReads } from './live-reads.ts'
import { namedKinds } from './named-kinds.ts'
import { type OwnedKinds, ownedKindsOf } from './owned-kinds.ts'
import { ObjectReads } from './object-reads.ts'
import { originOf } from './related-parts.ts'
import { RelationReads } from './relation-reads.ts'
import { filterParts } from './filter-parts.ts'
import { nothingUses, usedByPage } from './used-by.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'
import type { ViewerAccess } from './viewer-access.ts'

export interface StoreReaderOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly parts: CachedParts
  /** What the execution may cost. */
  readonly budget: WorkBudget
  /** Reads what no cache serves. */
  readonly live: LiveLoader
  /** What the viewer may see; absent: everything. */
  readonly access: ViewerAccess | undefined
}

/** Reads the stores for one execution of one operation, all of it within one tick. */
export class StoreReader implements StoreReads {
  readonly graph: StoreReads['graph']
  readonly search: StoreReads['search']
  readonly #served: ServedSchema
  readonly #limits: OperationLimits
  readonly #parts: CachedParts
  readonly #budget: WorkBudget
  readonly #live: LiveReads
  readonly #objects: ObjectReads
  readonly #relations: RelationReads
  readonly #tables: LiveLoader['tables']
  /** Where owned objects are looked for, which is the same for all objects of a kind. */
  readonly #owned = new Map<string, OwnedKinds>()
  /** What arguments ask for, which is the same for every row that a field is asked of. */
  readonly #requests: ArgumentsCache<Kind, ListRequest>
  readonly #filterParts: (cluster: string) => RelatedStores

  constructor({ served, limits, parts, budget, live, access }: StoreReaderOptions) {
    this.#served = served
    this.#limits = limits
    this.#parts = parts
    this.#budget = budget
    this.#tables = live.tables
    const { maxPageSize } = limits
    this.#live = new LiveReads({ loader: live, budget, maxPageSize, access })
    const means = { served, parts, budget, live: this.#live, maxPageSize }
    this.#objects = new ObjectReads(means)
    this.#relations = new RelationReads({
      ...means,
      connection: (...page) => this.#connection(...page),
    })
    const { graph, search } = explorations({ served, parts, budget, maxPageSize })
    this.graph = graph
    this.search = search
    this.#requests = new ArgumentsCache(budget)
    this.#filterParts = filterParts(served, parts)
  }

  list(kind: Kind, args: ListFieldArguments): ReturnType<StoreReads['list']> {
    const at = { cluster: clusterNamed(this.#served, args.cluster), kind }
    if (kind.uncached) return this.#live.list(at, args)
    const { condition } = this.#request(kind, args)
    const part = this.#parts.part(at, { within: () => namespacesOf(condition) })
    return this.#connection(part, kind.listField, idsCondition(args.ids, part), args)
  }

  owned(row: Row, args: OwnedArguments): OwnedConnectionSource {
    const { cluster, object } = row
    const { uid = '' } = object.metadata
    const condition = hasValue('ownerUid', uid === '' ? [] : [uid])
    const { parts, failures } = this.#ownedKinds(row, args.kinds)
    return mixedConnection(
      {
        parts: parts.map((part) => ({ ...part, condition })),
        failures,
        cluster,
        list: `${cluster}/owned/${uid}`,
        budget: this.#budget,
        maxPageSize: this.#limits.maxPageSize,
      },
      args,
    )
  }

  usedBy(row: Row, args: UsedByArguments): UsedByConnectionSource {
    const budget = this.#budget
    const at = originOf(this.#parts, row)
    if (at === undefined) return usedByConnection(nothingUses(budget), budget)
    const { cluster, kind } = row
    const { maxPageSize } = this.#limits
    const means = { served: this.#served, parts: this.#parts, budget, maxPageSize }
    return usedByConnection(usedByPage({ ...means, cluster, kind, ...at, args }), budget)
  }

  async printerColumns({ cluster, kind, object }: Row, wide: boolean): Promise<PrintedRow> {
    const { namespace, name } = object.metadata
    const place = namespace === undefined ? { name } : { namespace, name }
    const columns = await this.#tables.columns({ cluster, kind }, place)
    return columns?.filter(({ priority }) => wide || priority === 0) ?? null
  }

  lookup(kind: Kind, args: LookupArguments): FoundRow {
    return this.#objects.lookup(kind, args)
  }

  object(id: string): FoundRow {
    return this.#objects.object(id)
  }

  objectByRef(args: ObjectByRefArguments): FoundRow {
    return this.#objects.objectByRef(args)
  }

  referenced(ref: ObjectRef): FoundRow {
    return this.#objects.referenced(ref)
  }

  owners(row: Row): readonly Row[] {
    return this.#objects.owners(row)
  }

  follow(row: Row, field: RelationField, args: RelationArguments): ConnectionSource {
    return this.#relations.follow(row, field, args)
  }

  followOne(row: Row, field: RelationField): FoundRow {
    return this.#relations.followOne(row, field)
  }

  followMixed(row: Row, field: MixedRelationField, args: OwnedArguments): OwnedConnectionSource {
    return this.#relations.followMixed(row, field, args)
  }

  secret(row: Row): ReturnType<StoreReads['secret']> {
    return this.#live.secret(row)
  }

  #connection(
    part: KindPart,
    list: string,
    condition: Condition,
    args: ListFieldArguments,
  ): ConnectionSource {
    const { maxPageSize } = this.#limits
    const limits = { budget: this.#budget, maxPageSize, related: this.#filterParts }
    const request = this.#request(part.kind, args)
    return storeConnection(pageOf(part, { list, condition }, request, limits), part, this.#budget)
  }

  /** Every row of a list asks its relations with the same arguments. */
  #request(kind: Kind, args: ListFieldArguments): ListRequest {
    return this.#requests.of(kind, args, () => listRequest(this.#served, kind, args))
  }

  #ownedKinds(row: Row, names: readonly string[] | null | undefined): OwnedKinds {
    const { cluster, kind, object } = row
    const { namespace } = object.metadata
    const key = JSON.stringify([cluster, kind.typeName, names, namespace])
    let owned = this.#owned.get(key)
    if (owned !== undefined) return owned
    const named = namedKinds(this.#served, names)
    const served = this.#served
    owned = ownedKindsOf({ served, parts: this.#parts, cluster, owner: kind, named, namespace })
    this.#owned.set(key, owned)
    return owned
  }
}

type PrintedRow = Awaited<ReturnType<StoreReads['printerColumns']>>

type FoundRow = ReturnType<StoreReads['lookup']>
