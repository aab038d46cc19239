/*
 * The access of viewers to one cluster. It asks the API server by SubjectAccessReviews (`access-reviews.ts`), from wide
 * questions to narrow ones, and caches the answers until they expire or RBAC changes (`rbac-watch.ts`, `rbac-changes.ts`).
 * `list` combines them into the list access to a kind (`list-access.ts`). The watch of RBAC starts with the first question.
 */

import { LRUCache } from 'lru-cache'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import { type AccessQuestion, widened } from './access-question.ts'
import { type AccessLimits, AccessReviews, grownTo } from './access-reviews.ts'
import {
  type ListAccess,
  listAccess,
  type ListQuestion,
  type PresentNamespaces,
} from './list-access.ts'
import { changeForAll, type RbacChange, settleTimesMs } from './rbac-changes.ts'
import { type FollowedResource, RbacWatch, type WatchedCluster } from './rbac-watch.ts'
import type { ReviewRequests } from './subject-access-review.ts'
import { foreignViewer, type Viewer, viewerKey } from './viewer.ts'
import { outsideRequests } from '../lib/async-context.ts'

export interface AccessConnection extends WatchedCluster {
  readonly server: ReviewRequests
}

export interface ClusterAccessOptions {
  readonly cluster: string
  readonly isDefault: () => boolean
  /** Returns the connection. Throws if the cluster is unreachable. */
  readonly connection: () => AccessConnection
  readonly limits: AccessLimits
  /** The namespaces to ask about if the gateway may not list the cluster's namespaces. */
  readonly namespaces?: () => readonly string[]
  readonly reflector: ReflectorOptions
  /** Receives failures of a watch. Without it, permissions change only when their answers expire. */
  readonly failed: (resource: string, error: Error) => void
}

/**
 * `FOLLOWING`: all changes of RBAC are watched, and all cached answers are newer than the last one. `SETTLING`: RBAC
 * has just changed, and answers are reviewed again. `EXPIRING`: some of RBAC cannot be watched, so answers are valid
 * until they expire.
 */
export type AccessState = 'FOLLOWING' | 'SETTLING' | 'EXPIRING'

/** How long the first reviews wait for the list of RBAC: earlier answers would need another review soon. */
const watchReadyMs = 2_000

const maxScopes = 10_000

export class ClusterAccess implements AsyncDisposable {
  readonly #options: ClusterAccessOptions
  readonly #reviews: AccessReviews
  readonly #stop = new AbortController()
  readonly #listeners = new Set<{ readonly viewer: Viewer; readonly changed: () => void }>()
  readonly #scopes = new LRUCache<string, KnownScope>(grownTo(maxScopes))
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Aborts when another cluster answers. */
  #leaving = new AbortController()
  #watch: RbacWatch | undefined
  #running: Promise<void> = Promise.resolve()
  #ready: Promise<void> | undefined

  constructor(options: ClusterAccessOptions) {
    this.#options = options
    const { cluster, limits } = options
    this.#reviews = new AccessReviews(cluster, () => options.connection().server, limits)
  }

  get limits(): AccessLimits {
    return this.#options.limits
  }

  /** The state; `undefined` before the first question. */
  get state(): AccessState | undefined {
    if (this.#watch === undefined) return undefined
    if (!this.#watch.isFollowing) return 'EXPIRING'
    return this.#reviews.decisions.changes.isSettled ? 'FOLLOWING' : 'SETTLING'
  }

  get positions(): readonly FollowedResource[] {
    return this.#watch?.positions ?? []
  }

  /** The namespaces of the cluster; `undefined` if unknown. A viewer may not be allowed to see all of them. */
  get namespaces(): readonly string[] | undefined {
    const listed = this.#watch?.namespaces()
    return listed?.length === 0 ? (this.#options.namespaces?.() ?? listed) : listed
  }

  get counts(): { readonly sent: number; readonly kept: number } {
    return { sent: this.#reviews.sent, kept: this.#reviews.decisions.size }
  }

  /** The known answer to a question; `undefined` if a review is needed. */
  known(viewer: Viewer, question: AccessQuestion): boolean | undefined {
    const local = this.#local(viewer)
    let isUnknown = false
    for (const wider of widened(question)) {
      const known = this.#reviews.known(local, wider)?.allowed
      if (known === true) return true
      if (known === undefined) isUnknown = true
    }
    return isUnknown ? undefined : false
  }

  /** See `AccessReviews.pauseMs`. */
  pauseMs(viewer: Viewer): number {
    return this.#reviews.pauseMs(this.#local(viewer))
  }

  /** See `AccessReviews.silentMs`. */
  get silentMs(): number {
    return this.#reviews.silentMs
  }

  /** The reviews that a question may need. */
  unknown(viewer: Viewer, question: AccessQuestion): readonly AccessQuestion[] {
    const local = this.#local(viewer)
    return widened(question).filter((one) => this.#reviews.known(local, one) === undefined)
  }

  /**
   * Answers a question by reviews from wide to narrow. Calls `spend` before each review. Rejects with
   * `AccessReviewError`, and with the errors of `spend`.
   */
  async may(
    viewer: Viewer,
    question: AccessQuestion,
    spend: (question: AccessQuestion) => void,
  ): Promise<boolean> {
    await this.#watching()
    const local = this.#local(viewer)
    for (const wider of widened(question)) {
      const known = this.#reviews.known(local, wider)?.allowed
      if (known === undefined) spend(wider)
      if (known ?? (await this.#reviews.ask(local, wider))) return true
    }
    return false
  }

  /** Reviews exactly these questions, so that their answers are known. Rejects with `AccessReviewError`. */
  async ask(viewer: Viewer, questions: readonly AccessQuestion[]): Promise<void> {
    await this.#watching()
    const local = this.#local(viewer)
    await Promise.all(questions.map((question) => this.#reviews.ask(local, question)))
  }

  /** The known list access of a viewer to a kind. */
  list(asker: Viewer, question: ListQuestion): ListAccess {
    const viewer = this.#local(asker)
    const { resource, verbs, within, isAny = false, isPast = false } = question
    const place = within === undefined ? '*' : within.toSorted().join(',')
    // If one namespace is enough, the scope has only that one. It is no answer to the question about all.
    const extent = isPast ? 'past' : isAny ? 'any' : 'all'
    const key = `${viewerKey(viewer)}\n${resource.group}/${resource.resource}\n${verbs.join()}\n${extent} ${place}`
    const known = this.#scopes.get(key)
    const present = isPast ? undefined : question.present()
    if (known !== undefined && this.#isCurrent(known, viewer, present)) return known.access
    let untilMs = Number.POSITIVE_INFINITY
    let isByOthers = false
    const access = listAccess(
      { ...question, present: () => present?.namespaces() },
      {
        known: (one) => {
          const decision = this.#reviews.known(viewer, one)
          if (decision === undefined) return undefined
          untilMs = Math.min(untilMs, this.#reviews.decisions.untilMs(decision))
          isByOthers ||= decision.grounds === undefined
          return decision.allowed
        },
        namespaces: () => this.namespaces,
        maxNamespaces: this.limits.maxNamespaces,
      },
    )
    const isWhole = access.state === 'allowed' && access.scope.form === 'all'
    const depends = within === undefined && !isWhole
    // No store tells of a change of the namespaces of the past.
    const isKept = !(isPast && depends)
    if (isKept && (access.state === 'allowed' || access.state === 'forbidden')) {
      const candidates = depends ? new Set(present?.namespaces()) : undefined
      const position = present?.position
      const version = this.#versionOf(viewer, isByOthers)
      this.#scopes.set(key, { access, version, isByOthers, untilMs, candidates, position })
    } else this.#scopes.delete(key)
    return access
  }

  /**
   * The time until which the viewer's access is valid without news of RBAC, by `performance.now()`; `-Infinity` unless the
   * access is known and allowed.
   */
  allowedUntilMs(viewer: Viewer, question: AccessQuestion): number {
    const { decisions } = this.#reviews
    const local = this.#local(viewer)
    const untilMs = widened(question).map((wider) => {
      const decision = this.#reviews.known(local, wider)
      return decision?.allowed === true ? decisions.untilMs(decision) : Number.NEGATIVE_INFINITY
    })
    return Math.max(...untilMs)
  }

  /** Calls `changed` when a permission of the viewer may have changed. Returns a function that removes it. */
  onChange(viewer: Viewer, changed: () => void): () => void {
    const listener = { viewer: this.#local(viewer), changed }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Forgets all answers and watches, after another cluster has answered. */
  forget(): void {
    this.#leaving.abort(new Error('another cluster answers now'))
    this.#leaving = new AbortController()
    this.#watch = undefined
    this.#ready = undefined
    this.#changed([changeForAll('')])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the gateway is stopping'))
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.#listeners.clear()
    await this.#running
  }

  /** The viewer without the `system:` names of other clusters. */
  #local(viewer: Viewer): Viewer {
    const { cluster, isDefault } = this.#options
    const { systemIdentityClusters: own } = viewer
    const isOwn = own === undefined ? isDefault() : own.includes(cluster) || own.includes('*')
    return isOwn ? viewer : foreignViewer(viewer)
  }

  #versionOf(viewer: Viewer, isByOthers: boolean): number {
    const { changes } = this.#reviews.decisions
    return isByOthers ? changes.count : changes.versionOf(viewer)
  }

  #isCurrent(known: KnownScope, viewer: Viewer, present: PresentNamespaces | undefined): boolean {
    const { version, isByOthers, untilMs, candidates } = known
    if (version !== this.#versionOf(viewer, isByOthers)) return false
    if (performance.now() >= untilMs) return false
    if (candidates === undefined || known.position === present?.position) return true
    // The store has changed. Compares its namespaces, which may be the same.
    const namespaces = present?.namespaces() ?? []
    if (namespaces.length !== candidates.size) return false
    if (!namespaces.every((namespace) => candidates.has(namespace))) return false
    known.position = present?.position
    return true
  }

  /**
   * Starts the watch of RBAC at the first question with a connection. Resolves when RBAC is listed, as far as possible.
   */
  async #watching(): Promise<void> {
    if (this.#watch === undefined && !this.#stop.signal.aborted) this.#startWatching()
    await this.#ready
  }

  #startWatching(): void {
    const { connection, reflector, failed } = this.#options
    let cluster: AccessConnection
    try {
      cluster = connection()
    } catch {
      // The review reports the failure. The next question tries again.
      return
    }
    this.#watch = new RbacWatch({
      cluster,
      reflector,
      changed: (changes) => this.#changed(changes),
      namespacesChanged: () => this.#tell([changeForAll('')]),
      failed,
    })
    const ended = this.#running
    const signal = AbortSignal.any([this.#stop.signal, this.#leaving.signal])
    const watch = this.#watch
    const watching = outsideRequests(() => watch.run(signal))
    this.#running = Promise.all([ended, watching]).then(() => {})
    this.#ready = watch.ready(watchReadyMs)
  }

  #changed(changes: readonly RbacChange[]): void {
    const known = this.#reviews.decisions.changes
    known.add(changes)
    this.#tellListeners(changes)
    for (const settle of settleTimesMs) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        this.#tell(changes)
      }, settle)
      timer.unref()
      this.#timers.add(timer)
    }
  }

  #tell(changes: readonly RbacChange[]): void {
    this.#reviews.decisions.changes.tell(changes)
    this.#tellListeners(changes)
  }

  #tellListeners(changes: readonly RbacChange[]): void {
    const isAffected = this.#reviews.decisions.changes.affected(changes)
    for (const { viewer, changed } of this.#listeners) if (isAffected(viewer)) changed()
  }
}

interface KnownScope {
  readonly access: ListAccess
  readonly version: number
  /** Whether an authorizer other than RBAC has decided a part of it. */
  readonly isByOthers: boolean
  readonly untilMs: number
  /** The namespaces of the store, if the answer depends on them. */
  readonly candidates: ReadonlySet<string> | undefined
  /** The position of the store with these namespaces. */
  position: string | undefined
}
