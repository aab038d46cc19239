/*
 * One kind of one cluster, from its informer to the archive, for one run of the informer.
 *
 * The recording hears each step of the informer, after the store. While it is `current`, it gathers the changes in batches of
 * some hundred, or of a quarter of a second, and writes one after the other. An event has its bytes as they came; the state
 * of what a list concluded is the held row, which becomes text when its batch is written. If the archive refuses a batch, or
 * too many bytes wait, the recording is `behind`: it gathers nothing, and compares the kind as soon as it can, by a whole list
 * of the store (`#writeList`); what happens during that waits. It begins `behind`, unless the store begins with the
 * archive's own rows (`base`).
 *
 * A change is late, and says when the state before was last known, if the watch was away for more than a second before, or
 * the process was, or stood still. Changes are late until the server has sent what it had when the watch began. Where each
 * namespace is watched by itself, each is away and late by itself.
 *
 * The archive lacks what waits here. Where another process writes the cluster, it lacks what the informer saw a while ago
 * behind its position. Questions about the past have both with them (`followed`), so that their answers name the gap.
 *
 * Where each namespace is watched by itself, a batch says what each has reached. While the list of one is applied, the archive
 * has no position of it, and after a restart lists that one. The positions of such a store mean nothing to another store but
 * the one that begins with its rows: that one, and no other, may ask for changes since them.
 */

import type { ArchivedPlace, ArchivedResource, ArchivedStep } from '../cache/archived-resource.ts'
import {
  createObjectCodec,
  type HeldObject,
  type ObjectCodec,
} from '../informer/codec/object-codec.ts'
import type { InformerObserver, NamespaceStep } from '../informer/informer-observer.ts'
import type { ArchivedBase } from '../informer/reflector/archived-base.ts'
import type { SharedInformer } from '../informer/shared-informer.ts'
import type { Change } from '../informer/store/change.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { KubernetesObject } from '../kubernetes/object.ts'
import {
  compareResourceVersions,
  isBefore,
  latestOf,
  latestResourceVersion,
  readJointPosition,
  resourceVersion,
  type ResourceVersion,
} from '../kubernetes/resource-version.ts'
import { Backoff, sleep } from '../lib/backoff.ts'
import { withDeadline } from '../lib/deadline.ts'
import { inSlices } from '../lib/event-loop.ts'
import {
  type ArchiveBatch,
  type ArchiveCalls,
  type ArchivedKind,
  type BaseMark,
  type FollowedKind,
  joinedTexts,
  type KindState,
  type ObjectChunk,
} from './archive-calls.ts'
import { ArchiveError } from './archive-options.ts'
import { FollowedWatches, type Standstills, unknownMs } from './followed-watches.ts'
import { maxRecords, WaitingBatch } from './waiting-batch.ts'

export interface KindRecordingOptions {
  readonly calls: ArchiveCalls
  readonly resource: ApiResource
  readonly place: ArchivedPlace
  readonly kind: ArchivedKind
  readonly waiting: WaitingChanges
  readonly standstills: Standstills
  /** Whether the cluster was restored from a backup since the archive was written. */
  readonly wentBack: () => Promise<boolean>
  /** The end of the recording before this one. */
  readonly after: Promise<void> | undefined
  readonly ended: (recording: KindRecording) => void
}

/** What waits in all recordings of the process, and how many changes found no room. */
export interface WaitingChanges {
  bytes: number
  dropped: number
}

/** The most bytes that wait. */
const maxWaitingBytes = 32 * 2 ** 20
/**
 * How long changes are gathered, and positions without a change: a server sends one for each watch and minute, which are hundreds a second
 * for a thousand clusters. All recordings of a process write at the same moments, so that one transaction has what many of them gathered.
 */
const gatherMs = 250
const gatherPositionsMs = 1_000
/**
 * How long a start waits for what the archive has of a kind, unless it fails. It may be slow, as while a gateway takes a hundred clusters
 * over; but to list all of them instead takes longer, and all that is there to wait for becomes slower.
 */
const openDeadlineMs = 15_000
/** How long a resumption waits for what is not written yet. */
const settleDeadlineMs = 5_000
const pauses = { initialMs: 250, maxMs: 5_000 }
/** Between two points where the work may pause. */
const recordsPerStep = 8

/** Numbers the lists of the process. */
let lists = 0

export class KindRecording implements ArchivedResource {
  readonly #options: KindRecordingOptions
  readonly #codec: ObjectCodec
  readonly #stop = new AbortController()
  readonly #backoff = new Backoff(pauses)
  #kind: ArchivedKind
  /** What the archive has of the kind. */
  #known: Promise<KindState>
  /** The same, once this process writes the cluster. */
  #registered: Promise<KindState>
  /** As {@link #known}, but rejects if the archive fails at first. */
  #opened: Promise<KindState>
  #incarnation: string
  #informer: SharedInformer | undefined
  #running: Promise<void> = Promise.resolve()
  #mode: 'behind' | 'listing' | 'current' = 'behind'
  /** The position of the rows that the store begins with. */
  #base: { readonly position: ResourceVersion; readonly mark: BaseMark } | undefined
  #open: WaitingBatch | undefined
  #timer: NodeJS.Timeout | undefined
  /** Another process has written up to here since the store began with the archive's rows. */
  #writtenTo: ResourceVersion | undefined
  #again: PromiseWithResolvers<void> | undefined
  /** What is to be written, oldest first. */
  #waiting: WaitingBatch[] = []
  #wake: PromiseWithResolvers<void> | undefined
  /** The waits for the moment when nothing waits. */
  #idle: PromiseWithResolvers<void> | undefined
  /** While it is behind: when the states before were last known. Absent: when the kind was last written. */
  #knownMs: number | undefined
  /** If this process writes the kind: its id, and until when all that was seen was written before. */
  #writes: { readonly id: number; readonly writtenMs: number } | undefined
  readonly #watches: FollowedWatches
  /** Since when the informer has followed all changes, in milliseconds since the epoch; 0: since the archive's rows. */
  #followsMs = Infinity

  constructor(options: KindRecordingOptions) {
    const { kind, place, resource } = options
    this.#options = options
    this.#kind = kind
    this.#codec = createObjectCodec({ resource })
    this.#watches = new FollowedWatches(options.standstills)
    this.#incarnation = place.incarnation()
    const { known, held, opened } = this.#register()
    this.#known = known
    this.#registered = held
    this.#opened = opened
  }

  get cluster(): string {
    return this.#kind.cluster
  }

  get resource(): ApiResource {
    return this.#options.resource
  }

  async base(signal: AbortSignal, byNamespaces: boolean): Promise<ArchivedBase | undefined> {
    const { calls, wentBack } = this.#options
    const isOther = await wentBack()
    const state = await this.#stateAtOpening()
    signal.throwIfAborted()
    // What is masked, the archive cannot give back. Of a Secret the cache has its metadata only, too.
    if (isOther || state === undefined || this.#kind.masked.length > 0) return undefined
    const known = await this.#own(state)
    signal.throwIfAborted()
    if (known === undefined) return undefined
    if ((known.namespaces !== undefined) !== byNamespaces) return undefined
    const chunks = calls.objects(state.id)[Symbol.asyncIterator]()
    const first = await chunks.next().then(
      ({ value }: IteratorResult<ObjectChunk, undefined>) => value,
      () => undefined,
    )
    // Another process may have written meanwhile.
    const isSame = first?.position === known.position && first.incarnation === state.incarnation
    const own = isSame ? known : first && (await this.#own(first))
    if (first === undefined || own === undefined || signal.aborted) {
      void chunks.return?.()
      signal.throwIfAborted()
      return undefined
    }
    const { position, reached, namespaces } = own
    this.#base = { position, mark: first.mark }
    this.#watches.baseMs = state.writtenMs
    return { resourceVersion: position, namespaces, reached, objects: begunWith(first, chunks) }
  }

  async isByNamespaces(): Promise<boolean> {
    const state = await this.#stateAtOpening()
    return state?.position !== undefined && readJointPosition(state.position) !== undefined
  }

  /** The cluster has another incarnation, whose objects the informer has from the beginning. */
  adopt(): void {
    this.#incarnation = this.#options.place.incarnation()
  }

  /**
   * A position of the archive in this incarnation of the cluster, with a version that the API server has reached, if that is
   * known and comes before or after the position.
   */
  async #own(
    at: Pick<KindState, 'position' | 'namespaces' | 'incarnation'>,
  ): Promise<OwnPosition | undefined> {
    const { place } = this.#options
    const incarnation = place.incarnation()
    if (at.position === undefined || incarnation === '') return undefined
    if (at.incarnation !== incarnation) return undefined
    const position = resourceVersion(at.position)
    const isJoint = readJointPosition(position) !== undefined
    const versions = isJoint ? Object.entries(at.namespaces ?? {}) : [['', position] as const]
    const namespaces = new Map(versions.map(([name, one]) => [name, resourceVersion(one)]))
    if (namespaces.size === 0) return undefined
    const latest = latestOf(namespaces.values()) ?? latestResourceVersion
    const reached = await place.reached(latest)
    const isOrdered = reached && compareResourceVersions(reached, latest) !== undefined
    return {
      position,
      latest,
      namespaces: isJoint ? namespaces : undefined,
      reached: isOrdered === true ? reached : undefined,
    }
  }

  /** What this process knows of the changes that the archive does not have yet. */
  get followed(): FollowedKind {
    const settledMs = Date.now() - unknownMs
    const { knownMs } = this.written ?? {}
    const isWhole = this.#informer?.hasSynced() === true && this.#watches.areWhole
    return {
      own:
        knownMs === undefined
          ? undefined
          : { unknownSinceMs: knownMs < settledMs ? knownMs : undefined },
      sinceMs: isWhole ? this.#followsMs : Infinity,
      incarnation: this.#options.place.incarnation(),
      reached: this.#watches.reachedBefore(settledMs),
    }
  }

  /**
   * If this process writes the kind: its id, and until when all that was seen is written, in milliseconds since the epoch.
   * That is until now, unless changes wait, the kind is to be compared, or a watch is away.
   */
  get written(): { readonly id: number; readonly knownMs: number } | undefined {
    if (this.#writes === undefined) return undefined
    const { id, writtenMs } = this.#writes
    const nowMs = Date.now()
    const first =
      this.#waiting.find(saysMore) ?? (this.#open && saysMore(this.#open) ? this.#open : undefined)
    const waiting = first?.afterMs ?? first?.beginsMs ?? nowMs
    const behind = this.#mode === 'current' ? nowMs : (this.#knownMs ?? writtenMs)
    const { awayMs = nowMs, baseMs = nowMs } = this.#watches
    const base = this.#informer?.hasSynced() === true ? nowMs : baseMs
    return { id, knownMs: Math.min(waiting, behind, base, awayMs) }
  }

  record(informer: SharedInformer): () => void {
    this.#informer = informer
    const forget = informer.observe(this.#observer())
    this.#running = this.#run()
    if (informer.hasSynced()) {
      this.#followsMs = Date.now()
      this.#wakeUp()
    }
    return () => {
      forget()
      void this.end()
    }
  }

  async changesSince(
    position: ResourceVersion,
    limit: number,
  ): Promise<readonly ArchivedStep[] | undefined> {
    const state = await withDeadline('the archive', this.#known, settleDeadlineMs).catch(
      () => undefined,
    )
    const isWhole = this.#kind.masked.length === 0
    if (state === undefined || this.#mode !== 'current' || !isWhole) return undefined
    this.#seal()
    if (this.#waiting.length > 0) {
      this.#idle ??= Promise.withResolvers()
      await withDeadline('writing', this.#idle.promise, settleDeadlineMs)
    }
    if (this.#stateNow !== 'current') return undefined
    const isJoint = readJointPosition(position) !== undefined
    const base = isJoint ? this.#base?.mark : undefined
    if (isJoint && base === undefined) return undefined
    return await this.#options.calls.changesSince(state.id, position, limit, base)
  }

  /** The kind has another form from now on: it is compared anew. */
  redefine(kind: ArchivedKind): void {
    if (kind.form === this.#kind.form || this.#stop.signal.aborted) return
    this.#kind = kind
    this.#registerAnew()
    this.#fallBehind()
    this.#wakeUp()
  }

  /** Asks now whether this process may write the cluster, instead of a moment later. */
  claim(): void {
    this.#again?.resolve()
  }

  /** Writes what waits, and ends. Never rejects. */
  async end(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      const informer = this.#informer
      // The states were known until now.
      const isKnown = this.#mode === 'current' && this.#watches.awayMs === undefined
      if (informer !== undefined && isKnown) {
        this.#gather(informer.store.resourceVersion, [], Date.now(), undefined)
      }
      this.#seal()
      this.#stop.abort()
      this.#wakeUp()
    }
    await this.#running
  }

  #observer(): InformerObserver {
    return {
      advanced: (position, changes, isList, at) => this.#advanced(position, changes, isList, at),
      failed: (failure, _error, _resource, namespace = '') => {
        const informer = this.#informer
        const { lastContactMs } = informer?.namespaces?.get(namespace) ?? informer ?? {}
        if (lastContactMs === undefined || (failure !== 'watch' && failure !== 'list')) return
        this.#watches.left(namespace, Date.now() - (performance.now() - lastContactMs))
      },
      watched: ({ namespace = '' }) => this.#watches.left(namespace, Date.now()),
      watching: (_position, namespace = '') => this.#watches.came(namespace),
      stopped: () => void this.end(),
    }
  }

  #advanced(
    position: ResourceVersion,
    changes: readonly Change[],
    isList: boolean,
    at: NamespaceStep | undefined,
  ): void {
    const nowMs = Date.now()
    if (isList && changes.length === 0 && this.#base?.position === position) {
      this.#mode = 'current'
      this.#followsMs = 0
      return
    }
    const hasSynced = this.#informer?.hasSynced() === true
    const afterMs = this.#watches.moved(at, changes, isList, hasSynced)
    const { namespace = '', resourceVersion: reached = position } = at ?? {}
    if (at !== undefined && at.resourceVersion === undefined) this.#watches.drop(namespace)
    else if (isList || at?.isListing === true) this.#followsMs = nowMs
    else if (changes.length > 0) this.#watches.saw(namespace, reached, afterMs !== undefined)
    if (this.#mode === 'behind') {
      this.#wakeUp()
      return
    }
    if (changes.length > maxRecords) {
      // One step is one batch, or a list.
      this.#fallBehind(afterMs ?? nowMs)
      this.#wakeUp()
      return
    }
    if (isList && afterMs !== undefined && at?.isFirst !== true) this.#noteGap(afterMs, nowMs)
    this.#gather(position, changes, nowMs, afterMs, at)
  }

  #gather(
    position: ResourceVersion,
    changes: readonly Change[],
    nowMs: number,
    afterMs: number | undefined,
    at?: NamespaceStep,
  ): void {
    const to = this.#writtenTo
    if (to !== undefined) {
      const order = compareResourceVersions(position, to)
      if (order === undefined) {
        this.#fallBehind()
        this.#wakeUp()
        return
      }
      if (order <= 0) return
      this.#writtenTo = undefined
      const isNew = ({ object, finalStateKnown }: Change) =>
        !finalStateKnown || isBefore(to, resourceVersion(object.metadata.resourceVersion ?? ''))
      this.#gather(position, changes.filter(isNew), nowMs, afterMs)
      return
    }
    const open = this.#open
    if (open !== undefined && (open.afterMs !== afterMs || nowMs < open.timeMs)) this.#seal()
    const batch = (this.#open ??= this.#begin(nowMs, afterMs, position))
    for (const change of changes) {
      const text = change.takeText()
      // The archive has the last state of what a list lacks.
      const state = change.type === 'DELETED' && !change.finalStateKnown ? undefined : change.held
      batch.add(change.type, change.key, change.uid, text ?? state, position)
    }
    if (at !== undefined && at.namespace !== '') {
      batch.reached.set(at.namespace, at.isListing === true ? undefined : at.resourceVersion)
    }
    if (changes.length > 0) {
      if (batch.keys.length === changes.length) this.#sealWithin(gatherMs)
      batch.timeMs = nowMs
    }
    batch.position = position
    if (batch.isFull) this.#seal()
  }

  #begin(timeMs: number, afterMs: number | undefined, position: ResourceVersion): WaitingBatch {
    this.#sealWithin(gatherPositionsMs)
    return new WaitingBatch(timeMs, afterMs, position)
  }

  #sealWithin(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#seal(), ms - (performance.now() % ms)).unref()
  }

  #seal(): void {
    const batch = this.#open
    if (batch === undefined) return
    clearTimeout(this.#timer)
    this.#open = undefined
    this.#waiting.push(batch)
    const { waiting } = this.#options
    waiting.bytes += batch.bytes
    if (waiting.bytes > maxWaitingBytes) this.#fallBehind()
    this.#wakeUp()
  }

  /**
   * Another process, which held the cluster until now, has written up to a later position than the one that this store began
   * with: what both saw is not written again. If it is not known which changes these are, the kind is compared.
   */
  #skipTo({ position = '', incarnation }: KindState): void {
    const to = resourceVersion(position)
    this.#seal()
    const isKnown =
      incarnation === this.#options.place.incarnation() &&
      readJointPosition(position) === undefined &&
      this.#waiting.every((batch) => compareResourceVersions(batch.position, to) !== undefined)
    if (
      position === '' ||
      !isKnown ||
      this.#waiting.some(({ states }) => states.includes(undefined))
    ) {
      this.#fallBehind()
      this.#knownMs = undefined
      return
    }
    const { waiting } = this.#options
    for (const batch of this.#waiting) waiting.bytes -= batch.bytes
    this.#waiting = this.#waiting
      .filter((batch) => isBefore(to, batch.position))
      .map((batch) => batch.keeping((state) => isBefore(to, this.#versionOf(state))))
    for (const batch of this.#waiting) waiting.bytes += batch.bytes
    if (this.#waiting.length === 0) this.#writtenTo = to
  }

  #versionOf(state: Uint8Array | HeldObject): ResourceVersion {
    const { metadata } =
      state instanceof Uint8Array
        ? (JSON.parse(new TextDecoder().decode(state)) as KubernetesObject)
        : this.#codec.decode(state)
    return resourceVersion(metadata.resourceVersion ?? '')
  }

  /** Forgets what waits: a whole list comes next. The states were known until the first change that is lost, or until `knownMs`. */
  #fallBehind(knownMs: number = this.#watches.awayMs ?? Date.now()): void {
    const { waiting } = this.#options
    clearTimeout(this.#timer)
    for (const batch of this.#waiting) waiting.bytes -= batch.bytes
    const lost = [...this.#waiting, ...(this.#open ? [this.#open] : [])]
    for (const { keys } of lost) waiting.dropped += keys.length
    const [first] = lost
    if (this.#mode === 'current') this.#knownMs = first?.afterMs ?? first?.beginsMs ?? knownMs
    this.#open = undefined
    this.#waiting = []
    this.#writtenTo = undefined
    this.#mode = 'behind'
  }

  #wakeUp(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }

  #noteGap(fromMs: number, toMs: number): void {
    const { calls } = this.#options
    this.#registered.then(({ id }) => calls.gap(id, fromMs, toMs)).catch(() => {})
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      if (!this.#isDue) {
        this.#idle?.resolve()
        this.#idle = undefined
        this.#wake ??= Promise.withResolvers()
        await this.#wake.promise
        continue
      }
      try {
        if (this.#mode === 'behind') await this.#writeList()
        else await this.#writeFirst()
      } catch (error) {
        const isOfAnother = error instanceof ArchiveError && error.code === 'ARCHIVE_HELD'
        // What waits stays, without what the other process writes: see `#skipTo`.
        const goesOn = isOfAnother && this.#stateNow === 'current'
        if (!goesOn) this.#fallBehind()
        if (isOfAnother) this.#registerAnew(goesOn)
        await sleep(this.#backoff.nextMs(), signal, true)
      }
    }
    try {
      if (this.#mode === 'behind' && this.#isDue) await this.#writeList()
      while (this.#waiting.length > 0) await this.#writeFirst()
    } catch {
      // The next run of the informer compares.
    }
    this.#fallBehind()
    this.#idle?.resolve()
    this.#options.ended(this)
  }

  get #isDue(): boolean {
    if (this.#mode === 'behind') return this.#informer?.hasSynced() === true
    return this.#waiting.length > 0
  }

  async #writeFirst(): Promise<void> {
    // What waits becomes less when the cluster is taken over: see `#skipTo`.
    await this.#registered
    const [batch] = this.#waiting
    if (batch === undefined) return
    await this.#write(batch)
    // It may have fallen behind meanwhile.
    if (this.#waiting[0] !== batch) return
    this.#waiting.shift()
    this.#options.waiting.bytes -= batch.bytes
  }

  /** Writes all objects of the store, as they are in one tick. What happens after that tick waits. */
  async #writeList(): Promise<void> {
    await this.#registered
    await this.#verified()
    const informer = this.#informer
    if (informer?.hasSynced() !== true) return
    const { store } = informer
    const timeMs = Date.now()
    const begin = (): WaitingBatch => new WaitingBatch(timeMs, this.#knownMs, store.resourceVersion)
    let last = begin()
    const parts = [last]
    for (const id of store.ids()) {
      if (last.isFull) parts.push((last = begin()))
      last.add('ADDED', store.keyOf(id), store.uidOf(id), store.held(id))
    }
    for (const [namespace, reached] of informer.positions ?? [])
      last.reached.set(namespace, reached)
    this.#mode = 'listing'
    this.#writtenTo = undefined
    this.#watches.listed()
    const number = ++lists
    for (const part of parts) {
      await this.#write(part, { number, isLast: part === last })
      if (this.#stateNow !== 'listing') return
    }
    this.#mode = 'current'
    this.#knownMs = undefined
    this.#backoff.restart()
  }

  /** Read anew, since it changes between two turns. */
  get #stateNow(): string {
    return this.#mode
  }

  async #write(batch: WaitingBatch, list?: ArchiveBatch['list']): Promise<void> {
    const { calls, place } = this.#options
    const texts = await this.#textsOf(batch)
    await this.#verified()
    const { id } = await this.#registered
    // Until it is known, the cluster's identity is empty.
    if (this.#incarnation === '') this.#incarnation = place.incarnation()
    const incarnation = this.#incarnation
    if (place.incarnation() !== incarnation || !place.isVerified()) {
      throw new Error('the cluster may be another one')
    }
    const { timeMs, afterMs, position, positions, reached, keys, uids, types } = batch
    const namespaces = Object.fromEntries(Array.from(reached, ([name, at]) => [name, at ?? null]))
    await calls.write({
      kind: id,
      incarnation,
      timeMs,
      ...(afterMs === undefined ? {} : { afterMs }),
      ...(list === undefined ? {} : { list }),
      ...(list?.isLast === false ? {} : { position }),
      ...(reached.size === 0 ? {} : { namespaces }),
      ...(list === undefined ? { positions } : {}),
      keys,
      uids,
      types: Uint8Array.from(types),
      ...texts,
    })
  }

  /** The texts of a batch, one after the other. Rows are written as text, in slices. */
  async #textsOf({ states }: WaitingBatch): Promise<Pick<ArchiveBatch, 'ends' | 'bytes'>> {
    const texts: Uint8Array[] = []
    const write = function* (this: KindRecording): Generator<void, true> {
      for (const [at, state] of states.entries()) {
        if (at % recordsPerStep === recordsPerStep - 1) yield
        texts.push(state === undefined ? noText : this.#textOf(state))
      }
      return true
    }
    await inSlices(write.call(this), () => false)
    return joinedTexts(texts)
  }

  #textOf(state: Uint8Array | HeldObject): Uint8Array {
    if (state instanceof Uint8Array) return state
    try {
      return encoder.encode(this.#codec.textOf(state))
    } catch {
      // Nested too deep to be written.
      const { apiVersion, kind, metadata } = this.#codec.decode(state)
      return encoder.encode(JSON.stringify({ apiVersion, kind, metadata }))
    }
  }

  /** Resolves once it is known that the store is of this incarnation of the cluster. */
  async #verified(): Promise<void> {
    const { isVerified } = this.#options.place
    while (!isVerified() && !this.#stop.signal.aborted) {
      await sleep(verifyMs, this.#stop.signal, true)
    }
  }

  /** For a start; `undefined`: the archive does not say in time. */
  async #stateAtOpening(): Promise<KindState | undefined> {
    return await withDeadline('the archive', this.#opened, openDeadlineMs).catch(() => undefined)
  }

  #registerAnew(goesOn = false): void {
    const { known, held, opened } = this.#register(goesOn)
    this.#known = known
    this.#registered = held
    this.#opened = opened
    this.#writes = undefined
  }

  /**
   * Tries until it is registered, and then until this process writes the cluster. Both reject when the recording has ended.
   * `goesOn`: what waits is to be written, and another process may have written before.
   */
  #register(goesOn = false): {
    readonly known: Promise<KindState>
    readonly held: Promise<KindState>
    readonly opened: Promise<KindState>
  } {
    const { calls, after } = this.#options
    const kind = this.#kind
    const { signal } = this.#stop
    const backoff = new Backoff(pauses)
    const first = Promise.withResolvers<KindState>()
    const opened = Promise.withResolvers<KindState>()
    opened.promise.catch(() => {})
    const holding = async (): Promise<KindState> => {
      await after
      for (;;) {
        signal.throwIfAborted()
        try {
          const state = await calls.kind(kind)
          first.resolve(state)
          opened.resolve(state)
          if (state.isHeld) {
            if (goesOn || (await first.promise).position !== state.position) this.#skipTo(state)
            this.#writes = { id: state.id, writtenMs: state.writtenMs || Date.now() }
            return state
          }
        } catch (error) {
          // It is asked again.
          opened.reject(error)
        }
        this.#again = Promise.withResolvers()
        const pause = sleep(backoff.nextMs(), signal, true)
        await Promise.race([pause, this.#again.promise])
      }
    }
    const held = holding()
    held.catch((error: Error) => {
      first.reject(error)
      opened.reject(error)
    })
    first.promise.catch(() => {})
    return { known: first.promise, held, opened: opened.promise }
  }
}

/** Whether a batch has more than a position, which nobody misses who reads. */
function saysMore({ keys, afterMs }: WaitingBatch): boolean {
  return keys.length > 0 || afterMs !== undefined
}

/** A position of the archive in this incarnation of the cluster. `latest`: the last version of the server in it. */
interface OwnPosition extends Pick<ArchivedBase, 'reached' | 'namespaces'> {
  readonly position: ResourceVersion
  readonly latest: ResourceVersion
}

async function* begunWith<T>(first: T, others: AsyncIterator<T>): AsyncGenerator<T, void> {
  try {
    yield first
    for (let next = await others.next(); next.done !== true; next = await others.next()) {
      yield next.value
    }
  } finally {
    await others.return?.()
  }
}

const encoder = new TextEncoder()
const noText = new Uint8Array()
const verifyMs = 20
