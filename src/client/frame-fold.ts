/**
 * The frames of subscriptions, as the gateway sends them, and what they make of the rows: {@link FrameFold} folds changes
 * of objects into a map by id, and {@link PageFold} folds the steps of a live page into its rows, in their order. Both
 * work without a client: they hold rows, and neither a connection nor its state.
 */
/** Why an object is no longer part of a list. */
export type Removal = 'DELETED' | 'UNMATCHED' | 'HIDDEN' | 'CLUSTER_REMOVED'

/** One change in a subscription frame, as the gateway sends it. */
export interface FrameChange<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  /** The reason of a removal: the object is deleted, no longer matches, may no longer be seen, or its cluster is gone. */
  readonly removal?: Removal | null
  readonly objectId: string
  /** `null` in the removal of an object that the viewer may no longer see. */
  readonly object?: T | null
}

/** One frame of a subscription; ask for at least these fields. */
export interface Frame<T> extends StreamFrame {
  /** Drop all objects before applying the changes. */
  readonly reset: boolean
  /** Whether the snapshot is complete: true from then on until the next reset. */
  readonly synced: boolean
  readonly changes: readonly FrameChange<T>[]
}

/** What frames of every subscription may have besides their content. */
export interface StreamFrame {
  readonly resumeToken?: string
  /** Since when the rows may be out of date; `null` while they are not. */
  readonly staleSince?: string | null
  /** The clusters that are missing at this time, or whose rows may be out of date. */
  readonly incomplete?: readonly ClusterGap[]
}

/** One cluster whose objects an answer lacks, or has only as they were before the gateway lost contact. */
export interface ClusterGap {
  readonly cluster: string
  /** The type of the kind in the schema. */
  readonly type?: string
  /** `NOT_SERVED` if the cluster does not serve the kind; else the code of an error. */
  readonly code?: string
  readonly message?: string
  /** Since when the objects of the cluster may be out of date. */
  readonly since?: string | null
}

/**
 * Folds the frames of a subscription into a map of objects by id. Changes the map in place, so a frame costs as much as
 * its changes. Copy the map for renderers that compare by identity.
 */
export class FrameFold<T> {
  readonly #objects: Map<string, T>
  #hasBase: boolean
  #synced = false
  #resumeToken: string | undefined

  /**
   * `queried` are all nodes of the list whose `resumeToken` the subscription begins with. Absent: it begins with a
   * snapshot.
   */
  constructor(queried?: readonly (T & { readonly id: string })[]) {
    this.#objects = new Map(queried?.map((node) => [node.id, node]))
    this.#hasBase = queried !== undefined
  }

  get objects(): ReadonlyMap<string, T> {
    return this.#objects
  }

  /** Whether the snapshot has been complete since the last reset. */
  get synced(): boolean {
    return this.#synced
  }

  /** Whether these are all objects of the list, not only those that changed after a token. */
  get complete(): boolean {
    return this.#hasBase && this.#synced
  }

  /** The value of `resumeFrom` for the next subscription. */
  get resumeToken(): string | undefined {
    return this.#resumeToken
  }

  /** Applies one frame; returns the objects after it. */
  apply({ reset, synced, changes, resumeToken }: Frame<T>): ReadonlyMap<string, T> {
    if (reset) {
      this.#objects.clear()
      this.#hasBase = true
      this.#synced = false
    }
    for (const { type, objectId, object } of changes) {
      if (type === 'REMOVED') this.#objects.delete(objectId)
      else if (object !== undefined && object !== null) this.#objects.set(objectId, object)
    }
    this.#synced ||= synced
    this.#resumeToken = resumeToken ?? this.#resumeToken
    return this.#objects
  }
}

/** Fields of each change that a fold needs, by what the change is. */
const neededFields = {
  list: { always: ['type', 'objectId'], ADDED: 'object', MODIFIED: 'object' },
  page: { always: ['step', 'index', 'objectId'], INSERT: 'object', UPDATE: 'object', MOVE: 'from' },
  /** A list in a normalising cache, which must know what is deleted. */
  cached: { always: ['type', 'objectId', 'removal'], ADDED: 'object', MODIFIED: 'object' },
} as const

/**
 * A field that the frame lacks, as its subscription does not select it; `undefined` if it has all that a fold needs.
 */
export function missingField(frame: object, form: keyof typeof neededFields): string | undefined {
  const roots = ['reset', 'synced', 'changes', ...(form === 'page' ? ['totalCount'] : [])]
  const root = roots.find((name) => !(name in frame))
  if (root !== undefined) return root
  const needed = neededFields[form]
  const byType: Readonly<Record<string, unknown>> = needed
  for (const change of (frame as { readonly changes: readonly object[] }).changes) {
    for (const name of needed.always) if (!(name in change)) return `changes { ${name} }`
    const { type, step } = change as { readonly type?: string; readonly step?: string }
    const further = byType[step ?? type ?? '']
    if (typeof further === 'string' && !(further in change)) return `changes { ${further} }`
  }
  return undefined
}

/**
 * The ids of objects that a normalising cache must evict: deleted objects, and those that the viewer may no longer see.
 * An object that only no longer matches stays in the cache.
 */
export function goneObjects({ changes }: Frame<unknown>): string[] {
  return changes.flatMap(({ type, objectId, removal }) =>
    type === 'REMOVED' && removal !== 'UNMATCHED' ? [objectId] : [],
  )
}

/** One step of a live page, as the gateway sends it. */
export interface PageStep<T> {
  readonly step: 'REMOVE' | 'MOVE' | 'INSERT' | 'UPDATE'
  readonly index: number
  /** For a MOVE. */
  readonly from?: number | null
  readonly objectId: string
  /** For an INSERT or UPDATE. */
  readonly object?: T | null
}

/** A frame of a live page; select at least these fields. */
export interface PageFrame<T> extends StreamFrame {
  /** Drop all rows before applying the steps. */
  readonly reset: boolean
  /** Whether the page is complete: true from then on until the next reset. */
  readonly synced: boolean
  readonly totalCount: number
  readonly changes: readonly PageStep<T>[]
}

interface Entry<T> {
  readonly id: string
  readonly row: T
}

/**
 * Folds the frames of a live page into its sorted rows. Never shows a partial page: after a reset, new rows are
 * collected while the old rows stay, and replace them when the page is complete.
 */
export class PageFold<T> {
  #entries: Entry<T>[] = []
  #rows: readonly T[] = []
  #totalCount: number | undefined
  #synced = false

  /** The same array until something changes. */
  get rows(): readonly T[] {
    return this.#rows
  }

  /** The number of objects on all pages of the list; `undefined` before the first page is complete. */
  get totalCount(): number | undefined {
    return this.#totalCount
  }

  /** Whether the rows are complete and followed. */
  get synced(): boolean {
    return this.#synced
  }

  /**
   * Applies a frame. Returns `false` if a step does not fit the rows: a frame was lost. The rows then stay as they
   * were, and only a frame with `reset` may follow.
   */
  apply({ reset, synced, totalCount, changes }: PageFrame<T>): boolean {
    const entries = reset ? [] : [...this.#entries]
    if (!changes.every((step) => applyStep(entries, step))) {
      this.#synced = false
      return false
    }
    this.#entries = entries
    if (reset) this.#synced = false
    this.#synced ||= synced
    if (!this.#synced) return true
    if (reset || changes.length > 0 || this.#rows.length !== entries.length) {
      this.#rows = entries.map(({ row }) => row)
    }
    this.#totalCount = totalCount
    return true
  }
}

/** Applies a step. Returns whether it fits. */
function applyStep<T>(entries: Entry<T>[], change: PageStep<T>): boolean {
  const { step, index, objectId: id, object } = change
  const from = step === 'MOVE' ? (change.from ?? -1) : index
  if (step === 'INSERT') {
    if (index > entries.length || object === undefined || object === null) return false
    entries.splice(index, 0, { id, row: object })
    return true
  }
  const entry = entries[from]
  if (entry === undefined || entry.id !== id || index >= entries.length) return false
  if (step === 'REMOVE') entries.splice(index, 1)
  else if (step === 'MOVE') entries.splice(index, 0, ...entries.splice(from, 1))
  else if (object === undefined || object === null) return false
  else entries[index] = { id, row: object }
  return true
}
