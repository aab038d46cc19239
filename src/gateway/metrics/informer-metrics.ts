import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { CachedResourceState } from '../../cache/cached-resource.ts'
import type { InformerObserver } from '../../informer/informer-observer.ts'
import { type ApiResource, groupResourceOf } from '../../kubernetes/api-resource.ts'

export interface MeasuredCluster {
  readonly name: string
  readonly state: string
  /** When its credentials end, in Unix milliseconds, by their kind. */
  readonly credentialEnds: ReadonlyMap<string, number>
  readonly cache: { states(): readonly CachedResourceState[] }
  readonly access: { readonly counts: { readonly sent: number; readonly kept: number } }
}

type Labels = 'cluster' | 'resource'
const labelNames: readonly Labels[] = ['cluster', 'resource']
/** Few buckets each: there is a histogram for each resource of each cluster. */
const buckets = {
  /** Seconds. */
  list: [0.1, 0.5, 2, 10, 60],
  /** Seconds. API servers end a watch after five to ten minutes. */
  watch: [1, 30, 240, 600],
  objects: [10, 100, 1_000, 10_000, 100_000],
}

/** The metrics of reflectors, with client-go's names, and of their caches. */
export class InformerMetrics {
  readonly #lists: Counter<Labels>
  readonly #listSeconds: Histogram<Labels>
  readonly #listItems: Histogram<Labels>
  readonly #watches: Counter<Labels>
  readonly #shortWatches: Counter<Labels>
  readonly #watchSeconds: Histogram<Labels>
  readonly #watchItems: Histogram<Labels>
  readonly #failures: Counter<Labels | 'failure'>

  constructor(registry: Registry, clusters: () => readonly MeasuredCluster[]) {
    const registers = [registry]
    const counter = (name: string, help: string): Counter<Labels> =>
      new Counter({ name, help, labelNames, registers })
    const histogram = (name: string, help: string, of: keyof typeof buckets): Histogram<Labels> =>
      new Histogram({ name, help, labelNames, buckets: buckets[of], registers })
    this.#lists = counter('reflector_lists_total', 'Lists started by reflectors.')
    this.#listSeconds = histogram(
      'reflector_list_duration_seconds',
      'Duration of a complete list.',
      'list',
    )
    this.#listItems = histogram(
      'reflector_items_per_list',
      'Objects in a complete list.',
      'objects',
    )
    this.#watches = counter('reflector_watches_total', 'Watches started by reflectors.')
    this.#shortWatches = counter(
      'reflector_short_watches_total',
      'Watches that ended at once, without an event.',
    )
    this.#watchSeconds = histogram(
      'reflector_watch_duration_seconds',
      'Duration of a watch.',
      'watch',
    )
    this.#watchItems = histogram('reflector_items_per_watch', 'Events in a watch.', 'objects')
    this.#failures = new Counter({
      name: 'informerql_informer_failures_total',
      help: 'Failures of informers that did not end them: list, watch, object, transform, index, handler, loop.',
      labelNames: [...labelNames, 'failure'],
      registers,
    })
    const gauge = (
      name: string,
      help: string,
      value: (state: CachedResourceState) => number | null,
    ): void => {
      const made: Gauge<Labels> = new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          // Drops the values of stopped informers.
          made.reset()
          for (const { name: cluster, cache } of clusters()) {
            for (const state of cache.states()) {
              const now = value(state)
              if (now === null) continue
              made.set({ cluster, resource: groupResourceOf(state.resource) }, now)
            }
          }
        },
      })
    }
    gauge(
      'reflector_last_resource_version',
      'The resource version of a cache, if it is a number.',
      ({ resourceVersion }) =>
        resourceVersion === null || resourceVersion === '' ? null : Number(resourceVersion),
    )
    gauge('informerql_informer_synced', '1 once a cache has its first list.', ({ objects }) =>
      objects === null ? 0 : 1,
    )
    gauge('informerql_informer_objects', 'Objects in a cache.', ({ objects }) => objects)
    gauge(
      'informerql_informer_held_bytes',
      'Approximate memory of the objects of a cache and their indexes.',
      ({ heldBytes }) => heldBytes,
    )
    gauge(
      'informerql_informer_indexes',
      'Indexes of a cache, without those of labels. Indexes of relations are made on first use.',
      ({ indexes }) => indexes,
    )
    gauge(
      'informerql_informer_lag_seconds',
      'Time since the last message of the API server about a resource.',
      ({ lagMs }) => (lagMs === null ? null : lagMs / 1_000),
    )
    gauge(
      'informerql_informer_queue_length',
      'Deltas waiting to be applied.',
      ({ queueLength }) => queueLength,
    )
    gauge('informerql_informer_listeners', 'Listeners of a cache.', ({ listeners }) => listeners)
  }

  observer(cluster: string, resource: ApiResource): InformerObserver {
    const labels = { cluster, resource: groupResourceOf(resource) }
    return {
      failed: (failure) => this.#failures.inc({ ...labels, failure }),
      listing: () => this.#lists.inc(labels),
      listed: ({ items, durationMs }) => {
        this.#listItems.observe(labels, items)
        this.#listSeconds.observe(labels, durationMs / 1_000)
      },
      watching: () => this.#watches.inc(labels),
      watched: ({ events, durationMs, isShort }) => {
        this.#watchItems.observe(labels, events)
        this.#watchSeconds.observe(labels, durationMs / 1_000)
        if (isShort) this.#shortWatches.inc(labels)
      },
    }
  }
}
