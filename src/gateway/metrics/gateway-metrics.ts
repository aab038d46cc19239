import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { AuthenticationObserver } from '../../access/authentication/authentication-observer.ts'
import type { LiveState } from '../../graphql/live/live-limits.ts'
import type { FragmentCounts } from '../../graphql/plan/fragment-cache.ts'
import type { OperationObserver } from '../../graphql/answer/operation-observer.ts'
import type { MetricsSource } from '../../server/http/metrics-endpoint.ts'
import type { ServerObserver } from '../../server/server-observer.ts'
import { InformerMetrics, type MeasuredCluster } from './informer-metrics.ts'
import { OperationMetrics } from './operation-metrics.ts'
import { ServerMetrics } from './server-metrics.ts'

/** What a gateway is read for when its metrics are. */
export interface MeasuredGateway {
  readonly clusters: () => readonly MeasuredCluster[]
  readonly fragments: () => FragmentCounts
  /** Bytes of documents, with all that was made of them. */
  readonly documentBytes: () => number
  /** Of the subscriptions that have a plan. */
  readonly live: () => LiveState
}

/**
 * The metrics of one gateway and of its server, in the text format of Prometheus; docs/metrics.md lists them. Labels name clusters,
 * resources and codes, and never users or objects.
 */
export class GatewayMetrics implements MetricsSource {
  readonly #registry = new Registry()
  #measured: MeasuredGateway | undefined
  readonly informers: InformerMetrics
  readonly operations: OperationObserver
  readonly server: ServerObserver & Pick<AuthenticationObserver, 'verified'>

  /** With `process`, those of the whole process and of Node too: to be made once in a process then. */
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

  /** All of them, as they are now. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** Reads this gateway from now on. */
  measure(gateway: MeasuredGateway): void {
    this.#measured = gateway
  }

  #addFragments(): void {
    const counts = (): FragmentCounts =>
      this.#measured?.fragments() ?? { hits: 0, misses: 0, bytes: 0 }
    this.#total(
      'informerql_fragment_hits_total',
      'Texts of objects that were kept.',
      () => counts().hits,
    )
    this.#total(
      'informerql_fragment_misses_total',
      'Texts of objects that had to be written.',
      () => counts().misses,
    )
    const gauge = (name: string, help: string, bytes: () => number): void => {
      const registers = [this.#registry]
      const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(bytes()) })
    }
    gauge(
      'informerql_fragment_bytes',
      'What the texts of objects take that are kept.',
      () => counts().bytes,
    )
    gauge(
      'informerql_document_bytes',
      'What the documents take that are kept, with their plans.',
      () => this.#measured?.documentBytes() ?? 0,
    )
  }

  #addReviews(): void {
    const registers = [this.#registry]
    const sent: Counter<'cluster'> = new Counter({
      name: 'informerql_access_reviews_total',
      help: 'SubjectAccessReviews that were sent.',
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
      help: 'Answers of SubjectAccessReviews that are kept.',
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
    gauge('informerql_live_groups', 'Groups of subscriptions that share their frames.', 'groups')
    gauge('informerql_live_members', 'Subscriptions in such groups.', 'members')
    gauge('informerql_live_held_bytes', 'What is kept for such groups.', 'heldBytes')
    const total = (name: string, help: string, part: keyof LiveState): void =>
      this.#total(`informerql_live_${name}_total`, help, () => this.#measured?.live()[part] ?? 0)
    total('frames', 'Frames that these subscriptions were given.', 'frames')
    total('merged', 'Frames that were made of several, for readers that were behind.', 'merged')
    total('resets', 'Readers that began anew, as they were too far behind.', 'resets')
    total('resumed', 'Subscriptions that went on where they stood.', 'resumed')
    total('not_resumed', 'Subscriptions with a token that had to begin anew.', 'notResumed')
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
