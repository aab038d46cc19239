/*
 * Folds the facts that may be wrong with the objects of a cluster to its problems, each cause once, as the viewer may see
 * them:
 *
 * - The problems of a Node that is down include the problems of the pods on it.
 * - While an object has a problem, the problems of its owners are a part of it.
 * - Problems with the same topmost owner and the same reason are one.
 * - Warning Events count if they repeat, and neither their object, nor its owners, nor an object that it owns has another
 *   problem.
 *
 * An index has the facts, so only objects with problems are read. `ProblemOwners` finds and remembers the owners.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type OwnerReference, objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import {
  type DecodedFact,
  type FactRange,
  type ProblemRole,
  type ProblemSeverity,
  decodeFact,
  factRanges,
  isFact,
  isOver,
  lastSuccessIn,
  waitsForPod,
} from '../../kubernetes/problems/problem-fact.ts'
import { isInScope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { isMissed, joined } from './problem-joins.ts'
import {
  type ProblemPart,
  type ProblemPlace,
  factsOf,
  holds,
  isShown,
  placeKey,
} from './problem-part.ts'

/** One problem of a cluster: a topmost owner, a reason, and the objects that have it. */
export interface FoldedProblem<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly rootKey: string
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
  /** The kinds of one cluster that are looked at. */
  readonly parts: readonly P[]
  /** Only problems of objects in these namespaces. Absent: of all objects, including cluster-scoped ones. */
  readonly namespaces?: ReadonlySet<string> | undefined
  readonly nowMs: number
  /** How long ongoing work may go on until it is a problem, and how long past failures count. */
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

export function foldProblems<P extends ProblemPart>(
  options: FoldOptions<P>,
): readonly FoldedProblem<P>[] {
  return new ProblemFold(options).all()
}

/** An object of a part with one of the facts that are a problem now. */
interface Found<P extends ProblemPart> {
  readonly part: P
  readonly id: ObjectId
  readonly fact: DecodedFact
}

/** A found object with its owners. */
interface Finding<P extends ProblemPart> {
  readonly object: OwnedObject<P>
  readonly fact: DecodedFact
}

interface Gathering<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  readonly reason: string
  severity: ProblemSeverity
  /** The worst and then oldest fact, and its object. */
  lead: DecodedFact
  leadPlace: ProblemPlace<P>
  sinceMs: number | undefined
  /** Most problems have one object. */
  readonly first: ProblemPlace<P>
  all: Set<ProblemPlace<P>> | undefined
  /** The gathering before it with the same topmost owner, and another reason. */
  readonly before: Gathering<P> | undefined
}

interface Affected<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  /** Always the same instance for one object. */
  readonly place: ProblemPlace<P>
}

class ProblemFold<P extends ProblemPart> {
  readonly #options: FoldOptions<P>
  readonly #owners: ProblemOwners<P>
  #factRanges: readonly FactRange[] | undefined
  /** The Nodes; `undefined` if they are not looked at. */
  readonly #nodes: P | undefined
  /** The names of all Nodes that are down. */
  #down: ReadonlySet<string> = new Set()
  /** The last gathering of each topmost owner, by its place or, if that is a reference, by its key. */
  readonly #gathered = new Map<ProblemPlace<P> | string, Gathering<P>>()
  /** The places of references, by key: one for each object. */
  readonly #references = new Map<string, ProblemPlace<P>>()

  constructor(options: FoldOptions<P>) {
    this.#options = options
    this.#owners = new ProblemOwners(options.parts, options.readOwners)
    this.#nodes = this.#owners.partOf('', 'Node')
  }

  get #ranges(): readonly FactRange[] {
    const { nowMs, afterMs } = this.#options
    return (this.#factRanges ??= factRanges(nowMs, afterMs))
  }

  all(): readonly FoldedProblem<P>[] {
    const [atOnce] = this.#ranges
    const nodes = this.#nodes
    const down = new Set<string>()
    if (nodes !== undefined && atOnce !== undefined) {
      for (const { id, fact } of this.#foundIn(nodes, atOnce)) {
        if (fact.role?.form === 'down') down.add(nodes.view.keyOf(id))
      }
    }
    this.#down = down
    const findings: Finding<P>[] = []
    const reports: Found<P>[] = []
    for (const of of this.#options.parts) {
      for (const range of this.#ranges) {
        for (const found of this.#foundIn(of, range)) {
          const { part, id, fact } = found
          if (fact.role?.form === 'down') this.#foldDownNode(found)
          else if (fact.role?.form === 'report') reports.push(found)
          else {
            const object = this.#owners.of(part, id)
            if (this.#counts(object, fact)) findings.push({ object, fact })
          }
        }
      }
    }
    for (const { part, id, fact } of joined(this.#options.parts, this.#options)) {
      findings.push({ object: this.#owners.of(part, id), fact })
    }
    for (const { object } of findings) this.#mark(object)
    const ofOwners = new Map<OwnedObject<P>, DecodedFact>()
    for (const { object, fact } of findings) {
      if (object.explainedIn !== this) continue
      if (ofOwners.get(object)?.severity !== 'CRITICAL') ofOwners.set(object, fact)
    }
    for (const { object, fact } of findings) {
      if (object.explainedIn === this) continue
      const problem = this.#add(object, fact)
      if (ofOwners.size === 0) continue
      for (const owner of ownersOf(object)) include(problem, ofOwners.get(owner))
    }
    this.#foldReports(reports)
    const problems: FoldedProblem<P>[] = []
    for (const last of this.#gathered.values()) {
      for (let one: Gathering<P> | undefined = last; one !== undefined; one = one.before) {
        const { root, rootKey, reason, severity, sinceMs, first } = one
        const { message } = one.lead
        const objects = one.all === undefined ? [first] : [...one.all]
        const key = `${rootKey} ${reason}`
        problems.push({ root, rootKey, reason, severity, message, sinceMs, objects, key })
      }
    }
    return problems
  }

  /** The pods on a Node that is down are its problem. */
  #foldDownNode({ part: nodes, id, fact }: Found<P>): void {
    const { namespaces, budget } = this.#options
    const pods = this.#owners.partOf('', 'Pod')
    const node = this.#owners.of(nodes, id)
    const nodeKey = placeKey(node.place)
    let isAlone = true
    const onNode =
      pods?.view.hasIndex('nodeName') === true
        ? pods.view.index('nodeName').posting(nodes.view.keyOf(id))
        : undefined
    for (const pod of onNode ?? []) {
      budget.spend('examined', 1)
      // Marks sort behind facts.
      const least = pods && factsOf(pods).endValue(pod, false)
      if (pods === undefined || least === undefined || !isFact(least)) continue
      if (!isShown(pods, pod, namespaces)) continue
      budget.spend('tests', testsPerObject)
      const object = this.#owners.of(pods, pod)
      this.#add({ root: node.place, rootKey: nodeKey, place: object.place }, fact)
      this.#mark(object)
      isAlone = false
    }
    if (isAlone && namespaces === undefined) this.#add(node, fact)
    this.#mark(node)
  }

  /** The visible objects of a part with facts in a range of values, without the pods on Nodes that are down. */
  *#foundIn(part: P, range: FactRange): Generator<Found<P>, void, void> {
    const { budget, namespaces, nowMs } = this.#options
    const { view } = part
    const facts = factsOf(part)
    // Nodes are looked at whatever the namespaces are: pods are on them.
    const isOfNodes = part === this.#nodes
    const mayBeOnNode = this.#down.size > 0 && holds(part, '', 'Pod') && view.hasIndex('nodeName')
    const nodeOf = mayBeOnNode ? view.index('nodeName') : undefined
    for (const value of facts.orderedValues(range[0], false)) {
      if (value >= range[1]) return
      let fact: DecodedFact | undefined
      for (const id of facts.posting(value) ?? []) {
        budget.spend('examined', 1)
        if (!isShown(part, id, isOfNodes ? undefined : namespaces)) continue
        const node = nodeOf?.endValue(id, false)
        if (node !== undefined && this.#down.has(node)) continue
        budget.spend('tests', testsPerFact)
        fact ??= decodeFact(value)
        if (fact === undefined || isOver(fact, nowMs)) continue
        if (namespaces !== undefined && isOfNodes && fact.role?.form !== 'down') continue
        yield { part, id, fact }
      }
    }
  }

  /** Whether a fact is a problem, as far as other objects decide that. */
  #counts({ owner, place }: OwnedObject<P>, { role }: DecodedFact): boolean {
    switch (role?.form) {
      case 'attempt':
        return owner === undefined || !holds(owner.place.part, 'batch', 'Job')
      case 'run': {
        if (owner === undefined || !holds(owner.place.part, 'batch', 'CronJob')) return true
        const { part, id } = owner.place
        const successMs = lastSuccessIn(factsOf(part).valuesOf(id))
        return successMs === undefined || successMs < Date.parse(role.began ?? '')
      }
      case 'claim': {
        const classes = this.#owners.partOf('storage.k8s.io', 'StorageClass')
        const { storageClass } = role
        const id = storageClass === undefined ? undefined : classes?.view.idOf(storageClass)
        if (classes === undefined || storageClass === undefined) return true
        // A class that does not exist is what `joined` tells.
        if (id === undefined) return !isMissed(place, classes, storageClass)
        return !isShown(classes, id, undefined) || !factsOf(classes).has(id, waitsForPod)
      }
      default:
        return true
    }
  }

  #mark(object: OwnedObject<P>): void {
    object.affectedIn = this
    for (let { owner } = object; owner !== undefined; { owner } = owner) {
      owner.affectedIn = this
      owner.explainedIn = this
    }
  }

  #add({ root, rootKey, place }: Affected<P>, fact: DecodedFact): Gathering<P> {
    const { reason, severity } = fact
    const at = root.form === 'object' ? root : rootKey
    const last = this.#gathered.get(at)
    let problem = last
    while (problem !== undefined && problem.reason !== reason) problem = problem.before
    if (problem === undefined) {
      problem = {
        root,
        rootKey,
        reason,
        severity,
        lead: fact,
        leadPlace: place,
        sinceMs: undefined,
        first: place,
        all: undefined,
        before: last,
      }
      this.#gathered.set(at, problem)
    } else {
      if (place !== problem.first) (problem.all ??= new Set([problem.first])).add(place)
      // The worst fact gives the problem its reason. Among equally bad ones, the oldest does.
      const { lead } = problem
      const [since, leadSince] = [fact.since ?? '~', lead.since ?? '~']
      const isBefore =
        severity !== lead.severity
          ? severity === 'CRITICAL'
          : since === leadSince
            ? placeKey(place) < placeKey(problem.leadPlace)
            : since < leadSince
      if (isBefore) {
        problem.lead = fact
        problem.leadPlace = place
      }
    }
    include(problem, fact)
    return problem
  }

  #foldReports(reports: readonly Found<P>[]): void {
    const counts = new Map<string, number>()
    const known: {
      readonly key: string
      readonly of: Affected<P>
      readonly fact: DecodedFact
    }[] = []
    for (const { part, id, fact } of reports) {
      if (fact.role?.form !== 'report') continue
      const { namespace } = splitObjectKey(part.view.keyOf(id))
      const about = this.#reported(fact.role, namespace)
      if (about === undefined) continue
      const aboutKey = placeKey(about)
      let of: Affected<P>
      if (about.form === 'object') {
        const object = this.#owners.of(about.part, about.id)
        // The report does not count if an owner has a problem of its own, which no other object explains.
        const isKnown = ownersOf(object).some(
          ({ affectedIn, explainedIn }) => affectedIn === this && explainedIn !== this,
        )
        if (object.affectedIn === this || isKnown) continue
        of = object
      } else {
        const place = this.#references.get(aboutKey) ?? about
        this.#references.set(aboutKey, place)
        of = { root: place, rootKey: aboutKey, place }
      }
      const key = `${aboutKey} ${fact.reason}`
      counts.set(key, (counts.get(key) ?? 0) + fact.role.count)
      known.push({ key, of, fact })
    }
    for (const { key, of, fact } of known) {
      if ((counts.get(key) ?? 0) >= minReports) this.#add(of, fact)
    }
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
    // Callers write Events too, so a UID alone must not lead to an object of another name.
    if (id === undefined || !(isNamed || view.idOfUid(uid) === id)) return undefined
    return { form: 'object', part, id }
  }
}

/** The owners that are objects, the nearest first. */
function ownersOf<P extends ProblemPart>(object: OwnedObject<P>): readonly OwnedObject<P>[] {
  const all: OwnedObject<P>[] = []
  for (let { owner } = object; owner !== undefined; { owner } = owner) all.push(owner)
  return all
}

/** Includes the severity and the time of another fact. */
function include<P extends ProblemPart>(
  problem: Gathering<P>,
  fact: DecodedFact | undefined,
): void {
  if (fact === undefined) return
  if (fact.severity === 'CRITICAL') problem.severity = 'CRITICAL'
  const { sinceMs } = fact
  if (sinceMs !== undefined && sinceMs < (problem.sinceMs ?? Infinity)) problem.sinceMs = sinceMs
}

/** An object with its owners: the same instance, however many objects lead to it. */
interface OwnedObject<P extends ProblemPart> {
  readonly place: { readonly form: 'object'; readonly part: P; readonly id: ObjectId }
  /** The nearest owner that is an object. */
  readonly owner: OwnedObject<P> | undefined
  /** The topmost owner, or the object itself. */
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  /** The last fold that found a problem of the object, or of something that it owns. */
  affectedIn: object | undefined
  /** The last fold that found a problem of something that it owns. */
  explainedIn: object | undefined
}

type ReadOwners<P> = (part: P, id: ObjectId) => readonly OwnerReference[]

interface FoundOwner<P extends ProblemPart> {
  readonly part: P
  readonly known: KnownOwner
}

/** Longer chains are cut, as `ownerChain` cuts them. */
const maxChain = 16

/**
 * Finds owners as `ownerChain` does: at each step the controller, or the first owner. Follows only owners that the viewer may
 * list, of the kinds that are looked at. The Node that a static pod names as its owner does not count: it only runs the pod.
 */
class ProblemOwners<P extends ProblemPart> {
  readonly #parts: readonly P[]
  readonly #readOwners: ReadOwners<P>
  readonly #known = new Map<P, Map<ObjectId, OwnedObject<P>>>()
  readonly #ownersIn = new Map<P, ReturnType<typeof ownersIn>>()
  /** UIDs that no part has. */
  readonly #unknown = new Set<string>()
  /** The part of the last owner, by the part of the object: the next owner is most often in the same part. */
  readonly #lastOwners = new Map<P, P>()

  constructor(parts: readonly P[], readOwners: ReadOwners<P>) {
    this.#parts = parts
    this.#readOwners = readOwners
  }

  partOf(group: string, kind: string): P | undefined {
    return this.#parts.find((part) => holds(part, group, kind))
  }

  /** `depth`: the steps that led here. `uids`: the UIDs of the owners, if they are known. */
  of(part: P, id: ObjectId, depth = 0, uids?: readonly string[]): OwnedObject<P> {
    let known = this.#known.get(part)
    if (known === undefined) this.#known.set(part, (known = new Map()))
    const before = known.get(id)
    if (before !== undefined) return before
    const place = { form: 'object', part, id } as const
    const above = depth < maxChain ? this.#ownerOf(part, id, depth, uids) : undefined
    const isObject = above !== undefined && !('form' in above)
    const root = isObject ? above.root : (above ?? place)
    const found: OwnedObject<P> = {
      place,
      owner: isObject ? above : undefined,
      root,
      rootKey: isObject ? above.rootKey : placeKey(root),
      affectedIn: undefined,
      explainedIn: undefined,
    }
    known.set(id, found)
    return found
  }

  /** The nearest owner: an object, or a reference where the chain ends. `undefined` for a topmost object. */
  #ownerOf(
    part: P,
    id: ObjectId,
    depth: number,
    uids = part.view.index('ownerUid').valuesOf(id),
  ): OwnedObject<P> | Extract<ProblemPlace<P>, { form: 'reference' }> | undefined {
    const [only] = uids
    if (only === undefined) return undefined
    // Most objects have one owner, which is found without reading the object.
    if (uids.length === 1) {
      const found = this.#visible(only, part)
      if (found !== undefined) return this.#followed(found, depth)
    }
    const references = this.#readOwners(part, id)
    const nearest = references.find(({ controller }) => controller === true) ?? references[0]
    if (nearest === undefined) return undefined
    const found = uids.length === 1 ? undefined : this.#visible(nearest.uid, part)
    if (found !== undefined) return this.#followed(found, depth)
    if (nearest.apiVersion === 'v1' && nearest.kind === 'Node') return undefined
    const { namespace } = splitObjectKey(part.view.keyOf(id))
    const { apiVersion, kind, name, uid } = nearest
    return { form: 'reference', to: { apiVersion, kind, name, uid }, namespace }
  }

  #followed({ part, known }: FoundOwner<P>, depth: number): OwnedObject<P> | undefined {
    const { id, ownerUids } = known
    return holds(part, '', 'Node') ? undefined : this.of(part, id, depth + 1, ownerUids)
  }

  /** The object with a UID, if the viewer may list it. `of`: the part that its child is in. */
  #visible(uid: string, of: P): FoundOwner<P> | undefined {
    const last = this.#lastOwners.get(of)
    let found = last === undefined ? undefined : this.#findIn(last, uid)
    if (found === undefined && !this.#unknown.has(uid)) {
      for (const part of this.#parts) {
        found = this.#findIn(part, uid)
        if (found !== undefined) break
      }
      if (found === undefined) this.#unknown.add(uid)
      else this.#lastOwners.set(of, found.part)
    }
    if (found === undefined) return undefined
    const { part, known } = found
    return isInScope(part.scope, part.view.keyOf(known.id)) ? found : undefined
  }

  #findIn(part: P, uid: string): FoundOwner<P> | undefined {
    let find = this.#ownersIn.get(part)
    if (find === undefined) this.#ownersIn.set(part, (find = ownersIn(part.view)))
    const known = find(uid)
    return known && { part, known }
  }
}

interface KnownOwner {
  readonly id: ObjectId
  /** The UIDs of its own owners. */
  readonly ownerUids: readonly string[]
}

interface Remembered {
  readonly uids: IndexView
  readonly ownerUids: IndexView
  readonly revision: number
  readonly owners: Map<string, KnownOwner>
}

const remembered = new WeakMap<StoreView, Remembered>()

/**
 * Finds objects of a store by UID, within one tick. Remembers them until an object comes, goes, or changes its owners, which
 * is rare among Deployments and ReplicaSets: every query seeks the same few of them, and in a large index each search waits
 * for memory several times.
 */
function ownersIn(view: StoreView): (uid: string) => KnownOwner | undefined {
  const uids = view.index('uid')
  const ownerUids = view.index('ownerUid')
  const revision = uids.revision + ownerUids.revision
  let known = remembered.get(view)
  if (known?.uids !== uids || known.ownerUids !== ownerUids || known.revision !== revision) {
    known = { uids, ownerUids, revision, owners: new Map() }
    remembered.set(view, known)
  }
  const { owners } = known
  return (uid) => {
    let owner = owners.get(uid)
    if (owner === undefined) {
      const id = view.idOfUid(uid)
      if (id === undefined) return undefined
      owners.set(uid, (owner = { id, ownerUids: ownerUids.valuesOf(id) }))
    }
    return owner
  }
}
