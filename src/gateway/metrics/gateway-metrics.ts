import { version as nodeVersion } from 'node:process'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { processBytes } from '../../lib/process-memory.ts'
import type { LiveState } from '../../graphql/live/live-limits.ts'
import type { LogCounts } from '../../graphql/logs/log-limits.ts'
import type { FragmentCounts } from '../../graphql/plan/fragment-cache.ts'
import type { OperationObserver } from '../../graphql/answer/operation-observer.ts'
import type { MetricsSource } from '../../server/http/metrics-endpoint.ts'
import { packageVersion } from '../package-version.ts'
import { InformerMetrics, type MeasuredCluster } from './informer-metrics.ts'
import { operationMetrics, serverMetrics } from './server-metrics.ts'

export interface MeasuredSource {
  readonly name: string
  /** `undefined` before its first attempt. */
  readonly state: { readonly clusters: readonly unknown[]; readonly problem: unknown } | undefined
}

export interface MeasuredGateway {
  readonly clusters: () => readonly MeasuredCluster[]
  readonly sources: () => readonly MeasuredSource[]
  readonly fragments: () => FragmentCounts
  readonly documentBytes: () => number
  readonly live: () => LiveState
  readonly logs: () => LogCounts
}

/**
 * The metrics of a gateway and its server, in the text format of Prometheus (docs/metrics.md). Labels name clusters,
 * resources and codes, never users or objects.
 */
export class GatewayMetrics implements MetricsSource {
  readonly #registry = new Registry()
  #measured: MeasuredGateway | undefined
  #certificateEnd: (() => number | undefined) | undefined
  readonly informers: InformerMetrics
  readonly operations: OperationObserver
  readonly server: ReturnType<typeof serverMetrics>

  /** `process` adds the metrics of the process and of Node; use it once per process. */
  constructor({ process = false }: { readonly process?: boolean } = {}) {
    if (process) collectDefaultMetrics({ register: this.#registry })
    this.informers = new InformerMetrics(this.#registry, () => this.#measured?.clusters() ?? [])
    this.operations = operationMetrics(this.#registry)
    this.server = {
      ...serverMetrics(this.#registry),
      certificate: (endMs) => void (this.#certificateEnd = endMs),
    }
    this.#addProgram()
    this.#addFleet()
    this.#addCredentials()
    this.#addFragments()
    this.#addReviews()
    this.#addLive()
    this.#addLogs()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  measure(gateway: MeasuredGateway): void {
    this.#measured = gateway
  }

  #addProgram(): void {
    const build = new Gauge({
      name: 'informerql_build_info',
      help: 'Always 1. The labels say which informerql and which Node run.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    })
    build.set({ version: packageVersion(), node: nodeVersion }, 1)
    this.#gauge(
      'informerql_memory_limit_bytes',
      'Memory that the process may use: that of its container, or of the machine.',
      () => processBytes,
    )
  }

  #addFleet(): void {
    this.#byCluster(
      Gauge,
      'informerql_cluster_connected',
      '1 while the cluster can be read.',
      ({ state }) => (state === 'CONNECTED' ? 1 : 0),
    )
    this.#byCluster(
      Gauge,
      'informerql_cluster_unauthorized',
      "1 while the cluster does not accept the gateway's own credentials.",
      ({ state }) => (state === 'UNAUTHORIZED' ? 1 : 0),
    )
    this.#bySource(
      'informerql_cluster_source_followed',
      '1 while a source of clusters can be followed.',
      ({ state }) => (state === undefined || state.problem !== undefined ? 0 : 1),
    )
    this.#bySource(
      'informerql_cluster_source_clusters',
      'Clusters that a source names.',
      ({ state }) => state?.clusters.length ?? 0,
    )
  }

  #addCredentials(): void {
    const left = new Gauge({
      name: 'informerql_credentials_expire_seconds',
      help: 'Time until credentials of the gateway end, below 0 once they have.',
      labelNames: ['cluster', 'credential'],
      registers: [this.#registry],
      collect: () => {
        left.reset()
        const set = (cluster: string, credential: string, endMs: number): void =>
          left.set({ cluster, credential }, (endMs - Date.now()) / 1_000)
        for (const { name, credentialEnds } of this.#measured?.clusters() ?? [])
          for (const [credential, endMs] of credentialEnds) set(name, credential, endMs)
        const endMs = this.#certificateEnd?.()
        if (endMs !== undefined) set('', 'serving-certificate', endMs)
      },
    })
  }

  #addFragments(): void {
    const counts = (): FragmentCounts =>
      this.#measured?.fragments() ?? { hits: 0, misses: 0, bytes: 0 }
    this.#total(
      'informerql_fragment_hits_total',
      'Texts of objects taken from the cache.',
      () => counts().hits,
    )
    this.#total(
      'informerql_fragment_misses_total',
      'Texts of objects written anew.',
      () => counts().misses,
    )
    this.#gauge(
      'informerql_fragment_bytes',
      'Memory of cached texts of objects.',
      () => counts().bytes,
    )
    this.#gauge(
      'informerql_document_bytes',
      'Memory of cached documents and their plans.',
      () => this.#measured?.documentBytes() ?? 0,
    )
  }

  #addReviews(): void {
    this.#byCluster(
      Counter,
      'informerql_access_reviews_total',
      'SubjectAccessReviews sent.',
      ({ access }) => access.counts.sent,
    )
    this.#byCluster(
      Gauge,
      'informerql_access_decisions',
      'Cached answers of SubjectAccessReviews.',
      ({ access }) => access.counts.kept,
    )
  }

  #addLive(): void {
    const gauge = (name: string, help: string, part: keyof LiveState): void =>
      this.#gauge(`informerql_live_${name}`, help, () => this.#measured?.live()[part] ?? 0)
    gauge('groups', 'Groups of subscriptions with shared frames.', 'groups')
    gauge('members', 'Subscriptions in such groups.', 'members')
    gauge('held_bytes', 'Memory of such groups.', 'heldBytes')
    const total = (name: string, help: string, part: keyof LiveState): void =>
      this.#total(`informerql_live_${name}_total`, help, () => this.#measured?.live()[part] ?? 0)
    total(
      'frames_written',
      'Frames of changes that groups have written, each once for all its readers.',
      'written',
    )
    total('written_bytes', 'Bytes of the frames that groups have written.', 'writtenBytes')
    total('frames', 'Frames sent to subscriptions in groups.', 'frames')
    total('merged', 'Frames merged from several, for slow readers.', 'merged')
    total('resets', 'Resets of readers that were too far behind.', 'resets')
    total('resumed', 'Subscriptions that resumed.', 'resumed')
    total('not_resumed', 'Subscriptions with a resume token that had to start over.', 'notResumed')
  }

  #addLogs(): void {
    const of = (part: keyof LogCounts) => (): number => this.#measured?.logs()[part] ?? 0
    this.#gauge(
      'informerql_log_streams',
      'Logs of containers that are being read, or whose lines wait for their reader.',
      of('streams'),
    )
    this.#gauge('informerql_log_held_bytes', 'Memory of readers of logs.', of('heldBytes'))
    const total = (name: string, help: string, part: keyof LogCounts): void =>
      this.#total(`informerql_log_${name}_total`, help, of(part))
    total('read', 'Lines of logs read, sent or not.', 'read')
    total('lines', 'Lines of logs sent.', 'lines')
    total('skipped', 'Lines of logs that slow readers have not got.', 'skipped')
    total(
      'reopened',
      'Logs that were opened again, because their stream broke or failed.',
      'reopened',
    )
  }

  #bySource(name: string, help: string, value: (source: MeasuredSource) => number): void {
    const metric: Gauge<'source'> = new Gauge({
      name,
      help,
      labelNames: ['source'],
      registers: [this.#registry],
      collect: () => {
        metric.reset()
        // Two sources may be of one hub.
        for (const one of this.#measured?.sources() ?? [])
          metric.inc({ source: one.name }, value(one))
      },
    })
  }

  #byCluster(
    Metric: typeof Counter<'cluster'> | typeof Gauge<'cluster'>,
    name: string,
    help: string,
    value: (cluster: MeasuredCluster) => number,
  ): void {
    const metric: Counter<'cluster'> | Gauge<'cluster'> = new Metric({
      name,
      help,
      labelNames: ['cluster'],
      registers: [this.#registry],
      collect: () => {
        metric.reset()
        for (const one of this.#measured?.clusters() ?? [])
          metric.inc({ cluster: one.name }, value(one))
      },
    })
  }

  #gauge(name: string, help: string, value: () => number): void {
    const registers = [this.#registry]
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(value()) })
  }

  #total(name: string, help: string, total: () => number): void {
    const counter: Counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        counter.inc(total())
      },
    })
  }
}
