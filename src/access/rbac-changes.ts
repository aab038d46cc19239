/*
 * The recent changes of RBAC. An answer is valid unless a later change may affect it. An answer of RBAC is affected by
 * changes for the viewer's subjects, and by changes of the role and the binding that allowed it, whose subjects may be
 * unknown here. An answer of another authorizer is affected by all changes.
 */

import { subjectsBound } from '../kubernetes/rbac.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { type Viewer, viewerKey } from './viewer.ts'

export interface RbacChange {
  /** `''` for all namespaces. */
  readonly namespace: string
  /** Subjects in the form of {@link subjectsOf} and {@link ReviewGrounds}. */
  readonly subjects: readonly string[] | 'everybody'
}

/**
 * The objects of RBAC behind an answer: the binding and the role that grant access, or none for a refusal. In the form
 * of {@link roleSubject} and {@link bindingSubject}.
 */
export type ReviewGrounds = readonly string[]

/**
 * The delays between a change of RBAC and the reviews that follow it: API servers learn of the change by their own
 * watches, and some may lag.
 */
export const settleTimesMs = [100, 2_000] as const
const settledMs = settleTimesMs[1]

export interface ChangeableAnswer {
  /** `performance.now()` before the question was sent. */
  readonly askedMs: number
  /** `undefined` if another authorizer than RBAC has decided. */
  readonly grounds: ReviewGrounds | undefined
}

interface Marks {
  /** `performance.now()` of the last change, by namespace; `''` for all. */
  readonly places: Map<string, number>
  /** The count of {@link RbacChanges} at the last change for the subject. */
  count: number
}

/** The changes that affect one viewer, at a count. */
interface RelevantChanges {
  readonly count: number
  readonly marks: readonly Marks[]
  readonly version: number
}

/** The maximum number of pairs of subject and namespace. More changes count as one change for all viewers. */
const maxPlaces = 10_000
/** The maximum number of viewers with answers of other authorizers. Beyond it, every viewer counts as such. */
const maxOthers = 10_000

const everybody = 'everybody'
const anything = 'anything'

export class RbacChanges {
  readonly #longestMs: number
  readonly #marks = new Map<string, Marks>()
  readonly #relevantChanges = new WeakMap<Viewer, RelevantChanges>()
  readonly #others = new Set<string>()
  #size = 0
  #count = 0
  #floor = 0
  #lastMs = Number.NEGATIVE_INFINITY

  /** Answers are valid for at most `answerMs`. */
  constructor(answerMs: number) {
    this.#longestMs = answerMs + settledMs
  }

  /** Whether all API servers know of the last change, and answers have been reviewed again. */
  get isSettled(): boolean {
    return performance.now() - this.#lastMs >= settledMs
  }

  get count(): number {
    return this.#count
  }

  /** Records changes. Older answers that they affect are no longer valid. */
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

  /** Gives affected viewers another {@link versionOf}. */
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

  /** Records that an authorizer other than RBAC has decided about a viewer. From then on, every change may affect the viewer. */
  decidedByOthers(viewer: Viewer): void {
    if (this.#others.size < maxOthers) this.#others.add(viewerKey(viewer))
  }

  /** A test for viewers that the changes may affect. */
  affected(changes: readonly RbacChange[]): (viewer: Viewer) => boolean {
    const isEverybody = changes.some(({ subjects }) => subjects === 'everybody')
    if (isEverybody || this.#others.size >= maxOthers) return () => true
    const names = new Set(changes.flatMap(({ subjects }) => subjects))
    return (viewer) =>
      this.#others.has(viewerKey(viewer)) || subjectsOf(viewer).some((one) => names.has(one))
  }

  /** A version that changes with each change that may affect the viewer's answers of RBAC. */
  versionOf(viewer: Viewer): number {
    return this.#relevantChangesOf(viewer).version
  }

  /** Whether no change since an answer affects it. `namespace`: the namespace of its question. */
  holds({ askedMs, grounds }: ChangeableAnswer, viewer: Viewer, namespace: string): boolean {
    if (this.#size === 0) return true
    const now = performance.now()
    const holds = ({ places }: Marks): boolean =>
      holdsAfter(places.get(''), askedMs, now) &&
      (namespace === '' || holdsAfter(places.get(namespace), askedMs, now))
    if (grounds === undefined) return this.#existing([anything]).every(holds)
    return (
      this.#relevantChangesOf(viewer).marks.every(holds) &&
      this.#existing(grounds).every(({ places }) =>
        Array.from(places.values()).every((atMs) => holdsAfter(atMs, askedMs, now)),
      )
    )
  }

  #relevantChangesOf(viewer: Viewer): RelevantChanges {
    const known = this.#relevantChanges.get(viewer)
    if (known?.count === this.#count) return known
    const marks = this.#existing([everybody, ...subjectsOf(viewer)])
    const version = Math.max(this.#floor, ...marks.map(({ count }) => count))
    const relevant = { count: this.#count, marks, version }
    this.#relevantChanges.set(viewer, relevant)
    return relevant
  }

  #existing(names: readonly string[]): readonly Marks[] {
    return names.flatMap((name) => this.#marks.get(name) ?? [])
  }

  #mark(name: string, namespace: string): void {
    const marks = getOrInsert(this.#marks, name, () => ({ places: new Map(), count: 0 }))
    const { places } = marks
    if (!places.has(namespace)) this.#size += 1
    places.set(namespace, this.#lastMs)
  }

  /** Drops old changes; if that is not enough, replaces all by one change for all viewers. */
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

/** A change with unknown subjects in a namespace; `''` for all. */
export function changeForAll(namespace: string): RbacChange {
  return { namespace, subjects: 'everybody' }
}

/** The subjects by which bindings name a viewer. A ServiceAccount counts by its user name, as in an authorizer. */
export function subjectsOf({ username, groups }: Viewer): readonly string[] {
  return [userSubject(username), ...groups.map(groupSubject)]
}

const userSubject = (name: string): string => `User ${name}`
const groupSubject = (name: string): string => `Group ${name}`

/** A role as bindings refer to it. `namespace`: the namespace of the Role, or of the binding. */
export function roleSubject(kind: string, namespace: string, name: string): string {
  return kind === 'Role' ? `Role ${namespace}/${name}` : `${kind} ${name}`
}

export function bindingSubject(namespace: string, name: string): string {
  return namespace === '' ? `ClusterRoleBinding ${name}` : `RoleBinding ${namespace}/${name}`
}

/** The subjects of a binding; `undefined` if they cannot be read, so that any viewer may be affected. */
export function boundSubjects(
  subjects: unknown,
  bindingNamespace: string,
): readonly string[] | undefined {
  if (subjects === undefined || subjects === null) return []
  const bound = subjectsBound(subjects, bindingNamespace)
  if (!Array.isArray(subjects) || bound.length < subjects.length) return undefined
  return bound.map(({ kind, namespace, name }) => {
    if (kind === 'Group') return groupSubject(name)
    return userSubject(kind === 'User' ? name : `system:serviceaccount:${namespace}:${name}`)
  })
}
