import type { AccessLimits } from './access-limits.ts'
import { type RbacChange, subjectsOf } from './rbac-change.ts'
import type { ReviewGrounds } from './review-grounds.ts'
import type { Viewer } from './viewer.ts'
import { viewerKey } from './viewer-key.ts'

/**
 * How long after a change of RBAC was seen it is asked again: the API server that answers hears of a change by a watch of its
 * own, and of several one may be behind the others.
 */
export const settleTimesMs = [100, 2_000] as const
const settledMs = settleTimesMs[1]

/** An answer, as far as it decides which changes concern it. */
export interface ChangeableAnswer {
  /** `performance.now()` before the question was sent. */
  readonly askedMs: number
  /** `undefined`: something else than RBAC has decided. */
  readonly grounds: ReviewGrounds | undefined
}

/** What has changed for one subject. */
interface Marks {
  /** `performance.now()` of the last change, by namespace; `''`: everywhere. */
  readonly places: Map<string, number>
  /** What {@link RbacChanges} had counted when the subject was last told. */
  count: number
}

/** What concerns one viewer, when so much had been counted. */
interface Concerns {
  readonly count: number
  readonly marks: readonly Marks[]
  readonly version: number
}

/** Subjects and namespaces that are kept apart; more changes at once are taken as one that concerns everybody. */
const maxPlaces = 10_000
/** Viewers about whom others than RBAC decide; where there are more, they are taken to do so about everybody. */
const maxOthers = 10_000

const everybody = 'everybody'
const anything = 'anything'

/**
 * The changes of RBAC that are young enough to matter: an answer holds unless one came after it that may concern it. What RBAC has decided
 * is concerned by changes for the viewer's subjects, and by those of the very role and binding that it was allowed by,
 * should nobody here have heard of that binding yet; what others have decided, by all changes.
 */
export class RbacChanges {
  readonly #longestMs: number
  readonly #marks = new Map<string, Marks>()
  readonly #concerns = new WeakMap<Viewer, Concerns>()
  readonly #others = new Set<string>()
  #size = 0
  #count = 0
  /** The count of what has been forgotten. */
  #floor = 0
  #lastMs = Number.NEGATIVE_INFINITY

  constructor({ allowMs, denyMs }: Pick<AccessLimits, 'allowMs' | 'denyMs'>) {
    this.#longestMs = Math.max(allowMs, denyMs) + settledMs
  }

  /** Whether all that has changed has been asked anew, by API servers that have heard of it. */
  get isSettled(): boolean {
    return performance.now() - this.#lastMs >= settledMs
  }

  /** Counts all changes. */
  get count(): number {
    return this.#count
  }

  /** Something has changed: what it concerns and was asked before holds no more. */
  add(changes: readonly RbacChange[]): void {
    this.#lastMs = performance.now()
    for (const { namespace, subjects } of changes) {
      this.#mark(anything, namespace)
      if (subjects === 'everybody') this.#mark(everybody, namespace)
      else for (const subject of subjects) this.#mark(subject, namespace)
    }
    if (this.#size > maxPlaces) this.#forget()
    this.tell(changes)
  }

  /** Whoever is concerned has another {@link versionOf} from now on. */
  tell(changes: readonly RbacChange[]): void {
    this.#count += 1
    for (const { subjects } of changes) {
      for (const name of subjects === 'everybody' ? [everybody] : subjects) {
        const marks = this.#marks.get(name)
        if (marks === undefined) this.#floor = this.#count
        else marks.count = this.#count
      }
    }
  }

  /** Others than RBAC have decided about this viewer: every change may concern them. */
  decidedByOthers(viewer: Viewer): void {
    if (this.#others.size < maxOthers) this.#others.add(viewerKey(viewer))
  }

  /** Whether any of these may concern a viewer. */
  concerned(changes: readonly RbacChange[]): (viewer: Viewer) => boolean {
    const isEverybody = changes.some(({ subjects }) => subjects === 'everybody')
    if (isEverybody || this.#others.size >= maxOthers) return () => true
    const names = new Set(changes.flatMap(({ subjects }) => subjects))
    return (viewer) =>
      this.#others.has(viewerKey(viewer)) || subjectsOf(viewer).some((one) => names.has(one))
  }

  /** Counts what may have changed any answer of RBAC about a viewer. */
  versionOf(viewer: Viewer): number {
    return this.#concernsOf(viewer).version
  }

  /** Whether nothing has changed since an answer that concerns it; `namespace`: of its question. */
  holds({ askedMs, grounds }: ChangeableAnswer, viewer: Viewer, namespace: string): boolean {
    if (this.#size === 0) return true
    const now = performance.now()
    const holds = ({ places }: Marks): boolean =>
      holdsAfter(places.get(''), askedMs, now) &&
      (namespace === '' || holdsAfter(places.get(namespace), askedMs, now))
    if (grounds === undefined) return this.#existing([anything]).every(holds)
    return (
      this.#concernsOf(viewer).marks.every(holds) &&
      this.#existing(grounds).every(({ places }) =>
        Array.from(places.values()).every((atMs) => holdsAfter(atMs, askedMs, now)),
      )
    )
  }

  #concernsOf(viewer: Viewer): Concerns {
    const known = this.#concerns.get(viewer)
    if (known?.count === this.#count) return known
    const marks = this.#existing([everybody, ...subjectsOf(viewer)])
    const version = Math.max(this.#floor, ...marks.map(({ count }) => count))
    const concerns = { count: this.#count, marks, version }
    this.#concerns.set(viewer, concerns)
    return concerns
  }

  #existing(names: readonly string[]): readonly Marks[] {
    return names.flatMap((name) => this.#marks.get(name) ?? [])
  }

  #marksOf(name: string): Marks {
    let marks = this.#marks.get(name)
    if (marks === undefined) this.#marks.set(name, (marks = { places: new Map(), count: 0 }))
    return marks
  }

  #mark(name: string, namespace: string): void {
    const { places } = this.#marksOf(name)
    if (!places.has(namespace)) this.#size += 1
    places.set(namespace, this.#lastMs)
  }

  /** What is too old to matter; where that is not enough, all, as one change for everybody. */
  #forget(): void {
    this.#floor = this.#count + 1
    for (const [name, { places }] of this.#marks) {
      for (const [namespace, atMs] of places) {
        if (this.#lastMs - atMs > this.#longestMs) {
          places.delete(namespace)
          this.#size -= 1
        }
      }
      if (places.size === 0) this.#marks.delete(name)
    }
    if (this.#size <= maxPlaces / 2) return
    this.#marks.clear()
    this.#size = 0
    for (const name of [anything, everybody]) this.#mark(name, '')
  }
}

function holdsAfter(changedMs: number | undefined, askedMs: number, now: number): boolean {
  if (changedMs === undefined) return true
  if (askedMs < changedMs) return false
  return settleTimesMs.every((settle) => {
    const dueMs = changedMs + settle
    return askedMs >= dueMs || now < dueMs
  })
}
