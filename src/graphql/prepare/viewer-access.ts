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

/** How a kind is wanted, as far as that decides what has to be asked. */
export interface KindNeed extends ClusterKind {
  /** As a list, within some namespaces or all. */
  readonly list?: { readonly within?: readonly string[] | undefined; readonly watch: boolean }
  /** As single objects, with these keys; empty: one whose key is not known. */
  readonly keys?: readonly string[]
}

/** Whether something of a kind may be read, as far as it is known. */
export type Admission = 'admitted' | 'refused' | 'unknown'

const listing = ['list']
const watching = ['list', 'watch']

/** What one viewer may see, for one operation, or the frames of a subscription. */
export class ViewerAccess {
  readonly viewer: Viewer
  readonly #served: ServedSchema
  /** The reviews that this answer has needed, by cluster and question: what is asked twice is sent once. */
  readonly #reviews = new Set<string>()
  /** The clusters in which this answer has begun to ask what the viewer `can` do. */
  readonly #mayAskIn = new Set<string>()
  /** What {@link askAll} has found out for this answer. It may be forgotten elsewhere before the answer is written. */
  readonly #asked = new Map<string, boolean>()

  constructor(served: ServedSchema, viewer: Viewer) {
    this.#served = served
    this.viewer = viewer
  }

  get identity(): string {
    return viewerKey(this.viewer)
  }

  /** Another answer begins, which may need as many reviews as any. */
  begin(): void {
    this.#reviews.clear()
    this.#mayAskIn.clear()
    this.#asked.clear()
  }

  /** Calls this whenever a permission of the viewer in a cluster may have changed, until what it returns is called. */
  onChange(cluster: string, changed: () => void): () => void {
    return this.#served.access.get(cluster)?.onChange(this.viewer, changed) ?? (() => {})
  }

  /** How long an answer may be believed of which nothing is heard. */
  longestMs(cluster: string): number {
    return this.#served.access.get(cluster)?.limits.allowMs ?? 0
  }

  /** What may be listed of a kind, as far as it is known. */
  list(at: ClusterKind, { within, watch }: NonNullable<KindNeed['list']>): ListAccess {
    const { resource } = at.kind
    return this.#of(at).list(this.viewer, {
      resource,
      verbs: watch ? watching : listing,
      within: resource.namespaced ? within : undefined,
      present: () => this.#present(at),
    })
  }

  /** Whether everything of a kind may be looked at by its name, as far as it is known. */
  looksEverywhere(at: ClusterKind): boolean | undefined {
    return this.#either(at, lookQuestions(at))
  }

  /** Whether the object with this key may be looked at, as far as it is known. */
  looks(at: ClusterKind, key: string): boolean | undefined {
    return this.#either(at, lookQuestions(at, key))
  }

  /** Whether everything of a kind in a namespace may be looked at by its name, as far as it is known. */
  looksIn(at: ClusterKind, namespace: string): boolean | undefined {
    return this.#either(at, lookQuestionsIn(at, namespace))
  }

  /** Asks that, where it is not known. Rejects with `ClientError`. */
  async mayLookIn(at: ClusterKind, namespace: string): Promise<boolean> {
    for (const question of lookQuestionsIn(at, namespace)) {
      if (await this.may(at.cluster, question)) return true
    }
    return false
  }

  /**
   * Until when it is believed that some namespaces may be listed, or looked at by names where that is allowed; `''`: all of them.
   * `performance.now()` where nothing is heard.
   */
  allowedUntilMs(at: ClusterKind, namespaces: Iterable<string>, verbs: readonly string[]): number {
    const access = this.#of(at)
    const { resource } = at.kind
    // A Namespace is in itself.
    const placed = (namespace: string) =>
      resource.namespaced ? { namespace } : { namespace, name: namespace }
    const until = (verb: string, namespace: string): number =>
      access.allowedUntilMs(this.viewer, questionOf(verb, resource, placed(namespace)))
    const each = Array.from(namespaces, (namespace) =>
      Math.min(...verbs.map((verb) => until(verb, namespace))),
    )
    return Math.min(...each)
  }

  /** Until when it is believed that one of these may be done; `-Infinity` where none of them is known to be so. */
  mayUntilMs(cluster: string, questions: readonly AccessQuestion[]): number {
    const access = this.#in(cluster)
    return Math.max(...questions.map((one) => access.allowedUntilMs(this.viewer, one)))
  }

  /** Until when it is believed that the object with this key may be looked at. */
  looksUntilMs(at: ClusterKind, key: string): number {
    return this.mayUntilMs(at.cluster, lookQuestions(at, key))
  }

  /** Whether a viewer may do something, as far as it is known. */
  known(cluster: string, question: AccessQuestion): boolean | undefined {
    return this.#in(cluster).known(this.viewer, question)
  }

  /** Whether a viewer may do something, asked where it is not known. Rejects with `ClientError`. */
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

  /** Whether the viewer may do something, as far as it is known, or was asked for this answer. */
  knownOrAsked(cluster: string, question: AccessQuestion): boolean | undefined {
    return this.known(cluster, question) ?? this.#asked.get(`${cluster}\n${questionKey(question)}`)
  }

  /** Why this answer may not ask what the viewer `can` do; `undefined` where it may, from then on. */
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

  /** Asks all that is not known of these, or nothing where that is more than an operation, or the user, may. Rejects with `ClientError`. */
  async askAll(cluster: string, questions: readonly AccessQuestion[]): Promise<void> {
    const access = this.#in(cluster)
    const refusal = this.refusal(cluster)
    if (refusal !== undefined) throw refusal
    const open = questions.filter((one) => access.known(this.viewer, one) === undefined)
    const reviews = open.flatMap((one) => access.unknown(this.viewer, one))
    this.#spend(cluster, reviews)
    // One that fails does not take the answers of the others away.
    const ask = async (one: AccessQuestion): Promise<void> => {
      this.#asked.set(`${cluster}\n${questionKey(one)}`, await this.may(cluster, one))
    }
    const asked = await Promise.allSettled(open.map(ask))
    for (const one of asked) if (one.status === 'rejected') throw one.reason
  }

  /** Whether the object with this key may be looked at, asked where it is not known. Rejects with `ClientError`. */
  async mayLook(at: ClusterKind, key: string): Promise<boolean> {
    for (const question of lookQuestions(at, key)) {
      if (await this.may(at.cluster, question)) return true
    }
    return false
  }

  /** Whether a kind may be listed in a namespace, `''` for all, asked where it is not known. Rejects with `ClientError`. */
  mayList({ cluster, kind }: ClusterKind, namespace: string): Promise<boolean> {
    return this.may(cluster, questionOf('list', kind.resource, { namespace }))
  }

  /** Whether anything that is needed may be read, as far as it is known. */
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

  /** Asks what has to be known of what is needed. Rejects with `ClientError`. */
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

/** Everywhere; the namespaces that have objects; the others. */
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

/** Who may list an object, or get it, may look at it. */
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

/** Who may list a namespace, or get whatever is in it, may look at all of it; `''`: everywhere. */
function lookQuestionsIn(
  { kind: { resource } }: ClusterKind,
  namespace: string,
): readonly AccessQuestion[] {
  return [questionOf('list', resource, { namespace }), questionOf('get', resource, { namespace })]
}

/** The error of a field that wants what the viewer may not do; `orElse`: what helps besides the permission. */
export function forbidden({ cluster, kind }: ClusterKind, verb: string, orElse = ''): ClientError {
  const { typeName, resource } = kind
  const hint = `ask for ${verb} on ${resource.resource}${orElse}`
  const message = `you may not ${verb} ${typeName}`
  return new ClientError('FORBIDDEN', message, { cluster, kind: typeName, hint })
}

/** The error of a field that wants to list what the viewer may not. */
export function forbiddenList(at: ClusterKind, watch: boolean): ClientError {
  return forbidden(at, watch ? 'list and watch' : 'list', ', or name a namespace where you may')
}

/** The error of a field that would have to ask about too many namespaces. */
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
