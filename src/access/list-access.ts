/*
 * Decides the list access of a viewer to a kind from known answers, or names the missing reviews. If the list is allowed
 * cluster-wide, the viewer sees everything. Otherwise each namespace is decided, beginning with the namespaces that have
 * objects. If none of them is allowed but another one is, the list is empty. If no namespace is allowed, the list is
 * forbidden. A list within an empty set of namespaces is empty for every caller, without a review.
 */

import type { ApiResource } from '../kubernetes/api-resource.ts'
import { nothingVisible, type Scope, unrestricted } from '../query/condition/scope.ts'
import { type AccessQuestion, questionOf } from './access-question.ts'

export interface ListQuestion {
  readonly resource: ApiResource
  /** `list`, and also `watch` for changes. */
  readonly verbs: readonly string[]
  /** The requested namespaces; absent: all. */
  readonly within?: readonly string[] | undefined
  /**
   * Whether one allowed namespace is enough. Then the likeliest namespaces come first, and an allowed scope has only one
   * namespace, even if more are allowed.
   */
  readonly isAny?: boolean | undefined
  /** Whether objects that are gone count: then namespaces without objects do, too. */
  readonly isPast?: boolean | undefined
  /** The namespaces with objects of the resource; `undefined` if unknown. */
  readonly present: () => PresentNamespaces | undefined
}

/** The namespaces with objects in a store, at a position of its history. */
export interface PresentNamespaces {
  readonly position: string
  namespaces(): readonly string[]
}

/** The list access to a kind, as far as it is known. */
export type ListAccess =
  /** Some access; `namespaces` may contain no object. */
  | { readonly state: 'allowed'; readonly scope: Scope }
  | { readonly state: 'forbidden' }
  /**
   * Some access in a cluster with more than `most` namespaces. The exact access follows once the namespaces with
   * objects of the kind are known.
   */
  | { readonly state: 'some'; readonly most: number }
  /** The caller may not list cluster-wide, and the namespaces of the cluster are not known yet. */
  | { readonly state: 'noNamespaces' }
  /** These reviews are needed first. More may follow. */
  | { readonly state: 'unknown'; readonly questions: readonly AccessQuestion[] }
  /** More namespaces than `most`. The count is withheld: the caller may not be allowed to see any of them. */
  | { readonly state: 'tooMany'; readonly most: number }

export interface KnownAccess {
  readonly known: (question: AccessQuestion) => boolean | undefined
  /** The namespaces of the cluster, the likeliest first; `undefined` if not known yet. */
  readonly namespaces: () => readonly string[] | undefined
  readonly maxNamespaces: number
}

export function listAccess(
  question: Omit<ListQuestion, 'present'> & {
    readonly present: () => readonly string[] | undefined
  },
  { known, namespaces, maxNamespaces }: KnownAccess,
): ListAccess {
  const { resource, verbs, within, isAny = false } = question
  if (within?.length === 0) return { state: 'allowed', scope: nothingVisible }
  const ask = (verb: string, namespace: string): AccessQuestion =>
    questionOf(verb, resource, { namespace })
  const everywhere = verbs.filter((verb) => known(ask(verb, '')) === true)
  if (everywhere.length === verbs.length) return { state: 'allowed', scope: unrestricted }
  const unasked = verbs.map((verb) => ask(verb, '')).filter((one) => known(one) === undefined)
  if (unasked.length > 0) return { state: 'unknown', questions: unasked }
  if (!resource.namespaced) return { state: 'forbidden' }
  const rest = verbs.filter((verb) => !everywhere.includes(verb))

  const among = (candidates: readonly string[]): ListAccess => {
    if (candidates.length > maxNamespaces) return { state: 'tooMany', most: maxNamespaces }
    const questions: AccessQuestion[] = []
    const allowed = new Set<string>()
    let isOneRefused = false
    for (const namespace of candidates) {
      const asked = rest.map((verb) => ask(verb, namespace))
      const answers = asked.map((one) => known(one))
      if (answers.every((answer) => answer === true)) {
        allowed.add(namespace)
        if (isAny) break
      } else if (answers.includes(false)) {
        isOneRefused = true
      } else {
        questions.push(...asked.filter((_, at) => answers[at] === undefined))
      }
    }
    if (questions.length > 0 && !(isAny && allowed.size > 0)) {
      const few = isAny && !isOneRefused ? questions.slice(0, likelyNamespaces) : questions
      return { state: 'unknown', questions: few }
    }
    return allowed.size === 0
      ? { state: 'forbidden' }
      : { state: 'allowed', scope: { form: 'namespaces', namespaces: allowed } }
  }

  if (within !== undefined) return among([...new Set(within)])
  const present = question.present()
  const all = namespaces()
  if (present === undefined) {
    if (all === undefined) return { state: 'noNamespaces' }
    const few = among(all.slice(0, maxNamespaces))
    if (all.length <= maxNamespaces || few.state === 'unknown') return few
    // The other namespaces have no review, so the scope of these few is not the answer.
    return { state: few.state === 'allowed' ? 'some' : 'tooMany', most: maxNamespaces }
  }
  const first = among(present)
  if (first.state !== 'forbidden') return first
  if (all === undefined) return { state: 'noNamespaces' }
  const has = new Set(present)
  return among(all.filter((namespace) => !has.has(namespace)))
}

/** The number of namespaces to ask about first if one is enough. */
const likelyNamespaces = 2
