import { type FieldNode, type GraphQLError, locatedError, type VariableValues } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import type { Lease } from '../../cache/cached-resource.ts'
import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import type { IndexView } from '../../informer/store/store-view.ts'
import { WorkBudget } from '../../query/condition/work-budget.ts'
import { problemIndex } from '../../query/problems/problem-part.ts'
import { runQuery } from '../answer/planned-queries.ts'
import { ClientError, clientResult } from '../errors/client-error.ts'
import type { FragmentCache } from '../plan/fragment-cache.ts'
import { neededIn } from '../plan/plan-compiler.ts'
import { PlanRun, plannedWork } from '../plan/plan-run.ts'
import type { ProblemChange, ProblemFrames } from '../plan/problems-writer.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { type ProblemsRead, readProblems } from '../reads/over-kinds/problems-read.ts'
import type { ProblemsSubscriptionArguments } from '../schema/read-arguments.ts'
import { clustersNamed, isReachable } from '../served/cluster-argument.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'
import type { MemberStream, StreamEnd } from './group-member.ts'
import type { ByteHolder, HeldBytes, LiveCounts } from './live-limits.ts'

export interface ProblemsGroupOptions {
  /** The schema that is served now. */
  readonly servedNow: () => ServedSchema
  /** Compiles the frames for a schema. Throws the `ClientError` of a schema that the subscription does not fit. */
  readonly compiled: (served: ServedSchema) => ProblemFrames
  readonly limits: OperationLimits
  readonly fragments: FragmentCache
  readonly held: HeldBytes
  readonly counts: LiveCounts
  readonly viewer: Viewer | undefined
  /** The response key, and the fields of it. */
  readonly key: string
  readonly nodes: readonly FieldNode[]
  readonly args: ProblemsSubscriptionArguments
  readonly variables: VariableValues
  readonly coalesceMs: number
  readonly unexpected: (error: GraphQLError) => void
  /** Called when the group has no members any more, or has ended. */
  readonly ended: () => void
}

/** The texts of the problems, by `id`, in their order. */
type Rows = ReadonlyMap<string, readonly string[]>

/** What one run of the group has read. */
interface Reading {
  readonly rows: Rows
  /** A frame with the changes since the rows before; absent if there are none. */
  readonly frame: Buffer | undefined
  /** A frame with all rows. */
  readonly snapshot: Buffer
  /** A frame without changes: what it says besides them. */
  readonly head: string
  readonly parts: readonly KindView[]
  readonly isIncomplete: boolean
  readonly nextChangeMs: number
}

/** The least time between two looks at the indexes. */
const minLookMs = 10
/** How long a group waits until it tries again to read what it could not. */
const retryMs = 5_000
/** The part of the time that a group may spend on reading the problems again. */
const share = 1 / 20

/**
 * The subscribers of one viewer who follow the same problems. Looks at the indexes of problems each `coalesceMs`, which costs
 * a comparison for each kind; reads the problems again if one has changed, and sends what is another one than before. A
 * subscriber who has not taken the last frame begins again with all problems.
 */
export class ProblemsGroup implements ByteHolder {
  readonly users: ReadonlySet<string>
  readonly #options: ProblemsGroupOptions
  readonly #members = new Set<ProblemsMember>()
  #served: ServedSchema
  #frames: ProblemFrames
  #unfollow: readonly (() => void)[] = []
  readonly #leases = new Map<string, Lease>()
  #reading: Reading | undefined
  #indexes: readonly {
    readonly part: KindView
    readonly index: IndexView
    readonly version: number
  }[] = []
  /** What is known of the clusters, as a text. */
  #clusters = ''
  #isDue = false
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** When the next run may begin, in `performance.now()` time. */
  #restsUntilMs = 0
  #readMs = 0
  #end: StreamEnd | undefined

  constructor(options: ProblemsGroupOptions) {
    this.#options = options
    const { viewer, servedNow, compiled } = options
    this.users = new Set(viewer === undefined ? [] : [viewer.username])
    this.#served = servedNow()
    this.#frames = compiled(this.#served)
    this.#followAccess()
  }

  /** Goes on with another schema. */
  #adopt(served: ServedSchema): void {
    this.#frames = this.#options.compiled(served)
    this.#served = served
    this.#followAccess()
    this.#release()
  }

  #followAccess(): void {
    const { viewer, args } = this.#options
    for (const stop of this.#unfollow) stop()
    if (viewer === undefined) return
    this.#unfollow = clustersNamed(this.#served, args).flatMap(
      (cluster) =>
        this.#served.access.get(cluster)?.onChange(viewer, () => this.#accessChanged()) ?? [],
    )
  }

  get end(): StreamEnd | undefined {
    return this.#end
  }

  /** A frame with all problems; `undefined` while the viewer's access is being asked for. */
  get snapshot(): Buffer | undefined {
    return this.#reading?.snapshot
  }

  get counts(): LiveCounts {
    return this.#options.counts
  }

  get heldBytes(): number {
    const { snapshot, head = '' } = this.#reading ?? {}
    // The rows are in the snapshot, too; each member has at most one frame besides.
    return (snapshot?.byteLength ?? 0) * 2 + head.length
  }

  heldBytesFor(): number {
    return this.heldBytes
  }

  /** A new subscriber, who begins with all problems. Rejects with the error that prevents it. */
  async join(): Promise<ProblemsMember> {
    const member = new ProblemsMember(this)
    this.#members.add(member)
    try {
      if (this.#reading === undefined || this.#hasChanged()) await this.#read()
      if (this.#end?.form === 'failed') throw this.#end.errors[0]
    } catch (error) {
      member.close()
      throw error
    }
    this.#look()
    return member
  }

  leave(member: ProblemsMember): void {
    this.#members.delete(member)
    if (this.#members.size === 0) this.#stop({ form: 'complete' })
  }

  /** Nothing is sent until the viewer's access is known again. */
  #accessChanged(): void {
    this.#reading = undefined
    this.#isDue = true
    for (const member of this.#members) member.beginAnew()
  }

  #look(): void {
    if (this.#end !== undefined || this.#timer !== undefined) return
    const waitMs = Math.max(minLookMs, this.#options.coalesceMs)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (performance.now() >= this.#restsUntilMs && this.#hasChanged()) {
        void this.#read().then(
          () => this.#look(),
          () => {},
        )
      } else this.#look()
    }, waitMs)
    this.#timer.unref()
  }

  /** Whether the problems may be other ones than those that were read. */
  #hasChanged(): boolean {
    const reading = this.#reading
    if (this.#isDue || reading === undefined) return true
    const served = this.#served
    if (this.#options.servedNow() !== served) return true
    if (Date.now() >= reading.nextChangeMs) return true
    if (reading.isIncomplete && performance.now() - this.#readMs >= retryMs) return true
    if (this.#clustersText() !== this.#clusters) return true
    return this.#indexes.some(({ part, index, version }) => {
      const { view, cluster, kind } = part
      if (served.clusters.get(cluster)?.synced(kind.resource) !== view) return true
      return !view.hasIndex(problemIndex) || index.version !== version
    })
  }

  /** What decides the gaps: changes of it are changes of the answer. */
  #clustersText(): string {
    const served = this.#served
    return clustersNamed(served, this.#options.args)
      .map((name) => {
        const cache = served.clusters.get(name)
        return `${name} ${isReachable(served, name)} ${cache?.hasStale} ${cache?.incarnation}`
      })
      .join()
  }

  #read(): Promise<void> {
    this.#running ??= this.#readNow().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #readNow(): Promise<void> {
    const { servedNow, held } = this.#options
    this.#isDue = false
    try {
      const served = servedNow()
      if (served !== this.#served) this.#adopt(served)
      this.#clusters = this.#clustersText()
      const before = this.#reading
      const reading = await this.#run(before?.rows)
      if (this.#end !== undefined) return
      // The access has changed meanwhile: what was read may not be sent.
      if (this.#isDueAgain()) return await this.#readNow()
      this.#reading = reading
      this.#readMs = performance.now()
      this.#indexes = reading.parts.map((part) => {
        const index = part.view.index(problemIndex)
        return { part, index, version: index.version }
      })
      this.#hold(reading.parts)
      const full = held.hold(this)
      if (full !== undefined) throw full
      this.#announce(before, reading)
    } catch (error) {
      this.#stop({ form: 'failed', errors: [error] })
      throw error
    }
  }

  #isDueAgain(): boolean {
    return this.#isDue && this.#reading === undefined && this.#options.viewer !== undefined
  }

  async #run(before: Rows | undefined): Promise<Reading> {
    const { limits, fragments, variables, viewer, args } = this.#options
    const served = this.#served
    const kinds = neededIn(served, args, this.#frames.needs, variables)
    const query = {
      served,
      limits,
      kinds,
      origin: { viewer },
      secrets: new Set<string>(),
    }
    const reading = await runQuery<Reading | undefined>(query, (parts, direct) => {
      const budget = new WorkBudget(plannedWork(limits.work))
      const run = new PlanRun({ served, limits, variables, budget, fragments, parts, direct })
      const startMs = performance.now()
      try {
        const written = this.#written(run, readProblems(run, args), before)
        return parts.isLacking ? undefined : written
      } catch (error) {
        if (parts.isLacking) return undefined
        throw error
      } finally {
        const endMs = performance.now()
        this.#restsUntilMs = endMs + (endMs - startMs) / share
      }
    })
    if (reading !== undefined) return reading
    const message = 'the kinds that are looked at could not be read in time'
    throw new ClientError('NOT_SYNCED', message, { retryAfterMs: retryMs })
  }

  #written(run: PlanRun, read: ProblemsRead, before: Rows | undefined): Reading {
    const frames = this.#frames
    const { nodes } = this.#options
    run.errors.beside(read.failures, nodes)
    const rows = new Map<string, readonly string[]>()
    run.budget.spend('rows', read.page.rows.length)
    for (const problem of read.page.rows) {
      const source = read.problemOf(problem)
      rows.set(source.id, frames.row(run, source))
    }
    const changes = before === undefined ? [] : changesBetween(before, rows)
    const all = Array.from(
      rows,
      ([objectId, texts]) => ({ type: 'ADDED', objectId, texts }) as const,
    )
    const head = frames.frame(run, { read, reset: false, changes: [] })
    const isNews = changes.length > 0 || (before !== undefined && head !== this.#reading?.head)
    const payload = (reset: boolean, sent: readonly ProblemChange[]): Buffer =>
      this.#payload(run, frames.frame(run, { read, reset, changes: sent }))
    return {
      rows,
      head,
      frame: isNews ? payload(false, changes) : undefined,
      snapshot: payload(true, all),
      parts: read.parts,
      isIncomplete: read.gaps.length > 0,
      nextChangeMs: read.nextChangeMs(),
    }
  }

  #payload(run: PlanRun, frame: string): Buffer {
    const { key, nodes, unexpected } = this.#options
    const data = `{${JSON.stringify(key)}:${frame}}`
    const failed = run.errors.all()
    if (failed.length === 0) return Buffer.from(`{"data":${data}}`)
    const located = failed.map((error) => locatedError(error.originalError ?? error, nodes, [key]))
    const { errors } = clientResult({ data, errors: located }, unexpected)
    return Buffer.from(`{"errors":${JSON.stringify(errors)},"data":${data}}`)
  }

  #announce(before: Reading | undefined, { frame }: Reading): void {
    if (before !== undefined && frame === undefined) return
    for (const member of this.#members) {
      if (frame === undefined) member.beginAnew()
      else member.give(frame)
      member.announce()
    }
  }

  /** Keeps the caches running that were read. */
  #hold(parts: readonly KindView[]): void {
    const { clusters, indexTexts } = this.#served
    for (const { cluster, kind } of parts) {
      const place = `${cluster}/${kind.typeName}`
      const known = this.#leases.get(place)
      if (known?.isStopped === false) continue
      known?.[Symbol.dispose]()
      try {
        const lease = clusters.get(cluster)?.acquire(kind.resource, indexTexts.get(kind))
        if (lease !== undefined) this.#leases.set(place, lease)
      } catch (error) {
        if (!(error instanceof UnreadableResourceError)) throw error
        this.#leases.delete(place)
      }
    }
  }

  #release(): void {
    for (const lease of this.#leases.values()) lease[Symbol.dispose]()
    this.#leases.clear()
  }

  #stop(end: StreamEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    clearTimeout(this.#timer)
    for (const stop of this.#unfollow) stop()
    this.#release()
    this.#options.held.release(this)
    this.#options.ended()
    for (const member of this.#members) member.announce()
  }
}

/** The removed problems, then the new and the changed ones in their order. */
function changesBetween(before: Rows, rows: Rows): readonly ProblemChange[] {
  const changes: ProblemChange[] = []
  for (const [objectId, texts] of before) {
    if (!rows.has(objectId)) changes.push({ type: 'REMOVED', objectId, texts })
  }
  for (const [objectId, texts] of rows) {
    const known = before.get(objectId)
    if (known === undefined) changes.push({ type: 'ADDED', objectId, texts })
    else if (known.some((text, at) => text !== texts[at])) {
      changes.push({ type: 'MODIFIED', objectId, texts })
    }
  }
  return changes
}

/** One subscriber of a group. */
export class ProblemsMember implements MemberStream {
  readonly #group: ProblemsGroup
  #frame: Buffer | undefined
  /** Whether its next frame has all problems. */
  #beginsAnew = true
  #isClosed = false
  #rows = 0
  #ready: () => void = () => {}
  #left: () => void = () => {}

  constructor(group: ProblemsGroup) {
    this.#group = group
  }

  get end(): StreamEnd | undefined {
    return this.#group.end
  }

  get isClosed(): boolean {
    return this.#isClosed || this.#group.end?.form === 'failed'
  }

  get rows(): number {
    return this.#rows
  }

  take(): Buffer | undefined {
    if (this.isClosed) return undefined
    const frame = this.#beginsAnew ? this.#group.snapshot : this.#frame
    if (frame === undefined) return undefined
    this.#beginsAnew = false
    this.#frame = undefined
    this.#rows += 1
    this.#group.counts.frames += 1
    return frame
  }

  /** Drops what it has not taken. */
  beginAnew(): void {
    this.#beginsAnew = true
    this.#frame = undefined
  }

  give(frame: Buffer): void {
    // It has not taken the frame before, or begins with all problems anyway.
    if (this.#frame !== undefined || this.#beginsAnew) {
      if (!this.#beginsAnew) this.#group.counts.resets += 1
      this.beginAnew()
    } else this.#frame = frame
  }

  announce(): void {
    this.#ready()
  }

  onReady(ready: () => void): void {
    this.#ready = ready
  }

  onLeft(left: () => void): void {
    this.#left = left
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.beginAnew()
    this.#group.leave(this)
    this.#left()
  }
}
