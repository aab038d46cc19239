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
  /** Absent where nothing is read directly: in subscriptions. */
  readonly direct?: DirectReads | undefined
  /** Is told of each relation that is followed. Subscriptions need it: a row depends on the objects that it was written from. */
  readonly followed?: ((relation: FollowedRelation) => void) | undefined
}

/** A relation that has been followed from one object. */
export interface FollowedRelation {
  /** The kinds that were read, the one that it leads to among them; not the one that it starts from. */
  readonly reads: readonly Kind[]
  /** Which objects it leads to. */
  readonly condition: Condition
  /** Whether it leads to one that the object itself names: then that alone counts, whether or not it is there. */
  readonly isSaid: boolean
  /** The UID of the object whose own they are, where it leads to nothing else. */
  readonly owner?: string
}

/** What the fields of one execution are read with, within one tick. */
export class ReadRun {
  readonly served: ServedSchema
  readonly limits: OperationLimits
  readonly budget: WorkBudget
  /** Throws where a kind cannot be read, or has not been asked for. */
  readonly part: ReadParts['part']
  /** The same for look-ups of single objects; `undefined` where the viewer may look at none of these. */
  readonly forLookup: ReadParts['forLookup']
  /** What the viewer may see; `undefined`: everything. */
  readonly access: ReadParts['access']
  /** What conditions on related objects read in a cluster. */
  readonly related: (cluster: string) => RelatedStores
  readonly followed: ReadRunOptions['followed']
  /** Where relations led from the row that is being read. */
  readonly steps: LastSteps = new LastSteps()
  readonly isOpen: boolean
  /** What this run reads. */
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
   * Reads kinds that only what has been read names. Where one of them has to be prepared first, `undefined`: the run goes on, to
   * find the others, and another one answers.
   */
  late<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (this.parts.isLacking) return undefined
      throw error
    }
  }

  /** What is read from the API server. Throws `ClientError` in a subscription. */
  get direct(): DirectReads {
    if (this.#direct === undefined) throw notInFrames()
    return this.#direct
  }

  /** Whether somebody wants to know what is read. */
  get isTraced(): boolean {
    return this.followed !== undefined || this.budget.report !== undefined
  }

  /** A kind whose every object the viewer may look up; `undefined` where that depends on the object, or is not known. Throws as `forLookup` does. */
  openPart(at: ClusterKind): KindView | undefined {
    const isOpen = this.isOpen || this.access?.looksEverywhere(at) === true
    return isOpen ? this.forLookup(at) : undefined
  }
}

/** Values that are worked out once a run, by a text that names them. */
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

/** No frame waits for the API server. */
function notInFrames(): ClientError {
  const message = 'the object is read live: frames do not have it'
  const hint = 'leave the field out, and read it by a query when a change comes'
  return new ClientError('UNSUPPORTED', message, { hint })
}
