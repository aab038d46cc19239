/*
 * The archive of a gateway. `hold` decides with each new schema which kinds are archived, and how their rows are made (their
 * form); `Preload` leases these kinds. The caches ask for the archive of a resource when its informer starts
 * (`archiveOf`), and get a recording (`archive/kind-recording.ts`), which gives the objects to begin with and keeps what
 * the informer sees.
 */

import { createHash } from 'node:crypto'
import { type Archive, openArchive } from '../archive/archive.ts'
import type {
  ArchiveCounts,
  ArchivedKind,
  ArchivePart,
  ArchiveReads,
  ChangesPage,
  ChangesQuestion,
  ClusterMark,
  DifferencesQuestion,
  FollowedKind,
  KeptKind,
  PastObject,
  PastQuestion,
} from '../archive/archive-calls.ts'
import { archivePlace, type ArchiveOptions, maskedPaths } from '../archive/archive-options.ts'
import { Standstills, unknownMs } from '../archive/followed-watches.ts'
import { KindRecording, type WaitingChanges } from '../archive/kind-recording.ts'
import type { ArchivedPlace, ArchiveOf } from '../cache/archived-resource.ts'
import type { Kind } from '../graphql/model/kind.ts'
import type { ServedSchema } from '../graphql/served/served-schema.ts'
import {
  type ApiResource,
  groupResourceOf,
  versionedResourceOf,
} from '../kubernetes/api-resource.ts'
import { isBefore, latestOf, resourceVersion } from '../kubernetes/resource-version.ts'
import { withDeadline } from '../lib/deadline.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { GatewayLog } from './observers.ts'

interface FormsOfKind {
  readonly masked: readonly string[]
  /** By what decides how the API server writes the objects. */
  readonly byServer: Map<string, string>
}

/** What decides how the API server writes the objects of a resource; `undefined` while it is unknown. */
export type FormOf = (cluster: string, resource: ApiResource) => string | undefined

/** Another version of how rows are made: rows of the one before are no base for a restart. */
const codecForm = 1
const endDeadlineMs = 5_000
/** How often the gateway gives the archive its marks (`ClusterMark`). */
const markMs = 2_000
const notFollowed: FollowedKind = { sinceMs: Infinity, incarnation: '', reached: {} }

export class Archiving implements ArchiveReads, AsyncDisposable {
  readonly archive: Archive
  readonly #options: ArchiveOptions
  /** By cluster, and by the name of the resource. */
  readonly #recordings = new Map<string, Map<string, KindRecording>>()
  readonly #waiting: WaitingChanges = { bytes: 0, dropped: 0 }
  readonly #standstills = new Standstills()
  readonly #asked = new Map<string, Promise<boolean>>()
  /** The resources that are archived, wherever they are served. */
  #archived: ReadonlySet<string> = new Set()
  #formOf: FormOf = () => undefined
  /** What is masked of a kind, and its forms by what decides them in a cluster: most clusters have the same. */
  readonly #forms = new Map<string, FormsOfKind>()
  /** The names of what is archived, by cluster: of those that were connected when the schema was made. */
  #kinds: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  readonly #timer: NodeJS.Timeout | undefined

  private constructor(archive: Archive, options: ArchiveOptions) {
    this.archive = archive
    this.#options = options
    if (archivePlace(options.url).form !== 'postgres') return
    this.#timer = setInterval(() => this.#mark(), markMs).unref()
  }

  /** Rejects with `ArchiveError`: see `openArchive`. */
  static async open(options: ArchiveOptions, log: GatewayLog): Promise<Archiving> {
    const archive = await openArchive(options, (message) => log.warn(message))
    return new Archiving(archive, options)
  }

  get counts(): ArchiveCounts {
    const counts = this.archive.counts()
    return { ...counts, dropped: counts.dropped + this.#waiting.dropped }
  }

  kinds(): Promise<readonly KeptKind[]> {
    return this.archive.kinds()
  }

  onWritten(listener: () => void): () => void {
    return this.archive.onWritten(listener)
  }

  changes(question: ChangesQuestion): Promise<ChangesPage> {
    return this.archive.changes({ ...question, parts: question.parts.map(this.#followed) })
  }

  differences(question: DifferencesQuestion): Promise<ChangesPage> {
    return this.archive.differences({ ...question, parts: question.parts.map(this.#followed) })
  }

  objectAt(question: PastQuestion): Promise<PastObject> {
    return this.archive.objectAt(this.#followed(question))
  }

  /** A part of a question, with what its recording knows of the changes that the archive does not have yet. */
  readonly #followed = <Part extends ArchivePart>(part: Part): Part => {
    const name = groupResourceOf(part)
    const isArchived = this.#kinds.get(part.cluster)?.has(name) === true
    const followed =
      this.#recordings.get(part.cluster)?.get(name)?.followed ??
      (isArchived ? notFollowed : undefined)
    return followed === undefined ? part : { ...part, followed }
  }

  /** Says until when all that was seen of clusters is written: of those of which all kinds are recorded. */
  #mark(): void {
    const nowMs = Date.now()
    const marks = [...this.#kinds].flatMap(([cluster, names]): readonly ClusterMark[] => {
      const recordings = this.#recordings.get(cluster)
      const but: Record<string, number> = {}
      let atMs = nowMs
      for (const name of names) {
        const written = recordings?.get(name)?.written
        if (written === undefined) return []
        const { id, knownMs } = written
        if (knownMs < nowMs - unknownMs) but[id] = knownMs
        else atMs = Math.min(atMs, knownMs)
      }
      return [{ cluster, atMs, but }]
    })
    if (marks.length > 0) this.archive.mark(marks).catch(() => {})
  }

  /** Why the gateway is not ready: what has to be written cannot be. */
  get reasons(): readonly string[] {
    const { problem } = this.archive.counts()
    if (problem === undefined || this.#options.required !== true) return []
    return [`the archive cannot be written: ${problem.message}`]
  }

  /** Whether a kind is archived, wherever it is served. */
  isArchived(kind: Kind, { commonKinds, problemKinds }: ServedSchema): boolean {
    // Of Secrets the metadata says which keys there are; their values never come here.
    if ((kind.metadataOnly && !isSecret(kind.resource)) || kind.uncached) return false
    const { kinds } = this.#options
    return kinds?.includes(kind.listField) ?? (commonKinds.has(kind) || problemKinds.has(kind))
  }

  /** Archives the kinds that the schema serves now. `formOf` is asked again when a cluster has connected. */
  hold(served: ServedSchema, formOf: FormOf): void {
    const archived = [...served.kinds.values()].filter((kind) => this.isArchived(kind, served))
    this.#archived = new Set(archived.map(({ resource }) => versionedResourceOf(resource)))
    this.#formOf = formOf
    // There may be a thousand that other gateways hold.
    const connected = [...served.clusters].filter(
      ([, { connection }]) => connection.state === 'connected',
    )
    this.#kinds = new Map(
      connected.map(([cluster, cache]) => {
        const resources = archived.filter(({ resource }) => cache.serves(resource))
        return [cluster, new Set(resources.map(({ resource }) => groupResourceOf(resource)))]
      }),
    )
    this.#forms.clear()
    for (const recording of this.#allRecordings()) {
      const kind = this.#kindOf(recording.cluster, recording.resource)
      if (kind !== undefined) recording.redefine(kind)
    }
  }

  *#allRecordings(): Generator<KindRecording, void> {
    for (const recordings of this.#recordings.values()) yield* recordings.values()
  }

  #recordingsOf(cluster: string): readonly KindRecording[] {
    return [...(this.#recordings.get(cluster)?.values() ?? [])]
  }

  readonly archiveOf: ArchiveOf = (resource, place) => {
    const kind = this.#kindOf(place.cluster, resource)
    if (kind === undefined) return undefined
    const { cluster } = kind
    const name = groupResourceOf(kind)
    const recordings = getOrInsert(this.#recordings, cluster, () => new Map())
    const recording = new KindRecording({
      calls: this.archive,
      resource,
      place,
      kind,
      waiting: this.#waiting,
      standstills: this.#standstills,
      wentBack: () => this.#wentBack(place),
      after: recordings.get(name)?.end(),
      ended: (ended) => {
        if (recordings.get(name) === ended) recordings.delete(name)
        const isLast = recordings.size === 0 && this.#recordings.get(cluster) === recordings
        if (isLast) this.#recordings.delete(cluster)
      },
    })
    recordings.set(name, recording)
    return recording
  }

  /** Asks now whether this process may write a cluster, which another gateway has let go of. */
  claim(cluster: string): void {
    for (const one of this.#recordingsOf(cluster)) one.claim()
  }

  /** Lets another gateway write a cluster, once what its recordings have is written. Its informers have stopped. */
  async release(cluster: string): Promise<void> {
    const ending = Promise.all(this.#recordingsOf(cluster).map((one) => one.end()))
    await withDeadline('writing the archive', ending, endDeadlineMs).catch(() => {})
    // Otherwise the other one waits until this one's time is over.
    await this.archive.releaseCluster(cluster).catch(() => {})
  }

  /** Call it when the informers have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#standstills[Symbol.dispose]()
    const ending = Promise.all(Array.from(this.#allRecordings(), (one) => one.end()))
    // What cannot be written in time is seen again after a restart.
    await withDeadline('writing the archive', ending, endDeadlineMs).catch(() => {})
    await this.archive[Symbol.asyncDispose]()
  }

  /**
   * Whether the API server has not reached a position of the archive: then it was restored from a backup, and none of its
   * positions means anything. Asked once for each incarnation, before any of them is used. While the archive does not say,
   * they are not used either.
   */
  #wentBack(place: ArchivedPlace): Promise<boolean> {
    const key = JSON.stringify([place.cluster, place.incarnation()])
    return getOrInsert(this.#asked, key, () =>
      this.#askedOf(place).catch(() => {
        this.#asked.delete(key)
        return true
      }),
    )
  }

  async #askedOf(place: ArchivedPlace): Promise<boolean> {
    const { cluster } = place
    for (const { versions, ...of } of await this.archive.positions(cluster, place.incarnation())) {
      const latest = latestOf(versions.map(resourceVersion))
      const reached = latest && (await place.reached(latest, of))
      if (latest === undefined || reached === undefined || !isBefore(reached, latest)) continue
      place.wentBack()
      for (const one of this.#recordingsOf(cluster)) one.adopt()
      return true
    }
    return false
  }

  /** The kind as it is archived now; `undefined`: it is not, or the cluster is not connected. */
  #kindOf(cluster: string, resource: ApiResource): ArchivedKind | undefined {
    const serverForm = this.#formOf(cluster, resource)
    if (serverForm === undefined || !this.#archived.has(versionedResourceOf(resource)))
      return undefined
    const { group, version, kind, namespaced } = resource
    const key = `${versionedResourceOf(resource)} ${kind} ${namespaced}`
    const known = getOrInsert(this.#forms, key, () => ({
      masked: maskedPaths(this.#options, { group, kind }),
      byServer: new Map<string, string>(),
    }))
    const { masked, byServer } = known
    const form = getOrInsert(byServer, serverForm, () => {
      const text = JSON.stringify([codecForm, version, kind, namespaced, masked, serverForm])
      return createHash('sha256').update(text).digest('base64url').slice(0, 22)
    })
    const names = { cluster, group, version, kind, namespaced, resource: resource.resource }
    return { ...names, form, keysOnly: isSecret(resource), masked }
  }
}

function isSecret({ group, resource }: ApiResource): boolean {
  return group === '' && resource === 'secrets'
}
