/*
 * What is wrong between objects: an object needs another that does not exist (`missing`), a webhook's Service has no ready
 * pod, or a Service chooses pods that no workload makes (`alone`). The index of problems has the marks of each object: what
 * it needs, and what its needs are compared with. `joined` compares the marks of one store with the keys and marks of the
 * others, as one viewer may see them:
 *
 * 1. For each kind with needs, the values of its index are compared with the keys of the needed kind. What is missing is
 *    remembered until the index, or the objects of the needed kind, change (`kept`).
 * 2. For each Service, a pod that it chooses is sought, and remembered as a witness: the next time, one look at it is enough.
 *    The Services without one are remembered in the same way.
 * 3. The objects that have a missing mark, and the Services without a pod, become findings, if the viewer may list both
 *    sides. Nothing is concluded from a kind, or a namespace, that the viewer may not list or the cache does not hold.
 */

import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { DecodedFact, ProblemSeverity } from '../../kubernetes/problems/problem-fact.ts'
import {
  type Labels,
  labelsIn,
  markOf,
  type NeededObject,
  neededObjectIn,
} from '../../kubernetes/problems/problem-references.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isInScope } from '../condition/scope.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { factsOf, holds, isShown, problemIndex, type ProblemPart } from './problem-part.ts'

/** An object with something wrong between it and others. */
export interface JoinedFact<P extends ProblemPart> {
  readonly part: P
  readonly id: ObjectId
  readonly fact: DecodedFact
}

interface JoinOptions {
  readonly namespaces?: ReadonlySet<string> | undefined
  readonly budget: WorkBudget
}

/** Comparing a mark with another store takes as long as so many tests. */
const testsPerMark = 2
/** Telling an object. */
const testsPerJoined = 10
/** The most pods that are looked at for a Service without a ready one: nothing is concluded from more. */
const maxPods = 2_000

/** Everything that is wrong between the objects of these parts. */
export function joined<P extends ProblemPart>(
  parts: readonly P[],
  options: JoinOptions,
): readonly JoinedFact<P>[] {
  return new Joins(parts, options).all()
}

/** Whether {@link joined} tells that an object needs another of a kind, which does not exist. */
export function isMissed(
  { part, id }: { readonly part: ProblemPart; readonly id: ObjectId },
  of: ProblemPart,
  key: string,
): boolean {
  if (!isKnown(of, key) || of.view.idOf(key) !== undefined) return false
  return factsOf(part)
    .valuesOf(id)
    .some((value) => neededObjectIn(value)?.key === key)
}

/** The facts of one object with the same reason. */
interface Told<P extends ProblemPart> extends Pick<JoinedFact<P>, 'part' | 'id'> {
  readonly reason: string
  severity: ProblemSeverity
  readonly texts: Set<string>
}

class Joins<P extends ProblemPart> {
  readonly #parts: readonly P[]
  readonly #options: JoinOptions
  readonly #byKind = new Map<string, P>()
  /** By kind, object and reason. */
  readonly #told = new Map<string, Told<P>>()
  readonly #needs: readonly {
    readonly part: P
    readonly needs: ReadonlyMap<string, readonly Need[]>
  }[]

  constructor(parts: readonly P[], options: JoinOptions) {
    // A kind that is read live has no index.
    this.#parts = parts.filter(({ view }) => view.hasIndex(problemIndex))
    this.#options = options
    for (const part of this.#parts) {
      const { group, kind } = part.view.resource
      this.#byKind.set(`${group}/${kind}`, part)
    }
    this.#needs = this.#parts.flatMap((part) => {
      const needs = needsOf(part, options.budget)
      return needs.size === 0 ? [] : [{ part, needs }]
    })
  }

  all(): readonly JoinedFact<P>[] {
    const explained = new Set<string>()
    for (const { part, needs } of this.#needs) {
      for (const [to, all] of needs) this.#missing(part, to, all)
      this.#webhooks(part, needs.get(service) ?? [], explained)
    }
    this.#alone(explained)
    return Array.from(this.#told.values(), ({ part, id, reason, severity, texts }) => {
      const message = [...texts].toSorted().join(', ')
      const fact = { timing: 'atOnce', severity, reason, message, sinceMs: undefined } as const
      return { part, id, fact }
    })
  }

  #tell(part: P, id: ObjectId, reason: string, severity: ProblemSeverity, text: string): void {
    this.#options.budget.spend('tests', testsPerJoined)
    const key = `${part.type} ${id} ${reason}`
    const known = this.#told.get(key)
    if (known === undefined) {
      this.#told.set(key, { part, id, reason, severity, texts: new Set([text]) })
      return
    }
    if (severity === 'CRITICAL') known.severity = severity
    known.texts.add(text)
  }

  *#shown(part: P, value: string): Generator<ObjectId, void, void> {
    const { namespaces, budget } = this.#options
    for (const id of factsOf(part).posting(value) ?? []) {
      budget.spend('examined', 1)
      if (isShown(part, id, namespaces)) yield id
    }
  }

  #missing(part: P, to: string, needs: readonly Need[]): void {
    const target = this.#byKind.get(to)
    if (target === undefined) return
    const kind = to.slice(to.indexOf('/') + 1)
    for (const { value, object, lacks } of missingIn(part, target, needs, this.#options.budget)) {
      if (!isKnown(target, object.key)) continue
      const { severity, webhook, port } = object
      for (const id of this.#shown(part, value)) {
        const name = nameFrom(part, id, object.key)
        const what =
          lacks === 'object'
            ? `${kind} ${name} does not exist`
            : `${kind} ${name} has no port ${port}`
        const reason = lacks === 'object' ? `Missing${kind}` : 'MissingServicePort'
        this.#tell(part, id, reason, severity, webhook === undefined ? what : `${webhook}: ${what}`)
      }
    }
  }

  /** Webhooks with a Service that exists, and has no ready pod. */
  #webhooks(part: P, needs: readonly Need[], explained: Set<string>): void {
    const [services, pods] = [this.#byKind.get(service), this.#byKind.get('/Pod')]
    if (services === undefined || pods === undefined) return
    const seek = podSeeker(services.view, pods.view, this.#options.budget)
    for (const { value, object } of needs) {
      const { webhook, key, severity } = object
      const id = webhook === undefined ? undefined : services.view.idOf(key)
      if (id === undefined || !isKnown(services, key) || !isKnown(pods, key)) continue
      const selector = labelsIn(factsOf(services).valuesOf(id), 'selector')
      if (selector === undefined || seek(key, Object.entries(selector), true)) continue
      for (const of of this.#shown(part, value)) {
        explained.add(key)
        const text = `${webhook}: Service ${nameFrom(part, of, key)} has no ready pod`
        this.#tell(part, of, 'NoEndpoints', severity, text)
      }
    }
  }

  /** Services that choose no pod, nor the pods of a workload: one with none at present says so itself, or wants none. */
  #alone(explained: ReadonlySet<string>): void {
    const [services, pods] = [this.#byKind.get(service), this.#byKind.get('/Pod')]
    if (services === undefined || pods === undefined) return
    const { namespaces, budget } = this.#options
    for (const { key, id, terms } of aloneIn(services, pods.view, budget)) {
      budget.spend('examined', 1)
      if (explained.has(key) || !isShown(services, id, namespaces) || !isKnown(pods, key)) continue
      const { namespace } = splitObjectKey(key)
      const isMade = workloads.some((kind) => {
        const part = this.#byKind.get(kind)
        if (part === undefined) return kind === 'apps/Deployment'
        if (!isKnown(part, key)) return true
        return templatesOf(part.view, budget)
          .get(namespace)
          ?.some((labels) => terms.every(([name, value]) => labels[name] === value))
      })
      if (isMade) continue
      const isUsed = this.#needs.some(
        ({ part, needs }) => needs.has(service) && !leadingTo(part, key, budget).next().done,
      )
      const text = terms.map(([name, value]) => `${name}=${value}`)
      const message = `no pod has ${text.join(',')}`
      this.#tell(services, id, 'NoPods', isUsed ? 'CRITICAL' : 'WARNING', message)
    }
  }
}

/** The objects of a kind that lead to a Service, as far as the viewer may see them: Ingresses, routes, webhooks. */
export function* leadingTo(
  part: Pick<ProblemPart, 'view' | 'scope'>,
  key: string,
  budget: WorkBudget,
): Generator<ObjectId, void, void> {
  const facts = factsOf(part)
  const prefix = `${markOf.needed}${JSON.stringify([service, key]).slice(0, -1)},`
  for (const value of facts.orderedValues(prefix, false)) {
    budget.spend('examined', 1)
    if (!value.startsWith(prefix)) return
    for (const id of facts.posting(value) ?? []) {
      budget.spend('examined', 1)
      if (isInScope(part.scope, part.view.keyOf(id))) yield id
    }
  }
}

const service = '/Service'

/** The kinds with templates of pods. Nothing is concluded about Services where Deployments cannot be read. */
const workloads = [
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'apps/ReplicaSet',
  '/ReplicationController',
  'batch/Job',
  'batch/CronJob',
]

/** Whether the viewer may list an object with this key, or one in its namespace, and the cache holds it if it exists. */
function isKnown({ scope, coverage, view }: ProblemPart, key: string): boolean {
  if (!isInScope(scope, key)) return false
  if (coverage === undefined || !view.resource.namespaced) return true
  const { namespace } = splitObjectKey(key)
  const { namespaces, excluded, loading } = coverage
  const isCovered = namespaces === undefined ? !excluded.has(namespace) : namespaces.has(namespace)
  return isCovered && !loading.has(namespace)
}

function nameFrom({ view }: ProblemPart, id: ObjectId, key: string): string {
  const [from, to] = [splitObjectKey(view.keyOf(id)), splitObjectKey(key)]
  return from.namespace === to.namespace ? to.name : key
}

/** What is remembered of a store, or of a pair of stores, until one of their revisions changes. */
interface Kept<T> {
  readonly revision: string
  readonly value: T
}

/** A function whose last value for two stores is kept until the revision changes. */
function kept<T>(): (one: StoreView, other: StoreView, revision: string, make: () => T) => T {
  const known = new WeakMap<StoreView, WeakMap<StoreView, Kept<T>>>()
  return (one, other, revision, make) => {
    const ofOne = getOrInsert(known, one, () => new WeakMap())
    const before = ofOne.get(other)
    if (before?.revision === revision) return before.value
    const value = make()
    ofOne.set(other, { revision, value })
    return value
  }
}

interface Need {
  readonly value: string
  readonly object: NeededObject
}

const noNeeds: ReadonlyMap<string, readonly Need[]> = new Map()
const keptNeeds = kept<ReadonlyMap<string, readonly Need[]>>()

/** The needs of a kind, by the needed kind. */
function needsOf(part: ProblemPart, budget: WorkBudget): ReadonlyMap<string, readonly Need[]> {
  const facts = factsOf(part)
  return keptNeeds(part.view, part.view, `${facts.revision}`, () => {
    let needs: Map<string, Need[]> | undefined
    for (const value of facts.orderedValues(markOf.needed, false)) {
      const object = neededObjectIn(value)
      if (object === undefined) break
      budget.spend('tests', testsPerMark)
      needs ??= new Map()
      getOrInsert(needs, object.to, () => []).push({ value, object })
    }
    return needs ?? noNeeds
  })
}

interface Missing extends Need {
  readonly lacks: 'object' | 'port'
}

const keptMissing = kept<readonly Missing[]>()

function missingIn(
  part: ProblemPart,
  target: ProblemPart,
  needs: readonly Need[],
  budget: WorkBudget,
): readonly Missing[] {
  const { view } = target
  const facts = factsOf(target)
  const revision = `${factsOf(part).revision} ${view.index('uid').revision} ${facts.revision}`
  return keptMissing(part.view, view, revision, () => {
    budget.spend('tests', testsPerMark * needs.length)
    return needs.flatMap((need): Missing | readonly [] => {
      const { key, port } = need.object
      const id = view.idOf(key)
      if (id === undefined) return { ...need, lacks: 'object' }
      const hasPort =
        port === undefined || facts.has(id, markOf.port + port) || facts.has(id, markOf.external)
      return hasPort ? [] : { ...need, lacks: 'port' }
    })
  })
}

const keptTemplates = kept<ReadonlyMap<string, readonly Labels[]>>()

/** The labels of the pods that workloads of a kind make, by namespace. */
function templatesOf(view: StoreView, budget: WorkBudget): ReadonlyMap<string, readonly Labels[]> {
  const facts = view.index(problemIndex)
  return keptTemplates(view, view, `${facts.revision}`, () => {
    const templates = new Map<string, Labels[]>()
    for (const value of facts.orderedValues(markOf.template, false)) {
      const labels = labelsIn([value], 'template')
      if (labels === undefined) break
      for (const id of facts.posting(value) ?? []) {
        budget.spend('tests', testsPerMark)
        const { namespace } = splitObjectKey(view.keyOf(id))
        getOrInsert(templates, namespace, () => []).push(labels)
      }
    }
    return templates
  })
}

type Terms = readonly (readonly [label: string, value: string])[]

interface SelectingService {
  readonly key: string
  readonly id: ObjectId
  readonly terms: Terms
}

interface SelectingServices {
  readonly all: readonly SelectingService[]
  /** The labels in the selectors. */
  readonly labels: ReadonlySet<string>
}

const keptServices = kept<SelectingServices>()

/** The Services with selectors. */
function servicesIn(view: StoreView, budget: WorkBudget): SelectingServices {
  const facts = view.index(problemIndex)
  return keptServices(view, view, `${facts.revision}`, () => {
    const all: SelectingService[] = []
    const labels = new Set<string>()
    for (const value of facts.orderedValues(markOf.selector, false)) {
      const selector = labelsIn([value], 'selector')
      if (selector === undefined) break
      const terms = Object.entries(selector)
      for (const [label] of terms) labels.add(label)
      for (const id of facts.posting(value) ?? []) {
        budget.spend('tests', testsPerMark)
        all.push({ key: view.keyOf(id), id, terms })
      }
    }
    return { all, labels }
  })
}

const keptAlone = kept<readonly SelectingService[]>()

/** The Services that choose no pod. */
function aloneIn(
  { view }: ProblemPart,
  pods: StoreView,
  budget: WorkBudget,
): readonly SelectingService[] {
  const { all, labels } = servicesIn(view, budget)
  const revision = `${view.index(problemIndex).revision} ${podsRevision(pods, labels)}`
  return keptAlone(view, pods, revision, () => {
    budget.spend('tests', testsPerMark * all.length)
    const seek = podSeeker(view, pods, budget)
    return all.filter(({ key, terms }) => !seek(key, terms, false))
  })
}

/** Changes when pods come, go, end, or change one of these labels. Pods that have ended stay so, until they go. */
function podsRevision(pods: StoreView, labels: ReadonlySet<string>): string {
  let revision = 0
  for (const name of labels) revision += pods.label(name)?.revision ?? 0
  const ended = pods.index(problemIndex).posting(markOf.ended)?.size ?? 0
  return `${pods.index('uid').revision} ${ended} ${revision}`
}

/** Changes with the labels of pods that Services select by. `undefined` unless both are among the parts. */
export function selectedLabelsRevision(
  parts: readonly ProblemPart[],
  budget: WorkBudget,
): string | undefined {
  const [services, pods] = ['Service', 'Pod'].map(
    (kind) => parts.find((one) => holds(one, '', kind) && one.view.hasIndex(problemIndex))?.view,
  )
  if (services === undefined || pods === undefined) return undefined
  return podsRevision(pods, servicesIn(services, budget).labels)
}

/** The pods that were found last, by the key of the Service: most often they are still there. */
const witnesses = new WeakMap<StoreView, WeakMap<StoreView, Map<string, ObjectId>>>()

/** Finds whether a Service chooses a pod that has not ended, or a ready one. Valid within one tick. */
function podSeeker(
  services: StoreView,
  pods: StoreView,
  budget: WorkBudget,
): (key: string, terms: Terms, isReady: boolean) => boolean {
  const ofServices = getOrInsert(witnesses, services, () => new WeakMap())
  const known = getOrInsert(ofServices, pods, () => new Map<string, ObjectId>())
  const facts = pods.index(problemIndex)
  const namespaces = pods.index('namespace')
  const chooses = (terms: Terms, id: ObjectId, isReady: boolean): boolean => {
    for (const [label, value] of terms) {
      if (pods.label(label)?.has(id, value) !== true) return false
    }
    return !facts.has(id, markOf.ended) && !(isReady && facts.has(id, markOf.unready))
  }
  return (key, terms, isReady) => {
    const namespace = key.slice(0, key.indexOf('/'))
    const before = known.get(key)
    if (before !== undefined) {
      if (chooses(terms, before, isReady) && namespaces.has(before, namespace)) return true
      known.delete(key)
    }
    let least = namespaces.posting(namespace)
    for (const [label, value] of terms) {
      const posting = pods.label(label)?.posting(value)
      if (posting === undefined || posting.size < (least?.size ?? 0)) least = posting
      if (least === undefined) return false
    }
    let looked = 0
    for (const id of least ?? []) {
      budget.spend('tests', 1)
      looked += 1
      // Too many to look at for each answer.
      if (looked > maxPods) return true
      if (!chooses(terms, id, isReady) || !namespaces.has(id, namespace)) continue
      known.set(key, id)
      return true
    }
    return false
  }
}
