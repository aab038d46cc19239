/*
 * The parts of a subscription over several gateways: some clusters, followed at the gateway that holds them. A part keeps the
 * state of its subscription; `merged-frames.ts` opens it, takes its frames and replaces it.
 */

import { GraphQLError, locatedError } from 'graphql'
import { Backoff } from '../../lib/backoff.ts'
import type { FrameStream } from '../../lib/frame-stream.ts'
import { type ClientError, clientErrorOf, isLostCluster } from '../errors/client-error.ts'
import { clusterGap } from '../reads/places.ts'
import type { ClusterGap, Visibility } from '../schema/gateway-types.ts'
import type { Holder } from './routes.ts'

/** Who holds a cluster at present; `null`: no gateway. */
export type PresentHolder = Holder | null

/** What is refused of a cluster, as the error of its holder names it. */
export type Refusal = Pick<ClusterGap, 'cluster' | 'type' | 'code' | 'message'>

export class Part {
  readonly clusters: readonly string[]
  readonly holder: PresentHolder
  isSuccessor = false
  isHidden = false
  /** The part with the content that is shown until this one is there. */
  root: Part | undefined
  /** When it was replaced, by `performance.now()`. */
  replacedMs = 0
  stream: FrameStream | undefined
  /** Counts its subscriptions: what an earlier one brings is dropped. */
  tries = 0
  openedMs = 0
  /** The token that it was followed from; `''`: none. */
  from = ''
  token = ''
  /** Whether its present subscription has answered, and whether it is within a snapshot. */
  hasAnswered = false
  isInSnapshot = false
  /** Whether rows of its clusters were ever complete. */
  isSynced = false
  /** Whether the subscriber has no rows of its clusters: any snapshot is right. */
  isNew = true
  isLate = false
  isOver = false
  failure: ClientError | undefined
  isRefused = false
  lostSince: string | null = null
  gaps: readonly ClusterGap[] = []
  visible: Visibility = 'ALL'
  staleSince: string | null = null
  readonly backoff: Backoff = new Backoff({
    initialMs: 200,
    factor: 2,
    maxMs: 10_000,
    resetAfterMs: 60_000,
  })
  timer: NodeJS.Timeout | undefined

  constructor(clusters: readonly string[], holder: PresentHolder) {
    this.clusters = clusters
    this.holder = holder
  }

  get isLost(): boolean {
    return this.failure !== undefined
  }

  get isSettled(): boolean {
    return this.isSynced || this.isLate || this.isOver || this.failure !== undefined
  }

  close(): void {
    this.tries += 1
    clearTimeout(this.timer)
    const { stream } = this
    // First: a stream announces its end as it is closed, which is not to be taken for the end of the part.
    this.stream = undefined
    stream?.close()
  }
}

/** What a part lacks. */
export function gapsOf({ clusters, failure, isSynced, isLate, gaps }: Part): readonly ClusterGap[] {
  if (failure !== undefined || isSynced || !isLate) return gaps
  const message = 'the gateway that holds the cluster has not answered yet'
  return clusters.map((cluster) => clusterGap({ cluster, code: 'NOT_SYNCED', message }))
}

/** The gaps of a part whose holder has failed. `refusals`: each kind that the holder names; none: the whole clusters. */
export function lostGaps(
  { clusters, lostSince }: Part,
  { code, message, type }: ClientError,
  refusals: readonly Refusal[],
): readonly ClusterGap[] {
  const all =
    refusals.length > 0
      ? refusals
      : clusters.map((cluster) => ({ cluster, type: type ?? null, code, message }))
  return all.map((gap) => clusterGap({ ...gap, since: isLostCluster(gap.code) ? lostSince : null }))
}

export function failureOf(error: unknown): {
  readonly code: string
  readonly message: string
  readonly type: string | undefined
  readonly retryAfterMs: number | undefined
  readonly argument: unknown
  readonly refusals: readonly Refusal[]
} {
  const { message, extensions } = clientErrorOf(
    error instanceof GraphQLError ? error : locatedError(error, undefined),
  )
  const { code, type, retryAfterMs, argument, incomplete } = extensions
  return {
    code: typeof code === 'string' ? code : 'INTERNAL',
    message,
    type: typeof type === 'string' ? type : undefined,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    argument,
    refusals: Array.isArray(incomplete) ? (incomplete as readonly Refusal[]) : [],
  }
}
