import { objectKey } from '../../kubernetes/object.ts'
import { allOf, type Condition, hasKey } from '../../query/condition/condition.ts'
import { compileListCondition } from '../../query/condition/list-condition.ts'
import type { Kind } from '../model/kind.ts'
import type {
  Frame,
  ListSubscriptionArguments,
  LiveSource,
  LookupSubscriptionArguments,
} from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import { clusterNamed } from './cluster-argument.ts'
import { idsCondition } from './ids-condition.ts'
import type { KindAt } from './kind-part.ts'
import { liveFrames } from './live-frames.ts'
import type { SettledKinds } from './prepared-kinds.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

export interface LiveReaderOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  /** Settled when the subscription is opened; their leases must last as long as it does. */
  readonly kinds: SettledKinds
}

/** Opens the frames of subscriptions. */
export class LiveReader implements LiveSource {
  readonly #options: LiveReaderOptions

  constructor(options: LiveReaderOptions) {
    this.#options = options
  }

  subscribe(kind: Kind, args: ListSubscriptionArguments): AsyncIterable<Frame> {
    const at = { cluster: clusterNamed(this.#options.served, args.cluster), kind }
    const condition = compileListCondition(args, kind.indexes)
    return this.#frames(at, allOf([idsCondition(args.ids, at), condition]), args.coalesceMs)
  }

  subscribeOne(kind: Kind, args: LookupSubscriptionArguments): AsyncIterable<Frame> {
    const cluster = clusterNamed(this.#options.served, args.cluster)
    return this.#frames({ cluster, kind }, hasKey([objectKey(args)]), args.coalesceMs)
  }

  #frames(
    at: KindAt,
    condition: Condition,
    coalesceMs: number | null | undefined,
  ): AsyncIterable<Frame> {
    const { limits, kinds } = this.#options
    return liveFrames({
      ...kinds.part(at),
      informer: kinds.informer(at),
      condition,
      coalesceMs: checkedCoalesceMs(coalesceMs) ?? limits.coalesceMs,
      maxFrameObjects: limits.maxFrameObjects,
      work: limits.work,
    })
  }
}

const maxCoalesceMs = 60_000

function checkedCoalesceMs(value: number | null | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  if (value >= 0 && value <= maxCoalesceMs) return value
  throw new ClientError(
    'BAD_USER_INPUT',
    `coalesceMs: must be from 0 to ${maxCoalesceMs}, not ${value}`,
    { argument: 'coalesceMs', value },
  )
}
