import {
  type AccessQuestion,
  placeOf,
  questionKey,
  questionOf,
} from '../../access/access-question.ts'
import type { ClusterAccess } from '../../access/cluster-access.ts'
import type { ListAccess, PresentNamespaces } from '../../access/list-access.ts'
import { AccessReviewError } from '../../access/subject-access-review.ts'
import { type Viewer, viewerKey } from '../../access/viewer.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** How an operation reads a kind. This decides which permissions it needs. */
export interface KindNeed extends ClusterKind {
  /** As a list, within these namespaces or all. */
  readonly list?: { readonly within?: readonly string[] | undefined; readonly watch: boolean }
  /** As single objects, by their keys. Empty: one object, its key not known yet. */
  readonly keys?: readonly string[]
}

/** Whether the viewer may read anything of a kind, as far as the server knows. */
export type Admission = 'admitted' | 'refused' | 'unknown'

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

  /** What the viewer may list of a kind, as far as the server knows. */
  list(at: ClusterKind, { within, watch }: NonNullable<KindNeed['list']>): ListAccess {
    const { resource } = at.kind
    return this.#of(at).list(this.viewer, {
      resource,
      verbs: watch ? watching : listing,
      within: resource.namespaced ? within : undefined,
      present: () => this.#present(at),
    })
  }

  /** Whether the viewer may look up every object of a kind by name, as far as the server knows. */
  looksEverywhere(at: ClusterKind): boolean | undefined {
    return this.#either(at, lookQuestions(at))
  }

  /** Whether the viewer may look up the object with this key, as far as the server knows. */
  looks(at: ClusterKind, key: string): boolean | undefined {
    return this.#either(at, lookQuestions(at, key))
  }

  /** Whether the viewer may look up every object of a kind in a namespace by name, as far as the server knows. */
  looksIn(at: ClusterKind, namespace: string): boolean | undefined {
    return this.#either(at, lookQuestionsIn(at, namespace))
  }

  /** As {@link looksIn}, but asks the API server if the answer is not known. Rejects with `ClientError`. */
  async mayLookIn(at: ClusterKind, namespace: string): Promise<boolean> {
    for (const question of lookQuestionsIn(at, namespace)) {
      if (await this.may(at.cluster, question)) return true
    }
    return false
  }

  /**
   * The time until which the viewer's permission for all these verbs in all these namespaces is valid without news of
   * RBAC, by `performance.now()`. `''` stands for all namespaces. `-Infinity` if one of them is not known to be
   * allowed.
   */
  allowedUntilMs(at: ClusterKind, namespaces: Iterable<string>, verbs: readonly string[]): number {
    const access = this.#of(at)
    const { resource } = at.kind
    // A Namespace lies in the namespace of its own name.
    const placed = (namespace: string) =>
      resource.namespaced ? { namespace } : { namespace, name: namespace }
    const until = (verb: string, namespace: string): number =>
      access.allowedUntilMs(this.viewer, questionOf(verb, resource, placed(namespace)))
    const each = Array.from(namespaces, (namespace) =>
      Math.min(...verbs.map((verb) => until(verb, namespace))),
    )
    return Math.min(...each)
  }

  /** The same for any one of these questions: the latest time. `-Infinity` if none is known to be allowed. */
  mayUntilMs(cluster: string, questions: readonly AccessQuestion[]): number {
    const access = this.#in(cluster)
    return Math.max(...questions.map((one) => access.allowedUntilMs(this.viewer, one)))
  }

  /** The same for a look-up of the object with this key. */
  looksUntilMs(at: ClusterKind, key: string): number {
    return this.mayUntilMs(at.cluster, lookQuestions(at, key))
  }

  /** Whether the viewer may do something, as far as the server knows. */
  known(cluster: string, question: AccessQuestion): boolean | undefined {
    return this.#in(cluster).known(this.viewer, question)
  }

  /** As {@link known}, but asks the API server if the answer is not known. Rejects with `ClientError`. */
  async may(cluster: string, question: AccessQuestion): Promise<boolean> {
    const access = this.#in(cluster)
    const known = access.known(this.viewer, question)
    if (known !== undefined) return known
    try {
      return await access.may(this.viewer, question, (one) => this.#spend(cluster, [one]))
    } catch (error) {
      throw reviewFailure(cluster, error)
    }
  }

  /** As {@link known}, with the results of {@link askAll} for this answer. */
  knownOrAsked(cluster: string, question: AccessQuestion): boolean | undefined {
    return this.known(cluster, question) ?? this.#asked.get(`${cluster}\n${questionKey(question)}`)
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
    const reviews = open.flatMap((one) => access.unknown(this.viewer, one))
    this.#spend(cluster, reviews)
    // A failed review does not discard the results of the others.
    const ask = async (one: AccessQuestion): Promise<void> => {
      this.#asked.set(`${cluster}\n${questionKey(one)}`, await this.may(cluster, one))
    }
    const asked = await Promise.allSettled(open.map(ask))
    for (const one of asked) if (one.status === 'rejected') throw one.reason
  }

  /** As {@link looks}, but asks the API server if the answer is not known. Rejects with `ClientError`. */
  async mayLook(at: ClusterKind, key: string): Promise<boolean> {
    for (const question of lookQuestions(at, key)) {
      if (await this.may(at.cluster, question)) return true
    }
    return false
  }

  /** Whether the viewer may list a kind in a namespace, `''`: all. Asks if needed. Rejects with `ClientError`. */
  mayList({ cluster, kind }: ClusterKind, namespace: string): Promise<boolean> {
    return this.may(cluster, questionOf('list', kind.resource, { namespace }))
  }

  /** Whether the viewer may read any of what is needed, as far as the server knows. */
  admission(need: KindNeed): Admission {
    const { list, keys } = need
    if (list !== undefined) return admissions[this.list(need, list).state]
    if (keys === undefined || keys.length === 0) {
      const isKnown =
        keys === undefined
          ? this.#of(need).known(this.viewer, questionOf('list', need.kind.resource))
          : this.looksEverywhere(need)
      if (isKnown !== false || keys === undefined) return admissionOf(isKnown)
      return admissions[this.list(need, anywhere).state]
    }
    const known = keys.map((key) => this.looks(need, key))
    if (known.includes(undefined)) return 'unknown'
    return known.includes(true) ? 'admitted' : 'refused'
  }

  /** Asks the API server for the permissions that {@link admission} needs. Rejects with `ClientError`. */
  async ask(need: KindNeed): Promise<void> {
    const access = this.#of(need)
    try {
      if (need.keys !== undefined && need.keys.length > 0) {
        await Promise.all(need.keys.map((key) => this.mayLook(need, key)))
        return
      }
      if (need.list === undefined) {
        const { resource } = need.kind
        await this.may(need.cluster, questionOf('list', resource))
        if (need.keys === undefined) return
        await this.may(need.cluster, questionOf('get', resource))
      }
      for (let stage = 0; stage < maxStages; stage++) {
        const asked = this.list(need, need.list ?? anywhere)
        if (asked.state !== 'unknown') return
        this.#spend(need.cluster, asked.questions)
        await access.ask(this.viewer, asked.questions)
      }
    } catch (error) {
      throw reviewFailure(need.cluster, error)
    }
  }

  #either(at: ClusterKind, questions: readonly AccessQuestion[]): boolean | undefined {
    const access = this.#of(at)
    let isUnknown = false
    for (const question of questions) {
      const known = access.known(this.viewer, question)
      if (known === true) return true
      if (known === undefined) isUnknown = true
    }
    return isUnknown ? undefined : false
  }

  #of({ cluster }: ClusterKind): ClusterAccess {
    return this.#in(cluster)
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

const admissions: Readonly<Record<ListAccess['state'], Admission>> = {
  allowed: 'admitted',
  forbidden: 'refused',
  some: 'admitted',
  tooMany: 'refused',
  unknown: 'unknown',
}

function admissionOf(known: boolean | undefined): Admission {
  if (known === undefined) return 'unknown'
  return known ? 'admitted' : 'refused'
}

/** A viewer may look up an object if they may list it or get it. Without a key: every object. */
function lookQuestions(
  { kind: { resource } }: ClusterKind,
  key?: string,
): readonly AccessQuestion[] {
  if (key === undefined) return [questionOf('list', resource), questionOf('get', resource)]
  const at = splitObjectKey(key)
  return [
    questionOf('list', resource, { namespace: at.namespace }),
    questionOf('get', resource, placeOf(resource, at)),
  ]
}

/** A viewer may look up a whole namespace if they may list or get everything in it; `''`: all namespaces. */
function lookQuestionsIn(
  { kind: { resource } }: ClusterKind,
  namespace: string,
): readonly AccessQuestion[] {
  return [questionOf('list', resource, { namespace }), questionOf('get', resource, { namespace })]
}

/** The error of a field that needs a verb which the viewer lacks. `orElse`: a way out besides the permission. */
export function forbidden({ cluster, kind }: ClusterKind, verb: string, orElse = ''): ClientError {
  const { typeName, resource } = kind
  const hint = `ask for ${verb} on ${resource.resource}${orElse}`
  const message = `you may not ${verb} ${typeName}`
  return new ClientError('FORBIDDEN', message, { cluster, kind: typeName, hint })
}

/** The error of a field that lists what the viewer may not list. */
export function forbiddenList(at: ClusterKind, watch: boolean): ClientError {
  return forbidden(at, watch ? 'list and watch' : 'list', ', or name a namespace where you may')
}

/** The error of a field that needs access reviews for too many namespaces. */
export function tooManyNamespaces({ cluster, kind }: ClusterKind, most: number): ClientError {
  const message = `to find out which ${kind.typeName} you may see, more than ${most} namespaces would have to be asked about`
  return new ClientError('RBAC_BUDGET_EXCEEDED', message, {
    cluster,
    kind: kind.typeName,
    value: most,
    hint: 'name the namespaces: namespace, namespaces, or where: { namespace: … }',
  })
}

function tooManyReviews(most: number): ClientError {
  const message = `the operation needs more than ${most} access reviews`
  const hint = 'ask for fewer objects, or name the namespace'
  return new ClientError('RBAC_BUDGET_EXCEEDED', message, { value: most, hint })
}

function reviewFailure(cluster: string, error: unknown): unknown {
  if (!(error instanceof AccessReviewError)) return error
  const { message, hint, isRefused } = error
  const details = { cluster, hint, cause: error }
  return isRefused
    ? new ClientError('FORBIDDEN', message, details)
    : new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs: 1_000 })
}
