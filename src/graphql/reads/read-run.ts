/*
 * The context that the fields of one execution share, within one tick: the schema and its limits, the work budget, the
 * settled parts of the kinds, and the reads from the API server. Subscriptions learn from `followed` what each row
 * depends on. `relatedStores` gives conditions on related objects their stores, and names the argument in their errors.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type {
  Condition,
  RelatedBy,
  RelatedPart,
  RelatedStores,
} from '../../query/condition/condition.ts'
import type { Coverage } from '../../cache/coverage.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { LastSteps } from '../../query/relation/last-steps.ts'
import { ClientError } from '../errors/client-error.ts'
import { type Kind, usedByField } from '../model/kind.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import { notWhole, hiddenUsers } from '../prepare/read-failures.ts'
import type { ReadParts } from '../prepare/preparation.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { isServed } from '../served/named-kinds.ts'
import { withContents } from './namespace-health.ts'
import type { DirectReads, ExtensionCalls } from './direct/direct-reads.ts'

export interface ReadRunOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  readonly parts: ReadParts
  /** Gives the direct reads of the operation, for all its runs. Absent in subscriptions, which read nothing directly. */
  readonly direct?: (() => DirectReads) | undefined
  /** The calls of extension resolvers, in subscriptions. Other operations have them in {@link direct}. */
  readonly extensions?: ExtensionCalls | undefined
  /** Receives each followed relation. Set by subscriptions, whose rows depend on the objects that they were written from. */
  readonly followed?: ((relation: FollowedRelation) => void) | undefined
}

export interface FollowedRelation {
  /** The kinds read, including the target and excluding the origin. */
  readonly reads: readonly Kind[]
  readonly condition: Condition
  /** Whether the object itself names the target. Then only that target matters, even if it does not exist. */
  readonly isSaid: boolean
  /** The UID of the owner, if the relation leads only to objects that it owns. */
  readonly owner?: string
  /** The namespace, if the read is of all objects in it. */
  readonly namespace?: string
}

export class ReadRun {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  readonly #related = new Map<string, RelatedStores>()
  readonly followed: ReadRunOptions['followed']
  readonly steps: LastSteps = new LastSteps()
  readonly parts: ReadParts
  readonly #direct: ReadRunOptions['direct']
  readonly #extensions: ExtensionCalls | undefined

  constructor({ served, limits, budget, parts, direct, extensions, followed }: ReadRunOptions) {
    this.served = served
    this.limits = limits
    this.budget = budget
    this.parts = parts
    this.followed = followed
    this.#direct = direct
    this.#extensions = extensions
  }

  /** The stores that conditions on related objects read in a cluster. */
  related(cluster: string): RelatedStores {
    return getOrInsert(this.#related, cluster, () => relatedStores(this, cluster))
  }

  /**
   * Reads kinds that only earlier reads name. Returns `undefined` if the run lacks something that must be prepared first.
   * The run goes on to find everything that it lacks, and a later run answers.
   */
  late<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (this.parts.isLacking) return undefined
      throw error
    }
  }

  /** Whether the run may read from the API server: subscriptions may not. */
  get isDirect(): boolean {
    return this.#direct !== undefined
  }

  /** The reads from the API server. Throws `ClientError` in a subscription. */
  get direct(): DirectReads {
    if (this.#direct !== undefined) return this.#direct()
    // Frames never wait for the API server.
    const message = 'subscriptions do not include objects that are read live'
    const hint = 'leave the field out, and read it by a query after a change'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }

  get extensions(): ExtensionCalls {
    return this.#extensions ?? this.direct.extensions
  }

  /** The `id` of an object as JSON. Plans keep it while the object has this version. base64url needs no escapes. */
  idText(part: KindView, id: ObjectId): string {
    const { view } = part
    return `"${objectIdOf(part, { key: view.keyOf(id), uid: view.uidOf(id) })}"`
  }

  /** Whether `followed` or the report of the budget records the reads. */
  get isTraced(): boolean {
    return this.followed !== undefined || this.budget.report !== undefined
  }

  /**
   * The part of a kind if the viewer may look up all its objects; `undefined` if some are hidden or this is unknown.
   * Throws as `forLookup` does.
   */
  openPart(at: ClusterKind): KindView | undefined {
    const isOpen = this.parts.isOpen || this.parts.access?.looks(at) === true
    const part = isOpen ? this.parts.forLookup(at) : undefined
    // An object outside a partial cache is not absent, so each look-up has to ask.
    return part?.coverage === undefined ? part : undefined
  }
}

/** Values computed once a run, each under a name. */
export class OncePerRun<T> {
  readonly #known = new WeakMap<ReadRun, Map<string, T>>()

  of(run: ReadRun, name: string, make: () => T): T {
    const known = getOrInsert(this.#known, run, () => new Map<string, T>())
    return getOrInsert(known, name, make)
  }
}

function relatedStores(run: ReadRun, cluster: string): RelatedStores {
  const { served, parts } = run
  const errors = new Map<string, ClientError>()
  // The stores read so far, each with its version at that time.
  const versions = new Map<StoreView, string>()
  const knownOf = new Map<Condition, Map<StoreView, object>>()
  /** The coverage of partial caches, by type. */
  const coverages = new Map<string, Coverage>()
  /** The error, naming its argument; the same instance for all rows. */
  const named = (thrown: ClientError, type: string, argument: string): ClientError => {
    const kind = served.kinds.get(type)
    const isOfUsers = thrown.code === 'FORBIDDEN' && argument.split('.').at(-2) === usedByField
    const cause =
      isOfUsers && kind !== undefined ? hiddenUsers({ cluster, kind }, thrown.message) : thrown
    const key = `${cause.code} ${type} ${argument}`
    return getOrInsert(errors, key, () => {
      const { type: refused, hint, retryAfterMs } = cause
      const details = { argument, cluster: cause.cluster, type: refused, hint, retryAfterMs, cause }
      const message = `${argument}: ${cause.message}`
      return new ClientError(cause.code, message, details)
    })
  }
  return {
    part(type: string, relation: RelatedBy, argument: string): RelatedPart {
      const kind = served.kinds.get(type)
      if (kind === undefined) throw new TypeError(`${argument} names ${type}, which is not served`)
      try {
        const found = parts.part({ cluster, kind, indexes: relation.indexes.get(type) })
        const part = withContents(run, found)
        if (part.coverage !== undefined) coverages.set(type, part.coverage)
        if (!versions.has(part.view)) versions.set(part.view, part.view.resourceVersion)
        return part
      } catch (error) {
        throw error instanceof ClientError ? named(error, type, argument) : error
      }
    },
    has: (type) => isServed(served, cluster, type),
    notFullyVisible(type, argument) {
      const [kind, coverage] = [served.kinds.get(type), coverages.get(type)]
      if (kind !== undefined && coverage !== undefined) {
        return named(notWhole({ cluster, kind }, coverage), type, argument)
      }
      const error = new ClientError('FORBIDDEN', `you may not see all objects of ${type}`, {
        cluster,
        type,
        hint: `limit the list to namespaces where you may list ${type}: elsewhere, hidden objects may match`,
      })
      return named(error, type, argument)
    },
    known(condition) {
      // An execution with live reads takes more than one tick.
      for (const [view, version] of versions) {
        if (view.resourceVersion === version) continue
        versions.clear()
        knownOf.clear()
        break
      }
      return getOrInsert(knownOf, condition, () => new Map())
    },
  }
}
