import { LRUCache } from 'lru-cache'
import type { ReflectorOptions } from '../informer/reflector/reflector-options.ts'
import type { AccessLimits } from './access-limits.ts'
import { type AccessQuestion, widened } from './access-question.ts'
import { AccessReviews } from './access-reviews.ts'
import {
  type ListAccess,
  type ListQuestion,
  listAccess,
  type PresentNamespaces,
} from './list-access.ts'
import { changeForAll, type RbacChange } from './rbac-change.ts'
import { settleTimesMs } from './rbac-changes.ts'
import { type FollowedResource, RbacWatch, type WatchedCluster } from './rbac-watch.ts'
import type { ReviewRequests } from './subject-access-review.ts'
import { foreignViewer, type Viewer } from './viewer.ts'
import { viewerKey } from './viewer-key.ts'

/** How a cluster is asked and watched. */
export interface AccessConnection extends WatchedCluster {
  readonly server: ReviewRequests
}

export interface ClusterAccessOptions {
  /** The cluster's name. */
  readonly cluster: string
  /** Whether it is the default cluster. */
  readonly isDefault: () => boolean
  /** Throws where the cluster cannot be reached. */
  readonly connection: () => AccessConnection
  readonly limits: AccessLimits
  readonly reflector: ReflectorOptions
  /** Told of what cannot be watched: then permissions change only as their answers grow old. */
  readonly failed: (resource: string, error: Error) => void
}

/**
 * `FOLLOWING`: every change of RBAC is heard of, and all that is known has been asked since the last one; `SETTLING`: one has
 * come a moment ago, and is asked after again; `EXPIRING`: not all of RBAC can be watched, so what is known is believed until it
 * is too old.
 */
export type AccessState = 'FOLLOWING' | 'SETTLING' | 'EXPIRING'

/** The first reviews of a cluster wait so long for RBAC to be listed, as what is answered before that is soon asked again. */
const watchReadyMs = 2_000

const maxScopes = 10_000

/**
 * What viewers may see of one cluster: permissions by SubjectAccessReview, kept until RBAC changes or they are too old. Starts
 * nothing until somebody is asked about.
 */
export class ClusterAccess implements AsyncDisposable {
  readonly #options: ClusterAccessOptions
  readonly #reviews: AccessReviews
  readonly #stop = new AbortController()
  readonly #listeners = new Set<{ readonly viewer: Viewer; readonly changed: () => void }>()
  readonly #scopes = new LRUCache<string, KnownScope>({ max: maxScopes })
  readonly #timers = new Set<NodeJS.Timeout>()
  /** Aborted when the cluster is another one. */
  #leaving = new AbortController()
  #watch: RbacWatch | undefined
  #running: Promise<void> = Promise.resolve()
  #ready: Promise<void> | undefined

  constructor(options: ClusterAccessOptions) {
    this.#options = options
    const { cluster, limits } = options
    this.#reviews = new AccessReviews({
      cluster,
      limits,
      server: () => options.connection().server,
    })
  }

  get limits(): AccessLimits {
    return this.#options.limits
  }

  /** `undefined` where nobody has been asked about. */
  get state(): AccessState | undefined {
    if (this.#watch === undefined) return undefined
    if (!this.#watch.isFollowing) return 'EXPIRING'
    return this.#reviews.decisions.changes.isSettled ? 'FOLLOWING' : 'SETTLING'
  }

  /** How far RBAC is followed. */
  get positions(): readonly FollowedResource[] {
    return this.#watch?.positions ?? []
  }

  /** Reviews that have been sent, and answers that are kept. */
  get counts(): { readonly sent: number; readonly kept: number } {
    return { sent: this.#reviews.sent, kept: this.#reviews.decisions.size }
  }

  /** Whether a viewer may do something: the answer where it is known, `undefined` where it has to be asked for. */
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

  /** How long a viewer should wait before an operation asks for more reviews; 0 if it may ask now. */
  pauseMs(viewer: Viewer): number {
    return this.#reviews.pauseMs(this.#local(viewer))
  }

  /** What has to be asked at most to know whether a viewer may do something. */
  unknown(viewer: Viewer, question: AccessQuestion): readonly AccessQuestion[] {
    const local = this.#local(viewer)
    return widened(question).filter((one) => this.#reviews.known(local, one) === undefined)
  }

  /**
   * Whether a viewer may do something, asked from wide to narrow; `spend` is told of each question before it is asked. Rejects with
   * `AccessReviewError`, and with what `spend` throws.
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

  /** Asks exactly these, so that they are known. Rejects with `AccessReviewError`. */
  async ask(viewer: Viewer, questions: readonly AccessQuestion[]): Promise<void> {
    await this.#watching()
    const local = this.#local(viewer)
    await Promise.all(questions.map((question) => this.#reviews.ask(local, question)))
  }

  /** What of a kind a viewer may list, as far as that is known. */
  list(asker: Viewer, question: ListQuestion): ListAccess {
    const viewer = this.#local(asker)
    const { resource, verbs, within } = question
    const place = within === undefined ? '' : within.toSorted().join(',')
    const key = `${viewerKey(viewer)}\n${resource.group}/${resource.resource}\n${verbs.join()}\n${place}`
    const known = this.#scopes.get(key)
    const present = question.present()
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
        namespaces: () => this.#watch?.namespaces(),
        maxNamespaces: this.limits.maxNamespaces,
      },
    )
    if (access.state === 'allowed' || access.state === 'forbidden') {
      const isWhole = access.state === 'allowed' && access.scope.form === 'all'
      const depends = within === undefined && !isWhole
      const candidates = depends ? new Set(present?.namespaces()) : undefined
      const position = present?.position
      const version = this.#versionOf(viewer, isByOthers)
      this.#scopes.set(key, { access, version, isByOthers, untilMs, candidates, position })
    } else this.#scopes.delete(key)
    return access
  }

  /**
   * Until when it is believed that a viewer may do something, where nothing is heard of it, as `performance.now()` tells;
   * `-Infinity` where it is not known to be so.
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

  /** Calls `changed` whenever a permission of a viewer may have changed, until the function that it returns is called. */
  onChange(viewer: Viewer, changed: () => void): () => void {
    const listener = { viewer: this.#local(viewer), changed }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The cluster is another one now: whatever was asked and heard of it is forgotten, and asked and followed anew. */
  forget(): void {
    this.#leaving.abort(new Error('the cluster is another one now'))
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

  /** The viewer as this cluster knows them. */
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
    // Much may have changed, and the namespaces be the same.
    const namespaces = present?.namespaces() ?? []
    if (namespaces.length !== candidates.size) return false
    if (!namespaces.every((namespace) => candidates.has(namespace))) return false
    known.position = present?.position
    return true
  }

  /** Watches RBAC, from the first question on that finds the cluster there, and resolves when that is as far as it gets at once. */
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
      // The question itself says why there is no answer; the next one tries again.
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
    this.#running = Promise.all([ended, this.#watch.run(signal)]).then(() => {})
    this.#ready = this.#watch.ready(watchReadyMs)
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
    const isConcerned = this.#reviews.decisions.changes.concerned(changes)
    for (const { viewer, changed } of this.#listeners) if (isConcerned(viewer)) changed()
  }
}

interface KnownScope {
  readonly access: ListAccess
  readonly version: number
  /** Whether anything of it was decided by others than RBAC. */
  readonly isByOthers: boolean
  readonly untilMs: number
  /** The namespaces of the store, where they matter. */
  readonly candidates: ReadonlySet<string> | undefined
  /** Of the store when it had those. */
  position: string | undefined
}
