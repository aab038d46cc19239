/*
 * A subscription over clusters of several gateways. The clusters are divided among parts: each is followed at the gateway
 * that holds it, by a subscription with the same field and other clusters. What comes is merged by the
 * content (`merged-content.ts`). A frame is made when the subscriber takes it, of what the parts have by then: a slow
 * subscriber slows the parts, and each holder merges what waits, as for any reader.
 *
 * When clusters go to another holder, the parts that have lost one end, and their clusters are followed anew: with the
 * token of the old part if they stay together, otherwise from a snapshot, of which only the differences are sent. What
 * nobody holds, and what a gateway that does not answer holds, stays as it was and is named in `incomplete`. Where that
 * cannot lead to the right rows, as after a resume, the whole begins anew, with a `reset`.
 */

import {
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  getNamedType,
  isObjectType,
} from 'graphql'
import { Backoff } from '../../lib/backoff.ts'
import { FrameStream, type StreamEnd } from '../../lib/frame-stream.ts'
import { isRecord, parseExact } from '../../lib/json.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import {
  boundedFormatted,
  ClientError,
  type ClientErrorCode,
  frameErrors,
  isLostCluster,
} from '../errors/client-error.ts'
import { checkedCoalesceMs } from '../live/followed-list.ts'
import { identityIn } from '../reads/list-arguments.ts'
import { followSourceOf } from '../schema/field-source.ts'
import type { ClusterGap, Visibility } from '../schema/gateway-types.ts'
import type { ByteHolder } from '../prepare/user-shares.ts'
import { type FollowedField, type MergedContent, MergedList } from './merged-content.ts'
import { earliest, enoughValues, joinedGaps, leastVisible } from './merged-facts.ts'
import { MergeMeans, selectAs, selectionsIn } from './merged-field.ts'
import { ChangeFrames, ClusterFrames, CountFrames, LogFrames } from './merged-totals.ts'
import { MergedPage, MergedProblems } from './merged-windows.ts'
import { encodeMergedToken, partsToResume } from './merged-token.ts'
import type { MergedSubscription } from './over-gateways.ts'
import type { PeerRequest } from './peers.ts'
import type { RoutedField } from './routes.ts'
import {
  failureOf,
  gapsOf,
  lostGaps,
  Part,
  type PresentHolder,
  type Refusal,
} from './merged-part.ts'

/** The frames. Throws `ClientError` and `ArgumentError` for what no frame could answer. */
export function mergedFrames(of: MergedSubscription): FrameStream {
  return new MergedFrames(of)
}

/** The root field of a subscription. */
type FollowedRoot = RoutedField & { readonly field: NonNullable<RoutedField['field']> }

/** A part that replaces another one is shown once all of its clusters are there again, or after so long. */
const replacedMs = 30_000
/** Beyond so many parts, they are divided anew, one for each holder. */
const maxParts = 32
/** The approximate memory of a subscription besides its content. */
const ownBytes = 30_000

class MergedFrames extends FrameStream implements ByteHolder {
  readonly users: ReadonlySet<string>
  readonly #of: MergedSubscription
  readonly #means: MergeMeans
  readonly #field: FollowedRoot
  readonly #type: FollowedField['type']
  readonly #content: MergedContent
  /** The argument `ids`. */
  readonly #ids: readonly { readonly id: string; readonly cluster: string }[] | undefined
  readonly #coalesceMs: number
  readonly #forget: () => void
  readonly #restarts = new Backoff({
    initialMs: 50,
    factor: 4,
    maxMs: 10_000,
    resetAfterMs: 10_000,
  })
  #clusters: readonly string[]
  #parts: readonly Part[] = []
  /** Parts whose content is shown although they are replaced. */
  #roots: readonly Part[] = []
  /** Whether the first frame, which resets, is due, and whether all that can be there has been sent. */
  #isDue = true
  #resets = true
  #isSynced = false
  /** Whether the parts were followed from tokens, and not all have answered yet. */
  #isResuming = false
  #errors: GraphQLFormattedError[] = []
  #told = ''
  #nextMs = 0
  #rows = 0
  #timer: NodeJS.Timeout | undefined
  #restartTimer: NodeJS.Timeout | undefined

  constructor(of: MergedSubscription) {
    super()
    this.#of = of
    const { limits, fields, origin } = of.operation
    this.users = new Set(origin.viewer === undefined ? [] : [origin.viewer.username])
    const [root] = fields
    const field = root?.field
    const type = field && getNamedType(field.type)
    if (root === undefined || field === undefined || !isObjectType(type))
      throw new TypeError('a subscription has one field, of an object')
    this.#means = new MergeMeans(of.operation)
    this.#field = { ...root, field }
    this.#type = type
    this.#content = this.#contentOf()
    const { coalesceMs, ids } = this.#field.args
    this.#ids = Array.isArray(ids)
      ? ids.map(String).map((id, at) => ({ id, cluster: identityIn(`ids[${at}]`, id).cluster }))
      : undefined
    this.#coalesceMs = checkedCoalesceMs(coalesceMs as number | undefined) ?? limits.coalesceMs
    const served = of.served()
    this.#clusters = of.clusters(served) ?? []
    this.#begin()
    // Last: arguments that are wrong have thrown by now.
    this.#forget = served.fleet.onChanged(() => this.#fleetChanged())
  }

  override get rows(): number {
    return this.#rows
  }

  get heldBytes(): number {
    return ownBytes + this.#content.bytes
  }

  protected leave(): void {
    this.#of.held.release(this)
    this.#forget()
    clearTimeout(this.#timer)
    clearTimeout(this.#restartTimer)
    for (const part of this.#parts) part.close()
  }

  #contentOf(): MergedContent {
    const { field, args } = this.#field
    const { first } = args
    const bounds = { first: typeof first === 'number' ? first : null }
    const { size: pageSize } = pageSizeOf(bounds, this.#of.operation.limits.maxPageSize)
    const of = { means: this.#means, field: this.#field, type: this.#type, pageSize }
    const source = followSourceOf(field)
    const isServed = (name: string): boolean => this.#of.served().members.has(name)
    switch (source?.form) {
      case 'listFrames':
      case 'objectListFrames':
      case 'kubernetesObjectsFrames':
      case 'objectsFrames':
        return new MergedList(of, isServed)
      case 'livePages':
      case 'objectListPages':
        return new MergedPage(of)
      case 'kubernetesObjectsPages':
        return new MergedPage(of, 'age')
      case 'problemFrames':
        return new MergedProblems(of, isServed)
      case 'facetFrames':
      case 'objectListFacetFrames':
        return new CountFrames(of)
      case 'clusterFrames':
        return new ClusterFrames(of)
      case 'changeFrames':
        return new ChangeFrames(of)
      case 'logFrames':
        return new LogFrames(of)
      default: {
        const message = `${field.name} is about one cluster, and cannot be followed in several`
        const hint = 'subscribe for each cluster'
        throw new ClientError('UNSUPPORTED', message, { hint })
      }
    }
  }

  /** The request of a part: the client's field for its clusters, with what frames say besides their content. */
  #requestOf(part: Part): PeerRequest {
    const { clusters, from } = part
    const { field, nodes } = this.#field
    const own = new Set(clusters)
    const replaced: Readonly<Record<string, unknown>> = {
      clusters,
      resumeFrom: from === '' ? null : from,
      top: enoughValues,
      ...(this.#ids && {
        ids: this.#ids.flatMap(({ id, cluster }) => (own.has(cluster) ? [id] : [])),
      }),
      ...this.#content.argumentsOf(part),
    }
    const variables = field.args.flatMap(({ name, type }) =>
      name in replaced
        ? [[name, this.#means.variable(name, String(type), replaced[name])] as const]
        : [],
    )
    const { prefix } = this.#means
    const fields = this.#type.getFields()
    const gap = 'incomplete { cluster type code message since from to }'
    const state = ['reset', 'synced', 'resumeToken', 'staleSince', 'visible', gap].flatMap(
      (text) => {
        const [name = ''] = text.split(' ')
        return name in fields && this.#type.name !== 'GatewayCluster'
          ? [`${prefix}${name}: ${text}`]
          : []
      },
    )
    const selected = this.#content.asksSelection
      ? nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
      : []
    const asked = selectionsIn([this.#content.selects, ...state].join(' '))
    return this.#means.request([
      selectAs(this.#field, [...selected, ...asked], {
        cluster: undefined,
        clusterSelector: undefined,
        ...Object.fromEntries(variables),
      }),
    ])
  }

  // Parts

  /** Follows all parts, from the client's token if that is possible. */
  #begin(): void {
    const { resumeFrom } = this.#field.args
    const divided = this.#divided(this.#clusters.map((cluster) => ({ cluster, group: '' })))
    const tokens =
      typeof resumeFrom === 'string'
        ? partsToResume(resumeFrom, this.#clusters, (name) => this.#holderOf(name))
        : undefined
    if (tokens !== undefined && this.#content.isResumable) {
      this.#isResuming = true
      this.#resets = false
      this.#content.resumes()
      this.#parts = tokens.map(({ clusters, holder, token }) => {
        const part = new Part(clusters, holder)
        part.from = part.token = token
        part.isNew = false
        return part
      })
    } else this.#parts = divided
    for (const part of this.#parts) this.#open(part)
  }

  #holderOf(cluster: string): PresentHolder {
    return this.#of.holderOf(cluster)
  }

  /** A part for the clusters of each group that have one holder. */
  #divided(
    clusters: readonly { readonly cluster: string; readonly group: string }[],
  ): readonly Part[] {
    const parts = Map.groupBy(clusters, ({ cluster, group }) =>
      JSON.stringify([group, this.#holderOf(cluster) ?? null, this.#holderOf(cluster) === null]),
    )
    return Array.from(parts.values(), (same) => {
      const names = same.map(({ cluster }) => cluster)
      return new Part(names, this.#holderOf(names[0] ?? ''))
    })
  }

  #fleetChanged(): void {
    if (this.isClosed || this.#restartTimer !== undefined) return
    const served = this.#of.served()
    const before = this.#clusters
    const known = this.#of.clusters(served)
    this.#clusters = known ?? before.filter((name) => served.members.has(name))
    const now = new Set(this.#clusters)
    const staying = this.#parts.filter(({ clusters, holder }) =>
      clusters.every((name) => now.has(name) && this.#holderOf(name) === holder),
    )
    const gone = before.filter((name) => !now.has(name))
    const isSame = staying.length === this.#parts.length && now.size === before.length
    if (isSame) return
    if (gone.length > 0 && !this.#content.takesResets) return this.#restart()
    const left = this.#parts.filter((part) => !staying.includes(part))
    const groups = new Map(
      left.flatMap((part, at) => part.clusters.map((name) => [name, String(at)])),
    )
    const followed = new Set(staying.flatMap(({ clusters }) => clusters))
    const moved = this.#clusters
      .filter((cluster) => !followed.has(cluster))
      .map((cluster) => ({ cluster, group: groups.get(cluster) ?? 'new' }))
    const parts = this.#divided(moved)
    if (staying.length + parts.length > maxParts) return this.#restart()
    for (const part of left) {
      part.close()
      part.replacedMs = performance.now()
    }
    for (const part of parts) {
      const old = left.find(({ clusters }) => clusters.includes(part.clusters[0] ?? ''))
      if (old === undefined) continue
      part.isNew = old.isNew
      part.isSuccessor = true
      part.isSynced = false
      part.root = old.isHidden || !old.isSynced ? old.root : old
      part.isHidden = part.root !== undefined
      const isWhole = old.clusters.length === part.clusters.length
      if (isWhole && this.#content.isResumable) part.from = part.token = old.token
      else if (!part.isNew && !this.#content.takesResets) return this.#restart()
    }
    const roots = new Set([...this.#roots, ...left, ...parts.flatMap(({ root }) => root ?? [])])
    this.#parts = [...staying, ...parts]
    const used = new Set(this.#parts.map(({ root }) => root))
    this.#roots = [...roots].filter((root) => used.has(root))
    for (const root of roots) if (!used.has(root)) this.#content.left(root)
    if (gone.length > 0) this.#content.removed(gone, 'CLUSTER_REMOVED')
    for (const part of parts) this.#open(part)
    this.#ready()
    return undefined
  }

  /** Follows a part. */
  #open(part: Part): void {
    part.close()
    part.hasAnswered = false
    part.isInSnapshot = false
    part.openedMs = performance.now()
    if (part.holder === null) {
      const message = 'no gateway holds the cluster at present'
      this.#lost(part, new ClientError('CLUSTER_UNREACHABLE', message))
      return
    }
    const { tries } = part
    const { syncDeadlineMs, silenceMs } = this.#of.operation.limits
    this.#lateAfter(part, syncDeadlineMs + silenceMs)
    const opened = (stream: FrameStream): void => {
      if (part.tries !== tries || this.isClosed) return stream.close()
      part.stream = stream
      stream.onReady(() => this.#ready())
      this.#ready()
    }
    this.#of.follow(part.holder, this.#requestOf(part)).then(opened, (error: unknown) => {
      if (part.tries === tries && !this.isClosed) this.#failed(part, [error])
    })
  }

  /** After some time, the others go on without a part that has not answered. */
  #lateAfter(part: Part, ms: number): void {
    const { tries } = part
    const timer = setTimeout(
      () => {
        if (part.tries !== tries || part.isSynced || this.isClosed) return
        part.isLate = true
        this.#ready()
      },
      Math.max(0, ms),
    )
    timer.unref()
  }

  #lost(part: Part, failure: ClientError, refusals: readonly Refusal[] = []): void {
    part.failure = failure
    part.lostSince ??= new Date().toISOString()
    part.gaps = lostGaps(part, failure, refusals)
    const errors = part.gaps.map(
      ({ cluster, type, code, message }) =>
        new ClientError(code as ClientErrorCode, message, { cluster, type: type ?? undefined }),
    )
    this.#errors.push(...frameErrors(errors, this.#field.key))
    this.#ready()
  }

  /** A part has ended with errors: for now, or for the whole subscription. */
  #failed(part: Part, errors: readonly unknown[]): void {
    const [error] = errors
    const { code, message, type, retryAfterMs, argument, refusals } = failureOf(error)
    part.close()
    const isPassing =
      retryAfterMs !== undefined ||
      isLostCluster(code) ||
      code === 'NOT_SYNCED' ||
      (code === 'BAD_USER_INPUT' && argument === 'clusters')
    part.isRefused = code === 'FORBIDDEN'
    if (!isPassing && !part.isRefused) return this.#end(errors)
    if (part.isRefused) {
      if (this.#parts.every(({ isRefused }) => isRefused)) return this.#end(errors)
      this.#content.left(part)
      if (part.root !== undefined) this.#content.left(part.root)
      part.root = undefined
      part.isHidden = false
      if (!part.isNew && !this.#content.takesResets) return this.#restart()
      this.#content.removed(part.clusters, 'HIDDEN')
    }
    part.from = this.#content.isResumable && !part.isRefused ? part.token : ''
    part.isSuccessor = true
    if (part.failure?.code !== code)
      this.#lost(part, new ClientError(code as ClientErrorCode, message, { type }), refusals)
    const { tries } = part
    part.timer = setTimeout(
      () => {
        if (part.tries === tries && !this.isClosed) this.#open(part)
      },
      Math.max(part.backoff.nextMs(), retryAfterMs ?? 0),
    )
    return undefined
  }

  #end(errors: readonly unknown[]): void {
    this.finish({ form: 'failed', errors })
    this.leave()
  }

  /** Begins anew, with a `reset`. */
  #restart(): void {
    for (const part of this.#parts) part.close()
    this.#parts = []
    this.#roots = []
    this.#content.restart()
    this.#errors = []
    this.#isResuming = false
    this.#isDue = this.#resets = true
    this.#isSynced = false
    clearTimeout(this.#restartTimer)
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = undefined
      const served = this.#of.served()
      this.#clusters =
        this.#of.clusters(served) ?? this.#clusters.filter((name) => served.members.has(name))
      this.#parts = this.#divided(this.#clusters.map((cluster) => ({ cluster, group: '' })))
      for (const part of this.#parts) {
        part.isSuccessor = true
        this.#open(part)
      }
    }, this.#restarts.nextMs())
  }

  // Frames

  /** There may be a frame: at most one in `coalesceMs`, once the snapshot is sent. */
  #ready(): void {
    if (this.#timer !== undefined || this.isClosed) return
    const waitMs = this.#isSynced ? this.#nextMs - performance.now() : 0
    if (waitMs <= 0) {
      this.announce()
      return
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.announce()
    }, waitMs)
  }

  take(): Buffer | undefined {
    if (this.isClosed) return undefined
    if (this.#isSynced && performance.now() < this.#nextMs) {
      if (this.#parts.some(({ stream }) => stream !== undefined)) this.#ready()
      return undefined
    }
    // What came may change nothing that is shown. Then what waits behind it is taken, too: no part announces it again.
    for (;;) {
      const bytes = this.#pull()
      if (this.isClosed) return undefined
      const problem = this.#of.held.hold(this)
      if (problem !== undefined) {
        this.#end([problem])
        return undefined
      }
      const frame = this.#frame()
      if (frame !== undefined || bytes === 0) return frame
    }
  }

  /**
   * Takes what the parts have: a frame of each, and more of snapshots, up to the size of one frame. Returns how many bytes
   * that is.
   */
  #pull(): number {
    const { maxFrameObjects, maxFrameBytes } = this.#of.operation.limits
    let bytes = 0
    for (const part of this.#parts) {
      while (part.stream !== undefined) {
        if (this.#isResuming && part.hasAnswered) break
        const isFull = this.#content.waiting >= maxFrameObjects || bytes >= maxFrameBytes
        if (isFull && !this.#content.isWhole) return bytes
        const { stream } = part
        const payload = stream.take()
        if (payload === undefined) {
          if (stream.end !== undefined) this.#ended(part, stream.end)
          break
        }
        bytes += payload.length
        const wasSynced = part.isSynced && !part.isInSnapshot
        this.#apply(part, payload)
        if (this.isClosed || this.#restartTimer !== undefined) return bytes
        if (wasSynced && this.#isSynced) break
      }
    }
    // The next frame begins with the others.
    const [first, ...others] = this.#parts
    if (first !== undefined) this.#parts = [...others, first]
    return bytes
  }

  #ended(part: Part, end: StreamEnd): void {
    if (end.form === 'failed') return this.#failed(part, end.errors)
    part.close()
    part.isOver = true
    if (this.#parts.every(({ isOver }) => isOver)) this.finish({ form: 'complete' })
    return undefined
  }

  #apply(part: Part, payload: Buffer): void {
    const text = payload.toString()
    // Only long numbers need the exact reading, which takes three times as long.
    const result: unknown = /[0-9]{16}/.test(text) ? parseExact(text) : JSON.parse(text)
    const { data, errors: all } = isRecord(result) ? result : {}
    const errors = (all ?? []) as readonly GraphQLFormattedError[]
    const value = isRecord(data) ? data[this.#field.key] : undefined
    if (value === undefined || value === null) {
      const [stream] = [part.stream]
      // The errors of its end say more.
      if (errors.length === 0 && stream?.end?.form === 'failed')
        return this.#ended(part, stream.end)
      const ofPeer = errors.map(({ message, ...error }) => new GraphQLError(message, error))
      return this.#failed(part, ofPeer)
    }
    const state = isRecord(value) ? value : {}
    const ours = (name: string): unknown => state[this.#means.prefix + name]
    const reset = ours('reset') === true
    const synced = ours('synced') ?? true
    if (reset && !part.isNew && !this.#content.takesResets) return this.#restart()
    if (reset) part.isInSnapshot = true
    part.gaps = (ours('incomplete') ?? []) as readonly ClusterGap[]
    part.visible = (ours('visible') ?? 'ALL') as Visibility
    part.staleSince = (ours('staleSince') ?? null) as string | null
    part.token = (ours('resumeToken') ?? '') as string
    part.failure = undefined
    part.isRefused = false
    part.lostSince = null
    part.hasAnswered = true
    const lost = new Set(
      part.gaps
        .filter(({ code }) => isLostCluster(code) || code === 'NOT_SYNCED')
        .map(({ cluster }) => cluster),
    )
    const isSnapshot = part.isInSnapshot || part.from !== ''
    const endsSnapshot = part.isInSnapshot && synced === true
    this.#content.take(part, { value, errors, isSnapshot, reset, endsSnapshot, lost })
    part.from = ''
    // Errors of rows go with their rows.
    for (const error of errors) if (typeof error.path?.[2] !== 'number') this.#errors.push(error)
    if (synced !== true) return undefined
    part.isInSnapshot = false
    part.isNew = false
    if (lost.size === 0 || part.root === undefined) this.#synced(part)
    return undefined
  }

  #synced(part: Part): void {
    if (part.isSynced) return
    part.isSynced = true
    part.isLate = false
    const elapsedMs = performance.now() - part.openedMs
    const patienceMs = 3 * Math.max(this.#of.operation.limits.silenceMs, elapsedMs)
    for (const other of this.#parts) if (!other.isSettled) this.#lateAfter(other, patienceMs)
  }

  /** Shows the parts that replace others, once all clusters of those are there again. */
  #showReplaced(): void {
    const nowMs = performance.now()
    for (const root of this.#roots) {
      const heirs = this.#parts.filter((part) => part.root === root)
      const isThere = heirs.every(({ isSynced }) => isSynced)
      if (!isThere && nowMs - root.replacedMs < replacedMs) continue
      this.#content.left(root)
      for (const part of heirs) {
        part.root = undefined
        part.isHidden = false
      }
    }
    this.#roots = this.#roots.filter((root) => this.#parts.some((part) => part.root === root))
  }

  #frame(): Buffer | undefined {
    if (this.#isResuming) {
      const isAnswered = this.#parts.every((part) => part.hasAnswered || part.isSettled)
      if (!isAnswered) return undefined
      this.#isResuming = false
    }
    const isSettled = this.#parts.every((part) => part.isSettled)
    const { waiting, isWhole } = this.#content
    if (this.#restartTimer !== undefined || (this.#isDue && isWhole && !isSettled)) return undefined
    if (this.#isDue && waiting === 0 && !isSettled) return undefined
    this.#showReplaced()
    const becomesSynced = !this.#isSynced && isSettled
    const gaps = joinedGaps(this.#parts.flatMap((part) => gapsOf(part)))
    const stale = this.#parts.map((part) =>
      part.failure !== undefined && !part.isNew ? part.lostSince : part.staleSince,
    )
    const state = {
      incomplete: gaps,
      staleSince: earliest(stale),
      visible: leastVisible(
        this.#parts.map((part) => (part.isRefused ? 'NAMESPACES' : part.visible)),
      ),
    }
    const fields = this.#means.fieldsOf(this.#field.nodes, this.#type)
    const selected = new Set(Array.from(fields.values(), ([node]) => node?.name.value ?? ''))
    const told = JSON.stringify(Object.entries(state).filter(([name]) => selected.has(name)))
    const isForced = this.#isDue || becomesSynced || told !== this.#told
    const content = this.#content.next(isForced)
    if (content === undefined) return undefined
    this.#told = told
    this.#isSynced ||= becomesSynced
    const values: Readonly<Record<string, unknown>> = {
      ...state,
      ...content.values,
      reset: this.#resets,
      synced: this.#isSynced,
      resourceVersion: '',
    }
    const errors = [...this.#errors.splice(0), ...content.errors]
    const data = Array.isArray(values['clusters'])
      ? values['clusters']
      : Object.fromEntries(
          Array.from(fields, ([key, nodes]) => [key, this.#value(key, nodes, values)]),
        )
    this.#isDue = this.#resets = false
    this.#rows += content.rows
    this.#nextMs = performance.now() + this.#coalesceMs
    return Buffer.from(
      JSON.stringify({
        ...(errors.length === 0 ? {} : { errors: boundedFormatted(errors) }),
        data: { [this.#field.key]: data },
      }),
    )
  }

  #value(
    key: string,
    nodes: readonly FieldNode[],
    values: Readonly<Record<string, unknown>>,
  ): unknown {
    const name = nodes[0]?.name.value ?? ''
    if (name === '__typename') return this.#type.name
    if (name === 'resumeToken')
      return encodeMergedToken(this.#content.isResumable ? this.#parts : [])
    const value = values[name]
    if (value instanceof Map) return value.get(key) as unknown
    return this.#content.select(name, value, nodes)
  }
}
