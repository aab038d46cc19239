/*
 * Empties a node as `kubectl drain` does: it cordons the node and evicts its pods, which respects PodDisruptionBudgets.
 * An eviction that a budget forbids is tried again until the deadline. Pods of DaemonSets and static pods stay. Pods
 * without a controller, and pods with data in an `emptyDir`, are refused before anything is written, unless the caller
 * asks for them. A drain lasts as long as its subscription, whose frames show the progress.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { itemsOf, specOf, statusOf, textOf } from '../../kubernetes/fields.ts'
import { objectKey, type Unstructured } from '../../kubernetes/object.ts'
import { sleep } from '../../lib/backoff.ts'
import { boundedParallel } from '../../lib/concurrency.ts'
import { Counts } from '../../lib/counts.ts'
import type { OperationObserver } from '../answer/operation-observer.ts'
import type { QueryOrigin } from '../answer/planned-queries.ts'
import { ClientError, clientErrorOf } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { ViewerAccess } from '../prepare/viewer-access.ts'
import type {
  DrainedPod,
  DrainedPodState,
  DrainLoss,
  DrainProgress,
} from '../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { CallerWriter, placeOfId, reported } from './caller-writer.ts'
import { evicted, objectActions } from './object-actions.ts'
import type { WritePlace } from './write-errors.ts'
import type { WriteLimits, WriteQuota } from './write-limits.ts'

export interface DrainArguments {
  readonly id: string
  readonly gracePeriodSeconds?: number | null
  readonly deadlineSeconds?: number | null
  readonly deleteEmptyDirData?: boolean | null
  readonly force?: boolean | null
  readonly dryRun?: boolean | null
}

export interface DrainsOptions {
  readonly limits: OperationLimits
  readonly writes: WriteLimits
  readonly quota: WriteQuota
  readonly observer?: OperationObserver | undefined
}

/** Starts drains, a bounded number at a time for each user. */
export class Drains {
  readonly #options: DrainsOptions
  readonly #running = new Counts()

  constructor(options: DrainsOptions) {
    this.#options = options
  }

  /** Finds the node and its pods; nothing is written before {@link Drain.run}. Rejects with `ClientError`. */
  async open(served: ServedSchema, args: DrainArguments, origin: QueryOrigin): Promise<Drain> {
    const { limits, writes } = this.#options
    const user = origin.viewer?.username ?? ''
    const running = this.#running.of(user)
    if (running >= writes.maxDrains) {
      const message = `this user already has ${running} drains running`
      const details = { value: running, hint: 'wait until one has ended', retryAfterMs: 5_000 }
      throw new ClientError('TOO_MANY_WRITES', message, details)
    }
    this.#running.add(user)
    const ended = (): void => this.#running.remove(user)
    try {
      const place = await placeOfId(args.id, served, limits, origin)
      const pods = served.kindOf('', 'Pod')
      if (groupResourceOf(place.kind.resource) !== 'nodes' || pods === undefined) {
        const { typeName } = place.kind
        const message = `drain is not for objects of ${typeName}`
        const details = { argument: 'id', type: typeName, hint: 'give the id of a Node' }
        throw new ClientError('BAD_USER_INPUT', message, details)
      }
      const drain = new Drain({ ...this.#options, served, args, origin, node: place, pods, ended })
      await drain.look()
      return drain
    } catch (error) {
      ended()
      throw error
    }
  }
}

interface DrainOptions extends DrainsOptions {
  readonly served: ServedSchema
  readonly args: DrainArguments
  readonly origin: QueryOrigin
  readonly node: WritePlace
  readonly pods: Kind
  readonly ended: () => void
}

/** A pod of the node that leaves. */
interface Leaving {
  readonly place: WritePlace
  state: DrainedPodState
  reason: string | null
  readonly losses: readonly DrainLoss[]
  /** When to try again, by `performance.now()`. */
  dueMs: number
}

/** Evictions at the same time. */
const maxParallel = 5
/** How often the pods of the node are listed. */
const pauseMs = 1_000
/** kubectl's pause after an eviction that a budget forbids. */
const blockedPauseMs = 5_000

export class Drain {
  readonly #options: DrainOptions
  readonly #endsAtMs: number
  #pods: readonly Leaving[] = []
  #state: DrainProgress['state'] = 'EVICTING'
  #message: string | null = null
  #changed: () => void = () => {}

  constructor(options: DrainOptions) {
    const { args } = options
    const { drainDeadlineMs } = options.writes
    const wanted = (args.deadlineSeconds ?? Infinity) * 1_000
    this.#options = options
    this.#endsAtMs = performance.now() + Math.min(drainDeadlineMs, Math.max(0, wanted))
  }

  get progress(): DrainProgress {
    const { node, args } = this.#options
    const leaving = this.#pods.filter(({ state }) => state !== 'SKIPPED')
    return {
      node: node.name,
      state: this.#state,
      message: this.#message,
      total: leaving.length,
      gone: leaving.filter(({ state }) => state === 'GONE').length,
      dryRun: args.dryRun === true,
      pods: this.#pods.map(({ place: { namespace, name }, state, reason, losses }) => ({
        namespace,
        name,
        state,
        reason,
        losses,
      })),
    }
  }

  /** Lists the pods of the node and decides about each. Rejects with `ClientError`. */
  async look(): Promise<void> {
    await using writer = this.#writer()
    const found = await this.#list(writer)
    const { node, pods, args } = this.#options
    this.#pods = found.map((pod) => {
      const { namespace = '', name, uid } = pod.metadata
      const place = { cluster: node.cluster, kind: pods, namespace, name, uid }
      return { place, dueMs: 0, ...decided(pod, args) }
    })
    const refused = this.#pods.filter(({ state }) => state === 'REFUSED')
    const [first] = refused
    if (first === undefined) return
    const { namespace, name } = first.place
    this.#state = 'REFUSED'
    this.#message = `${refused.length} pods or their data would be lost, such as ${objectKey({ namespace, name })}: ${first.reason}; nothing was done`
  }

  /** Drains until all pods are gone, the deadline passes, or the signal aborts. Never rejects. */
  async run(changed: () => void, signal: AbortSignal): Promise<void> {
    this.#changed = changed
    try {
      if (this.#state === 'EVICTING') await this.#drain(signal)
    } catch (error) {
      this.#end('FAILED', clientErrorOf(error).message)
    } finally {
      this.#options.ended()
    }
  }

  async #drain(signal: AbortSignal): Promise<void> {
    const { node, args } = this.#options
    const { dryRun } = args
    const { cordon } = objectActions
    if (signal.aborted) return
    {
      await using writer = this.#writer()
      await this.#reported(node, () => cordon(writer, node, { dryRun }))
    }
    while (!signal.aborted) {
      // Each round uses the newest token of the caller.
      await using writer = this.#writer()
      const nowMs = performance.now()
      const due = this.#pods.filter(({ state, dueMs }) => isWaiting(state) && dueMs <= nowMs)
      await boundedParallel(due, maxParallel, async (pod) => {
        if (!signal.aborted) await this.#evict(writer, pod)
      })
      if (signal.aborted) return
      const leaving = this.#pods.filter(({ state }) => state === 'TERMINATING')
      if (leaving.length > 0) {
        // A pod is gone if the node no longer has it, or has another pod of its name.
        try {
          const left = new Set((await this.#list(writer)).map(({ metadata }) => metadata.uid))
          for (const pod of leaving) if (!left.has(pod.place.uid)) this.#set(pod, 'GONE', null)
        } catch (error) {
          // The next round tries again.
          if (clientErrorOf(error).extensions['code'] !== 'CLUSTER_UNREACHABLE') throw error
        }
      }
      const open = this.#pods.filter(({ state }) => isWaiting(state) || state === 'TERMINATING')
      const failed = this.#pods.filter(({ state }) => state === 'FAILED')
      if (open.length === 0) {
        if (failed.length === 0) this.#end('DONE', null)
        else this.#end('FAILED', `${failed.length} pods could not be evicted`)
        return
      }
      if (performance.now() >= this.#endsAtMs) {
        this.#end('FAILED', `the deadline passed with ${open.length} pods left`)
        return
      }
      await sleep(pauseMs, signal)
    }
  }

  async #evict(writer: CallerWriter, pod: Leaving): Promise<void> {
    const { args, quota, origin } = this.#options
    const isDryRun = args.dryRun === true
    try {
      quota.take(origin.viewer)
      const gracePeriodSeconds = args.gracePeriodSeconds ?? undefined
      const wishes = { dryRun: isDryRun }
      await this.#reported(pod.place, () => evicted(writer, pod.place, wishes, gracePeriodSeconds))
      this.#set(pod, isDryRun ? 'GONE' : 'TERMINATING', null)
    } catch (error) {
      const { message, extensions } = clientErrorOf(error)
      const { code, retryAfterMs } = extensions
      const isPassing = code === 'DISRUPTION_BUDGET' || code === 'TOO_MANY_WRITES'
      if (code === 'NOT_FOUND' || code === 'PRECONDITION_FAILED') this.#set(pod, 'GONE', null)
      else if (isPassing && !isDryRun) {
        pod.dueMs = performance.now() + (Number(retryAfterMs) || blockedPauseMs)
        this.#set(pod, 'BLOCKED', message)
      } else this.#set(pod, 'FAILED', message)
    }
  }

  async #list(writer: CallerWriter): Promise<readonly Unstructured[]> {
    const { node, pods } = this.#options
    const at = { cluster: node.cluster, kind: pods, namespace: '', name: '' }
    const fieldSelector = `spec.nodeName=${node.name}`
    return await writer.list(at, pods.resource, { fieldSelector })
  }

  #writer(): CallerWriter {
    const { served, writes, origin } = this.#options
    return new CallerWriter({
      served,
      caller: origin,
      access: origin.viewer && new ViewerAccess(served, origin.viewer),
      // An eviction need not wait for the cache: the pods are listed anyway.
      limits: { ...writes, cacheDeadlineMs: 0 },
      endsAtMs: this.#endsAtMs + writes.requestDeadlineMs,
    })
  }

  async #reported<T>(place: WritePlace, write: () => Promise<T>): Promise<T> {
    const { observer, origin, args } = this.#options
    const how = { mutation: 'drain', operationName: undefined, dryRun: args.dryRun === true }
    return await reported({ ...how, observer, origin, place }, write, () => ({}))
  }

  #set(pod: Leaving, state: DrainedPodState, reason: string | null): void {
    pod.state = state
    pod.reason = reason
    this.#changed()
  }

  #end(state: DrainProgress['state'], message: string | null): void {
    this.#state = state
    this.#message = message
    this.#changed()
  }
}

function isWaiting(state: DrainedPodState): boolean {
  return state === 'PENDING' || state === 'BLOCKED'
}

type Decision = Pick<DrainedPod, 'state' | 'reason' | 'losses'>

/** Decides what a drain does with a pod (kubectl's `drain/filters.go`). */
function decided(pod: Unstructured, { force, deleteEmptyDirData }: DrainArguments): Decision {
  const { annotations = {}, ownerReferences = [], deletionTimestamp } = pod.metadata
  const controller = ownerReferences.find((owner) => owner.controller === true)
  if (annotations['kubernetes.io/config.mirror'] !== undefined) {
    return stays('a static pod, which only its node can remove')
  }
  const isOver = ['Succeeded', 'Failed'].includes(textOf(statusOf(pod)['phase']) ?? '')
  if (controller?.kind === 'DaemonSet' && !isOver) {
    return stays('its DaemonSet would start it again')
  }
  if (deletionTimestamp !== undefined) return { state: 'TERMINATING', reason: null, losses: [] }
  const volumes = itemsOf(specOf(pod)['volumes'])
  const hasData = volumes.some(({ emptyDir }) => (emptyDir ?? null) !== null)
  const isLost = !isOver && controller === undefined
  const losesData = !isOver && hasData
  const losses: readonly DrainLoss[] = [
    ...(isLost ? (['POD'] as const) : []),
    ...(losesData ? (['EMPTY_DIR_DATA'] as const) : []),
  ]
  const reasons = [
    ...(isLost && force !== true ? ['no controller starts it again'] : []),
    ...(losesData && deleteEmptyDirData !== true ? ['it has data in an emptyDir'] : []),
  ]
  return reasons.length === 0
    ? { state: 'PENDING', reason: null, losses }
    : { state: 'REFUSED', reason: reasons.join(', and '), losses }
}

function stays(reason: string): Decision {
  return { state: 'SKIPPED', reason, losses: [] }
}
