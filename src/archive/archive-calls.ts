/*
 * What the gateway's thread and the archive's worker say to each other.
 *
 * The worker owns the database. The gateway sends it what the stores saw (`write`), in batches of bytes as they came from
 * the API server, and asks it three kinds of question: which objects it has (`objects`, so that a restart needs no list),
 * which changes came after a position (`changesSince`, so that a resume token is honoured), and what was (`changes`,
 * `objectAt`, `differences`). The worker does what costs: parsing, comparing, compressing. It knows nothing of viewers: the
 * questions name the parts that the caller may see.
 */

/** A kind of a cluster, as the archive knows it. The version is that in which the gateway reads it at present. */
export interface ArchivedKind {
  readonly cluster: string
  /** `''`: the core group. */
  readonly group: string
  /** The plural: `pods`. */
  readonly resource: string
  readonly version: string
  /** `Pod`. */
  readonly kind: string
  readonly namespaced: boolean
  /**
   * How rows of the kind are made: another text, another form. Rows of another form are no base for a restart or a
   * comparison of masked fields; the kind is listed anew.
   */
  readonly form: string
  /** Whether only the keys of `data` are kept, as of Secrets. */
  readonly keysOnly: boolean
  /** Paths (RFC 6901; `*` is any step) whose values are not kept. */
  readonly masked: readonly string[]
}

/** What the archive has of a kind. */
export interface KindState {
  /** Names the kind in further calls. */
  readonly id: number
  /** The resource version that the rows show, if they can serve as a list: absent before the first whole list. */
  readonly position: string | undefined
  /** The resource versions of the namespaces, if each is watched by itself; `position` is then that of a store of them. */
  readonly namespaces: Readonly<Record<string, string>> | undefined
  /** The incarnation of the cluster (`Incarnation.text`) whose resource version it is. */
  readonly incarnation: string
  /** Until when all that was seen of it is written, as far as the database says, in milliseconds since the epoch; 0: nothing is. */
  readonly writtenMs: number
  readonly objects: number
  /** Whether this process writes the cluster at present. If not, another one does, and `write` is refused (ARCHIVE_HELD). */
  readonly isHeld: boolean
}

/** The resource versions that the rows of a kind show: one, or those of its namespaces. */
export interface KindPosition {
  readonly group: string
  readonly resource: string
  readonly versions: readonly string[]
}

export const recordTypes = ['ADDED', 'MODIFIED', 'REMOVED'] as const
export type RecordType = (typeof recordTypes)[number]

/**
 * What a store saw of one kind, oldest first, and the position after it. Rows, changes and position are written in one
 * transaction. A record names an object by its key and has the object's new state, or for a removal the last one.
 */
export interface ArchiveBatch {
  readonly kind: number
  readonly incarnation: string
  /** When the gateway saw it, in milliseconds since the epoch. */
  readonly timeMs: number
  /**
   * If the batch was seen late (after a downtime, by resuming or by comparing): the last moment at which the states before
   * it were known to be those of the cluster.
   */
  readonly afterMs?: number
  /**
   * The batch is a part of a whole list, to be compared with the rows. Objects that no part of the list names are gone. All
   * parts of a list have the same number; the last one ends it and has the position.
   */
  readonly list?: { readonly number: number; readonly isLast: boolean }
  /** The resource version after the batch. Absent: between two parts. */
  readonly position?: string
  /**
   * Where each namespace is watched by itself: the resource versions that namespaces have reached since the batch before, and
   * `null` for those whose objects are not whole, or not kept any more. With the last part of a list, those of all.
   */
  readonly namespaces?: Readonly<Record<string, string | null>>
  /** The position of the store after each record; not of a list. */
  readonly positions?: readonly string[]
  /** `namespace/name`, or `name`, by record. */
  readonly keys: readonly string[]
  readonly uids: readonly string[]
  /** The places in {@link recordTypes}, by record. */
  readonly types: Uint8Array
  /** Where the text of each record ends in {@link bytes}; it begins where the one before ends. */
  readonly ends: Uint32Array
  /**
   * The texts: UTF-8 JSON, as they came (with `managedFields`), or as the store holds them. An empty text of a removal:
   * the state that the archive has.
   */
  readonly bytes: Uint8Array
}

/** Texts, one after the other. */
export function joinedTexts(texts: readonly Uint8Array[]): Pick<ArchiveBatch, 'ends' | 'bytes'> {
  const ends = new Uint32Array(texts.length)
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const [at, text] of texts.entries()) {
    bytes.set(text, end)
    end += text.length
    ends[at] = end
  }
  return { ends, bytes }
}

/** What the archive had of the changes of a kind when its objects were read. */
export interface BaseMark {
  readonly lastChange: number
  /** Since which position there was a row of each change. */
  readonly sincePosition: string | null
}

/** Some objects of a kind, for a store: the texts, one after the other. All chunks are of one moment. */
export interface ObjectChunk {
  /** `undefined`: the objects are of no position. This, and what follows, is said with the first chunk. */
  readonly position: string | undefined
  readonly namespaces: KindState['namespaces']
  readonly mark: BaseMark
  readonly incarnation: string
  /** Whether no other chunk follows; false: there may be none all the same. */
  readonly isLast: boolean
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
}

/** A change with the whole state before it, for those who resume. */
export interface ResumedChange {
  readonly type: RecordType
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** The position of the store after it. Absent for what is no change to the archive. */
  readonly position?: string
  /** JSON; of an addition absent. */
  readonly before: string | undefined
  /** JSON; of a removal the last state. */
  readonly after: string
}

/** What a process knows of the changes of a kind that the archive does not have yet, as it follows the kind itself. */
export interface FollowedKind {
  /** If it writes them: since when some are not written. */
  readonly own?: { readonly unknownSinceMs: number | undefined } | undefined
  /** It has seen all since then, in milliseconds since the epoch; 0: since the archive's rows. Infinity: it does not yet. */
  readonly sinceMs: number
  readonly incarnation: string
  /** What it had reached a while ago with the last changes: the resource versions of the namespaces, or of `''`. */
  readonly reached: Readonly<Record<string, string>>
}

/** Until when all that was seen of the kinds of a cluster is written. `but`: of these kinds, by id, until another time. */
export interface ClusterMark {
  readonly cluster: string
  readonly atMs: number
  readonly but: Readonly<Record<string, number>>
}

/** The objects of one kind in one cluster that a question is about, and that the caller may see. */
export interface ArchivePart {
  readonly cluster: string
  readonly group: string
  readonly resource: string
  /** What the process that asks knows of the kind; absent: it does not follow it. */
  readonly followed?: FollowedKind
  /** Absent: all. */
  readonly namespaces?: readonly string[]
  /** Keys (`namespace/name`, or `name`). Absent: all. */
  readonly keys?: readonly string[]
  readonly uids?: readonly string[]
}

/** Times are milliseconds since the epoch; `since` is inclusive, `until` exclusive. Newest first. */
export interface ChangesQuestion {
  readonly parts: readonly ArchivePart[]
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly types?: readonly RecordType[]
  readonly managers?: readonly string[]
  /** A change counts if one of its fields is at, or within, one of these paths (RFC 6901; `*` is any step). */
  readonly paths?: readonly string[]
  readonly names?: readonly string[]
  /** Whether only fields of `status` differ. */
  readonly isStatusOnly?: boolean
  /** Only changes before this one: an id, or `end` of the page before. */
  readonly before?: string
  /** Only changes after this one, oldest first: for those who follow. */
  readonly following?: string
  readonly limit: number
}

/** One field that differs between two states, as a reader sees it. */
export interface FieldDifference {
  /** RFC 6901; `''` is the whole object. */
  readonly path: string
  /** `null`: absent, or masked. */
  readonly before: unknown
  readonly after: unknown
  /** Whether the values are withheld. */
  readonly masked: boolean
}

export interface ArchivedChange {
  /** Orders changes; a decimal number. */
  readonly id: string
  readonly timeMs: number
  readonly afterMs: number | undefined
  readonly type: RecordType
  readonly cluster: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  /** `''`: none. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly manager: string | undefined
  /** At most {@link maxFields}, in the order of their paths. */
  readonly fields: readonly FieldDifference[]
  readonly fieldCount: number
  /** How many changes of the same fields by the same manager this one stands for; 1: itself. */
  readonly repeats: number
  /** Where a page behind this row begins, as `end` of a page says it. Absent: its id. */
  readonly end?: string
}

export const maxFields = 200

/** A time of which the archive does not know everything of a kind. */
export interface ArchiveGap {
  readonly cluster: string
  readonly group: string
  readonly resource: string
  readonly code: 'BEFORE_ARCHIVE' | 'ARCHIVE_GAP' | 'NOT_ARCHIVED'
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

export interface ChangesPage {
  readonly changes: readonly ArchivedChange[]
  readonly hasMore: boolean
  /**
   * Where the next page begins: `before`, `following` or `after` of its question. If there is more, a page may have less than
   * `limit` rows, or none: a question looks at a bounded number of rows.
   */
  readonly end: string | undefined
  /** Of the parts, within the time that was asked about. */
  readonly gaps: readonly ArchiveGap[]
}

/** A state of one object: at a time, or in a resource version. `uid`: of this object, and none of its name before. */
export interface PastQuestion {
  readonly cluster: string
  readonly group: string
  readonly resource: string
  readonly followed?: FollowedKind
  readonly key: string
  readonly uid?: string
  readonly at: { readonly timeMs: number } | { readonly resourceVersion: string }
}

export type PastObject =
  /** JSON. `sinceMs`: since when the state was so, as far as the archive knows. */
  | { readonly state: 'found'; readonly text: string; readonly sinceMs: number }
  /** There was no such object. */
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly gap: ArchiveGap }

/** What is net added, changed and removed between two times. `until` absent: now. */
export interface DifferencesQuestion {
  readonly parts: readonly ArchivePart[]
  readonly fromMs: number
  readonly toMs?: number
  /** `end` of the page before. */
  readonly after?: string
  readonly limit: number
}

/** A kind of a cluster of which the archive has rows or changes. */
export type KeptKind = Pick<
  ArchivedKind,
  'cluster' | 'group' | 'resource' | 'version' | 'kind' | 'namespaced'
>

/** The archive, for those who read it. */
export interface ArchiveReads extends Pick<
  ArchiveCalls,
  'kinds' | 'changes' | 'objectAt' | 'differences'
> {
  /** Calls `listener` after changes were written. Returns a function that removes it. */
  onWritten(listener: () => void): () => void
}

export interface ArchiveState {
  readonly objects: number
  readonly changes: number
  readonly bytes: number
  readonly gaps: number
  /** The oldest change, in milliseconds since the epoch. */
  readonly beginsMs: number | undefined
}

/** What the gateway has given to its archive since it started. */
export interface ArchiveCounts {
  /** Rows written: objects and changes. */
  readonly rows: number
  /** Changes that found no room, so that their kinds are compared again. */
  readonly dropped: number
  /** Times in which changes were not seen. */
  readonly gaps: number
  /** The age of the oldest change that is not written yet; 0: all are. */
  readonly lagMs: number
  readonly bytes: number
  /** Why nothing can be written at present. */
  readonly problem: Error | undefined
}

/** What processes that share a database tell each other of. */
export type Topic = 'changes' | 'apis' | 'members'

/** What the holder of a cluster publishes of it, for the gateways that share the database. */
export interface PublishedCluster {
  readonly cluster: string
  /** The hash of the text that describes its API; `undefined`: the one that was published before. */
  readonly api: string | undefined
  /** A text of the gateways. */
  readonly state: string
}

export interface PublishedRow extends PublishedCluster {
  /** Greater than that of all rows that were written before; equal for rows that were written together. */
  readonly written: number
}

/** A text of the gateways that many clusters share. `parts`: the hashes of those that it refers to. */
export interface ApiDocument {
  readonly hash: string
  readonly parts: readonly string[]
  readonly text: string
}

/** What gateways that share a database publish for each other. Only for Postgres. */
export interface PublishedCalls {
  /** Publishes the state of clusters. Resolves with the names of those that another process holds, which are left out. */
  publish(clusters: readonly PublishedCluster[]): Promise<readonly string[]>
  /** What was published after the row with this `written`; -1: all. */
  publishedAfter(written: number): Promise<readonly PublishedRow[]>
  /** Those of these hashes of which no text is kept. */
  lackedDocuments(hashes: readonly string[]): Promise<readonly string[]>
  keepDocument(document: ApiDocument): Promise<void>
  /** The texts of these hashes, as far as they are kept. */
  documentsOf(hashes: readonly string[]): Promise<readonly ApiDocument[]>
}

/** A gateway among those that share clusters. */
export interface SharingMember {
  readonly address: string
  /** Names the process: two must not have one address. */
  readonly instance: string
  /** Whether it wants no clusters any more. */
  readonly isLeaving: boolean
}

/** A gateway, as its row says. */
export interface SharedMember extends SharingMember {
  /** For how long its row says that it lives; less than 0: its row is over. */
  readonly remainingMs: number
  /** Until when that is, in milliseconds since the epoch by the clock of the database: another value after each prolongation. */
  readonly untilMs: number
}

/** What the gateways that share clusters say of each other. */
export interface SharedClusters {
  readonly members: readonly SharedMember[]
  /** By cluster, the address of the gateway that serves it, or served it when it lived. */
  readonly holders: readonly (readonly [cluster: string, address: string])[]
  /** Whether another process has this gateway's address. */
  readonly isOther: boolean
}

export interface ClusterTaking {
  readonly cluster: string
  /** Which gateway serves it until now; `undefined`: none has. */
  readonly former: string | undefined
}

/** How gateways share clusters by a database. Only for Postgres. Each call has a short deadline. */
export interface SharingCalls {
  /** Says that this gateway lives, and reads what all of them say. */
  prolongMember(member: SharingMember): Promise<SharedClusters>
  /** Makes this gateway the one that serves these clusters. Resolves with the names of those that it has got. */
  takeClusters(member: SharingMember, takings: readonly ClusterTaking[]): Promise<readonly string[]>
  /** Says that this gateway lives no more. */
  removeMember(member: SharingMember): Promise<void>
  /** Says so of another one, unless its row is another one by now, or was prolonged. Resolves with whether it is removed. */
  removeGone(member: SharedMember): Promise<boolean>
  /** Lets another process write a cluster at once. Call it when the recordings of its kinds have ended. */
  releaseCluster(cluster: string): Promise<void>
}

/** What an open archive does. Rejects with `ArchiveError`. Several calls may run at once; writes keep their order. */
export interface ArchiveCalls extends PublishedCalls, SharingCalls {
  /** Of all kinds of an incarnation of a cluster that have one. */
  positions(cluster: string, incarnation: string): Promise<readonly KindPosition[]>
  /** Registers a kind, and says what there is of it. */
  kind(kind: ArchivedKind): Promise<KindState>
  /**
   * Writes a batch in one transaction. The bytes belong to the archive from then on. While the database is away or full, it
   * waits, and tries again. Rejects with ARCHIVE_BEHIND if changes of the kind were lost (too many bytes waited, or the
   * database was made anew): until the first part of a whole list is written, no other batch of the kind is. A list notes the
   * gap before it, from {@link ArchiveBatch.afterMs}, or else from the last batch that was written.
   */
  write(batch: ArchiveBatch): Promise<void>
  /** Says until when all that was seen of clusters is written, of those that this process writes. Only for Postgres. */
  mark(marks: readonly ClusterMark[]): Promise<void>
  /** Notes that changes of a kind were not seen in this time. */
  gap(kind: number, fromMs: number, toMs: number): Promise<void>
  /** The objects of a kind at its position, some at a time; a chunk at least. */
  objects(kind: number): AsyncIterable<ObjectChunk>
  /**
   * The changes of a kind after a resource version, oldest first; `undefined` if the archive does not know them all, or they
   * are more than `limit`. A position of a store of several namespaces is one of the store before `base`,
   * and not after that; the changes are those until then.
   */
  changesSince(
    kind: number,
    resourceVersion: string,
    limit: number,
    base?: BaseMark,
  ): Promise<readonly ResumedChange[] | undefined>
  /** The kinds of all clusters that the archive has something of, also those that are kept no more. */
  kinds(): Promise<readonly KeptKind[]>
  changes(question: ChangesQuestion): Promise<ChangesPage>
  objectAt(question: PastQuestion): Promise<PastObject>
  differences(question: DifferencesQuestion): Promise<ChangesPage>
  state(): Promise<ArchiveState>
  /** Writes what waits, and lets go of the database. */
  close(): Promise<void>
}
