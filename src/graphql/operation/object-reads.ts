import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { objectByKey, objectByUid } from '../../query/page/lookup.ts'
import type { Kind } from '../model/kind.ts'
import { decodeObjectId, type ObjectIdentity } from '../model/object-id.ts'
import type { LookupArguments, ObjectByRefArguments } from '../schema/read-arguments.ts'
import type { ObjectRef, Row, StoreReads } from '../schema/read-context.ts'
import { clusterNamed } from './cluster-argument.ts'
import type { CachedParts, KindAt } from './kind-part.ts'
import { notFoundByUid } from './live-read-errors.ts'
import type { LiveReads } from './live-reads.ts'
import { objectMeant } from './object-meant.ts'
import { rowOf } from './row-of.ts'
import type { ServedSchema } from './served-schema.ts'

export interface ObjectReadsOptions {
  readonly served: ServedSchema
  readonly parts: CachedParts
  readonly budget: WorkBudget
  readonly live: LiveReads
}

/** What a reference means is told from it, looked up and decoded in the time of so many tests. */
const testsPerReference = 90

/** Reads single objects: by their names, ids and UIDs, and as others name them. */
export class ObjectReads {
  readonly #served: ServedSchema
  readonly #parts: CachedParts
  readonly #budget: WorkBudget
  readonly #live: LiveReads

  constructor({ served, parts, budget, live }: ObjectReadsOptions) {
    this.#served = served
    this.#parts = parts
    this.#budget = budget
    this.#live = live
  }

  lookup(kind: Kind, args: LookupArguments): FoundRow {
    const at = { cluster: clusterNamed(this.#served, args.cluster), kind }
    if (kind.uncached || args.live === true) return this.#live.lookup(at, args)
    return this.#byKey(at, objectKey(args))
  }

  object(id: string): FoundRow {
    return this.#identified(decodeObjectId(id))
  }

  objectByRef(args: ObjectByRefArguments): FoundRow {
    const { kind, ...object } = objectMeant(this.#served, args)
    return this.lookup(kind, object)
  }

  referenced({ uid, namespace, name, ...rest }: ObjectRef): FoundRow {
    const kind = this.#served.kindOf(rest.group, rest.kind)
    if (kind?.uncached === true && this.#served.clusters.has(rest.cluster)) {
      return this.#liveReference({ cluster: rest.cluster, kind }, { uid, namespace, name })
    }
    if (kind === undefined || !this.#served.clusters.has(rest.cluster)) return null
    this.#budget.spend('tests', testsPerReference)
    const at = { cluster: rest.cluster, kind }
    const key = objectKey({ namespace: namespace ?? '', name })
    return uid === null ? this.#byKey(at, key) : this.#byUid(at, uid, key)
  }

  /** By its name; a namesake with another UID is not meant. */
  async #liveReference(
    at: KindAt,
    { uid, namespace, name }: Pick<ObjectRef, 'uid' | 'namespace' | 'name'>,
  ): Promise<Row | null> {
    const row = await this.#live.lookup(at, namespace === null ? { name } : { namespace, name })
    return uid === null || row?.object.metadata.uid === uid ? row : null
  }

  #identified({ cluster, group, kind: kindName, object }: ObjectIdentity): FoundRow {
    const kind = this.#served.kindOf(group, kindName)
    if (kind === undefined || !this.#served.clusters.has(cluster)) return null
    if (kind.uncached) {
      if ('uid' in object) throw notFoundByUid({ cluster, kind })
      const { namespace, name } = object
      return this.#live.lookup({ cluster, kind }, namespace === '' ? { name } : object)
    }
    const at = { cluster, kind }
    return 'uid' in object ? this.#byUid(at, object.uid) : this.#byKey(at, objectKey(object))
  }

  #byKey(at: KindAt, key: string): Row | null {
    const part = this.#parts.named(at, [key])
    if (part === undefined) return null
    return rowOf(part, objectByKey({ ...part, budget: this.#budget }, key))
  }

  /** `key`: what it was called by whoever means it. */
  #byUid(at: KindAt, uid: string, key?: string): Row | null {
    const part = this.#parts.named(at, key === undefined ? undefined : [key])
    if (part === undefined) return null
    return rowOf(part, objectByUid({ ...part, budget: this.#budget }, uid))
  }

  owners({ cluster, object }: Row): readonly Row[] {
    const { ownerReferences = [], namespace = '' } = object.metadata
    return ownerReferences.flatMap(({ apiVersion, kind: kindName, name, uid }) => {
      const kind = this.#served.kindOf(splitApiVersion(apiVersion).group, kindName)
      if (kind === undefined) return []
      this.#budget.spend('rows', 1)
      const place = kind.resource.namespaced ? { namespace, name } : { name }
      return this.#byUid({ cluster, kind }, uid, objectKey(place)) ?? []
    })
  }
}

type FoundRow = ReturnType<StoreReads['lookup']>
