import {
  type AccessQuestion,
  placeOf,
  questionKey,
  questionOf,
} from '../../access/access-question.ts'
import type { ClusterAccess } from '../../access/cluster-access.ts'
import type { ListAccess, PresentNamespaces } from '../../access/list-access.ts'
import { type Viewer, viewerKey } from '../../access/viewer.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { Scope } from '../../query/condition/scope.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import { forbiddenList, reviewFailure, tooManyNamespaces, tooManyReviews } from './read-failures.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** How an operation reads a kind. This decides which permissions it needs. */
export interface KindNeed extends ClusterKind {
  /** As a list, within these namespaces or all. */
  readonly list?: { readonly within?: readonly string[] | undefined; readonly watch: boolean }
  /** As single objects, by their keys. Empty: one object, its key not known yet. */
  readonly keys?: readonly string[]
}

type ListNeed = NonNullable<KindNeed['list']>

/** Whether the viewer may read anything of a kind, as far as the server knows. */
export type Admission = 'admitted' | 'refused' | 'unknown'

/**
 * What a viewer may list of a kind, or the error of a field that lists it. `unknown`: access reviews are missing;
 * `unloaded`: the viewer may list something, and what it is becomes known once the kind is loaded.
 */
export type Listed = Scope | ClientError | 'unknown' | 'unloaded'

const listing = ['list']
const watching = ['list', 'watch']

/** The access of one viewer, for one operation or for the frames of one subscription. */
export class ViewerAccess {
  readonly viewer: Viewer
  readonly #served: ServedSchema
  /** The reviews that this answer needs, by cluster and question. A repeated question counts once. */
  readonly #reviews = new Set<string>()
  /** The clusters in which this answer may ask what the viewer `can` do. */
  readonly #mayAskIn = new Set<string>()
  /** The results of {@link askAll} for this answer, in case the reviews expire before the answer is written. */
  readonly #asked = new Map<string, boolean>()

  constructor(served: ServedSchema, viewer: Viewer) {
    this.#served = served
    this.viewer = viewer
  }

  get identity(): string {
    return viewerKey(this.viewer)
  }

  /** Starts another answer, with a review budget of its own. */
  begin(): void {
    this.#reviews.clear()
    this.#mayAskIn.clear()
    this.#asked.clear()
  }

  /** Calls `changed` when a permission of the viewer in a cluster may have changed. Returns the unsubscription. */
  onChange(cluster: string, changed: () => void): () => void {
    return this.#served.access.get(cluster)?.onChange(this.viewer, changed) ?? (() => {})
  }

  /** How long an allowed review is valid without news of RBAC. */
  longestMs(cluster: string): number {
    return this.#served.access.get(cluster)?.limits.allowMs ?? 0
  }

  /** Access is reviewed for at most so many namespaces of a kind. */
  maxNamespaces(cluster: string): number {
    return this.#in(cluster).limits.maxNamespaces
  }

  /** What the viewer may list of a kind, as far as the server knows. No other code decides this. */
  list(at: ClusterKind, list: ListNeed): Listed {
    const known = this.#list(at, list)
    switch (known.state) {
      case 'allowed':
        return known.scope
      case 'forbidden':
        return forbiddenList(at, list.watch)
      case 'tooMany':
        return tooManyNamespaces(at, known.most)
      case 'some':
        return 'unloaded'
      case 'unknown':
        return 'unknown'
    }
  }

  /** Whether the viewer may look up the object with this key, as far as the server knows. */
  looks(at: ClusterKind, key: string): boolean | undefined {
    return this.#knownAny(at.cluster, lookQuestions(at, key))
  }

  /** As {@link looks}, but asks the API server if the answer is not known. Rejects with `ClientError`. */
  mayLook(at: ClusterKind, key: string): Promise<boolean> {
    return this.#mayAny(at.cluster, lookQuestions(at, key))
  }

  /** As {@link looks}, for every object of a namespace; `''`: every object of the kind. */
  looksIn(at: ClusterKind, namespace: string): boolean | undefined {
    return this.#knownAny(at.cluster, placeQuestions(at, namespace))
  }

  /** As {@link mayLook}, for every object of a namespace; `''`: every object of the kind. */
  mayLookIn(at: ClusterKind, namespace: string): Promise<boolean> {
    return this.#mayAny(at.cluster, placeQuestions(at, namespace))
  }

  /** Whether the viewer may list a kind in a namespace, `''`: all. Asks if needed. Rejects with `ClientError`. */
  mayList({ cluster, kind }: ClusterKind, namespace: string): Promise<boolean> {
    return this.may(cluster, questionOf('list', kind.resource, { namespace }))
  }

  /**
   * The time until which the viewer's permission for all these verbs in all these namespaces is valid without news of
   * RBAC, by `performance.now()`. `''` stands for all namespaces. `-Infinity` if one of them is not known to be
   * allowed.
   */
  allowedUntilMs(at: ClusterKind, namespaces: Iterable<string>, verbs: readonly string[]): number {
    const access = this.#in(at.cluster)
    const { resource } = at.kind
    let untilMs = Infinity
    for (const namespace of namespaces) {
      // A Namespace lies in the namespace of its own name.
      const place = resource.namespaced ? { namespace } : { namespace, name: namespace }
      for (const verb of verbs) {
        const question = questionOf(verb, resource, place)
        untilMs = Math.min(untilMs, access.allowedUntilMs(this.viewer, question))
      }
    }
    return untilMs
  }

  /** Whether the viewer may do something. Asks the API server if the answer is not known. Rejects with `ClientError`. */
  may(cluster: string, question: AccessQuestion): Promise<boolean> {
    return this.#mayAny(cluster, [question])
  }

  /** Whether the viewer may do something, as far as the server knows or {@link askAll} has found for this answer. */
  knownOrAsked(cluster: string, question: AccessQuestion): boolean | undefined {
    const known = this.#in(cluster).known(this.viewer, question)
    return known ?? this.#asked.get(`${cluster}\n${questionKey(question)}`)
  }

  /** The reason why this answer may not ask what the viewer `can` do; `undefined`: it may, until it ends. */
  refusal(cluster: string): ClientError | undefined {
    const retryAfterMs = this.#mayAskIn.has(cluster) ? 0 : this.#in(cluster).pauseMs(this.viewer)
    if (retryAfterMs === 0) {
      this.#mayAskIn.add(cluster)
      return undefined
    }
    const message = 'this user has asked for too many access reviews'
    const hint = 'wait, or ask for fewer permissions'
    return new ClientError('TOO_MANY_OPERATIONS', message, { cluster, hint, retryAfterMs })
  }

  /** Asks all unknown questions, or none if that exceeds a review limit. Rejects with `ClientError`. */
  async askAll(cluster: string, questions: readonly AccessQuestion[]): Promise<void> {
    const access = this.#in(cluster)
    const refusal = this.refusal(cluster)
    if (refusal !== undefined) throw refusal
    const open = questions.filter((one) => access.known(this.viewer, one) === undefined)
    this.#spend(
      cluster,
      open.flatMap((one) => access.unknown(this.viewer, one)),
    )
    // A failed review does not discard the results of the others.
    const ask = async (one: AccessQuestion): Promise<void> => {
      this.#asked.set(`${cluster}\n${questionKey(one)}`, await this.may(cluster, one))
    }
    const asked = await Promise.allSettled(open.map(ask))
    for (const one of asked) if (one.status === 'rejected') throw one.reason
  }

  /** Whether the viewer may read any of what is needed, as far as the server knows. */
  admission(need: KindNeed): Admission {
    const { list, keys, cluster, kind } = need
    if (list !== undefined) return admissionTo(this.#list(need, list))
    if (keys === undefined) {
      return admissionOf(this.#in(cluster).known(this.viewer, questionOf('list', kind.resource)))
    }
    if (keys.length === 0) {
      const isAllowed = this.looksIn(need, '')
      return isAllowed === false ? admissionTo(this.#list(need, anywhere)) : admissionOf(isAllowed)
    }
    const known = keys.map((key) => this.looks(need, key))
    return admissionOf(known.includes(undefined) ? undefined : known.includes(true))
  }

  /** Asks the API server for the permissions that {@link admission} needs. Rejects with `ClientError`. */
  async ask(need: KindNeed): Promise<void> {
    const { list, keys, cluster, kind } = need
    if (keys !== undefined && keys.length > 0) {
      await Promise.all(keys.map((key) => this.mayLook(need, key)))
      return
    }
    if (list === undefined) {
      await this.may(cluster, questionOf('list', kind.resource))
      if (keys === undefined) return
      await this.may(cluster, questionOf('get', kind.resource))
    }
    try {
      for (let stage = 0; stage < maxStages; stage++) {
        const asked = this.#list(need, list ?? anywhere)
        if (asked.state !== 'unknown') return
        this.#spend(cluster, asked.questions)
        await this.#in(cluster).ask(this.viewer, asked.questions)
      }
    } catch (error) {
      throw reviewFailure(cluster, error)
    }
  }

  /** Whether the viewer may do any of these, as far as the server knows. */
  #knownAny(cluster: string, questions: readonly AccessQuestion[]): boolean | undefined {
    const access = this.#in(cluster)
    let isUnknown = false
    for (const question of questions) {
      const known = access.known(this.viewer, question)
      if (known === true) return true
      if (known === undefined) isUnknown = true
    }
    return isUnknown ? undefined : false
  }

  /** The same, but asks the API server, question by question, if needed. Rejects with `ClientError`. */
  async #mayAny(cluster: string, questions: readonly AccessQuestion[]): Promise<boolean> {
    const access = this.#in(cluster)
    try {
      for (const question of questions) {
        const known = access.known(this.viewer, question)
        if (
          known ??
          (await access.may(this.viewer, question, (one) => this.#spend(cluster, [one])))
        )
          return true
      }
      return false
    } catch (error) {
      throw reviewFailure(cluster, error)
    }
  }

  #list(at: ClusterKind, { within, watch }: ListNeed): ListAccess {
    const { resource } = at.kind
    return this.#in(at.cluster).list(this.viewer, {
      resource,
      verbs: watch ? watching : listing,
      within: resource.namespaced ? within : undefined,
      present: () => this.#present(at),
    })
  }

  #in(cluster: string): ClusterAccess {
    const access = this.#served.access.get(cluster)
    if (access === undefined) throw new TypeError(`there is no cluster ${cluster}`)
    return access
  }

  #present({ cluster, kind }: ClusterKind): PresentNamespaces | undefined {
    const view = this.#served.clusters.get(cluster)?.synced(kind.resource)
    if (view === undefined) return undefined
    return {
      position: view.resourceVersion,
      namespaces: () => [...view.index('namespace').values()],
    }
  }

  #spend(cluster: string, questions: readonly AccessQuestion[]): void {
    const { maxReviewsPerOperation } = this.#in(cluster).limits
    for (const question of questions) {
      this.#reviews.add(`${cluster}\n${questionKey(question)}`)
      if (this.#reviews.size > maxReviewsPerOperation) throw tooManyReviews(maxReviewsPerOperation)
    }
  }
}

const anywhere = { watch: false } as const

/** All namespaces; those that have objects; the others. */
const maxStages = 4

function admissionTo({ state }: ListAccess): Admission {
  if (state === 'unknown') return 'unknown'
  return state === 'allowed' || state === 'some' ? 'admitted' : 'refused'
}

function admissionOf(known: boolean | undefined): Admission {
  if (known === undefined) return 'unknown'
  return known ? 'admitted' : 'refused'
}

/** A viewer may look up an object if they may list its namespace or get the object. */
function lookQuestions(
  { kind: { resource } }: ClusterKind,
  key: string,
): readonly AccessQuestion[] {
  const at = splitObjectKey(key)
  return [
    questionOf('list', resource, { namespace: at.namespace }),
    questionOf('get', resource, placeOf(resource, at)),
  ]
}

/** A viewer may look up a whole namespace if they may list or get everything in it; `''`: all namespaces. */
function placeQuestions(
  { kind: { resource } }: ClusterKind,
  namespace: string,
): readonly AccessQuestion[] {
  return [questionOf('list', resource, { namespace }), questionOf('get', resource, { namespace })]
}
