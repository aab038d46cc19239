/*
 * What the log tells of the informers of all clusters: their failures, slow lists, and the namespaces that they cache.
 */

import type { Coverage } from '../cache/coverage.ts'
import type { InformerObserver } from '../informer/informer-observer.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import { codeOf, type FailureLog, type GatewayLog } from './observers.ts'

/** A further observer of the informers of a cluster. */
export type InformerObserverOf = (cluster: string, resource: ApiResource) => InformerObserver

export class InformerLog {
  readonly #log: GatewayLog
  readonly #failures: FailureLog
  readonly #observer: InformerObserverOf | undefined
  readonly #told = new Map<string, string>()

  constructor(log: GatewayLog, failures: FailureLog, observer: InformerObserverOf | undefined) {
    this.#log = log
    this.#failures = failures
    this.#observer = observer
  }

  covered(cluster: string, resource: ApiResource, coverage: Coverage | undefined): void {
    const place = { cluster, kind: kindOf(resource) }
    if (coverage?.namespaces === undefined) {
      if (coverage === undefined) this.#log.info('is cached for all namespaces again', place)
      return
    }
    // Logs each change once: when it is decided, not when its lists are complete.
    const names = [...coverage.namespaces].toSorted()
    const text = `is cached for ${names.length} namespaces: ${names.slice(0, shownNamespaces).join(', ')}`
    const told = `${cluster}: ${place.kind}`
    if (this.#told.get(told) === text) return
    this.#told.set(told, text)
    this.#log.info(text, place)
  }

  observerOf(cluster: string, resource: ApiResource): InformerObserver {
    const log = this.#log
    const place = { cluster, kind: kindOf(resource) }
    const other = this.#observer?.(cluster, resource)
    return {
      ...other,
      failed: (failure, error) => {
        other?.failed?.(failure, error, resource)
        this.#failures.warn(`${failure} failed: ${error.message}`, { ...place, ...codeOf(error) })
      },
      slowList: ({ items, durationMs, stages }) => {
        log.warn(`${items} objects took ${Math.round(durationMs / 1000)} s`, {
          ...place,
          ...stages,
        })
      },
      restored: ({ items, durationMs }) => {
        const text = `${items} objects from the archive in ${Math.round(durationMs)} ms`
        log.info(text, place)
      },
      listed: (list) => {
        const { items, durationMs } = list
        other?.listed?.(list)
        log.info(`${items} objects in ${Math.round(durationMs)} ms`, place)
      },
    }
  }
}

const shownNamespaces = 20

/** For logs: `Deployment.apps`. */
function kindOf({ kind, group }: ApiResource): string {
  return group === '' ? kind : `${kind}.${group}`
}
