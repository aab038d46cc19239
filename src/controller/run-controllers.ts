/*
 * Runs controllers as one unit. The run fills the caches, waits for the lease, lets all controllers work, and ends in order,
 * whether after a signal, a lost lease or a failure.
 */

import { type ApiServer, createApiServer } from '../api-server/api-server.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import { createSharedInformerFactory, type SharedInformerFactory } from '../informer/informers.ts'
import { workQueueDefaults } from '../informer/work-queue/rate-limiter.ts'
import { groupResourceOf } from '../kubernetes/api-resource.ts'
import type { KubernetesObject, Unstructured } from '../kubernetes/object.ts'
import { CodedError } from '../lib/coded-error.ts'
import {
  aDuration,
  aList,
  anObject,
  checkedOptions,
  InvalidOptionError,
  type OptionChecks,
  optionsOf,
  withDefaults,
} from '../lib/options.ts'
import { SourceStates } from './cache-sync.ts'
import { type ControllerLog, standardErrorLog } from './controller-log.ts'
import {
  type ControllerMetrics,
  createControllerMetrics,
  healthChecks,
  type HealthOptions,
  HealthServer,
  Metrics,
} from './health-server.ts'
import { type ControllerObserver, observerOf } from './controller-observer.ts'
import {
  checkedElection,
  type LeaderElectionOptions,
  runLeaderElection,
} from './leader-election.ts'
import { ControllerRun, type HeldLease } from './controller-run.ts'
import { Controller, type ControllerOptions, defineController } from './define-controller.ts'

/** The defaults of {@link RunOptions}. The last two fit into the 30 s that Kubernetes gives a pod after SIGTERM. */
export const runDefaults: Deadlines = {
  syncDeadlineMs: 120_000,
  drainDeadlineMs: workQueueDefaults.drainDeadlineMs,
  stopDeadlineMs: workQueueDefaults.stopDeadlineMs,
}

/** Which lease the processes compete for, and how. */
export interface RunElectionOptions extends Omit<
  LeaderElectionOptions,
  'apiServer' | 'namespace' | 'observer'
> {
  /** Default: the namespace of the kubeconfig's context; in a pod, the pod's. */
  readonly namespace?: string
}

/** What the controllers of a process share. Times are milliseconds; `Infinity` means no deadline. */
export interface RunOptions {
  /** Default: the cluster that kubectl would talk to, or in a pod its own, until the run ends. */
  readonly apiServer?: ApiServer
  /**
   * Informers that are shared with others, such as a gateway. The run starts those that it needs, and leaves them
   * running. Default: its own.
   */
  readonly informers?: SharedInformerFactory
  /** Only the process that holds this lease reconciles; the others keep their caches filled. Default: no election. */
  readonly leaderElection?: RunElectionOptions
  /** Serves `/healthz`, `/readyz` and `/metrics`. Default: no server. */
  readonly health?: HealthOptions
  /** Default: one line each to standard error. */
  readonly log?: ControllerLog
  readonly observer?: ControllerObserver
  /** The metrics that `/metrics` shows; give them to serve their text elsewhere. */
  readonly metrics?: ControllerMetrics
  /**
   * Ends the run. Default: SIGINT and SIGTERM end it, and a second one ends the process at once. With a signal, these
   * two are the caller's business.
   */
  readonly signal?: AbortSignal
  /** How long the kinds may take until they are listed and watched. */
  readonly syncDeadlineMs?: number
  /** How long running reconciles may go on after the stop. Then their signals abort. */
  readonly drainDeadlineMs?: number
  /** How long aborted reconciles may take to end. */
  readonly stopDeadlineMs?: number
}

const runChecks: OptionChecks<RunOptions> = {
  apiServer: anObject,
  informers: anObject,
  leaderElection: anObject,
  health: optionsOf(healthChecks),
  log: anObject,
  observer: anObject,
  metrics: anObject,
  signal: anObject,
  syncDeadlineMs: aDuration,
  drainDeadlineMs: aDuration,
  stopDeadlineMs: aDuration,
}

/** Two controllers of one run have the same name, which is a label of their metrics. */
export class DuplicateControllerError extends CodedError {
  constructor(name: string) {
    super('DUPLICATE_CONTROLLER', `two controllers have the name ${name}`, {
      value: name,
      hint: 'give one of them another name',
    })
  }
}

/**
 * Runs one controller until the process gets SIGINT or SIGTERM, or until `signal` aborts: fills its caches, reconciles
 * what they hold and every change, and ends in order. Rejects as {@link runControllers} does.
 */
export async function runController<
  T extends KubernetesObject = Unstructured,
  Owned extends readonly KubernetesObject[] = [],
  Watched extends readonly KubernetesObject[] = [],
  Read extends readonly KubernetesObject[] = [],
>(options: ControllerOptions<T, Owned, Watched, Read> & RunOptions): Promise<void> {
  const shared: [string, unknown][] = []
  const own: [string, unknown][] = []
  for (const entry of Object.entries(options)) {
    ;(Object.hasOwn(runChecks, entry[0]) ? shared : own).push(entry)
  }
  const controller = defineController(Object.fromEntries(own) as unknown as ControllerOptions)
  await runControllers({ ...Object.fromEntries(shared), controllers: [controller] })
}

/**
 * Runs controllers with shared informers, one connection and one server of health, as one unit: if one fails, all end.
 * Resolves when they have ended after the stop: first the running reconciles, then the lease and the informers. Rejects
 * with `LeadershipLostError` if the lease is lost, with {@link SourceSyncError} if a kind cannot be listed and watched in
 * time, with `ReconcileStuckError` if a reconcile does not end, with {@link DuplicateControllerError} and with
 * `InvalidOptionError`.
 */
export async function runControllers(
  options: RunOptions & { readonly controllers: readonly Controller[] },
): Promise<void> {
  const run = new Run(options)
  const { signal, stopListening } = stopSignal(options.signal, run.log)
  try {
    await run.run(signal)
  } finally {
    stopListening()
  }
}

type Deadlines = Required<Pick<RunOptions, 'drainDeadlineMs' | 'stopDeadlineMs' | 'syncDeadlineMs'>>

/** `waiting`: for the lease. */
type Phase = 'starting' | 'stopping' | 'syncing' | 'waiting' | 'working'

/** How long the last events may take after the reconciles have ended. */
const lastWritesMs = 3_000

class Run {
  readonly log: ControllerLog
  readonly #options: RunOptions
  readonly #observer: Required<ControllerObserver>
  readonly #metrics: ControllerMetrics
  readonly #apiServer: ApiServer
  readonly #informers: SharedInformerFactory
  readonly #states: SourceStates
  readonly #controllers: readonly ControllerRun[]
  readonly #deadlines: Deadlines
  readonly #election: LeaderElectionOptions | undefined
  #phase: Phase = 'starting'

  constructor(given: RunOptions & { readonly controllers: readonly Controller[] }) {
    const { controllers, ...options } = checkedOptions('a run of controllers', given, {
      ...runChecks,
      controllers: aList,
    })
    if (controllers === undefined || controllers.length === 0) {
      throw new InvalidOptionError('controllers', controllers, 'at least one controller')
    }
    const names = new Set<string>()
    for (const one of controllers) {
      if (!(one instanceof Controller)) {
        throw new InvalidOptionError('controllers', one, 'what defineController returns')
      }
      if (names.has(one.name)) throw new DuplicateControllerError(one.name)
      names.add(one.name)
    }
    this.#options = options
    this.#deadlines = withDefaults<Deadlines>(runDefaults, options)
    this.log = options.log ?? standardErrorLog
    this.#metrics = options.metrics ?? createControllerMetrics()
    this.#observer = observerOf([this.#metrics, options.observer ?? {}])
    const warned = (text: string): void => this.log.warn('a warning of the API server', { text })
    this.#apiServer =
      options.apiServer ?? createApiServer({ config: loadClusterConfig(), observer: { warned } })
    this.#states = new SourceStates(this.log)
    this.#informers =
      options.informers ??
      createSharedInformerFactory({
        apiServer: this.#apiServer,
        forResource: (resource) => ({ observer: this.#states.observerOf(resource) }),
      })
    const parts = {
      apiServer: this.#apiServer,
      informers: this.#informers,
      log: this.log,
      observer: this.#observer,
      ...this.#deadlines,
      eventsDeadlineMs: lastWritesMs,
    }
    const { leaderElection } = options
    this.#election = leaderElection === undefined ? undefined : this.#electionOf(leaderElection)
    this.#controllers = controllers.map((one) => new ControllerRun(one, parts))
    if (this.#metrics instanceof Metrics) {
      for (const one of this.#controllers) this.#metrics.measure(one)
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    let server: HealthServer | undefined
    try {
      const { health } = this.#options
      if (health !== undefined) {
        server = await HealthServer.listen(health, {
          notReady: () => this.#notReady(),
          metrics: () => this.#metrics.text(),
        })
        this.log.info('serving health and metrics', { port: server.port })
        this.#observer.listening(server.port)
      }
      this.#phase = 'syncing'
      const informers = new Set(this.#controllers.flatMap((one) => one.informers))
      this.#informers.start()
      await this.#states.waitForSync(informers, this.#deadlines.syncDeadlineMs, signal)
      this.log.info('caches are filled', {
        objects: [...informers].reduce((sum, { store }) => sum + store.size, 0),
        kinds: informers.size,
      })
      await this.#lead(signal)
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error
    } finally {
      this.#phase = 'stopping'
      if (this.#options.informers === undefined) await this.#informers.shutdown()
      if (this.#options.apiServer === undefined) await this.#apiServer[Symbol.asyncDispose]()
      await server?.[Symbol.asyncDispose]()
      this.log.info('ended')
    }
  }

  #electionOf({ namespace, ...given }: RunElectionOptions): LeaderElectionOptions {
    const { drainDeadlineMs, stopDeadlineMs } = this.#deadlines
    return checkedElection({
      stopDeadlineMs: drainDeadlineMs + stopDeadlineMs + lastWritesMs,
      ...given,
      namespace: namespace ?? this.#apiServer.config.namespace ?? '',
      apiServer: this.#apiServer,
      observer: {
        leading: (isLeading) => this.#observer.leading(isLeading),
        slowPath: () => this.#observer.slowRenewal(),
        failed: (step, error) =>
          this.log.warn(`cannot ${step} the lease`, { lease: given.name, error }),
      },
    })
  }

  /** Works at once; with an election, as the leader. */
  async #lead(signal: AbortSignal): Promise<void> {
    const election = this.#election
    if (election === undefined) {
      const { signal: lost } = new AbortController()
      return this.#work(signal, { lost, remainingMs: () => Number.POSITIVE_INFINITY })
    }
    const lease = `${election.namespace}/${election.name}`
    this.#phase = 'waiting'
    this.#observer.ready(false)
    this.log.info('waiting for the lease', { lease })
    await runLeaderElection(
      election,
      {
        onStartedLeading: (working, term) => {
          this.log.info('leading', { lease, identity: term.identity })
          return this.#work(working, term)
        },
        onNewLeader: (identity) => this.log.info('the lease has a holder', { lease, identity }),
      },
      signal,
    )
  }

  /** Runs all controllers until the signal aborts, or until one of them fails. */
  async #work(signal: AbortSignal, lease: HeldLease): Promise<void> {
    this.#phase = 'working'
    const failed = new AbortController()
    const ending = AbortSignal.any([signal, failed.signal])
    const stopping = () => void (this.#phase = 'stopping')
    ending.addEventListener('abort', stopping, { once: true })
    this.#observer.ready(true)
    const ended = await Promise.allSettled(
      this.#controllers.map(async (one) => {
        try {
          await one.run(ending, lease)
        } catch (error) {
          failed.abort(error)
          throw error
        }
      }),
    )
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  /** Leaves out the messages of errors, which name accounts and addresses: the log has them. */
  #notReady(): readonly string[] {
    if (this.#phase !== 'working' && this.#phase !== 'waiting') {
      return [`the process is ${this.#phase}`]
    }
    return this.#states.problems
      .filter(({ reason }) => reason !== 'NOT_SYNCED')
      .map(({ resource, verb, reason }) => `${groupResourceOf(resource)} (${verb}): ${reason}`)
  }
}

/** The caller's signal; or a signal that aborts at SIGINT and SIGTERM. The second of these ends the process at once. */
function stopSignal(
  given: AbortSignal | undefined,
  log: ControllerLog,
): { readonly signal: AbortSignal; readonly stopListening: () => void } {
  if (given !== undefined) return { signal: given, stopListening: () => {} }
  const stop = new AbortController()
  const heard = (name: NodeJS.Signals, number: number) => {
    // The exit code by which a shell reports a process that a signal has ended.
    if (stop.signal.aborted) process.exit(128 + number)
    log.info(`${name}: stopping; a second signal ends the process at once`)
    stop.abort(new DOMException(`the process got ${name}`, 'AbortError'))
  }
  process.on('SIGINT', heard)
  process.on('SIGTERM', heard)
  const stopListening = () => {
    process.off('SIGINT', heard)
    process.off('SIGTERM', heard)
  }
  return { signal: stop.signal, stopListening }
}
