import type { ApiResource } from '../kubernetes/api-resource.ts'
import { type Scope, unrestricted } from '../query/condition/scope.ts'
import { type AccessQuestion, questionOf } from './access-question.ts'

/** What somebody wants to list. */
export interface ListQuestion {
  readonly resource: ApiResource
  /** `list`, and `watch` where changes are wanted, too. */
  readonly verbs: readonly string[]
  /** The only namespaces that are wanted; absent: all that there are. */
  readonly within?: readonly string[] | undefined
  /** The namespaces that have objects of the resource; `undefined` where that is not known. */
  readonly present: () => PresentNamespaces | undefined
}

/** The namespaces that a store has objects in, at a position of its history. */
export interface PresentNamespaces {
  readonly position: string
  namespaces(): readonly string[]
}

/** What of a kind may be listed, as far as it is known. */
export type ListAccess =
  /** At least something; `namespaces` may be those of no object. */
  | { readonly state: 'allowed'; readonly scope: Scope }
  | { readonly state: 'forbidden' }
  /**
   * At least something, in a cluster of more namespaces than may be asked about: what exactly can be told once it is known which of them
   * have objects of the kind.
   */
  | { readonly state: 'some'; readonly most: number }
  /** These have to be asked first; there may be more to ask after them. */
  | { readonly state: 'unknown'; readonly questions: readonly AccessQuestion[] }
  /** More namespaces than the `most` that are asked about. How many they are is nothing that who may see none of them is told. */
  | { readonly state: 'tooMany'; readonly most: number }

/** What {@link listAccess} is told by. */
export interface KnownAccess {
  readonly known: (question: AccessQuestion) => boolean | undefined
  /** The namespaces of the cluster, the likeliest first; `undefined` where that is not known. */
  readonly namespaces: () => readonly string[] | undefined
  readonly maxNamespaces: number
}

/**
 * What may be listed: everything, where that is allowed cluster-wide; else namespace by namespace, those first that have
 * objects. Where none of them is allowed, but another one is, the list is empty; where there is none at all, forbidden.
 */
export function listAccess(
  question: Omit<ListQuestion, 'present'> & {
    readonly present: () => readonly string[] | undefined
  },
  { known, namespaces, maxNamespaces }: KnownAccess,
): ListAccess {
  const { resource, verbs, within } = question
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
    for (const namespace of candidates) {
      const asked = rest.map((verb) => ask(verb, namespace))
      const answers = asked.map((one) => known(one))
      if (answers.every((answer) => answer === true)) allowed.add(namespace)
      else if (!answers.includes(false)) {
        questions.push(...asked.filter((_, at) => answers[at] === undefined))
      }
    }
    if (questions.length > 0) return { state: 'unknown', questions }
    return allowed.size === 0
      ? { state: 'forbidden' }
      : { state: 'allowed', scope: { form: 'namespaces', namespaces: allowed } }
  }

  if (within !== undefined) return among([...new Set(within)])
  const present = question.present()
  if (present === undefined) {
    const all = namespaces() ?? []
    const few = among(all.slice(0, maxNamespaces))
    if (all.length <= maxNamespaces || few.state === 'unknown') return few
    // That the others are not asked about must not look like an answer.
    return { state: few.state === 'allowed' ? 'some' : 'tooMany', most: maxNamespaces }
  }
  const first = among(present)
  if (first.state !== 'forbidden') return first
  const has = new Set(present)
  return among((namespaces() ?? []).filter((namespace) => !has.has(namespace)))
}
