import { ArgumentsCache } from '../../query/condition/arguments-cache.ts'
import { hasValue, namespacesOf } from '../../query/condition/condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { sameObject } from '../../query/page/lookup.ts'
import type { Kind, PolymorphicRelationField, RelationField } from '../model/kind.ts'
import { decodeObjectId } from '../model/object-id.ts'
import {
  type FoundObject,
  foundByKey,
  identified,
  kindOfIdentity,
  ownersOf,
  referenced,
} from './object-read.ts'
import { type ReadParts, ReadRun } from './read-run.ts'
import { type RelatedList, RelationRead } from './relation-read.ts'
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
import { polymorphicConnection, storeConnection, usedByConnection } from './connection.ts'
import { explorations } from './explorations.ts'
import { idsCondition } from './ids-condition.ts'
import type { ClusterKind } from './kind-view.ts'
import { type ListRequest, listRequest, pageOf } from './list-request.ts'
import type { LiveLoader } from './live-loader.ts'
import { notFoundByUid } from './live-read-errors.ts'
import { LiveReads } from './live-reads.ts'
import { liveRelated } from './live-relation.ts'
import { polymorphicParts } from './polymorphic-relation.ts'
import { kindsServedBy, namedKinds } from './named-kinds.ts'
import { resolveObjectRef } from './resolve-object-ref.ts'
import { type OwnedKinds, ownedKindsOf } from './owned-kinds.ts'
import type { SchemaRelation } from './schema-relations.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'
import { nothingUses, usedByPage } from './used-by.ts'

export interface StoreReaderOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly parts: ReadParts
  /** What the execution may cost. */
  readonly budget: WorkBudget
  /** Reads what no cache serves. */
  readonly live: LiveLoader
}

/** Hands resolvers what is read of the stores, decoded: for one execution of one operation, all of it within one tick. */
export class StoreReader implements StoreReads {
  readonly graph: StoreReads['graph']
  readonly search: StoreReads['search']
  readonly #run: ReadRun
  readonly #parts: ReadParts
  readonly #live: LiveReads
  readonly #tables: LiveLoader['tables']
  readonly #relations = new Map<RelationField, RelationRead>()
  /** Where owned objects are looked for, which is the same for all objects of a kind. */
  readonly #owned = new Map<string, OwnedKinds>()
  /** What arguments ask for, which is the same for every row that a field is asked of. */
  readonly #requests: ArgumentsCache<Kind, ListRequest>

  constructor({ served, limits, parts, budget, live }: StoreReaderOptions) {
    const { maxPageSize } = limits
    this.#run = new ReadRun({ served, limits, budget, parts })
    this.#parts = parts
    this.#tables = live.tables
    this.#live = new LiveReads({ loader: live, budget, maxPageSize, access: parts.access })
    const { graph, search } = explorations({ served, parts, budget, maxPageSize })
    this.graph = graph
    this.search = search
    this.#requests = new ArgumentsCache(budget)
  }

  list(kind: Kind, args: ListFieldArguments): ReturnType<StoreReads['list']> {
    const at = this.#at(kind, args)
    if (kind.uncached) return this.#live.list(at, args)
    const { condition } = this.#request(kind, args)
    const part = this.#run.part(at, { within: () => namespacesOf(condition) })
    const list = { list: kind.listField, condition: idsCondition(args.ids, part) }
    return this.#connection({ part, list }, args)
  }

  lookup(kind: Kind, args: LookupArguments): FoundRow {
    const at = this.#at(kind, args)
    if (kind.uncached || args.live === true) return this.#live.lookup(at, args)
    return rowOf(foundByKey(this.#run, at, objectKey(args)))
  }

  object(id: string): FoundRow {
    const identity = decodeObjectId(id)
    const at = kindOfIdentity(this.#run.served, identity)
    if (at === undefined) return null
    const { object } = identity
    if (!at.kind.uncached) return rowOf(identified(this.#run, at, identity))
    if ('uid' in object) throw notFoundByUid(at)
    const { namespace, name } = object
    return this.#live.lookup(at, namespace === '' ? { name } : object)
  }

  objectByRef(args: ObjectByRefArguments): FoundRow {
    const { kind, ...object } = resolveObjectRef(this.#run.served, args)
    return this.lookup(kind, object)
  }

  referenced(ref: ObjectRef): FoundRow {
    const at = kindOfIdentity(this.#run.served, ref)
    if (at?.kind.uncached === true) return this.#liveReference(at, ref)
    return rowOf(referenced(this.#run, ref))
  }

  owners({ cluster, object }: Row): readonly Row[] {
    const { ownerReferences = [], namespace = '' } = object.metadata
    const owners = ownersOf(this.#run, { cluster, namespace }, ownerReferences)
    return owners.flatMap((owner) => rowOf(owner) ?? [])
  }

  owned(row: Row, args: OwnedArguments): OwnedConnectionSource {
    const { cluster, object } = row
    const { uid = '' } = object.metadata
    const condition = hasValue('ownerUid', uid === '' ? [] : [uid])
    const { parts, ...others } = this.#ownedKinds(row, args.kinds)
    const owned = parts.map((part) => ({ ...part, condition }))
    const list = `${cluster}/owned/${uid}`
    return polymorphicConnection({ ...this.#means, ...others, parts: owned, cluster, list }, args)
  }

  usedBy(row: Row, args: UsedByArguments): UsedByConnectionSource {
    const { budget } = this.#run
    const at = this.#originOf(row)
    if (at === undefined) return usedByConnection(nothingUses(budget), budget)
    const { cluster, kind } = row
    const { view } = at.part
    const means = { ...this.#means, served: this.#run.served, parts: this.#parts }
    const page = usedByPage({ ...means, cluster, kind, view, id: at.id, args })
    return usedByConnection(page, budget)
  }

  async printerColumns({ cluster, kind, object }: Row, wide: boolean): Promise<PrintedRow> {
    const { namespace, name } = object.metadata
    const place = namespace === undefined ? { name } : { namespace, name }
    const columns = await this.#tables.columns({ cluster, kind }, place)
    return columns?.filter(({ priority }) => wide || priority === 0) ?? null
  }

  follow(row: Row, field: RelationField, args: RelationArguments): ConnectionSource {
    const read = this.#readOf(field)
    const at = this.#originOf(row)
    const run = this.#run
    const related =
      at === undefined
        ? read.nowhere(run, row.cluster)
        : read.many(run, at.part, at.id, args.related === true)
    return this.#connection(related, args)
  }

  followOne(row: Row, field: RelationField): FoundRow {
    const relation = this.#relationOf(field)
    const at = this.#originOf(row)
    if (at === undefined) return null
    if (relation.to.uncached) return liveRelated(this.#run, this.#live, at, relation)
    return rowOf(this.#readOf(field).one(this.#run, at.part, at.id))
  }

  followPolymorphic(
    row: Row,
    field: PolymorphicRelationField,
    args: OwnedArguments,
  ): OwnedConnectionSource {
    const { cluster, kind, object } = row
    const { served, budget } = this.#run
    const named = namedKinds(served, args.kinds)
    const at = this.#originOf(row)
    const { relations, kindOf } = served
    const means = { relations, kinds: kindsServedBy(served, cluster), kindOf, parts: this.#parts }
    const origin = at && { view: at.part.view, id: at.id, object, budget }
    const found =
      origin === undefined
        ? { parts: [], failures: [], notLookedAt: () => [] }
        : polymorphicParts(field, { ...means, cluster, named, origin })
    const from = object.metadata.uid ?? objectKey(object.metadata)
    const list = `${cluster}/${kind.typeName}.${field.name}/${from}`
    return polymorphicConnection({ ...this.#means, ...found, cluster, list }, args)
  }

  secret(row: Row): ReturnType<StoreReads['secret']> {
    return this.#live.secret(row)
  }

  get #means(): { readonly budget: WorkBudget; readonly maxPageSize: number } {
    const { budget, limits } = this.#run
    return { budget, maxPageSize: limits.maxPageSize }
  }

  #at(kind: Kind, { cluster }: { readonly cluster?: string | null | undefined }): ClusterKind {
    return { cluster: clusterNamed(this.#run.served, cluster), kind }
  }

  #connection({ part, list }: RelatedList, args: ListFieldArguments): ConnectionSource {
    const { related, budget } = this.#run
    const request = this.#request(part.kind, args)
    return storeConnection(pageOf(part, list, request, { ...this.#means, related }), part, budget)
  }

  /** Every row of a list asks its relations with the same arguments. */
  #request(kind: Kind, args: ListFieldArguments): ListRequest {
    return this.#requests.of(kind, args, () => listRequest(this.#run.served, kind, args))
  }

  #readOf(field: RelationField): RelationRead {
    let read = this.#relations.get(field)
    if (read === undefined) {
      this.#relations.set(field, (read = new RelationRead(field, this.#relationOf(field))))
    }
    return read
  }

  #relationOf(field: RelationField): SchemaRelation {
    const relation = this.#run.served.relations.byField.get(field)
    if (relation !== undefined) return relation
    const { from, name } = field.definition
    throw new TypeError(`the schema has no relation ${from}.${name}`)
  }

  /** By its name; a namesake with another UID is not meant. */
  async #liveReference(at: ClusterKind, { uid, namespace, name }: ObjectRef): Promise<Row | null> {
    const row = await this.#live.lookup(at, namespace === null ? { name } : { namespace, name })
    return uid === null || row?.object.metadata.uid === uid ? row : null
  }

  /** Where an object is now, which may have a namesake by then; `undefined` where it is no more. */
  #originOf({ cluster, kind, object: { metadata } }: Row): FoundObject | undefined {
    const key = objectKey(metadata)
    const part = this.#run.forLookup({ cluster, kind }, [key])
    const id = part && sameObject(part.view, metadata, key)
    return part === undefined || id === undefined ? undefined : { part, id }
  }

  #ownedKinds(row: Row, names: readonly string[] | null | undefined): OwnedKinds {
    const { cluster, kind, object } = row
    const { namespace } = object.metadata
    const key = JSON.stringify([cluster, kind.typeName, names, namespace])
    let owned = this.#owned.get(key)
    if (owned !== undefined) return owned
    const { served } = this.#run
    const named = namedKinds(served, names)
    owned = ownedKindsOf({ served, parts: this.#parts, cluster, owner: kind, named, namespace })
    this.#owned.set(key, owned)
    return owned
  }
}

function rowOf(found: FoundObject | undefined): Row | null {
  if (found === undefined) return null
  const { cluster, kind, view } = found.part
  return { cluster, kind, object: view.object(found.id) }
}

type PrintedRow = Awaited<ReturnType<StoreReads['printerColumns']>>

type FoundRow = ReturnType<StoreReads['lookup']>
