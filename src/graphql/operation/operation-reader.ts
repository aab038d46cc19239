import { GraphQLError } from 'graphql'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import {
  type Condition,
  everything,
  hasKey,
  hasValue,
  nothing,
} from '../../query/condition/condition.ts'
import { compileListCondition } from '../../query/condition/list-condition.ts'
import { findObject } from '../../query/page/page.ts'
import { relationName } from '../../query/relation/relation-definition.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { unrestricted } from '../../query/condition/scope.ts'
import type { Kind, RelationField } from '../model/kind.ts'
import { decodeObjectId } from '../model/object-id.ts'
import type {
  ClusterState,
  ConnectionSource,
  Frame,
  ListFieldArguments,
  ListSubscriptionArguments,
  LookupArguments,
  LookupSubscriptionArguments,
  PageArguments,
  ReadContext,
  RelationArguments,
  Row,
} from '../schema/read-context.ts'
import { ownedConnection, storeConnection } from './connection.ts'
import { gatewayError } from './gateway-error.ts'
import { liveFrames } from './live-frames.ts'
import type { KindAt, PreparedKinds } from './prepared-kinds.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

export interface OperationReaderOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** What has been prepared; what turns out to be needed besides is noted in it, for another round. */
  readonly prepared: PreparedKinds
}

/**
 * Reads the stores for one execution of one operation. Everything happens within one tick; a kind that the operation
 * turns out to need and that was not prepared is noted, for another round.
 */
export class OperationReader implements ReadContext {
  readonly #options: OperationReaderOptions
  /** What this execution may cost; also that of what is not read here. */
  readonly budget: WorkBudget

  constructor(options: OperationReaderOptions) {
    this.#options = options
    this.budget = new WorkBudget(options.limits.work)
  }

  list(kind: Kind, args: ListFieldArguments): ConnectionSource {
    const { cluster: name, ...rest } = args
    const cluster = this.#cluster(name)
    return this.#connection({ cluster, kind }, kind.listField, everything, rest)
  }

  lookup(kind: Kind, args: LookupArguments): Row | null {
    const at = { cluster: this.#cluster(args.cluster), kind }
    return this.#find(at, hasKey([keyOf(args)]))
  }

  object(id: string): Row | null {
    const identity = decodeObjectId(id)
    const { served } = this.#options
    if (!served.clusters.has(identity.cluster)) return null
    const kind = this.#options.served.kindOf(identity.group, identity.kind)
    if (kind === undefined) return null
    const { object } = identity
    const condition = 'uid' in object ? hasValue('uid', [object.uid]) : hasKey([objectKey(object)])
    return this.#find({ cluster: identity.cluster, kind }, condition)
  }

  owners({ cluster, object }: Row): readonly Row[] {
    const owners = object.metadata.ownerReferences ?? []
    return owners.flatMap(({ apiVersion, kind: name, uid }) => {
      const kind = this.#options.served.kindOf(splitApiVersion(apiVersion).group, name)
      const row = kind === undefined ? null : this.#find({ cluster, kind }, hasValue('uid', [uid]))
      return row === null ? [] : [row]
    })
  }

  owned({ cluster, object }: Row, args: PageArguments): ConnectionSource {
    const { served, prepared, limits } = this.#options
    const kinds = [...(served.clusters.get(cluster)?.kinds() ?? [])].filter(canBeOwned)
    // All of them are noted before the first one is refused, so that one more round is enough.
    for (const kind of kinds) prepared.need({ cluster, kind })
    const parts = kinds.map((kind) => ({
      kind,
      view: this.#view({ cluster, kind }),
      scope: unrestricted,
    }))
    const uid = object.metadata.uid ?? ''
    return ownedConnection(
      {
        cluster,
        list: `${cluster}/owned/${uid}`,
        uid,
        parts,
        budget: this.budget,
        maxPageSize: limits.maxPageSize,
      },
      args,
    )
  }

  follow(row: Row, relation: RelationField, args: RelationArguments): ConnectionSource {
    const { at, condition } = this.#related(row, relation)
    const origin = row.object.metadata.uid ?? objectKey(row.object.metadata)
    return this.#connection(at, `${relationName(relation.definition)}/${origin}`, condition, args)
  }

  followOne(row: Row, relation: RelationField): Row | null {
    const { at, condition } = this.#related(row, relation)
    return this.#find(at, condition)
  }

  clusters(): readonly ClusterState[] {
    return [...this.#options.served.clusters.values()].map((cluster) => cluster.state())
  }

  subscribe(kind: Kind, args: ListSubscriptionArguments): AsyncIterable<Frame> {
    const { cluster, coalesceMs } = args
    const condition = compileListCondition(args, kind.indexes)
    return this.#frames({ cluster: this.#cluster(cluster), kind }, condition, coalesceMs)
  }

  subscribeOne(kind: Kind, args: LookupSubscriptionArguments): AsyncIterable<Frame> {
    const at = { cluster: this.#cluster(args.cluster), kind }
    return this.#frames(at, hasKey([keyOf(args)]), args.coalesceMs)
  }

  #frames(
    at: KindAt,
    condition: Condition,
    coalesceMs: number | null | undefined,
  ): AsyncIterable<Frame> {
    const { limits } = this.#options
    return liveFrames({
      ...at,
      informer: this.#informer(at),
      condition,
      scope: unrestricted,
      coalesceMs: checkedCoalesceMs(coalesceMs) ?? limits.coalesceMs,
      maxFrameObjects: limits.maxFrameObjects,
      work: limits.work,
    })
  }

  #connection(
    at: KindAt,
    list: string,
    condition: Condition,
    args: RelationArguments,
  ): ConnectionSource {
    const { maxPageSize } = this.#options.limits
    const view = this.#view(at)
    const options = {
      ...at,
      view,
      list: `${at.cluster}/${list}`,
      condition,
      scope: unrestricted,
      budget: this.budget,
      maxPageSize,
    }
    return storeConnection(options, args)
  }

  #related(row: Row, relation: RelationField): { at: KindAt; condition: Condition } {
    const { served } = this.#options
    const { cluster } = row
    const compiled = served.relations.get(relationName(relation.definition))
    const to = served.kinds.get(relation.definition.to)
    if (compiled === undefined || to === undefined) {
      throw new Error(`relation ${relationName(relation.definition)} is not compiled`)
    }
    const view = this.#view({ cluster, kind: row.kind })
    const id = view.idOf(objectKey(row.object.metadata))
    const at = { cluster, kind: to }
    if (id === undefined) return { at, condition: nothing }
    const stores = (type: string): StoreView => {
      const kind = served.kinds.get(type)
      if (kind === undefined) throw new Error(`relation ${type} is not served`)
      return this.#view({ cluster, kind })
    }
    const budget = this.budget
    const origin = { view, id, object: row.object, stores, budget }
    return { at, condition: compiled.follow(origin) }
  }

  #find(at: KindAt, condition: Condition): Row | null {
    const view = this.#view(at)
    const id = findObject({ view, condition, scope: unrestricted, budget: this.budget })
    return id === undefined ? null : { ...at, object: view.object(id) }
  }

  #view(at: KindAt): StoreView {
    return this.#informer(at).store
  }

  #informer(at: KindAt): SharedInformer {
    const { prepared, served } = this.#options
    const outcome = prepared.outcome(at)
    if (outcome instanceof GraphQLError) throw outcome
    const informer = served.clusters.get(at.cluster)?.informer(at.kind)
    if (outcome === 'ready' && informer !== undefined) return informer
    prepared.need(at)
    throw gatewayError('NOT_SYNCED', `${at.kind.typeName} is not loaded yet`, {
      cluster: at.cluster,
      kind: at.kind.typeName,
    })
  }

  #cluster(name: string | null | undefined): string {
    const { clusters } = this.#options.served
    if (name !== undefined && name !== null && clusters.has(name)) return name
    const [first = ''] = clusters.keys()
    if (name === undefined || name === null) return first
    throw gatewayError('BAD_USER_INPUT', `there is no cluster ${JSON.stringify(name)}`, {
      argument: 'cluster',
      value: name,
      hint: `there are ${[...clusters.keys()].join(', ')}`,
    })
  }
}

/** Events have no owners; every other kind may. */
function canBeOwned({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}

function keyOf({ namespace, name }: { namespace?: string; name: string }): string {
  return objectKey(namespace === undefined ? { name } : { namespace, name })
}

const maxCoalesceMs = 60_000

function checkedCoalesceMs(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (value >= 0 && value <= maxCoalesceMs) return value
  throw gatewayError(
    'BAD_USER_INPUT',
    `coalesceMs: must be from 0 to ${maxCoalesceMs}, not ${value}`,
    {
      argument: 'coalesceMs',
      value,
    },
  )
}
