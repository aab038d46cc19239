import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { AuthenticationObserver } from '../../access/authentication/authenticator.ts'
import type { LiveState } from '../../graphql/live/live-limits.ts'
import type { FragmentCounts } from '../../graphql/plan/fragment-cache.ts'
import type { OperationObserver } from '../../graphql/answer/operation-observer.ts'
import type { MetricsSource } from '../../server/http/metrics-endpoint.ts'
import type { ServerObserver } from '../../server/operation-options.ts'
import { InformerMetrics, type MeasuredCluster } from './informer-metrics.ts'
import { OperationMetrics } from './operation-metrics.ts'
import { ServerMetrics } from './server-metrics.ts'

/** The state of a gateway that its metrics read. */
export interface MeasuredGateway {
  readonly clusters: () => readonly MeasuredCluster[]
  readonly fragments: () => FragmentCounts
  /** The memory of documents and their plans, in bytes. */
  readonly documentBytes: () => number
  /** The state of planned subscriptions. */
  readonly live: () => LiveState
}

/**
 * The metrics of a gateway and its server, in the text format of Prometheus (docs/metrics.md). Labels name clusters,
 * resources and codes, never users or objects.
 */
export class GatewayMetrics implements MetricsSource {
  readonly #registry = new Registry()
  #measured: MeasuredGateway | undefined
  readonly informers: InformerMetrics
  readonly operations: OperationObserver
  readonly server: ServerObserver & Pick<AuthenticationObserver, 'verified'>

  /** `process` adds the metrics of the process and of Node; use it once per process. */
  constructor({ process = false }: { readonly process?: boolean } = {}) {
    if (process) collectDefaultMetrics({ register: this.#registry })
    this.informers = new InformerMetrics(this.#registry, () => this.#measured?.clusters() ?? [])
    this.operations = new OperationMetrics(this.#registry)
    this.server = new ServerMetrics(this.#registry)
    this.#addFragments()
    this.#addReviews()
    this.#addLive()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The present values of all metrics. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  measure(gateway: MeasuredGateway): void {
    this.#measured = gateway
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
    const gauge = (name: string, help: string, bytes: () => number): void => {
      const registers = [this.#registry]
      const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(bytes()) })
    }
    gauge('informerql_fragment_bytes', 'Memory of cached texts of objects.', () => counts().bytes)
    gauge(
      'informerql_document_bytes',
      'Memory of cached documents and their plans.',
      () => this.#measured?.documentBytes() ?? 0,
    )
  }

  #addReviews(): void {
    const registers = [this.#registry]
    const sent: Counter<'cluster'> = new Counter({
      name: 'informerql_access_reviews_total',
      help: 'SubjectAccessReviews sent.',
      labelNames: ['cluster'],
      registers,
      collect: () => {
        sent.reset()
        for (const { name: cluster, access } of this.#measured?.clusters() ?? [])
          sent.inc({ cluster }, access.counts.sent)
      },
    })
    const kept: Gauge<'cluster'> = new Gauge({
      name: 'informerql_access_decisions',
      help: 'Cached answers of SubjectAccessReviews.',
      labelNames: ['cluster'],
      registers,
      collect: () => {
        kept.reset()
        for (const { name: cluster, access } of this.#measured?.clusters() ?? [])
          kept.set({ cluster }, access.counts.kept)
      },
    })
  }

  #addLive(): void {
    const gauge = (name: string, help: string, part: 'groups' | 'members' | 'heldBytes'): void => {
      const registers = [this.#registry]
      const collect = (): void => made.set(this.#measured?.live()[part] ?? 0)
      const made: Gauge = new Gauge({ name, help, registers, collect })
    }
    gauge('informerql_live_groups', 'Groups of subscriptions with shared frames.', 'groups')
    gauge('informerql_live_members', 'Subscriptions in such groups.', 'members')
    gauge('informerql_live_held_bytes', 'Memory of such groups.', 'heldBytes')
    const total = (name: string, help: string, part: keyof LiveState): void =>
      this.#total(`informerql_live_${name}_total`, help, () => this.#measured?.live()[part] ?? 0)
    total('frames', 'Frames sent to subscriptions in groups.', 'frames')
    total('merged', 'Frames merged from several, for slow readers.', 'merged')
    total('resets', 'Resets of readers that were too far behind.', 'resets')
    total('resumed', 'Subscriptions that resumed.', 'resumed')
    total('not_resumed', 'Subscriptions with a resume token that had to start over.', 'notResumed')
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
