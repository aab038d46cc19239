import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { ArgumentsCache } from '../../query/condition/arguments-cache.ts'
import { type Condition, hasValue, namespacesOf, nothing } from '../../query/condition/condition.ts'
import type { RelatedStores } from '../../query/condition/related-by.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { objectByKey, objectByUid } from '../../query/page/lookup.ts'
import { findObject } from '../../query/page/page.ts'
import type { Kind, MixedRelationField, RelationField } from '../model/kind.ts'
import { decodeObjectId, type ObjectIdentity } from '../model/object-id.ts'
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
import type { CachedParts, KindAt, KindPart } from './kind-part.ts'
import { type ListRequest, listRequest, pageOf } from './list-request.ts'
import type { LiveLoader } from './live-loader.ts'
import { notFoundByUid } from './live-read-errors.ts'
import { LiveReads } from './live-reads.ts'
import { liveRelated } from './live-relation.ts'
import { mixedParts } from './mixed-relation.ts'
import { namedKinds } from './named-kinds.ts'
import { type OwnedKinds, ownedKindsOf } from './owned-kinds.ts'
import { objectMeant } from './object-meant.ts'
import { namespacesOfRelated, originOf, partOnTheWay, targetOf } from './related-parts.ts'
import { filterParts } from './filter-parts.ts'
import type { SchemaRelation } from './schema-relations.ts'
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

  lookup(kind: Kind, args: LookupArguments): FoundRow {
    const at = { cluster: clusterNamed(this.#served, args.cluster), kind }
    if (kind.uncached || args.live === true) return this.#live.lookup(at, args)
    return this.#byKey(at, objectKey(args))
  }

  object(id: string): FoundRow {
    return this.#identified(decodeObjectId(id))
  }

  objectByRef(args: ObjectByRefArguments): FoundRow {
    const { kind, ...object } = objectMeant(this.#served, args)
    return this.lookup(kind, object)
  }

  referenced({ uid, namespace, name, ...rest }: ObjectRef): FoundRow {
    const kind = this.#served.kindOf(rest.group, rest.kind)
    if (kind?.uncached === true && this.#served.clusters.has(rest.cluster)) {
      return this.#liveReference({ cluster: rest.cluster, kind }, { uid, namespace, name })
    }
    if (kind === undefined || !this.#served.clusters.has(rest.cluster)) return null
    const at = { cluster: rest.cluster, kind }
    const key = objectKey({ namespace: namespace ?? '', name })
    return uid === null ? this.#byKey(at, key) : this.#byUid(at, uid, key)
  }

  /** By its name; a namesake with another UID is not meant. */
  async #liveReference(
    at: KindAt,
    { uid, namespace, name }: Pick<ObjectRef, 'uid' | 'namespace' | 'name'>,
  ): Promise<Row | null> {
    const row = await this.#live.lookup(at, namespace === null ? { name } : { namespace, name })
    return uid === null || row?.object.metadata.uid === uid ? row : null
  }

  #identified({ cluster, group, kind: kindName, object }: ObjectIdentity): FoundRow {
    const kind = this.#served.kindOf(group, kindName)
    if (kind === undefined || !this.#served.clusters.has(cluster)) return null
    if (kind.uncached) {
      if ('uid' in object) throw notFoundByUid({ cluster, kind })
      const { namespace, name } = object
      return this.#live.lookup({ cluster, kind }, namespace === '' ? { name } : object)
    }
    const at = { cluster, kind }
    return 'uid' in object ? this.#byUid(at, object.uid) : this.#byKey(at, objectKey(object))
  }

  #byKey(at: KindAt, key: string): Row | null {
    const part = this.#parts.named(at, [key])
    if (part === undefined) return null
    return rowOf(part, objectByKey({ ...part, budget: this.#budget }, key))
  }

  /** `key`: what it was called by whoever means it. */
  #byUid(at: KindAt, uid: string, key?: string): Row | null {
    const part = this.#parts.named(at, key === undefined ? undefined : [key])
    if (part === undefined) return null
    return rowOf(part, objectByUid({ ...part, budget: this.#budget }, uid))
  }

  owners({ cluster, object }: Row): readonly Row[] {
    const { ownerReferences = [], namespace = '' } = object.metadata
    return ownerReferences.flatMap(({ apiVersion, kind: kindName, name, uid }) => {
      const kind = this.#served.kindOf(splitApiVersion(apiVersion).group, kindName)
      if (kind === undefined) return []
      this.#budget.spend('rows', 1)
      const place = kind.resource.namespaced ? { namespace, name } : { name }
      return this.#byUid({ cluster, kind }, uid, objectKey(place)) ?? []
    })
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

  secret(row: Row): ReturnType<StoreReads['secret']> {
    return this.#live.secret(row)
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
    const { maxPageSize } = this.#limits
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
    return this.#connection(part, list, condition, args)
  }

  followOne(row: Row, field: RelationField): FoundRow {
    const relation = this.#relation(field)
    if (relation.to.uncached) {
      const means = { parts: this.#parts, budget: this.#budget, live: this.#live }
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

function rowOf({ cluster, kind, view }: KindPart, id: ObjectId | undefined): Row | null {
  return id === undefined ? null : { cluster, kind, object: view.object(id) }
}
