import type { Condition, RelatedStores } from '../../query/condition/condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { LastSteps } from '../../query/relation/last-steps.ts'
import type { Kind } from '../model/kind.ts'
import { filterParts } from './filter-parts.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { ReadParts } from '../prepare/read-snapshot.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import { ClientError } from '../errors/client-error.ts'
import type { DirectReads } from './direct/direct-reads.ts'

export interface ReadRunOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  readonly parts: ReadParts
  /** Absent in subscriptions, which read nothing directly. */
  readonly direct?: DirectReads | undefined
  /** Receives each followed relation. Subscriptions use it: a row depends on the objects that it was written from. */
  readonly followed?: ((relation: FollowedRelation) => void) | undefined
}

/** A relation that was followed from one object. */
export interface FollowedRelation {
  /** The kinds read, including the target and excluding the origin. */
  readonly reads: readonly Kind[]
  /** The condition of the objects that it leads to. */
  readonly condition: Condition
  /** Whether the object itself names the target. Then only that target matters, even if it does not exist. */
  readonly isSaid: boolean
  /** The UID of the owner, if the relation leads only to what this owner owns. */
  readonly owner?: string
}

/** The sources and limits that the fields of one execution read with, within one tick. */
export class ReadRun {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  /** Throws for a kind that cannot be read or was not requested. */
  readonly part: ReadParts['part']
  /** The same for look-ups of single objects; `undefined` where the viewer may look up none of them. */
  readonly forLookup: ReadParts['forLookup']
  /** The access of the viewer; `undefined`: everything. */
  readonly access: ReadParts['access']
  /** The stores that conditions on related objects read in a cluster. */
  readonly related: (cluster: string) => RelatedStores
  readonly followed: ReadRunOptions['followed']
  /** The latest steps of relations from the current row. */
  readonly steps: LastSteps = new LastSteps()
  readonly isOpen: boolean
  readonly parts: ReadParts
  readonly #direct: DirectReads | undefined

  constructor({ served, limits, budget, parts, direct, followed }: ReadRunOptions) {
    this.served = served
    this.limits = limits
    this.budget = budget
    this.parts = parts
    this.part = (at, reading) => parts.part(at, reading)
    this.forLookup = (at, keys) => parts.forLookup(at, keys)
    this.access = parts.access
    this.isOpen = parts.isOpen
    this.related = filterParts(served, parts)
    this.followed = followed
    this.#direct = direct
  }

  /**
   * Reads kinds that only earlier reads name. Returns `undefined` if the run lacks something that has to be prepared
   * first: the run goes on to find all that it lacks, and a later run answers.
   */
  late<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (this.parts.isLacking) return undefined
      throw error
    }
  }

  /** The reads from the API server. Throws `ClientError` in a subscription. */
  get direct(): DirectReads {
    if (this.#direct === undefined) throw notInFrames()
    return this.#direct
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
    const isOpen = this.isOpen || this.access?.looksIn(at, '') === true
    return isOpen ? this.forLookup(at) : undefined
  }
}

/** Values computed once a run, each under a name. */
export class OncePerRun<T> {
  readonly #known = new WeakMap<ReadRun, Map<string, T>>()

  of(run: ReadRun, name: string, make: () => T): T {
    let known = this.#known.get(run)
    if (known === undefined) this.#known.set(run, (known = new Map<string, T>()))
    let value = known.get(name)
    if (value === undefined) known.set(name, (value = make()))
    return value
  }
}

/** Frames never wait for the API server. */
function notInFrames(): ClientError {
  const message = 'the object is read live: frames do not have it'
  const hint = 'leave the field out, and read it by a query when a change comes'
  return new ClientError('UNSUPPORTED', message, { hint })
}
