/*
 * The access of one viewer, for one operation or for the frames of one subscription. It answers questions about lists,
 * look-ups and `can` from the reviews that a cluster's access knows. Unknown permissions are asked, within the review
 * budget of the operation. The result is a Scope, or the error of the field. Viewers who may see the same have the same
 * access fingerprint, and can share what depends on nothing else.
 */

import {
  type AccessQuestion,
  placeOf,
  questionKey,
  questionOf,
} from '../../access/access-question.ts'
import type { ClusterAccess } from '../../access/cluster-access.ts'
import type { ListAccess } from '../../access/list-access.ts'
import { type Viewer, viewerKey } from '../../access/viewer.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { Scope } from '../../query/condition/scope.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { ClusterKind, KindView } from './kind-view.ts'
import {
  forbiddenList,
  goneCluster,
  namespacesNotKnown,
  reviewFailure,
  tooManyNamespaces,
} from './read-failures.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { createHash } from 'node:crypto'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'

/** How an operation reads a kind. This decides which permissions it needs. */
export interface KindNeed extends ClusterKind {
  /** As a list, within these namespaces or all. */
  readonly list?: {
    readonly within?: readonly string[] | undefined
    readonly watch: boolean
    /** Whether it is enough to know if the viewer may list any objects. */
    readonly isAny?: boolean
    /** Whether objects that are gone count, so that namespaces without objects do. */
    readonly isPast?: boolean
  }
  /** As single objects, by their keys. Empty: one object whose key is not known yet. */
  readonly keys?: readonly string[]
}

type ListNeed = NonNullable<KindNeed['list']>

/** Whether a need is a list within no namespace: its arguments contradict each other. */
export function isNowhere({ kind, list }: Pick<KindNeed, 'kind' | 'list'>): boolean {
  return kind.resource.namespaced && list?.within?.length === 0
}

/** Whether the viewer may read anything of a kind, as far as the server knows. */
export type Admission = 'admitted' | 'refused' | 'unknown'

/**
 * What a viewer may list of a kind, or the error of a field that lists it. `unknown`: access reviews are missing;
 * `unloaded`: the viewer may list some objects, and the loaded kind will show which.
 */
export type Listed = Scope | ClientError | 'unknown' | 'unloaded'

/** The objects of a kind that a look-up may reach: one object, a namespace, or all. `''` means any, as in the API. */
export interface LookUpPlace {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/**
 * The access of one viewer. Methods that return promises ask the API server for unknown permissions, and reject with
 * `ClientError`.
 */
export class ViewerAccess {
  readonly viewer: Viewer
  readonly #served: ServedSchema
  /** The reviews that this answer needs, by cluster and question. A repeated question counts once. */
  readonly #reviews = new Set<string>()
  /** The clusters in which this answer may ask what the viewer `can` do. */
  readonly #mayAskIn = new Set<string>()
  /** The results of {@link askCan} for this answer, in case the reviews expire before the answer is written. */
  readonly #asked = new Map<string, boolean>()

  constructor(served: ServedSchema, viewer: Viewer) {
    this.#served = served
    this.viewer = viewer
  }

  get identity(): string {
    return viewerKey(this.viewer)
  }

  /** The access of all viewers to a cluster. Throws `ClientError` if this gateway does not hold it. */
  in(cluster: string): ClusterAccess {
    const { access, clusters } = this.#served
    const known = access.get(cluster)
    if (known === undefined) throw goneCluster(cluster, clusters.get(cluster)?.connection)
    return known
  }

  /** Starts another answer, with a review budget of its own. */
  begin(): void {
    this.#reviews.clear()
    this.#mayAskIn.clear()
    this.#asked.clear()
  }

  /** Whether the viewer may read any part of the need, as far as the server knows. */
  admission(need: KindNeed): Admission {
    const { list, keys, cluster, kind } = need
    // An empty list needs no informer.
    if (isNowhere(need)) return 'refused'
    if (list !== undefined) return admissionTo(this.#list(need, list))
    if (keys === undefined) {
      const question = questionOf('list', kind.resource)
      return admissionOf(this.in(cluster).known(this.viewer, question))
    }
    if (keys.length === 0) {
      const isAllowed = this.looks(need)
      return isAllowed === false ? admissionTo(this.#list(need, anywhere)) : admissionOf(isAllowed)
    }
    const known = keys.map((key) => this.looks(need, splitObjectKey(key)))
    return admissionOf(known.includes(undefined) ? undefined : known.includes(true))
  }

  /** Asks for the permissions that {@link admission} needs. */
  async ask(need: KindNeed): Promise<void> {
    const { list, keys, cluster, kind } = need
    if (keys !== undefined && keys.length > 0) {
      await Promise.all(keys.map((key) => this.mayLook(need, splitObjectKey(key))))
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
        await this.in(cluster).ask(this.viewer, asked.questions)
      }
    } catch (error) {
      throw reviewFailure(cluster, error)
    }
  }

  /** What the viewer may list of a kind, as far as the server knows. No other code decides this. */
  list(at: ClusterKind, list: ListNeed = anywhere): Listed {
    const known = this.#list(at, list)
    switch (known.state) {
      case 'allowed':
        return known.scope
      case 'forbidden':
        return forbiddenList(at, list.watch)
      case 'tooMany':
        return tooManyNamespaces(at, known.most)
      case 'noNamespaces':
        return namespacesNotKnown(at, ', or name the namespaces')
      case 'some':
        return list.isPast === true ? tooManyNamespaces(at, known.most) : 'unloaded'
      case 'unknown':
        return 'unknown'
    }
  }

  /** Whether the viewer may look up objects of a kind, as far as the server knows. */
  looks({ cluster, kind }: ClusterKind, place?: LookUpPlace): boolean | undefined {
    const access = this.in(cluster)
    let isUnknown = false
    for (const question of lookUpQuestions(kind, place)) {
      const known = access.known(this.viewer, question)
      if (known === true) return true
      if (known === undefined) isUnknown = true
    }
    return isUnknown ? undefined : false
  }

  /** As {@link looks}, but asks if needed. */
  mayLook({ cluster, kind }: ClusterKind, place?: LookUpPlace): Promise<boolean> {
    return this.may(cluster, ...lookUpQuestions(kind, place))
  }

  /** Whether the viewer may do any of these. Asks one after the other if needed. */
  async may(cluster: string, ...questions: readonly AccessQuestion[]): Promise<boolean> {
    const access = this.in(cluster)
    const spend = (question: AccessQuestion): void => this.#spend(cluster, [question])
    try {
      for (const question of questions) {
        const known = access.known(this.viewer, question)
        if (known ?? (await access.may(this.viewer, question, spend))) return true
      }
      return false
    } catch (error) {
      throw reviewFailure(cluster, error)
    }
  }

  /**
   * Whether the viewer `can` do something, as far as the server knows or {@link askCan} has found for this answer. An
   * error if that is unknown and the user has to wait before asking; `undefined` if this answer may ask.
   */
  can(cluster: string, question: AccessQuestion): boolean | ClientError | undefined {
    const known = this.in(cluster).known(this.viewer, question)
    return known ?? this.#asked.get(`${cluster}\n${questionKey(question)}`) ?? this.#wait(cluster)
  }

  /** Asks all unknown questions of {@link can}, or none if that exceeds a review limit. */
  async askCan(cluster: string, questions: readonly AccessQuestion[]): Promise<void> {
    const access = this.in(cluster)
    const wait = this.#wait(cluster)
    if (wait !== undefined) throw wait
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

  /** The error of a user who must wait before an answer asks about `can`. An answer that has begun to ask may go on. */
  #wait(cluster: string): ClientError | undefined {
    const retryAfterMs = this.#mayAskIn.has(cluster) ? 0 : this.in(cluster).pauseMs(this.viewer)
    if (retryAfterMs === 0) {
      this.#mayAskIn.add(cluster)
      return undefined
    }
    const message = 'this user has asked for too many access reviews'
    const hint = 'wait, or ask for fewer permissions'
    return new ClientError('TOO_MANY_OPERATIONS', message, { cluster, hint, retryAfterMs })
  }

  #list(
    { cluster, kind: { resource } }: ClusterKind,
    { within, watch, isAny, isPast }: ListNeed,
  ): ListAccess {
    return this.in(cluster).list(this.viewer, {
      resource,
      verbs: watch ? watching : listing,
      within: resource.namespaced ? within : undefined,
      isAny,
      isPast,
      present: () => {
        const view = this.#served.clusters.get(cluster)?.synced(resource)
        const namespaces = (): string[] => [...(view?.index('namespace').values() ?? [])]
        return view && { position: view.resourceVersion, namespaces }
      },
    })
  }

  #spend(cluster: string, questions: readonly AccessQuestion[]): void {
    const { maxReviewsPerOperation } = this.in(cluster).limits
    for (const question of questions) {
      this.#reviews.add(`${cluster}\n${questionKey(question)}`)
      if (this.#reviews.size <= maxReviewsPerOperation) continue
      const message = `the operation needs more than ${maxReviewsPerOperation} access reviews`
      const hint = 'ask for fewer objects, or name the namespace'
      const details = { value: maxReviewsPerOperation, hint }
      throw new ClientError('RBAC_BUDGET_EXCEEDED', message, details)
    }
  }
}

const anywhere = { watch: false } as const
const listing = ['list']
const watching = ['list', 'watch']

/** Stages: all namespaces, then namespaces that have objects, then the others. */
const maxStages = 4

function admissionTo({ state }: ListAccess): Admission {
  if (state === 'unknown') return 'unknown'
  return state === 'allowed' || state === 'some' ? 'admitted' : 'refused'
}

function admissionOf(known: boolean | undefined): Admission {
  if (known === undefined) return 'unknown'
  return known ? 'admitted' : 'refused'
}

/** A viewer may look up objects if they may list the namespace or get the objects. */
function lookUpQuestions(
  { resource }: Kind,
  { namespace = '', name = '' }: LookUpPlace = {},
): readonly AccessQuestion[] {
  return [
    questionOf('list', resource, { namespace }),
    questionOf('get', resource, placeOf(resource, { namespace, name })),
  ]
}

export interface SeenKind extends Pick<KindView, 'cluster' | 'kind' | 'scope' | 'byName'> {
  /** What the viewer may look up by name, if namespaces decide that. */
  readonly look?: Scope | undefined
}

/**
 * A short text for what a viewer may see of these kinds, in any order. Viewers with the same text see the same objects
 * by the same operation, so they can share its results. `''`: the viewer may see everything. The text is opaque, and
 * changes with each change of access.
 */
export function accessFingerprint(kinds: Iterable<SeenKind>): string {
  const all = [...kinds]
  const isLimited = ({ scope, look = scope }: SeenKind): boolean =>
    scope.form !== 'all' || look.form !== 'all'
  const limited = new Set(all.filter(isLimited).map(nameOf))
  if (limited.size === 0) return ''
  // Takes all entries of a limited kind: one entry may be whole where another is not.
  const lines = new Set<string>()
  for (const one of all) {
    if (!limited.has(nameOf(one))) continue
    const { scope, byName, look } = one
    const seen = [scopeTexts(scope), byName?.identity ?? null, look && scopeTexts(look)]
    lines.add(nameOf(one) + JSON.stringify(seen))
  }
  const text = [...lines].toSorted().join('\n')
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** The fingerprint of the access to several lists, from the fingerprint of each. */
export function joinedFingerprint(fingerprints: readonly string[]): string {
  const [only] = fingerprints
  return fingerprints.length === 1 && only !== undefined ? only : joinedHash(fingerprints)
}

/** A short text for some texts. */
export function joinedHash(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22)
}

function nameOf({ cluster, kind: { resource } }: SeenKind): string {
  return JSON.stringify([cluster, apiVersionOf(resource), resource.resource])
}

function scopeTexts(scope: Scope): readonly unknown[] {
  if (scope.form === 'all') return ['all']
  const places = scope.form === 'names' ? scope.keys : scope.namespaces
  return [scope.form, [...places].toSorted()]
}
