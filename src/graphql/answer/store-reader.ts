import { getNamedType } from 'graphql'
import { ClientError } from '../errors/client-error.ts'
import type { FoundObject } from '../prepare/kind-view.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { ArgumentsCache } from '../../query/condition/arguments-cache.ts'
import type { Kind, PolymorphicRelationField, RelationField } from '../model/kind.ts'
import { decodeObjectId } from '../model/object-id.ts'
import type { ExtensionField } from '../schema/field-source.ts'
import type { DirectObject } from '../reads/direct/direct-tables.ts'
import {
  cachedOrigin,
  foundByKey,
  identified,
  kindOfIdentity,
  referenced,
  resolveObjectRef,
} from '../reads/object-read.ts'
import { entityOf } from '../reads/entity-read.ts'
import { OncePerRun, type ReadRun } from '../reads/read-run.ts'
import { RelationRead } from '../reads/relation-read.ts'
import type {
  GraphArguments,
  KubernetesObjectsArguments,
  ListFieldArguments,
  LookupArguments,
  ObjectByRefArguments,
  ObjectCanArguments,
  ObjectListArguments,
  OwnedArguments,
  ProblemsArguments,
  RelationArguments,
  CompleteArguments,
  SearchArguments,
  UsedByArguments,
} from '../schema/read-arguments.ts'
import type {
  ReadBeside,
  ConnectionSource,
  GraphSource,
  ObjectRef,
  OwnedConnectionSource,
  PrinterColumn,
  ProblemsSource,
  ResolvedField,
  ResourceUsage,
  Row,
  SearchSource,
  SecretContents,
  StoreReads,
  ToldRefusal,
  UsedByConnectionSource,
} from '../schema/read-context.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import {
  graphSource,
  ListConnection,
  polymorphicConnection,
  problemsConnection,
  searchConnection,
  usedByConnection,
} from './connection.ts'
import { readCompletions } from '../reads/over-kinds/completion-read.ts'
import { readGraph } from '../reads/graph/graph-read.ts'
import { graphRequest } from '../reads/graph/graph-request.ts'
import { readAnyKinds } from '../reads/over-kinds/any-kinds-list.ts'
import { clusterState } from '../reads/fleet-state.ts'
import { canDo } from '../reads/permissions.ts'
import {
  type ListRequest,
  listRequest,
  type NamedList,
  namedList,
  readList,
} from '../reads/list-read.ts'
import { OwnedRead } from '../reads/over-kinds/owned-read.ts'
import { ownerChainFrom, ownersNamed } from '../reads/owner-read.ts'
import { PolymorphicRead } from '../reads/over-kinds/polymorphic-read.ts'
import { readProblems } from '../reads/over-kinds/problems-read.ts'
import { readSearch } from '../reads/over-kinds/search-read.ts'
import { usageOf } from '../reads/usage-read.ts'
import { UsedByRead } from '../reads/over-kinds/used-by-read.ts'

/** Reads the stores for resolvers, decoded: for one run of one operation, within one tick. */
export class StoreReader implements StoreReads {
  readonly #run: ReadRun
  readonly #relations = new Map<RelationField, RelationRead>()
  readonly #forms = new OncePerRun<OwnedRead | PolymorphicRead | UsedByRead>()
  /** The requests that arguments make, shared by all rows of a field. */
  readonly #requests: ArgumentsCache<Kind, ListRequest>

  constructor(run: ReadRun) {
    this.#run = run
    this.#requests = new ArgumentsCache(run.budget)
  }

  list(kind: Kind, args: ListFieldArguments): ConnectionSource | null {
    return this.#listOf({ kind, request: this.#request(kind, args) })
  }

  objectList(args: ObjectListArguments): ConnectionSource | null {
    return this.#listOf(namedList(this.#run, args))
  }

  kubernetesObjects(args: KubernetesObjectsArguments): OwnedConnectionSource {
    return polymorphicConnection(this.#run, readAnyKinds(this.#run, args))
  }

  #listOf({ kind, request }: NamedList): ConnectionSource | null {
    const read = readList(this.#run, kind, request)
    return read === undefined ? null : new ListConnection(this.#run, read)
  }

  lookup(kind: Kind, args: LookupArguments): Row | null {
    const at = { cluster: clusterNamed(this.#run.served, args.cluster), kind }
    return rowOf(foundByKey(this.#run, at, objectKey(args), args.live === true))
  }

  object(id: string): Row | null {
    const identity = decodeObjectId(id)
    const at = kindOfIdentity(this.#run.served, identity)
    return at === undefined ? null : rowOf(identified(this.#run, at, identity))
  }

  objectByRef(args: ObjectByRefArguments): Row | null {
    const { kind, ...object } = resolveObjectRef(this.#run.served, args)
    return this.lookup(kind, object)
  }

  entity(representation: unknown): Row | null {
    return rowOf(entityOf(this.#run.served, representation)?.find(this.#run))
  }

  referenced(ref: ObjectRef, refused?: ToldRefusal): Row | null {
    return rowOf(referenced(this.#run, ref, refused && ((_run, error) => refused(error))))
  }

  owners({ cluster, object }: Row, refused: ToldRefusal): readonly Row[] {
    const { ownerReferences = [], namespace = '' } = object.metadata
    const place = { cluster, namespace }
    const owners = ownersNamed(this.#run, place, ownerReferences, (_run, error) => refused(error))
    return owners.flatMap((owner) => rowOf(owner) ?? [])
  }

  ownerChain({ cluster, object }: Row, refused: ToldRefusal): readonly ObjectRef[] {
    const { ownerReferences = [], namespace } = object.metadata
    const start = { cluster, namespace }
    return ownerChainFrom(this.#run, start, ownerReferences, (_run, error) => refused(error))
  }

  owned(row: Row, args: OwnedArguments): OwnedConnectionSource {
    const read = this.#forms.of(this.#run, `owned ${row.kind.typeName}`, () => {
      return new OwnedRead(this.#run.served, row.kind)
    }) as OwnedRead
    const { namespace = '', uid = '' } = row.object.metadata
    const page = read.page(this.#run, { cluster: row.cluster, namespace, uid }, args)
    return polymorphicConnection(this.#run, page)
  }

  usedBy(row: Row, args: UsedByArguments): UsedByConnectionSource {
    const read = this.#forms.of(this.#run, `usedBy ${row.kind.typeName}`, () => {
      return new UsedByRead(this.#run.served, row.kind)
    }) as UsedByRead
    return usedByConnection(this.#run, read.page(this.#run, this.#originOf(row), args))
  }

  printerColumns(row: Row, wide: boolean): readonly PrinterColumn[] | null {
    return this.#run.direct.columns(directObject(row), wide) ?? null
  }

  secret(row: Row): SecretContents | null {
    return this.#run.direct.secret(directObject(row), this.#run.budget) ?? null
  }

  usage(row: Row, refused: ToldRefusal): ResourceUsage | null {
    const at = this.#originOf(row)
    const used = at && usageOf(this.#run, at.part, at.id)
    if (used instanceof ClientError) refused(used)
    return used === undefined || used instanceof ClientError ? null : used
  }

  follow(row: Row, field: RelationField, args: RelationArguments): ConnectionSource {
    const read = this.#readOf(field)
    const at = this.#originOf(row)
    const request = this.#request(read.to, args)
    const page =
      at === undefined
        ? read.nowhere(this.#run, row.cluster, request)
        : read.many(this.#run, at.part, at.id, request)
    return new ListConnection(this.#run, page)
  }

  followOne(row: Row, field: RelationField, refused: ToldRefusal): Row | null {
    const at = this.#originOf(row)
    if (at === undefined) return null
    const read = this.#readOf(field)
    return rowOf(read.one(this.#run, at.part, at.id, (_run, error) => refused(error)))
  }

  followPolymorphic(
    row: Row,
    field: PolymorphicRelationField,
    args: OwnedArguments,
  ): OwnedConnectionSource {
    const { kind, cluster, object } = row
    const read = this.#forms.of(this.#run, `${kind.typeName}.${field.name}`, () => {
      return new PolymorphicRead(this.#run.served, kind, field)
    }) as PolymorphicRead
    const gone = object.metadata.uid ?? objectKey(object.metadata)
    const page = read.page(this.#run, this.#originOf(row) ?? { gone, cluster }, args)
    return polymorphicConnection(this.#run, page)
  }

  graph(args: GraphArguments): GraphSource {
    return graphSource(readGraph(this.#run, graphRequest(this.#run.served, args)))
  }

  search(args: SearchArguments): SearchSource {
    return searchConnection(this.#run, readSearch(this.#run, args))
  }

  problems(args: ProblemsArguments): ProblemsSource {
    return problemsConnection(this.#run, readProblems(this.#run, args))
  }

  complete(args: CompleteArguments): ReadBeside {
    return readCompletions(this.#run, args)
  }

  cluster({ cluster }: Row): unknown {
    return clusterState(this.#run, cluster)
  }

  can({ cluster, kind, object }: Row, args: ObjectCanArguments): boolean | null {
    return canDo(this.#run, { cluster, kind }, object.metadata, args) ?? null
  }

  extension(
    field: ExtensionField,
    args: Readonly<Record<string, unknown>>,
    parent: unknown,
    { nodes, type }: ResolvedField,
  ): unknown {
    const { budget, direct, served } = this.#run
    const { extensions } = direct
    const [typeName = ''] = field.coordinate.split('.')
    budget.spend('fields', field.resolve === undefined ? 0 : field.weight)
    const of = served.kinds.has(typeName)
      ? extensions.ofDecoded(parent as Row)
      : extensions.of(typeName === 'Query' ? undefined : parent, undefined)
    const answered = extensions.value(field, args, of, nodes)
    return answered === undefined ? null : this.extensionValue(answered.value, { type }, of.cluster)
  }

  extensionValue(value: unknown, { type }: Pick<ResolvedField, 'type'>, cluster?: string): unknown {
    if (Array.isArray(value)) {
      return value.map((one: unknown) => this.extensionValue(one, { type }, cluster))
    }
    if (typeof value !== 'object' || value === null || value instanceof Error) return value
    const { direct, served } = this.#run
    const { name } = getNamedType(type)
    direct.extensions.of(value, cluster)
    if (name !== 'KubernetesObject' && !served.kinds.has(name)) return value
    const place = direct.extensions.placeOf(value, cluster)
    return place === undefined ? null : rowOf(foundByKey(this.#run, place.at, place.key))
  }

  /** Every row of a list has the same arguments for its relations. */
  #request(kind: Kind, args: ListFieldArguments): ListRequest {
    return this.#requests.of(kind, args, () => listRequest(this.#run.served, kind, args))
  }

  #readOf(field: RelationField): RelationRead {
    let read = this.#relations.get(field)
    if (read === undefined) {
      const relation = this.#run.served.relations.byField.get(field)
      if (relation === undefined) {
        const { from, name } = field.definition
        throw new TypeError(`the schema has no relation ${from}.${name}`)
      }
      this.#relations.set(field, (read = new RelationRead(field, relation)))
    }
    return read
  }

  #originOf(row: Row): FoundObject | undefined {
    const { metadata } = row.object
    return cachedOrigin(this.#run, row, { key: objectKey(metadata), uid: metadata.uid ?? '' })
  }
}

function rowOf(found: FoundObject | undefined): Row | null {
  if (found === undefined) return null
  const { cluster, kind, view } = found.part
  return { cluster, kind, object: view.object(found.id) }
}

function directObject({ cluster, kind, object: { metadata } }: Row): DirectObject {
  const { namespace, name, uid = '' } = metadata
  const place = namespace === undefined ? { name } : { namespace, name }
  return { cluster, kind, ...place, uid }
}
