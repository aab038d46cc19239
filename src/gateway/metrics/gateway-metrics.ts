/*
 * The metrics of a gateway and its server, as docs/observability.md lists them. Observers of the parts feed counters and
 * histograms. Gauges, such as the size of caches, are measured when Prometheus scrapes. Labels are codes and names of the
 * gateway, never texts of clients, so that no client can make series without end.
 */

import { version as nodeVersion } from 'node:process'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ArchiveCounts } from '../../archive/archive-calls.ts'
import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { InformerObserver } from '../../informer/informer-observer.ts'
import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { nextTurn } from '../../lib/event-loop.ts'
import { processBytes } from '../../lib/process-memory.ts'
import type { LiveState } from '../../graphql/live/live-limits.ts'
import type { LogCounts } from '../../graphql/logs/log-limits.ts'
import type { FragmentCounts } from '../../graphql/plan/fragment-cache.ts'
import type {
  OperationObserver,
  OperationReport,
  WriteReport,
} from '../../graphql/answer/operation-observer.ts'
import type { MetricsSource } from '../../server/http/metrics-endpoint.ts'
import { packageVersion } from '../package-version.ts'
import type { AuthenticationObserver } from '../../access/authentication/authenticator.ts'
import type { ServerObserver, ServerRefusal } from '../../server/operation-options.ts'

export interface MeasuredSource {
  readonly name: string
  /** `undefined` before the first attempt. */
  readonly state: { readonly clusters: readonly unknown[]; readonly problem: unknown } | undefined
}

export interface MeasuredGateway {
  readonly clusters: () => readonly MeasuredCluster[]
  readonly sources: () => readonly MeasuredSource[]
  readonly fragments: () => FragmentCounts
  readonly documentBytes: () => number
  readonly live: () => LiveState
  readonly logs: () => LogCounts
  /** `undefined` without an archive. */
  readonly archive: () => ArchiveCounts | undefined
  /** `undefined` where clusters are not shared. */
  readonly sharing: () => Readonly<Record<'members' | SharedState, number>> | undefined
}

/** For how long a scrape holds the event loop. While caches load, a turn of the loop takes as long, and a scrape must end within seconds. */
const heldMs = 25

const sharedStates = ['held', 'remote', 'none'] as const
type SharedState = (typeof sharedStates)[number]

/**
 * The metrics of a gateway and its server, in the text format of Prometheus (docs/metrics.md). Labels name clusters,
 * resources and codes, never users or objects.
 */
export class GatewayMetrics implements MetricsSource {
  readonly #registry = new Registry()
  #measured: MeasuredGateway | undefined
  #certificateEnd: (() => number | undefined) | undefined
  #scrape: Promise<string> | undefined
  /** Measures the caches of all clusters, in steps. */
  readonly #measureCaches: () => Generator<void>
  /** Observes the informers of a resource in a cluster. */
  readonly informers: (cluster: string, resource: ApiResource) => InformerObserver
  readonly operations: OperationObserver
  readonly server: ReturnType<typeof serverMetrics>

  /** `process` adds the metrics of the process and of Node; use it once per process. */
  constructor({ process = false }: { readonly process?: boolean } = {}) {
    if (process) collectDefaultMetrics({ register: this.#registry })
    this.informers = informerMetrics(this.#registry)
    this.#measureCaches = cacheMetrics(this.#registry, () => this.#measured?.clusters() ?? [])
    this.operations = operationMetrics(this.#registry)
    this.server = {
      ...serverMetrics(this.#registry),
      certificate: (endMs) => void (this.#certificateEnd = endMs),
    }
    const build = new Gauge({
      name: 'informerql_build_info',
      help: 'Always 1. The labels say which informerql and which Node run.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    })
    build.set({ version: packageVersion(), node: nodeVersion }, 1)
    this.#addCredentials()
    this.#addByCluster()
    this.#addByProcess()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /**
   * Measures and writes all metrics. A fleet has tens of thousands of lines, so the event loop runs in between, and who asks
   * meanwhile gets the same text.
   */
  text(): Promise<string> {
    this.#scrape ??= this.#scraped().finally(() => (this.#scrape = undefined))
    return this.#scrape
  }

  async #scraped(): Promise<string> {
    let startMs = performance.now()
    const rest = async (): Promise<void> => {
      if (performance.now() - startMs < heldMs) return
      await nextTurn()
      startMs = performance.now()
    }
    for (const _measured of this.#measureCaches()) await rest()
    const texts: string[] = []
    for (const { name } of this.#registry.getMetricsAsArray()) {
      texts.push(await this.#registry.getSingleMetricAsString(name))
      await rest()
    }
    return `${texts.join('\n\n')}\n`
  }

  measure(gateway: MeasuredGateway): void {
    this.#measured = gateway
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

  #addByCluster(): void {
    const clusters = (): readonly MeasuredCluster[] => this.#measured?.clusters() ?? []
    const sources = (): readonly MeasuredSource[] => this.#measured?.sources() ?? []
    this.#each(Gauge, 'cluster', clusters, {
      informerql_cluster_connected: [
        '1 while the cluster can be read.',
        ({ state }) => Number(state === 'CONNECTED'),
      ],
      informerql_cluster_unauthorized: [
        "1 while the cluster does not accept the gateway's own credentials.",
        ({ state }) => Number(state === 'UNAUTHORIZED'),
      ],
      informerql_access_decisions: [
        'Cached answers of SubjectAccessReviews.',
        ({ access }) => access.counts.kept,
      ],
    })
    this.#each(Counter, 'cluster', clusters, {
      informerql_access_reviews_total: [
        'SubjectAccessReviews sent.',
        ({ access }) => access.counts.sent,
      ],
    })
    // Two sources may belong to one hub. Their values are added.
    this.#each(Gauge, 'source', sources, {
      informerql_cluster_source_followed: [
        '1 while a source of clusters can be followed.',
        ({ state }) => Number(state !== undefined && state.problem === undefined),
      ],
      informerql_cluster_source_clusters: [
        'Clusters that a source names.',
        ({ state }) => state?.clusters.length ?? 0,
      ],
    })
  }

  #addByProcess(): void {
    const fragments = (part: keyof FragmentCounts) => () => this.#measured?.fragments()[part] ?? 0
    const live = (part: keyof LiveState) => () => this.#measured?.live()[part] ?? 0
    const logs = (part: keyof LogCounts) => () => this.#measured?.logs()[part] ?? 0
    const archive = (part: Exclude<keyof ArchiveCounts, 'problem'>) => () =>
      this.#measured?.archive()?.[part] ?? 0
    const shared = (): readonly { name: SharedState }[] =>
      this.#measured?.sharing() === undefined ? [] : sharedStates.map((name) => ({ name }))
    this.#each(Gauge, 'state', shared, {
      informerql_share_clusters: [
        'Clusters that gateways share: held by this one, by another one (remote), or by none.',
        ({ name }) => this.#measured?.sharing()?.[name] ?? 0,
      ],
    })
    this.#all(Gauge, {
      informerql_share_members: [
        'The gateways that share the clusters and live, this one included; 0 where clusters are not shared.',
        () => this.#measured?.sharing()?.members ?? 0,
      ],
      informerql_archive_lag_seconds: [
        'The age of the oldest change that the archive has not written yet; 0 if there is none.',
        () => archive('lagMs')() / 1_000,
      ],
      informerql_archive_bytes: ['The size of the archive.', archive('bytes')],
      informerql_memory_limit_bytes: [
        'Memory that the process may use: that of its container, or of the machine.',
        () => processBytes,
      ],
      informerql_fragment_bytes: ['Memory of cached texts of objects.', fragments('bytes')],
      informerql_document_bytes: [
        'Memory of cached documents and their plans.',
        () => this.#measured?.documentBytes() ?? 0,
      ],
      informerql_live_groups: ['Groups of subscriptions with shared frames.', live('groups')],
      informerql_live_members: ['Subscriptions in such groups.', live('members')],
      informerql_live_held_bytes: ['Memory of such groups.', live('heldBytes')],
      informerql_log_streams: [
        'Logs of containers that are being read, or whose lines wait for their reader.',
        logs('streams'),
      ],
      informerql_log_held_bytes: ['Memory of readers of logs.', logs('heldBytes')],
    })
    this.#all(Counter, {
      informerql_archive_rows_total: [
        'Rows that the archive has written: objects and changes.',
        archive('rows'),
      ],
      informerql_archive_gaps_total: [
        'Times in which the archive did not see the changes of a kind.',
        archive('gaps'),
      ],
      informerql_archive_dropped_changes_total: [
        'Changes for which there was no room while the archive could not be written. Their kinds are compared afterwards.',
        archive('dropped'),
      ],
      informerql_fragment_hits_total: ['Texts of objects taken from the cache.', fragments('hits')],
      informerql_fragment_misses_total: ['Texts of objects written anew.', fragments('misses')],
      informerql_live_frames_written_total: [
        'Frames of changes that groups have written, each once for all its readers.',
        live('written'),
      ],
      informerql_live_written_bytes_total: [
        'Bytes of the frames that groups have written.',
        live('writtenBytes'),
      ],
      informerql_live_frames_total: ['Frames sent to subscriptions in groups.', live('frames')],
      informerql_live_merged_total: [
        'Frames merged from several, for slow readers.',
        live('merged'),
      ],
      informerql_live_resets_total: ['Resets of readers that were too far behind.', live('resets')],
      informerql_live_resumed_total: ['Subscriptions that resumed.', live('resumed')],
      informerql_live_not_resumed_total: [
        'Subscriptions with a resume token that had to start over.',
        live('notResumed'),
      ],
      informerql_log_read_total: ['Lines of logs read, sent or not.', logs('read')],
      informerql_log_lines_total: ['Lines of logs sent.', logs('lines')],
      informerql_log_skipped_total: [
        'Lines of logs that slow readers have not got.',
        logs('skipped'),
      ],
      informerql_log_reopened_total: [
        'Logs that were opened again, because their stream broke or failed.',
        logs('reopened'),
      ],
    })
  }

  /** Registers metrics with a value for each thing of a list, read at each scrape. */
  #each<Thing extends { readonly name: string }, Label extends string>(
    Metric: typeof Counter<Label> | typeof Gauge<Label>,
    label: Label,
    things: () => readonly Thing[],
    rows: Readonly<Record<string, readonly [help: string, value: (of: Thing) => number]>>,
  ): void {
    for (const [name, [help, value]] of Object.entries(rows)) {
      const metric: Counter<Label> | Gauge<Label> = new Metric({
        name,
        help,
        labelNames: [label],
        registers: [this.#registry],
        collect: () => {
          metric.reset()
          for (const one of things()) {
            metric.inc({ [label]: one.name } as Record<Label, string>, value(one))
          }
        },
      })
    }
  }

  #all(
    Metric: typeof Counter | typeof Gauge,
    rows: Readonly<Record<string, readonly [help: string, value: () => number]>>,
  ): void {
    const registers = [this.#registry]
    for (const [name, [help, value]] of Object.entries(rows)) {
      const collect = (): void => {
        metric.reset()
        metric.inc(value())
      }
      const metric: Counter | Gauge = new Metric({ name, help, registers, collect })
    }
  }
}

export interface MeasuredCluster {
  readonly name: string
  readonly state: string
  /** When the credentials end, in Unix milliseconds, by their kind. */
  readonly credentialEnds: ReadonlyMap<string, number>
  readonly cache: { states(): readonly CachedResourceState[] }
  readonly access: { readonly counts: { readonly sent: number; readonly kept: number } }
}

type Labels = 'cluster' | 'resource'
const labelNames: readonly Labels[] = ['cluster', 'resource']
const buckets = {
  /** Seconds. */
  list: [0.1, 0.5, 2, 10, 60],
  /** Seconds. API servers end a watch after five to ten minutes. */
  watch: [1, 30, 240, 600],
  objects: [10, 100, 1_000, 10_000, 100_000],
}

/**
 * The metrics of reflectors, with client-go's names. Returns an observer of a resource's informers. A histogram has a line for each bucket, so
 * it has one label: durations are of a cluster, whose API server may be slow, and numbers of objects of a resource.
 */
function informerMetrics(registry: Registry): GatewayMetrics['informers'] {
  const registers = [registry]
  const meters = metersOf(registry)
  const counter = (name: string, help: string): Counter<Labels> =>
    meters.counter(name, help, [...labelNames])
  const histogram = <L extends Labels>(
    label: L,
    name: string,
    help: string,
    of: keyof typeof buckets,
  ): Histogram<L> =>
    new Histogram({ name, help, labelNames: [label], buckets: buckets[of], registers })
  const lists = counter('reflector_lists_total', 'Lists started by reflectors.')
  const watches = counter('reflector_watches_total', 'Watches started by reflectors.')
  const ofShort = 'Watches that ended at once, without an event.'
  const shortWatches = counter('reflector_short_watches_total', ofShort)
  const ofList = 'Duration of a complete list.'
  const listSeconds = histogram('cluster', 'reflector_list_duration_seconds', ofList, 'list')
  const ofItems = 'Objects in a complete list.'
  const listItems = histogram('resource', 'reflector_items_per_list', ofItems, 'objects')
  const ofWatch = 'Duration of a watch.'
  const watchSeconds = histogram('cluster', 'reflector_watch_duration_seconds', ofWatch, 'watch')
  const ofEvents = 'Events in a watch.'
  const watchItems = histogram('resource', 'reflector_items_per_watch', ofEvents, 'objects')
  const failures = meters.counter(
    'informerql_informer_failures_total',
    'Failures of informers that did not end them: list, watch, object, transform, index, handler, loop.',
    [...labelNames, 'failure'],
  )
  return (cluster, of) => {
    const resource = groupResourceOf(of)
    const labels = { cluster, resource }
    return {
      failed: (failure) => failures.inc({ ...labels, failure }),
      listing: () => lists.inc(labels),
      listed({ items, durationMs }) {
        listItems.observe({ resource }, items)
        listSeconds.observe({ cluster }, durationMs / 1_000)
      },
      watching: () => watches.inc(labels),
      watched({ events, durationMs, isShort }) {
        watchItems.observe({ resource }, events)
        watchSeconds.observe({ cluster }, durationMs / 1_000)
        if (isShort) shortWatches.inc(labels)
      },
    }
  }
}

/** Gauges of a cache's state; `null`: no value. */
const cacheGauges: Readonly<
  Record<string, readonly [help: string, value: (state: CachedResourceState) => number | null]>
> = {
  reflector_last_resource_version: [
    'The resource version of a cache, if it is a number.',
    ({ resourceVersion: at }) => (at === null || at === '' ? null : Number(at)),
  ],
  informerql_informer_synced: [
    '1 once a cache has its first list.',
    ({ objects }) => Number(objects !== null),
  ],
  informerql_informer_objects: ['Objects in a cache.', ({ objects }) => objects],
  informerql_informer_held_bytes: [
    'Approximate memory of the objects of a cache and their indexes.',
    ({ heldBytes }) => heldBytes,
  ],
  informerql_informer_indexes: [
    'Indexes of a cache, without those of labels. Indexes of relations are made on first use.',
    ({ indexes }) => indexes,
  ],
  informerql_informer_lag_seconds: [
    'Time since the last message of the API server about a resource.',
    ({ lagMs }) => (lagMs === null ? null : lagMs / 1_000),
  ],
  informerql_informer_queue_length: [
    'Deltas waiting to be applied.',
    ({ queueLength }) => queueLength,
  ],
  informerql_informer_listeners: ['Listeners of a cache.', ({ listeners }) => listeners],
}

/** The gauges of caches. Returns what measures them all, in steps. */
function cacheMetrics(
  registry: Registry,
  clusters: () => readonly MeasuredCluster[],
): () => Generator<void> {
  const registers = [registry]
  const measures = Object.entries(cacheGauges).map(([name, [help, value]]) => ({
    gauge: new Gauge({ name, help, labelNames, registers }),
    value,
  }))
  return function* measure() {
    // Drops the values of stopped informers.
    for (const { gauge } of measures) gauge.reset()
    for (const { name: cluster, cache } of clusters()) {
      for (const state of cache.states()) {
        const labels = { cluster, resource: groupResourceOf(state.resource) }
        for (const { gauge, value } of measures) {
          const now = value(state)
          if (now !== null) gauge.set(labels, now)
        }
      }
      yield
    }
  }
}

/** Makes the metrics of a registry. */
const metersOf = (registry: Registry) => ({
  counter: <L extends string>(name: string, help: string, labels: L[] = []): Counter<L> =>
    new Counter({ name, help, labelNames: labels, registers: [registry] }),
  gauge: (name: string, help: string): Gauge => new Gauge({ name, help, registers: [registry] }),
})

/**
 * In seconds. A planned query takes some hundredths of a millisecond, a query that waits for a first sync up to ten
 * seconds.
 */
const operationBuckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

function operationMetrics(registry: Registry): OperationObserver {
  const meters = metersOf(registry)
  const durations = new Histogram({
    name: 'informerql_operation_duration_seconds',
    help: 'Duration of operations: queries until their answer, subscriptions until their start. The code is that of the first error, or empty.',
    labelNames: ['operation', 'by', 'code'],
    buckets: operationBuckets,
    registers: [registry],
  })
  const answered = meters.counter('informerql_operation_rows_total', 'Objects in answers.')
  const subscriptions = meters.gauge('informerql_subscriptions', 'Open subscriptions.')
  const writes = meters.counter(
    'informerql_writes_total',
    'Writes to API servers for callers, without dry runs. The code is that of the error, or empty.',
    ['mutation', 'cluster', 'code'],
  )
  return {
    wrote({ mutation, cluster, code, dryRun }: WriteReport) {
      if (!dryRun) writes.inc({ mutation, cluster, code })
    },
    answered({ operation, by, codes, rows, durationMs }: OperationReport) {
      const [code = ''] = codes
      durations.observe({ operation, by, code }, durationMs / 1_000)
      answered.inc(rows)
      if (operation === 'subscription' && code === '') subscriptions.inc()
    },
    ended({ rows }: OperationReport) {
      answered.inc(rows)
      subscriptions.dec()
    },
  }
}

const nothingUnsent = (): number => 0

/** The metrics of authentication, refusals, the audit log and connections. */
function serverMetrics(
  registry: Registry,
): ServerObserver &
  Pick<AuthenticationObserver, 'verified' | 'signedIn'> & { auditFailed(): void } {
  const meters = metersOf(registry)
  const tokens = meters.counter(
    'informerql_token_verifications_total',
    'Verifications of unknown tokens: accepted, refused, or unavailable.',
    ['outcome'],
  )
  const sessions = meters.counter(
    'informerql_sign_ins_total',
    'Steps of browser sessions: sign-in, renewal, sign-out, provider-sign-out. The code is that of the error, or empty.',
    ['event', 'code'],
  )
  const refusals = meters.counter(
    'informerql_refusals_total',
    'Requests and WebSockets refused before their operation was read.',
    ['transport', 'code'],
  )
  const audit = meters.counter(
    'informerql_audit_failures_total',
    'Attempts to write the audit log that failed, and lines of it that are lost.',
  )
  const sockets = meters.gauge('informerql_websockets', 'Open WebSockets.')
  const cutOffs = meters.counter(
    'informerql_readers_cut_off_total',
    'Connections cut off because too many bytes waited, or the reader took nothing for too long.',
    ['transport'],
  )
  const shells = meters.gauge('informerql_exec_sessions', 'Open shells in containers.')
  const shellEnds = meters.counter(
    'informerql_exec_sessions_total',
    'Shells in containers that have ended, or were refused, by their outcome.',
    ['outcome'],
  )
  const shellBytes = meters.counter(
    'informerql_exec_bytes_total',
    'Bytes of ended shells: typed (in), and printed (out).',
    ['direction'],
  )
  let unsentBytes = nothingUnsent
  const unsent: Gauge = new Gauge({
    name: 'informerql_unsent_bytes',
    help: 'Bytes that wait to be sent, on all connections.',
    collect: () => unsent.set(unsentBytes()),
    registers: [registry],
  })
  return {
    verified: (outcome) => tokens.inc({ outcome }),
    signedIn: ({ event, code }) => sessions.inc({ event, code }),
    refused: ({ transport, code }: ServerRefusal) => refusals.inc({ transport, code }),
    auditFailed: () => audit.inc(),
    socketOpened: () => sockets.inc(),
    socketClosed: () => sockets.dec(),
    cutOff: (transport) => cutOffs.inc({ transport }),
    unsent: (bytes) => void (unsentBytes = bytes),
    execBegan: () => shells.inc(),
    execEnded({ outcome, bytesIn, bytesOut }) {
      shells.dec()
      shellEnds.inc({ outcome })
      shellBytes.inc({ direction: 'in' }, bytesIn)
      shellBytes.inc({ direction: 'out' }, bytesOut)
    },
    execRefused: ({ outcome }) => shellEnds.inc({ outcome }),
  }
}
