import { performance } from 'node:perf_hooks'
import {
  type LeaderElectionCallbacks,
  type LeaderElectionOptions,
  type LeaderTerm,
  runLeaderElection,
} from 'informerql/controller'
import { until } from '../support/informer.ts'

/** For tests that wait until a lease runs out: as short as a busy machine still keeps it. */
export const shortTerms = {
  leaseDurationMs: 3000,
  renewDeadlineMs: 2000,
  retryPeriodMs: 50,
} as const

/** One candidate of an election, and what it was told. */
export interface Candidate extends AsyncDisposable {
  /** `led`, `stopped`, `new leader NAME`, `slow path`, `failed STEP`. */
  readonly events: readonly string[]
  /** What metrics would have shown of it. */
  readonly leading: readonly boolean[]
  readonly renewals: number
  /** Of its lease, after each renewal. */
  readonly remainingMs: readonly number[]
  readonly startedAtMs: number
  readonly term: LeaderTerm | undefined
  /** Of its work; `undefined` before it leads. */
  readonly signal: AbortSignal | undefined
  /** Resolves with the error that the election rejects with; `undefined` if it resolves. */
  readonly ended: Promise<unknown>
  leads(): Promise<void>
  /** Stops it and waits for its end. */
  stop(): Promise<unknown>
}

/** A work that ends as soon as it is told to. */
export const untilAborted: LeaderElectionCallbacks['onStartedLeading'] = (signal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Lets a candidate run. Its identity is the name that it is given. */
export function runCandidate(
  options: LeaderElectionOptions & { readonly identity: string },
  work: LeaderElectionCallbacks['onStartedLeading'] = untilAborted,
): Candidate {
  const stopping = new AbortController()
  const events: string[] = []
  const leading: boolean[] = []
  let renewals = 0
  const remainingMs: number[] = []
  let startedAtMs = 0
  let term: LeaderTerm | undefined
  let workSignal: AbortSignal | undefined
  const running = runLeaderElection(
    {
      retryPeriodMs: 50,
      ...options,
      observer: {
        leading: (isLeading) => leading.push(isLeading),
        renewed: () => {
          renewals += 1
          remainingMs.push(term?.remainingMs() ?? 0)
        },
        slowPath: () => events.push('slow path'),
        failed: (step) => events.push(`failed ${step}`),
      },
    },
    {
      onStartedLeading: (signal, given) => {
        startedAtMs = performance.now()
        term = given
        workSignal = signal
        events.push('led')
        return work(signal, given)
      },
      onStoppedLeading: () => events.push('stopped'),
      onNewLeader: (name) => events.push(`new leader ${name}`),
    },
    stopping.signal,
  )
  const ended = running.then(
    () => undefined,
    (error: unknown) => error,
  )
  const stop = async (): Promise<unknown> => {
    stopping.abort()
    return await ended
  }
  return {
    events,
    leading,
    get renewals() {
      return renewals
    },
    remainingMs,
    get startedAtMs() {
      return startedAtMs
    },
    get term() {
      return term
    },
    get signal() {
      return workSignal
    },
    ended,
    leads: () => until(() => term !== undefined, `${options.identity} leads`),
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
    },
  }
}
