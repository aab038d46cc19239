import { UnreadableResourceError } from '../cache/cache-errors.ts'
import type { Lease } from '../cache/cached-resource.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import { nearestName } from '../lib/options.ts'
import { codeOf, type GatewayLog } from './observers.ts'

/** Keeps the informers of some kinds running, whether they are used or not. */
export class Preload implements Disposable {
  readonly #listFields: ReadonlySet<string>
  readonly #log: GatewayLog
  readonly #unknown = new Set<string>()
  #leases: readonly Lease[] = []

  constructor(listFields: readonly string[], log: GatewayLog) {
    this.#listFields = new Set(listFields)
    this.#log = log
  }

  /**
   * Takes a lease of each preloaded kind that the schema serves now, and releases the others. Does not wait for them.
   */
  hold({ kinds, clusters }: ServedSchema): void {
    const before = this.#leases
    this.#tellUnknown([...kinds.values()].map(({ listField }) => listField))
    const wanted = [...kinds.values()].filter(({ listField }) => this.#listFields.has(listField))
    this.#leases = [...clusters.values()].flatMap((cluster) =>
      wanted
        .filter(({ resource }) => cluster.serves(resource))
        .flatMap(({ resource }) => {
          try {
            return [cluster.acquire(resource)]
          } catch (error) {
            if (!(error instanceof UnreadableResourceError)) throw error
            this.#log.warn(error.message, { cluster: cluster.name, ...codeOf(error) })
            return []
          }
        }),
    )
    for (const lease of before) lease[Symbol.dispose]()
  }

  #tellUnknown(known: readonly string[]): void {
    for (const name of this.#listFields) {
      if (this.#unknown.has(name) || known.includes(name)) continue
      this.#unknown.add(name)
      const nearest = nearestName(name, known)
      const way =
        nearest === undefined ? 'it is loaded once a cluster serves it' : `give ${nearest}`
      this.#log.warn(`preload: no served kind has the list field ${name}; ${way}`)
    }
  }

  [Symbol.dispose](): void {
    for (const lease of this.#leases) lease[Symbol.dispose]()
    this.#leases = []
  }
}
