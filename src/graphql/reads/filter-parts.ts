import type { StoreView } from '../../informer/store/store-view.ts'
import type {
  Condition,
  RelatedBy,
  RelatedPart,
  RelatedStores,
} from '../../query/condition/condition.ts'
import { ClientError, type ClientErrorCode } from '../errors/client-error.ts'
import type { CachedParts } from '../prepare/kind-view.ts'
import { isServed } from './condition-needs.ts'
import type { ServedSchema } from '../served/served-schema.ts'

type ReadableParts = Pick<CachedParts, 'part'>

/** The parts that conditions on related objects of one cluster read in one execution. */
class FilterParts implements RelatedStores {
  readonly #served: ServedSchema
  readonly #parts: ReadableParts
  readonly #cluster: string
  readonly #errors = new Map<string, ClientError>()
  /** The stores read so far, each with its version at that time. */
  readonly #versions = new Map<StoreView, string>()
  #known = new Map<Condition, Map<StoreView, object>>()

  constructor(served: ServedSchema, parts: ReadableParts, cluster: string) {
    this.#served = served
    this.#parts = parts
    this.#cluster = cluster
  }

  part(type: string, relation: RelatedBy, argument: string): RelatedPart {
    const kind = this.#served.kinds.get(type)
    if (kind === undefined)
      throw new TypeError(`${argument} speaks of ${type}, which is not served`)
    try {
      const indexes = relation.indexes.get(type)
      const part = this.#parts.part({ cluster: this.#cluster, kind, indexes })
      if (!this.#versions.has(part.view)) this.#versions.set(part.view, part.view.resourceVersion)
      return part
    } catch (error) {
      throw error instanceof ClientError ? this.#named(error, type, argument) : error
    }
  }

  has(type: string): boolean {
    return isServed(this.#served, this.#cluster, type)
  }

  notFullyVisible(type: string, argument: string): Error {
    const error = new ClientError('FORBIDDEN', `not all objects of ${type} may be seen`, {
      cluster: this.#cluster,
      kind: type,
      hint: 'whether there are none cannot be told; ask of namespaces in which they may be seen',
    })
    return this.#named(error, type, argument)
  }

  known(condition: Condition): Map<StoreView, object> {
    // An execution with live reads takes more than one tick.
    for (const [view, version] of this.#versions) {
      if (view.resourceVersion === version) continue
      this.#versions.clear()
      this.#known = new Map()
      break
    }
    let known = this.#known.get(condition)
    if (known === undefined) this.#known.set(condition, (known = new Map()))
    return known
  }

  /** The error, naming its argument; the same instance for all rows. */
  #named(cause: ClientError, type: string, argument: string): ClientError {
    const key = `${cause.code} ${type} ${argument}`
    let error = this.#errors.get(key)
    if (error === undefined) {
      const { cluster, kind, hint, retryAfterMs } = cause
      const message = `${argument}: ${cause.message}`
      const details = { argument, cluster, kind, hint, retryAfterMs, cause }
      error = new ClientError(cause.code as ClientErrorCode, message, details)
      this.#errors.set(key, error)
    }
    return error
  }
}

/** The stores that conditions on related objects read in one execution, by cluster. */
export function filterParts(
  served: ServedSchema,
  parts: ReadableParts,
): (cluster: string) => RelatedStores {
  const made = new Map<string, FilterParts>()
  return (cluster) => {
    let related = made.get(cluster)
    if (related === undefined)
      made.set(cluster, (related = new FilterParts(served, parts, cluster)))
    return related
  }
}
