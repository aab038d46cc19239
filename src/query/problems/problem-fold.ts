/*
 * Folds the facts that may be wrong with the objects of a cluster to its problems, each cause once, as the viewer may see
 * them:
 *
 * 1. What a Node that is down causes is its problem: the pods on it that are not ready.
 * 2. Every other fact that is a problem now is a finding: an object, a fact, and its cause (`causeOf`). So is what `joined`
 *    tells: a finding from elsewhere comes in there, as a part, an id and a fact.
 * 3. Repeated Warning Events are findings too. About an object that says itself that something is wrong, they are a part of
 *    that, and of the same cause if theirs is no other one. Others count if neither their object, nor its owners, nor what it owns has another problem.
 * 4. A claim without a volume, and the pod that cannot be scheduled for it, are one.
 * 5. While an object has a problem, the states of its owners are a part of it (`#isExplained`).
 * 6. Findings with the same topmost owner and the same cause are one problem, and so are pods of any owners that ask for what
 *    no Node has. A problem is known by this place and cause: its reason may change while it lasts.
 *
 * An index has the facts, so only objects with problems are read. `ProblemOwners` finds and remembers the owners, and
 * `ProblemGatherings` makes the problems of the findings.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import {
  decodeNode,
  nodeMark,
  type PlacingNode,
  type PodPlacement,
  unmetBy,
  type UnmetTerms,
} from '../../kubernetes/problems/pod-placement.ts'
import {
  causeOf,
  isOfSameCause,
  notReady,
  ownCauses,
} from '../../kubernetes/problems/problem-cause.ts'
import {
  type DecodedFact,
  type FactRange,
  type ProblemRole,
  decodeFact,
  factRanges,
  isFact,
  isOver,
  lastSuccessIn,
  waitsForPod,
} from '../../kubernetes/problems/problem-fact.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isInScope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import {
  type Affected,
  type FoldedProblem,
  type Gathering,
  include,
  ProblemGatherings,
} from './problem-gathering.ts'
import { isMissed, joined } from './problem-joins.ts'
import { type OwnedObject, ownersOf, ProblemOwners, type ReadOwners } from './problem-owners.ts'
import {
  type ProblemPart,
  type ProblemPlace,
  factsOf,
  holds,
  isShown,
  placeKey,
  problemIndex,
} from './problem-part.ts'

export interface FoldOptions<P extends ProblemPart> {
  /** The kinds of one cluster that are looked at. */
  readonly parts: readonly P[]
  /** Only problems of objects in these namespaces. Absent: of all objects, including cluster-scoped ones. */
  readonly namespaces?: ReadonlySet<string> | undefined
  readonly nowMs: number
  /** How long ongoing work may go on until it is a problem, and how long past failures count. */
  readonly afterMs: number
  readonly readOwners: ReadOwners<P>
  /** What else is known to be wrong now with objects of these parts. */
  readonly told?: readonly Found<P>[]
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
export interface Found<P extends ProblemPart> {
  readonly part: P
  readonly id: ObjectId
  readonly fact: DecodedFact
}

/** Something that is wrong with an object. */
interface Finding<P extends ProblemPart> {
  readonly object: OwnedObject<P>
  readonly fact: DecodedFact
  readonly cause: string
  /** Whether it is a part of what else is wrong with the object. */
  readonly isBeside?: boolean
}

class ProblemFold<P extends ProblemPart> {
  readonly #options: FoldOptions<P>
  readonly #owners: ProblemOwners<P>
  #factRanges: readonly FactRange[] | undefined
  /** The Nodes; `undefined` if they are not looked at. */
  readonly #nodes: P | undefined
  /** The names of all Nodes that are down. */
  #down: ReadonlySet<string> = new Set()
  readonly #gathered = new ProblemGatherings<P>()
  /** The findings of each object. */
  readonly #findings = new Map<OwnedObject<P>, Finding<P>[]>()
  /** Objects that own one with a cause of `ownCauses`, as `cause`. */
  readonly #explained = new Map<string, Set<OwnedObject<P>>>()
  /** The pods that cannot be scheduled for a claim, by the claim. */
  readonly #claimed = new Map<OwnedObject<P>, OwnedObject<P>>()
  readonly #unmet = new Map<string, UnmetTerms | undefined>()
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
    const { parts } = this.#options
    this.#down = this.#downNodes()
    const reports: Found<P>[] = []
    for (const of of parts) {
      for (const range of this.#ranges) {
        for (const found of this.#foundIn(of, range)) {
          if (found.fact.role?.form === 'down') this.#foldDownNode(found)
          else if (found.fact.role?.form === 'report') reports.push(found)
          else {
            const object = this.#owners.of(found.part, found.id)
            if (this.#counts(object, found.fact)) this.#find(object, found.fact)
          }
        }
      }
    }
    const { told: further = [] } = this.#options
    for (const { part, id, fact } of [...joined(parts, this.#options), ...further]) {
      this.#find(this.#owners.of(part, id), fact)
    }
    for (const findings of this.#findings.values()) findings.forEach((one) => this.#mark(one))
    this.#findReported(reports)
    this.#findClaims()
    const repeated: Finding<P>[] = []
    const told: Finding<P>[] = []
    for (const findings of this.#findings.values()) {
      for (const one of findings) (this.#isExplained(one) ? repeated : told).push(one)
    }
    const ofOwners = Map.groupBy(repeated, ({ object }) => object)
    for (const { object, fact, cause } of told) {
      const own = this.#lacks(object, cause)
      const problem = this.#add(object, fact, own)
      if (ofOwners.size === 0) continue
      for (const owner of [object, ...ownersOf(object)]) {
        for (const one of ofOwners.get(owner) ?? []) {
          include(problem, one.fact, one.cause, owner.place)
        }
      }
    }
    return this.#gathered.all()
  }

  #downNodes(): ReadonlySet<string> {
    const [atOnce] = this.#ranges
    const nodes = this.#nodes
    const down = new Set<string>()
    if (nodes === undefined || atOnce === undefined) return down
    for (const { id, fact } of this.#foundIn(nodes, atOnce)) {
      if (fact.role?.form === 'down') down.add(nodes.view.keyOf(id))
    }
    return down
  }

  #find(object: OwnedObject<P>, fact: DecodedFact, cause = causeIn(object.place.part, fact)): void {
    this.#put({ object, fact, cause })
  }

  #put(finding: Finding<P>): void {
    getOrInsert(this.#findings, finding.object, () => []).push(finding)
  }

  /** Whether a finding only repeats what is wrong with the object, or with something that it owns. */
  #isExplained({ object, cause, isBeside }: Finding<P>): boolean {
    if (isBeside === true) return true
    if (ownCauses.has(cause)) return this.#explained.get(cause)?.has(object) === true
    return object.explainedIn === this
  }

  /**
   * The cause of objects that are not ready is what they lack, if they say so themselves or their owners do: a Secret that does
   * not exist.
   */
  #lacks(object: OwnedObject<P>, cause: string): string {
    if (cause !== notReady) return cause
    const own = this.#findings.get(object)?.find((one) => ownCauses.has(one.cause))
    if (own !== undefined) return own.cause
    const isLacking = ownersOf(object).some(
      (owner) => this.#findings.get(owner)?.some((one) => one.cause === 'config') === true,
    )
    return isLacking ? 'config' : cause
  }

  #add(object: OwnedObject<P>, fact: DecodedFact, cause: string): Gathering<P> {
    const pod = this.#claimed.get(object)
    if (pod !== undefined) {
      const { root, rootKey, workload } = pod
      return this.#gathered.add({ root, rootKey, workload, place: object.place }, fact, 'schedule')
    }
    const placement = cause === 'schedule' ? placementIn(object, fact) : undefined
    const unmet = placement && this.#unmetBy(placement)
    if (unmet === undefined) return this.#gathered.add(object, fact, cause)
    const { root, rootKey, workload } = object
    const place = root.form === 'object' ? root : this.#reference(rootKey, root)
    const affected = { root: place, rootKey: unmet.key, workload, place, isShared: true }
    return this.#gathered.add(affected, { ...fact, message: unmet.message }, cause)
  }

  /** The terms of a pod that no Node meets, if the viewer sees all Nodes. */
  #unmetBy(role: PodPlacement): UnmetTerms | undefined {
    const nodes = this.#nodes
    if (nodes === undefined || nodes.scope.form !== 'all' || role.claims.length > 0)
      return undefined
    const { terms, tolerations, requests } = role
    const key = JSON.stringify([terms, tolerations, requests])
    if (!this.#unmet.has(key)) {
      this.#options.budget.spend('tests', nodes.view.size)
      this.#unmet.set(key, unmetBy(placingNodes(nodes), role))
    }
    return this.#unmet.get(key)
  }

  #reference(key: string, place: ProblemPlace<P>): ProblemPlace<P> {
    return getOrInsert(this.#references, key, () => place)
  }

  /** The claims without a volume are a part of what is wrong with the pods that cannot be scheduled for them. */
  #findClaims(): void {
    const claims = this.#owners.partOf('', 'PersistentVolumeClaim')
    if (claims === undefined) return
    for (const [pod, findings] of this.#findings) {
      for (const { role } of findings.map(({ fact }) => fact)) {
        if (role?.form !== 'unscheduled') continue
        const { namespace } = splitObjectKey(pod.place.part.view.keyOf(pod.place.id))
        for (const name of role.claims) {
          const id = claims.view.idOf(objectKey({ namespace, name }))
          if (id === undefined || !isShown(claims, id, this.#options.namespaces)) continue
          const claim = this.#owners.of(claims, id)
          const own = this.#ownFinding(claim)
          if (own?.cause !== 'volume' || this.#claimed.has(claim)) continue
          this.#claimed.set(claim, pod)
          if (!this.#findings.has(claim)) this.#find(claim, own.fact, own.cause)
        }
      }
    }
  }

  /** What an object says itself, be it a problem already or not yet. */
  #ownFinding(object: OwnedObject<P>): Finding<P> | undefined {
    const [found] = this.#findings.get(object) ?? []
    if (found !== undefined) return found
    const { part, id } = object.place
    for (const value of factsOf(part).valuesOf(id)) {
      const fact = isFact(value) ? decodeFact(value) : undefined
      if (fact === undefined || fact.timing === 'from' || fact.timing === 'recent') continue
      if (this.#counts(object, fact)) return { object, fact, cause: causeIn(part, fact) }
    }
    return undefined
  }

  /** The pods on a Node that is down are its problem. */
  #foldDownNode({ part: nodes, id, fact }: Found<P>): void {
    const { namespaces, budget } = this.#options
    const pods = this.#owners.partOf('', 'Pod')
    const node = this.#owners.of(nodes, id)
    const nodeKey = placeKey(node.place)
    const cause = causeIn(nodes, fact)
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
      if (!isOfNode(pods, decodeFact(least))) continue
      if (!isShown(pods, pod, namespaces)) continue
      budget.spend('tests', testsPerObject)
      const object = this.#owners.of(pods, pod)
      const affected = { root: node.place, rootKey: nodeKey, place: object.place }
      this.#gathered.add({ ...affected, workload: undefined }, fact, cause)
      markOwners(object, this)
      isAlone = false
    }
    if (isAlone && namespaces === undefined) this.#gathered.add(node, fact, cause)
    markOwners(node, this)
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
        fact ??= decodeFact(value)
        if (fact === undefined) continue
        if (node !== undefined && this.#down.has(node) && isOfNode(part, fact)) continue
        budget.spend('tests', testsPerFact)
        if (isOver(fact, nowMs)) continue
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

  #mark({ object, cause }: Finding<P>): void {
    markOwners(object, this)
    if (!ownCauses.has(cause)) return
    const owners = getOrInsert(this.#explained, cause, () => new Set())
    for (const owner of ownersOf(object)) owners.add(owner)
  }

  #findReported(reports: readonly Found<P>[]): void {
    const counts = new Map<string, number>()
    const known: {
      readonly key: string
      readonly about: ProblemPlace<P>
      readonly fact: DecodedFact
    }[] = []
    for (const { part, id, fact } of reports) {
      if (fact.role?.form !== 'report') continue
      const { namespace } = splitObjectKey(part.view.keyOf(id))
      const about = this.#reported(fact.role, namespace)
      if (about === undefined) continue
      const key = `${placeKey(about)} ${fact.reason}`
      counts.set(key, (counts.get(key) ?? 0) + fact.role.count)
      known.push({ key, about, fact })
    }
    const findings = known.flatMap(({ key, about, fact }): Finding<P> | readonly [] => {
      if ((counts.get(key) ?? 0) < minReports) return []
      if (about.form === 'object') {
        const object = this.#owners.of(about.part, about.id)
        return this.#reportOf(object, fact) ?? []
      }
      const rootKey = placeKey(about)
      const place = this.#reference(rootKey, about)
      const affected: Affected<P> = { root: place, rootKey, place, workload: undefined }
      const { apiVersion = '', kind } = about.to
      const { group } = splitApiVersion(apiVersion)
      this.#gathered.add(affected, fact, causeOf({ group, kind }, fact))
      return []
    })
    for (const finding of findings) {
      this.#put(finding)
      this.#mark(finding)
    }
  }

  /** What an Event reports of an object; `undefined` if other problems tell it. */
  #reportOf(object: OwnedObject<P>, fact: DecodedFact): Finding<P> | undefined {
    const own = this.#ownFinding(object)
    const { part, id } = object.place
    const cause = causeIn(part, fact)
    if (own !== undefined) {
      // The Node tells what it causes itself.
      const isOnNode = holds(part, '', 'Pod') && part.view.hasIndex('nodeName')
      const node = isOnNode ? part.view.index('nodeName').endValue(id, false) : undefined
      const isOfDown = node !== undefined && this.#down.has(node) && isOfNode(part, own.fact)
      if (own.fact.role?.form === 'down' || isOfDown) return undefined
      if (isOfSameCause(cause, own.cause)) return { object, fact, cause: own.cause }
      return this.#findings.has(object) ? { object, fact, cause, isBeside: true } : undefined
    }
    if (object.affectedIn === this) return undefined
    // Nor does the report count if an owner has a problem of its own, which no other object explains.
    const above = ownersOf(object).filter(
      ({ affectedIn, explainedIn }) => affectedIn === this && explainedIn !== this,
    )
    const isSame = above.some(
      (owner) => this.#findings.get(owner)?.some((one) => one.cause === cause) === true,
    )
    return above.length === 0 || isSame ? { object, fact, cause } : undefined
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

/** What a pod that cannot be scheduled asks for, for what it says itself, and for Events about it. */
function placementIn<P extends ProblemPart>(
  { place: { part, id } }: OwnedObject<P>,
  { role }: DecodedFact,
): PodPlacement | undefined {
  if (role?.form !== 'report') return role?.form === 'unscheduled' ? role : undefined
  for (const value of factsOf(part).valuesOf(id)) {
    const own = isFact(value) ? decodeFact(value)?.role : undefined
    if (own?.form === 'unscheduled') return own
  }
  return undefined
}

function causeIn({ view }: ProblemPart, fact: DecodedFact): string {
  return causeOf(view.resource, fact)
}

/** Whether a Node that is down causes what is wrong with a pod on it: nothing is heard of the pod, or it does not end. */
function isOfNode({ view }: ProblemPart, fact: DecodedFact | undefined): boolean {
  const cause = fact === undefined ? undefined : causeOf(view.resource, fact)
  return cause === notReady || cause === 'deletion'
}

/** Marks an object, and what owns it, as affected in a fold. */
function markOwners<P extends ProblemPart>(object: OwnedObject<P>, fold: object): void {
  object.affectedIn = fold
  for (let { owner } = object; owner !== undefined; { owner } = owner) {
    owner.affectedIn = fold
    owner.explainedIn = fold
  }
}

const knownNodes = new WeakMap<
  StoreView,
  { readonly revision: number; readonly nodes: readonly PlacingNode[] }
>()

/** What the Nodes have, decoded once for each change of it. */
function placingNodes({ view }: ProblemPart): readonly PlacingNode[] {
  const facts = view.index(problemIndex)
  const known = knownNodes.get(view)
  if (known?.revision === facts.revision) return known.nodes
  const nodes: PlacingNode[] = []
  for (const value of facts.orderedValues(nodeMark, false)) {
    if (!value.startsWith(nodeMark)) break
    const node = decodeNode(value)
    for (const _ of facts.posting(value) ?? []) nodes.push(node)
  }
  knownNodes.set(view, { revision: facts.revision, nodes })
  return nodes
}
