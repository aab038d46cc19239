/*
 * What a fold of problems reads: the kinds, each with an index of the facts that may be wrong with its objects. And what a
 * problem names: places, which are objects or references to objects.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { type ApiResource, splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey, splitObjectKey } from '../../kubernetes/object.ts'
import { contentIndex, contentValuesOf } from '../../kubernetes/health/content-health.ts'
import {
  factRanges,
  type ReportedObject,
  turnOfFact,
} from '../../kubernetes/problems/problem-fact.ts'
import {
  type IsRuleOn,
  problemRulesVersion,
  problemValuesOf,
} from '../../kubernetes/problems/problem-rules.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import type { Indexers } from '../../informer/store/store-view.ts'
import type { WorkBudget } from '../condition/work-budget.ts'
import { isInScope, type Scope } from '../condition/scope.ts'

/** The index of what may be wrong with each object, as `encodeFact` writes it. Healthy objects have no value. */
export const problemIndex = 'problem:facts'

/** The lazy indexes of problems, and of what objects add to the health of their namespaces. */
export function problemIndexers(resource: ApiResource, isOn: IsRuleOn): Indexers {
  const [valuesOf, contentsOf] = [problemValuesOf(resource, isOn), contentValuesOf(resource)]
  return {
    [problemIndex]: (object) => valuesOf(object as Unstructured),
    [contentIndex]: (object) => contentsOf(object as Unstructured),
  }
}

/** Stands for the definition of the index, if these rules are off. */
export function problemIndexText(off: readonly string[]): string {
  return [problemRulesVersion, ...off].join()
}

/** A kind whose objects are looked at for problems, and the part of it that the viewer may see. */
export interface ProblemPart {
  readonly type: string
  readonly view: StoreView
  readonly scope: Scope
  /** The namespaces that the store holds; absent: all. `loading`: those that it is still to get. */
  readonly coverage?:
    | {
        readonly namespaces: ReadonlySet<string> | undefined
        readonly excluded: ReadonlySet<string>
        readonly loading: ReadonlySet<string>
      }
    | undefined
}

/** An object that the viewer may see, or else a reference in one that the viewer may see. */
export type ProblemPlace<P extends ProblemPart> =
  | { readonly form: 'object'; readonly part: P; readonly id: ObjectId }
  /** `namespace`: that of the object with the reference; `''` for a cluster-scoped one. An owner has none of its own. */
  | { readonly form: 'reference'; readonly to: ReportedObject; readonly namespace: string }

/** A text that only this object has, whether it is found or named by a reference. */
export function placeKey<P extends ProblemPart>(place: ProblemPlace<P>): string {
  if (place.form === 'object') {
    const { part, id } = place
    const { group, kind } = part.view.resource
    return `${group}/${kind} ${part.view.uidOf(id) || part.view.keyOf(id)}`
  }
  const { apiVersion = '', kind, name, uid, namespace = place.namespace } = place.to
  const { group } = splitApiVersion(apiVersion)
  return `${group}/${kind} ${uid ?? objectKey({ namespace, name })}`
}

export function factsOf({ view }: Pick<ProblemPart, 'view'>): IndexView {
  return view.index(problemIndex)
}

/** Whether the viewer may see an object, and it is in one of the namespaces. */
export function isShown(
  { view, scope }: ProblemPart,
  id: ObjectId,
  namespaces: ReadonlySet<string> | undefined,
): boolean {
  const key = view.keyOf(id)
  if (namespaces !== undefined && !namespaces.has(splitObjectKey(key).namespace)) return false
  return isInScope(scope, key)
}

/**
 * Values that differ whenever the problems of a part may have changed: its store, and the revisions of the indexes of facts,
 * of objects, of owners and of Nodes.
 */
export function foldedState({ view }: Pick<ProblemPart, 'view'>): readonly unknown[] {
  const names = [problemIndex, 'uid', 'ownerUid', 'nodeName'].filter((name) => view.hasIndex(name))
  return [view, ...names.map((name) => view.index(name).revision)]
}

/** When time alone next makes a fact a problem, or ends it, in milliseconds; `Infinity` if it does neither. */
export function nextTurnMs(
  parts: readonly ProblemPart[],
  nowMs: number,
  afterMs: number,
  budget: WorkBudget,
): number {
  const [, from, later, recent] = factRanges(nowMs, afterMs)
  let nextMs = Infinity
  for (const part of parts) {
    const facts = factsOf(part)
    // All begin with the fact whose time is next.
    for (const next of [from?.[1], later?.[1], recent?.[0]]) {
      for (const value of facts.orderedValues(next, false)) {
        const turnMs = turnOfFact(value, nowMs, afterMs)
        budget.spend('examined', 1)
        if (turnMs >= nextMs) break
        const ids = [...(facts.posting(value) ?? [])]
        if (ids.some((id) => isShown(part, id, undefined))) nextMs = turnMs
      }
    }
  }
  return nextMs
}

export function holds({ view: { resource } }: ProblemPart, group: string, kind: string): boolean {
  return resource.kind === kind && resource.group === group
}
