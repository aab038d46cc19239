import type { ObjectId } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import {
  decodeFact,
  type FactRange,
  factRanges,
  lastSuccessIn,
  nextRanges,
  type ProblemFact,
  type ProblemRole,
  type ProblemSeverity,
  timeOfFact,
  waitsForPod,
} from '../../kubernetes/problems/problem-fact.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { isInScope } from '../condition/scope.ts'
import {
  type OwnedObject,
  ownersAbove,
  ProblemOwners,
  type ReadOwners,
  rootOf,
} from './problem-owners.ts'
import { factsOf, holds, isShown, type ProblemPart, type ProblemPlace } from './problem-part.ts'

/** One problem of a cluster: a topmost owner, a reason, and the objects that have it. */
export interface FoldedProblem<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly reason: string
  readonly severity: ProblemSeverity
  readonly message: string | undefined
  /** In milliseconds, as far as the objects say. */
  readonly sinceMs: number | undefined
  /** The objects that have it, without the owners of others that have it. At least one. In no order. */
  readonly objects: readonly ProblemPlace<P>[]
  /** A text that no other problem of the cluster has, the same as long as the problem lasts. */
  readonly key: string
}

export interface FoldOptions<P extends ProblemPart> {
  /** The kinds that are looked at, of one cluster. */
  readonly parts: readonly P[]
  /** Only problems of objects in these. Absent: of all, cluster-scoped ones too. */
  readonly namespaces?: ReadonlySet<string> | undefined
  readonly nowMs: number
  /** How long ongoing work may go on until it is a problem, and how long what is over counts. */
  readonly afterMs: number
  readonly readOwners: ReadOwners<P>
  readonly budget: WorkBudget
}

/** Reports about an object before they count. */
const minReports = 3

/** Reading a fact and finding the owners of its object takes as long as so many tests. */
const testsPerFact = 20
/** The same for an object whose fact need not be read. */
const testsPerObject = 8

/**
 * The problems of a cluster that the viewer may see: each cause once.
 *
 * - The problems of a Node that is down include those of the pods on it.
 * - The problem of an owner is that of what it owns, as long as that has one.
 * - Problems with the same topmost owner and the same reason are one.
 * - Warning Events count if they repeat, and neither their object, nor its owners, nor what it owns has another problem.
 *
 * Reads the objects with problems only, by an index. Throws `QueryTooCostlyError`.
 */
export function foldProblems<P extends ProblemPart>(
  options: FoldOptions<P>,
): readonly FoldedProblem<P>[] {
  return new ProblemFold(options).run()
}

/**
 * When the passing of time alone changes the problems next, in milliseconds; `Infinity` if it does not. Facts that the
 * viewer may not see count, too.
 */
export function nextChangeMs(
  parts: readonly ProblemPart[],
  { nowMs, afterMs }: Pick<FoldOptions<ProblemPart>, 'nowMs' | 'afterMs'>,
): number {
  const ranges = nextRanges(nowMs, afterMs)
  let nextMs = Infinity
  for (const part of parts) {
    for (const range of ranges) {
      for (const value of valuesIn(part, range)) {
        nextMs = Math.min(nextMs, timeOfFact(value) + afterMs)
        break
      }
    }
  }
  return nextMs
}

/** An object with one of its facts. */
interface Finding<P extends ProblemPart> {
  readonly object: OwnedObject<P>
  readonly fact: ProblemFact
}

/** A problem that is being put together. */
interface Gathering<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly reason: string
  severity: ProblemSeverity
  /** The fact that speaks for all. */
  lead: ProblemFact
  leadKey: string
  sinceMs: number | undefined
  readonly objects: Map<string, ProblemPlace<P>>
}

class ProblemFold<P extends ProblemPart> {
  readonly #options: FoldOptions<P>
  readonly #owners: ProblemOwners<P>
  readonly #ranges: readonly FactRange[]
  readonly #gathered = new Map<string, Gathering<P>>()
  /** The objects with problems, and all their owners. */
  readonly #affected = new Set<OwnedObject<P>>()
  /** The objects that own one with a problem. */
  readonly #above = new Set<OwnedObject<P>>()

  constructor(options: FoldOptions<P>) {
    this.#options = options
    this.#owners = new ProblemOwners(options.parts, options.readOwners)
    this.#ranges = factRanges(options.nowMs, options.afterMs)
  }

  run(): readonly FoldedProblem<P>[] {
    const down = this.#foldDownNodes()
    const findings: Finding<P>[] = []
    const reports: { readonly part: P; readonly id: ObjectId; readonly fact: ProblemFact }[] = []
    for (const part of this.#options.parts) {
      for (const { id, fact } of this.#found(part, down)) {
        if (fact.role?.form === 'report') reports.push({ part, id, fact })
        else {
          const object = this.#owners.of(part, id)
          if (this.#counts(object, fact)) findings.push({ object, fact })
        }
      }
    }
    for (const { object } of findings) this.#mark(object)
    const ofOwners = new Map<OwnedObject<P>, ProblemFact>()
    for (const { object, fact } of findings) {
      if (this.#above.has(object)) ofOwners.set(object, worse(ofOwners.get(object), fact))
    }
    for (const { object, fact } of findings) {
      if (this.#above.has(object)) continue
      const problem = this.#add(rootOf(object), object.place, fact)
      for (const owner of ownersAbove(object)) include(problem, ofOwners.get(owner))
    }
    this.#foldReports(reports)
    return Array.from(this.#gathered, ([key, problem]) => finished(key, problem))
  }

  /** The pods on Nodes that are down are their problem. Returns the names of the Nodes. */
  #foldDownNodes(): ReadonlySet<string> {
    const { parts, namespaces, budget } = this.#options
    const down = new Set<string>()
    const nodes = parts.find((part) => holds(part, '', 'Node'))
    if (nodes === undefined) return down
    const pods = parts.find((part) => holds(part, '', 'Pod') && part.view.hasIndex('nodeName'))
    const [atOnce] = this.#ranges
    for (const value of atOnce === undefined ? [] : valuesIn(nodes, atOnce)) {
      const fact = decodeFact(value)
      for (const id of factsOf(nodes).posting(value) ?? []) {
        budget.spend('examined', 1)
        budget.spend('tests', testsPerFact)
        if (fact?.role?.form !== 'down' || !isShown(nodes, id, undefined)) continue
        const name = nodes.view.keyOf(id)
        down.add(name)
        const node = this.#owners.of(nodes, id)
        let isAlone = true
        for (const pod of pods?.view.index('nodeName').posting(name) ?? []) {
          budget.spend('examined', 1)
          if (pods === undefined || factsOf(pods).endValue(pod, false) === undefined) continue
          if (!isShown(pods, pod, namespaces)) continue
          budget.spend('tests', testsPerObject)
          const object = this.#owners.of(pods, pod)
          this.#add(node.place, object.place, fact)
          this.#mark(object)
          isAlone = false
        }
        if (isAlone && namespaces === undefined) this.#add(rootOf(node), node.place, fact)
        this.#mark(node)
      }
    }
    return down
  }

  /** The visible objects of a part with the facts that are a problem now. */
  *#found(
    part: P,
    down: ReadonlySet<string>,
  ): Generator<{ readonly id: ObjectId; readonly fact: ProblemFact }, void, void> {
    const { namespaces, budget } = this.#options
    const facts = factsOf(part)
    const isDown = isOnDownNode(part, down)
    for (const range of this.#ranges) {
      for (const value of valuesIn(part, range)) {
        let fact: ProblemFact | undefined
        for (const id of facts.posting(value) ?? []) {
          budget.spend('examined', 1)
          if (!isShown(part, id, namespaces) || isDown(id)) continue
          budget.spend('tests', testsPerFact)
          fact ??= decodeFact(value)
          if (fact !== undefined && fact.role?.form !== 'down') yield { id, fact }
        }
      }
    }
  }

  /** Whether a fact is a problem, as far as other objects decide that. */
  #counts({ owner }: OwnedObject<P>, { role }: ProblemFact): boolean {
    switch (role?.form) {
      case 'attempt':
        return owner === undefined || !('place' in owner) || !holdsKind(owner, 'batch', 'Job')
      case 'run': {
        if (owner === undefined || !('place' in owner)) return true
        if (!holdsKind(owner, 'batch', 'CronJob')) return true
        const { part, id } = owner.place
        const successMs = lastSuccessIn(factsOf(part).valuesOf(id))
        return successMs === undefined || successMs < Date.parse(role.began ?? '')
      }
      case 'claim':
        return !this.#waitsForPod(role)
      default:
        return true
    }
  }

  #waitsForPod({ storageClass }: Extract<ProblemRole, { form: 'claim' }>): boolean {
    const classes = this.#options.parts.find((part) =>
      holds(part, 'storage.k8s.io', 'StorageClass'),
    )
    const id = storageClass === undefined ? undefined : classes?.view.idOf(storageClass)
    if (classes === undefined || id === undefined) return false
    return isShown(classes, id, undefined) && factsOf(classes).has(id, waitsForPod)
  }

  #mark(object: OwnedObject<P>): void {
    this.#affected.add(object)
    for (const owner of ownersAbove(object)) {
      this.#affected.add(owner)
      this.#above.add(owner)
    }
  }

  #add(root: ProblemPlace<P>, object: ProblemPlace<P>, fact: ProblemFact): Gathering<P> {
    const key = `${placeKey(root)} ${fact.reason}`
    const objectAt = placeKey(object)
    let problem = this.#gathered.get(key)
    if (problem === undefined) {
      const { reason, severity } = fact
      const of = { lead: fact, leadKey: objectAt, sinceMs: undefined, objects: new Map() }
      this.#gathered.set(key, (problem = { root, reason, severity, ...of }))
    } else if (speaksBefore([fact, objectAt], [problem.lead, problem.leadKey])) {
      problem.lead = fact
      problem.leadKey = objectAt
    }
    problem.objects.set(objectAt, object)
    include(problem, fact)
    return problem
  }

  #foldReports(
    reports: readonly { readonly part: P; readonly id: ObjectId; readonly fact: ProblemFact }[],
  ): void {
    const counts = new Map<string, number>()
    const known: {
      readonly key: string
      readonly root: ProblemPlace<P>
      readonly about: ProblemPlace<P>
      readonly fact: ProblemFact
    }[] = []
    for (const { part, id, fact } of reports) {
      if (fact.role?.form !== 'report') continue
      const { namespace } = splitObjectKey(part.view.keyOf(id))
      const about = this.#reported(fact.role, namespace)
      if (about === undefined) continue
      let root: ProblemPlace<P> = about
      if (about.form === 'object') {
        const object = this.#owners.of(about.part, about.id)
        if (this.#affected.has(object) || this.#hasAffectedOwner(object)) continue
        root = rootOf(object)
      }
      const key = `${placeKey(about)} ${fact.reason}`
      counts.set(key, (counts.get(key) ?? 0) + fact.role.count)
      known.push({ key, root, about, fact })
    }
    for (const { key, root, about, fact } of known) {
      if ((counts.get(key) ?? 0) >= minReports) this.#add(root, about, fact)
    }
  }

  /** Whether an owner of an object has a problem of its own, which no other object explains. */
  #hasAffectedOwner(object: OwnedObject<P>): boolean {
    for (const owner of ownersAbove(object)) {
      if (this.#affected.has(owner) && !this.#above.has(owner)) return true
    }
    return false
  }

  /** The object of an Event. `undefined` if it is gone, or in none of the namespaces. */
  #reported(
    { about }: Extract<ProblemRole, { form: 'report' }>,
    namespace: string,
  ): ProblemPlace<P> | undefined {
    const { parts, namespaces } = this.#options
    if (namespaces !== undefined && !namespaces.has(about.namespace ?? '')) return undefined
    const reference = { form: 'reference', to: about, namespace: about.namespace ?? '' } as const
    const group =
      about.apiVersion === undefined ? undefined : splitApiVersion(about.apiVersion).group
    const part = parts.find(
      ({ view: { resource } }) =>
        resource.kind === about.kind && (group === undefined || resource.group === group),
    )
    if (part === undefined) return reference
    const { view, scope } = part
    const { namespaced } = view.resource
    const { name, uid } = about
    const key = objectKey(namespaced ? { namespace: about.namespace ?? namespace, name } : { name })
    if (!isInScope(scope, key)) return reference
    // Kubelets write the name of their Node in place of its UID.
    const isNamed = uid === undefined || uid === name
    const id = view.idOf(key)
    // Events are written by callers too: a UID alone leads to no object of another name.
    if (id === undefined || !(isNamed || view.idOfUid(uid) === id)) return undefined
    return { form: 'object', part, id }
  }
}

function holdsKind<P extends ProblemPart>(
  { place }: OwnedObject<P>,
  group: string,
  kind: string,
): boolean {
  return holds(place.part, group, kind)
}

function isOnDownNode(part: ProblemPart, down: ReadonlySet<string>): (id: ObjectId) => boolean {
  if (down.size === 0 || !holds(part, '', 'Pod') || !part.view.hasIndex('nodeName')) {
    return () => false
  }
  const nodeName = part.view.index('nodeName')
  return (id) => down.has(nodeName.endValue(id, false) ?? '')
}

function* valuesIn(
  part: ProblemPart,
  [from, until]: readonly [string, string],
): Generator<string, void, void> {
  for (const value of factsOf(part).orderedValues(from, false)) {
    if (value >= until) return
    yield value
  }
}

/** Adds what another fact says of severity and time. */
function include<P extends ProblemPart>(
  problem: Gathering<P>,
  fact: ProblemFact | undefined,
): void {
  if (fact === undefined) return
  if (fact.severity === 'CRITICAL') problem.severity = 'CRITICAL'
  const sinceMs = Date.parse(fact.since ?? '')
  if (sinceMs < (problem.sinceMs ?? Infinity)) problem.sinceMs = sinceMs
}

function worse(one: ProblemFact | undefined, other: ProblemFact): ProblemFact {
  return one?.severity === 'CRITICAL' ? one : other
}

/** Whether the first fact speaks for a problem rather than the second: the worse one, then the one of longer standing. */
function speaksBefore(
  [one, oneKey]: readonly [ProblemFact, string],
  [other, otherKey]: readonly [ProblemFact, string],
): boolean {
  if (one.severity !== other.severity) return one.severity === 'CRITICAL'
  const [a, b] = [one.since ?? '~', other.since ?? '~']
  return a === b ? oneKey < otherKey : a < b
}

function finished<P extends ProblemPart>(
  key: string,
  { root, reason, severity, lead: { message }, sinceMs, objects }: Gathering<P>,
): FoldedProblem<P> {
  return { root, reason, severity, message, sinceMs, objects: [...objects.values()], key }
}

/** A text that only this object has, whether it is found or named by a reference. */
function placeKey<P extends ProblemPart>(place: ProblemPlace<P>): string {
  if (place.form === 'object') {
    const { part, id } = place
    const { group, kind } = part.view.resource
    return `${group}/${kind} ${part.view.uidOf(id) || part.view.keyOf(id)}`
  }
  const { apiVersion = '', kind, name, uid, namespace = place.namespace } = place.to
  const { group } = splitApiVersion(apiVersion)
  return `${group}/${kind} ${uid ?? objectKey({ namespace, name })}`
}
