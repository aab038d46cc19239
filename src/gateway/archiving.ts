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
import { type ApiResource, apiVersionOf } from '../kubernetes/api-resource.ts'
import { withDeadline } from '../lib/deadline.ts'
import { nextTurn } from '../lib/event-loop.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { GatewayLog } from './observers.ts'

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
  readonly #recordings = new Map<string, KindRecording>()
  readonly #waiting: WaitingChanges = { bytes: 0, dropped: 0 }
  readonly #standstills = new Standstills()
  readonly #asked = new Map<string, Promise<boolean>>()
  /** The resources that are archived, wherever they are served. */
  #archived: ReadonlySet<string> = new Set()
  #formOf: FormOf = () => undefined
  /** The clusters of what is archived, by place: of those that were connected when the schema was made. */
  #kinds: ReadonlyMap<string, string> = new Map()
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
    const key = placeOf(part)
    const followed =
      this.#recordings.get(key)?.followed ?? (this.#kinds.has(key) ? notFollowed : undefined)
    return followed === undefined ? part : { ...part, followed }
  }

  /** Says until when all that was seen of clusters is written: of those of which all kinds are recorded. */
  #mark(): void {
    const marks = new Map<string, ClusterMark & { atMs: number; but: Record<string, number> }>()
    const partial = new Set<string>()
    const nowMs = Date.now()
    for (const [key, cluster] of this.#kinds) {
      const written = this.#recordings.get(key)?.written
      if (written === undefined) partial.add(cluster)
      if (written === undefined || partial.has(cluster)) continue
      const { id, knownMs } = written
      const mark = getOrInsert(marks, cluster, () => ({ cluster, atMs: nowMs, but: {} }))
      if (knownMs < nowMs - unknownMs) mark.but[id] = knownMs
      else mark.atMs = Math.min(mark.atMs, knownMs)
    }
    const whole = [...marks.values()].filter(({ cluster }) => !partial.has(cluster))
    if (whole.length > 0) this.archive.mark(whole).catch(() => {})
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
    this.#archived = new Set(archived.map(({ resource }) => versionedName(resource)))
    this.#formOf = formOf
    const kinds = new Map<string, string>()
    for (const [cluster, cache] of served.clusters) {
      // There may be a thousand that other gateways hold.
      if (cache.connection.state !== 'connected') continue
      for (const { resource } of archived) {
        if (cache.serves(resource)) kinds.set(placeOf({ ...resource, cluster }), cluster)
      }
    }
    this.#kinds = kinds
    for (const recording of this.#recordings.values()) {
      const kind = this.#kindOf(recording.cluster, recording.resource)
      if (kind !== undefined) recording.redefine(kind)
    }
  }

  readonly archiveOf: ArchiveOf = (resource, place) => {
    const kind = this.#kindOf(place.cluster, resource)
    if (kind === undefined) return undefined
    const key = placeOf(kind)
    const recording = new KindRecording({
      calls: this.archive,
      resource,
      place,
      kind,
      waiting: this.#waiting,
      standstills: this.#standstills,
      wentBack: () => this.#wentBack(place),
      after: this.#recordings.get(key)?.end(),
      ended: (ended) => {
        if (this.#recordings.get(key) === ended) this.#recordings.delete(key)
      },
    })
    this.#recordings.set(key, recording)
    return recording
  }

  /** Asks now whether this process may write a cluster, which another gateway has let go of. */
  claim(cluster: string): void {
    for (const one of this.#recordings.values()) if (one.cluster === cluster) one.claim()
  }

  /** Lets another gateway write a cluster, once what its recordings have is written. Its informers have stopped. */
  async release(cluster: string): Promise<void> {
    const all = [...this.#recordings.values()].filter((one) => one.cluster === cluster)
    const ending = Promise.all(all.map((one) => one.end()))
    await withDeadline('writing the archive', ending, endDeadlineMs).catch(() => {})
    // Otherwise the other one waits until this one's time is over.
    await this.archive.releaseCluster(cluster).catch(() => {})
  }

  /** Call it when the informers have stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#standstills[Symbol.dispose]()
    const ending = Promise.all([...this.#recordings.values()].map((one) => one.end()))
    // What cannot be written in time is seen again after a restart.
    await withDeadline('writing the archive', ending, endDeadlineMs).catch(() => {})
    await this.archive[Symbol.asyncDispose]()
  }

  /**
   * Whether the API server has not reached a position of the archive: then it was restored from a backup, and none of its
   * positions means anything. Asked once for each incarnation, before any of them is used.
   */
  #wentBack(place: ArchivedPlace): Promise<boolean> {
    const { cluster } = place
    const key = JSON.stringify([cluster, place.incarnation()])
    return getOrInsert(this.#asked, key, () => this.#askedOf(place))
  }

  async #askedOf(place: ArchivedPlace): Promise<boolean> {
    // All kinds of a schema are leased in one tick.
    await nextTurn()
    const all = [...this.#recordings.values()].filter((one) => one.cluster === place.cluster)
    const areAhead = await Promise.all(all.map((one) => one.isAhead()))
    if (!areAhead.includes(true)) return false
    place.wentBack()
    for (const one of all) one.adopt()
    return true
  }

  /** The kind as it is archived now; `undefined`: it is not, or the cluster is not connected. */
  #kindOf(cluster: string, resource: ApiResource): ArchivedKind | undefined {
    const serverForm = this.#formOf(cluster, resource)
    if (serverForm === undefined || !this.#archived.has(versionedName(resource))) return undefined
    const { group, version, kind, namespaced } = resource
    const masked = maskedPaths(this.#options, { group, kind })
    const text = JSON.stringify([codecForm, version, kind, namespaced, masked, serverForm])
    const form = createHash('sha256').update(text).digest('base64url').slice(0, 22)
    const names = { cluster, group, version, kind, namespaced, resource: resource.resource }
    return { ...names, form, keysOnly: isSecret(resource), masked }
  }
}

function isSecret({ group, resource }: ApiResource): boolean {
  return group === '' && resource === 'secrets'
}

function versionedName(resource: ApiResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`
}

function placeOf({
  cluster,
  group,
  resource,
}: Pick<ArchivedKind, 'cluster' | 'group' | 'resource'>): string {
  return JSON.stringify([cluster, group, resource])
}
