/*
 * What the informers of a run report. `SourceStates` logs a failure when it begins, and knows what is wrong now. An informer
 * has synced as soon as it has listed; that it may not watch shows only here.
 */

import type { InformerFailure, InformerObserver } from '../informer/informer-observer.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import { type ApiResource, apiVersionOf, groupResourceOf } from '../kubernetes/api-resource.ts'
import { ApiStatusError, isNotFound } from '../kubernetes/status.ts'
import { CodedError } from '../lib/coded-error.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { ControllerLog } from './controller-log.ts'

/** Why a kind cannot be listed and watched. */
export interface SourceProblem {
  readonly resource: ApiResource
  /** The request that fails, which is also the right that is missing if `reason` is `FORBIDDEN`. */
  readonly verb: 'list' | 'watch'
  readonly reason: 'FORBIDDEN' | 'NOT_SERVED' | 'NOT_SYNCED'
  readonly error: Error
}

/** Kinds that the controllers watch could not be listed and watched in time. `problems` has each with its reason. */
export class SourceSyncError extends CodedError {
  readonly problems: readonly SourceProblem[]

  constructor(problems: readonly SourceProblem[], deadlineMs: number) {
    const [first] = problems
    const reasons = problems.map(({ resource, verb, error }) => {
      return `${groupResourceOf(resource)} (${verb}): ${error.message}`
    })
    super('SOURCES_NOT_SYNCED', `not synced within ${deadlineMs} ms: ${reasons.join('; ')}`, {
      value: problems.map(({ resource }) => groupResourceOf(resource)),
      hint: first && hintFor(first),
      cause: first?.error,
    })
    this.problems = problems
  }
}

function problemOf(resource: ApiResource, verb: 'list' | 'watch', error: Error): SourceProblem {
  const isForbidden = error instanceof ApiStatusError && error.httpStatus === 403
  const reason = isForbidden ? 'FORBIDDEN' : isNotFound(error) ? 'NOT_SERVED' : 'NOT_SYNCED'
  return { resource, verb, reason, error }
}

function hintFor({ resource, reason, error }: SourceProblem): string | undefined {
  const { group, kind, resource: plural } = resource
  if (reason === 'FORBIDDEN') {
    const rule = { apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] }
    return `give the account this rule in a ClusterRole or Role: ${JSON.stringify(rule)}`
  }
  if (reason === 'NOT_SERVED') {
    const name = groupResourceOf(resource)
    return `the server has no ${kind} in ${apiVersionOf(resource)}: install the CustomResourceDefinition ${name}, or correct group, version and resource`
  }
  return error instanceof CodedError ? error.hint : undefined
}

interface SourceState {
  readonly counts: Map<InformerFailure, number>
  problem: SourceProblem | undefined
  isListed: boolean
  isWatched: boolean
}

export class SourceStates {
  readonly #log: ControllerLog
  readonly #states = new Map<ApiResource, SourceState>()
  #watched: PromiseWithResolvers<void> | undefined

  constructor(log: ControllerLog) {
    this.#log = log
  }

  observerOf(resource: ApiResource): InformerObserver {
    const none = { counts: new Map(), problem: undefined, isListed: false, isWatched: false }
    const state = getOrInsert(this.#states, resource, () => none)
    return {
      failed: (failure, error) => {
        const name = groupResourceOf(resource)
        if (failure === 'list' || failure === 'watch') {
          // Logs the first of equal failures in a row.
          const before = state.problem
          const problem = problemOf(resource, failure, error)
          state.problem = problem
          if (before?.error.message === error.message) return
          const hint = hintFor(problem)
          this.#log.warn(`cannot ${failure} ${name}, trying again`, { error, hint })
          return
        }
        // Logs the first, tenth, hundredth… failure of a kind.
        const count = (state.counts.get(failure) ?? 0) + 1
        state.counts.set(failure, count)
        if (!Number.isInteger(Math.log10(count))) return
        const times = count === 1 ? undefined : count
        this.#log.error(`the informer of ${name}: ${failure} failed`, { error, times })
      },
      listed: () => void (state.isListed = true),
      watching: () => {
        if (state.problem !== undefined)
          this.#log.info(`${groupResourceOf(resource)} is watched again`)
        state.problem = undefined
        state.isWatched = true
        if (this.#unwatched.length === 0) this.#watched?.resolve()
      },
    }
  }

  get problems(): readonly SourceProblem[] {
    return [...this.#states.values()].flatMap(({ problem }) => problem ?? [])
  }

  /**
   * Resolves when every informer has its list and an open watch. Rejects with {@link SourceSyncError}, or with the
   * signal's reason.
   */
  async waitForSync(
    informers: Iterable<SharedInformer>,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const endMs = performance.now() + deadlineMs
    const problems: SourceProblem[] = []
    await Promise.all(
      Array.from(informers, async (informer) => {
        await informer.waitForSync({ deadlineMs, signal }).catch((error: Error) => {
          problems.push(problemOf(informer.resource, 'list', informer.lastError ?? error))
        })
      }),
    )
    signal.throwIfAborted()
    if (problems.length > 0) throw new SourceSyncError(problems, deadlineMs)
    try {
      if (this.#unwatched.length === 0) return
      this.#watched = Promise.withResolvers()
      const leftMs = Math.max(0, endMs - performance.now())
      await withDeadline('the watches', this.#watched.promise, leftMs, signal)
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error
      throw new SourceSyncError(
        this.#unwatched.map(([resource, { problem }]) => {
          return problem ?? problemOf(resource, 'watch', error)
        }),
        deadlineMs,
      )
    }
  }

  /** The sources that have listed, and do not watch yet. An informer with an observer of its own is not among them. */
  get #unwatched(): readonly (readonly [ApiResource, SourceState])[] {
    return [...this.#states].filter(([, { isListed, isWatched }]) => isListed && !isWatched)
  }
}
