/*
 * The problems of a fold while their facts come in. One problem is a place (the topmost owner) and a cause, or a cause alone
 * that several topmost owners share. `add` brings an object that has the problem, `include` a fact of an owner that only repeats
 * it. The most telling fact gives the problem its reason and message. At the end, the severity follows from the impact: how
 * many pods of the workload are ready.
 */

import { tellingOf } from '../../kubernetes/problems/problem-cause.ts'
import { markOf } from '../../kubernetes/problems/problem-references.ts'
import {
  type DecodedFact,
  type ProblemSeverity,
  type Replicas,
  replicasIn,
} from '../../kubernetes/problems/problem-fact.ts'
import { factsOf, holds, placeKey, type ProblemPart, type ProblemPlace } from './problem-part.ts'

/** One problem of a cluster: a topmost owner, a cause, and the objects that have it. */
export interface FoldedProblem<P extends ProblemPart> {
  /** Of several topmost owners with the same problem, the first by kind, namespace and name. */
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  readonly cause: string
  /** The most telling one that is known of the cause. */
  readonly reason: string
  readonly severity: ProblemSeverity
  readonly message: string | undefined
  /** In milliseconds, as far as the objects say. */
  readonly sinceMs: number | undefined
  /** The objects that have it, without the owners of others that have it. At least one. In no order. */
  readonly objects: readonly ProblemPlace<P>[]
  /** The pods of the workload; `undefined` if the problem is not one of a workload. */
  readonly replicas: Replicas | undefined
  /** A text that no other problem of the cluster has, the same as long as the problem lasts. */
  readonly key: string
}

/** An object that has a problem, and whose problem it is. */
export interface Affected<P extends ProblemPart> {
  readonly root: ProblemPlace<P>
  readonly rootKey: string
  /** The workload whose pods have the problem. */
  readonly workload: ProblemPlace<P> | undefined
  /** Always the same instance for one object. */
  readonly place: ProblemPlace<P>
  /** Whether other topmost owners have the same problem: `rootKey` names it then, and `place` is the topmost owner. */
  readonly isShared?: boolean
}

export interface Gathering<P extends ProblemPart> {
  root: ProblemPlace<P>
  readonly rootKey: string
  readonly workload: ProblemPlace<P> | undefined
  readonly isShared: boolean
  readonly cause: string
  severity: ProblemSeverity
  /** Whether a critical fact other than a crash is included: a person must mend that. */
  isStuck: boolean
  /** The most telling, then the worst and then the oldest fact, and its object. */
  lead: DecodedFact
  leadPlace: ProblemPlace<P>
  sinceMs: number | undefined
  /** Most problems have one object. */
  readonly first: ProblemPlace<P>
  all: Set<ProblemPlace<P>> | undefined
  /** The gathering before it with the same topmost owner, and another cause. */
  readonly before: Gathering<P> | undefined
}

export class ProblemGatherings<P extends ProblemPart> {
  /** The last gathering of each topmost owner, by its place or, if that is a reference or shared, by its key. */
  readonly #gathered = new Map<ProblemPlace<P> | string, Gathering<P>>()

  add(of: Affected<P>, fact: DecodedFact, cause: string): Gathering<P> {
    const { root, rootKey, place, workload, isShared = false } = of
    const at = root.form === 'object' && !isShared ? root : rootKey
    const last = this.#gathered.get(at)
    let problem = last
    while (problem !== undefined && problem.cause !== cause) problem = problem.before
    if (problem === undefined) {
      problem = {
        root,
        rootKey,
        workload,
        isShared,
        cause,
        severity: fact.severity,
        isStuck: false,
        lead: fact,
        leadPlace: place,
        sinceMs: undefined,
        first: place,
        all: undefined,
        before: last,
      }
      this.#gathered.set(at, problem)
    } else if (place !== problem.first) {
      ;(problem.all ??= new Set([problem.first])).add(place)
      if (isShared && nameOf(root) < nameOf(problem.root)) problem.root = root
    }
    include(problem, fact, cause, place)
    return problem
  }

  all(): readonly FoldedProblem<P>[] {
    const problems: FoldedProblem<P>[] = []
    for (const last of this.#gathered.values()) {
      for (let one: Gathering<P> | undefined = last; one !== undefined; one = one.before) {
        const { root, rootKey, cause, sinceMs, first, lead } = one
        const objects = one.all === undefined ? [first] : [...one.all]
        const replicas = impactOf(one, objects)
        problems.push({
          root,
          rootKey,
          cause,
          reason: lead.reason,
          severity: severityOf(one, replicas),
          message: lead.message,
          sinceMs,
          objects,
          replicas,
          key: `${rootKey} ${cause}`,
        })
      }
    }
    return problems
  }
}

/** Includes the severity and the time of another fact. It gives the reason if it is of the same cause and tells more. */
export function include<P extends ProblemPart>(
  problem: Gathering<P>,
  fact: DecodedFact,
  cause: string,
  place: ProblemPlace<P>,
): void {
  const { severity, sinceMs } = fact
  if (severity === 'CRITICAL') problem.severity = 'CRITICAL'
  if (severity === 'CRITICAL' && cause !== 'crash') problem.isStuck = true
  if (sinceMs !== undefined && sinceMs < (problem.sinceMs ?? Infinity)) problem.sinceMs = sinceMs
  if (cause !== problem.cause || fact === problem.lead) return
  if (!isBefore(fact, place, problem)) return
  problem.lead = fact
  problem.leadPlace = place
}

function isBefore<P extends ProblemPart>(
  fact: DecodedFact,
  place: ProblemPlace<P>,
  { lead, leadPlace }: Gathering<P>,
): boolean {
  const [telling, leadTelling] = [tellingOf(fact), tellingOf(lead)]
  if (telling !== leadTelling) return telling > leadTelling
  if (fact.severity !== lead.severity) return fact.severity === 'CRITICAL'
  const [since, leadSince] = [fact.since ?? '~', lead.since ?? '~']
  if (since !== leadSince) return since < leadSince
  const [key, leadKey] = [placeKey(place), placeKey(leadPlace)]
  return key === leadKey ? (fact.message ?? '') < (lead.message ?? '') : key < leadKey
}

/** Sorts by kind, namespace and name. */
function nameOf<P extends ProblemPart>(place: ProblemPlace<P>): string {
  if (place.form === 'reference') return `${place.to.kind} ${place.namespace}/${place.to.name}`
  return `${place.part.view.resource.kind} ${place.part.view.keyOf(place.id)}`
}

/** The pods of the workload, or of all workloads that share the problem. A pod without an owner counts as its own workload. */
function impactOf<P extends ProblemPart>(
  { isShared, workload, root }: Gathering<P>,
  objects: readonly ProblemPlace<P>[],
): Replicas | undefined {
  if (!isShared) return replicasOf(workload ?? root)
  let [ready, wanted] = [0, 0]
  for (const one of objects) {
    const own = replicasOf(one)
    ready += own?.ready ?? 0
    wanted += own?.wanted ?? 0
  }
  if (wanted === 0) return undefined
  return { ready: Math.min(ready, mostInt), wanted: Math.min(wanted, mostInt) }
}

/** The largest `Int` of GraphQL. Workloads may want as many replicas each. */
const mostInt = 2 ** 31 - 1

function replicasOf<P extends ProblemPart>(place: ProblemPlace<P>): Replicas | undefined {
  if (place.form === 'reference') return undefined
  const { part, id } = place
  const facts = factsOf(part)
  if (!holds(part, '', 'Pod')) return replicasIn(facts.valuesOf(id))
  const isReady = !facts.has(id, markOf.unready) && !facts.has(id, markOf.ended)
  return { ready: isReady ? 1 : 0, wanted: 1 }
}

/**
 * Nothing ready is critical, whatever the reason. Crashes are a warning while some pods are ready and no rollout is stuck.
 * Otherwise the problem is as bad as its worst fact.
 */
function severityOf<P extends ProblemPart>(
  { severity, cause, isStuck }: Gathering<P>,
  replicas: Replicas | undefined,
): ProblemSeverity {
  if (replicas === undefined || replicas.wanted === 0 || cause === 'deletion') return severity
  if (replicas.ready === 0) return 'CRITICAL'
  return cause === 'crash' && !isStuck ? 'WARNING' : severity
}
