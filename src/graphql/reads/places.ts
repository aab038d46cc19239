/*
 * The kinds and clusters that a field reads, and what it could not read. A place is a kind in a cluster. The field adds
 * each place that its arguments mean to its `Places`. A readable place becomes a part. `Places` reports the others in
 * three ways: as a gap (`incomplete`), as a type that was not looked at (`notLookedAt`), and, if the request names the
 * kind, as an error beside the answer. An unreachable cluster has such an error even if its objects are still in memory.
 * The viewer may lack the right to list kinds that the request does not name: `Places` reports that once for a cluster,
 * and only if the answer has no part in it.
 */

import { UnreadableResourceError } from '../../cache/cache-errors.ts'
import { ClientError, isLostCluster, unlessRefused } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import {
  type ClusterKind,
  type KindView,
  type ListReading,
  isReachable,
} from '../prepare/kind-view.ts'
import type { ReadSnapshot } from '../prepare/preparation.ts'
import { unauthorizedCluster } from '../prepare/read-failures.ts'
import { isInScope, type Scope } from '../../query/condition/scope.ts'
import type { ClusterGap, Visibility } from '../schema/gateway-types.ts'
import { kindsServedBy } from '../served/named-kinds.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { ReadRun } from './read-run.ts'

interface PlacesOptions {
  /** Whether the request names a kind. Default: it names each. */
  readonly isNamed?: (kind: Kind) => boolean
  /** Whether the error of a place stands beside the answer. Default: if the request names the kind. */
  readonly fails?: (at: ClusterKind, error: ClientError) => boolean
  /** Whether one error of each code stands for all kinds of a cluster. */
  readonly failsOnce?: boolean
  /** Whether kinds that their cluster does not serve are gaps even if the request does not name them. */
  readonly tellsNotServed?: boolean
}

/** The common part of everything that a place is read as. */
export type PlaceRead = ClusterKind & Pick<KindView, 'lacking'> & Partial<Pick<KindView, 'scope'>>

/** The namespaces that a place is limited to; `undefined`: all. */
type Within = () => readonly string[] | undefined

export interface PlacesRead<P> {
  readonly parts: readonly P[]
  /** The type names of the kinds that were read, sorted. */
  readonly types: readonly string[]
  /** The type names of the kinds that may hold more but were not read: not loaded, or not allowed. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** Whether no kind was left out. */
  readonly complete: () => boolean
  /** Parts that are missing or out of date, by cluster. */
  readonly incomplete: () => readonly ClusterGap[]
  /** Since when the first of the caches that were read may be out of date, by RFC 3339; `null` while all are in step. */
  readonly staleSince: () => string | null
  /** How much of what the field asks for the viewer may see. */
  readonly visible: () => Visibility
  readonly failures: readonly ClientError[]
}

/** The report on the places of a field, or of a live group: parts, failures and gaps. */
export class PlacesReport<P extends PlaceRead> {
  readonly parts: P[] = []
  readonly failures: ClientError[] = []
  /** The failures of single places, each with its place. */
  readonly failed: (readonly [ClusterKind, ClientError])[] = []
  readonly gaps: ClusterGap[] = []
  readonly #served: ServedSchema
  readonly #options: PlacesOptions
  /** The types of the places that could not be read. */
  readonly #unread = new Set<string>()
  readonly #refusedIn = new Set<string>()
  readonly #lost = new Set<string>()
  readonly #failedOnce = new Set<string>()
  /** The namespaces that each part is limited to. */
  protected readonly within: Map<P, Within> = new Map()
  isRefused = false

  constructor(served: ServedSchema, options: PlacesOptions = {}) {
    this.#served = served
    this.#options = options
  }

  isLost(cluster: string): boolean {
    return this.#lost.has(cluster)
  }

  /** Reads a place. `read` returns `undefined` if the cluster does not serve the kind, or nothing of it is in memory. */
  put(at: ClusterKind, read: () => P | undefined): void {
    const { cluster, kind, isOptional = false } = at
    const served = this.#served
    const { tellsNotServed = false } = this.#options
    const isNamed = this.#options.isNamed?.(kind) ?? true
    const isLost = this.#lost.has(cluster)
    try {
      const part = read()
      if (part === undefined) {
        if ((isNamed || tellsNotServed) && !isLost) this.gaps.push(notServedGap(at))
        return
      }
      this.parts.push(part)
      if (isOptional && !isLost && !isReachable(served, cluster)) {
        this.#fail(at, unreachableCluster(served, part, true))
      }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      if (!isNamed && isSwitchedOff(kind, error)) return
      if (error.code === 'FORBIDDEN') this.isRefused = true
      // The gap and the error of the whole cluster stand for this place.
      if (isLost) return
      this.#unread.add(error.type ?? kind.typeName)
      if (this.#options.fails?.(at, error) ?? isNamed) this.#fail(at, error)
      // A pattern does not ask for a kind that has no lists.
      const isMeant = isNamed || (error.code !== 'FORBIDDEN' && error.code !== 'UNSUPPORTED')
      if (isMeant) this.gaps.push(gapOfError(served, at, error))
      else if (error.code === 'FORBIDDEN') this.#refusedIn.add(cluster)
    }
  }

  #fail(at: ClusterKind, error: ClientError): void {
    const name = `${at.cluster} ${error.code}`
    if (this.#options.failsOnce === true && this.#failedOnce.has(name)) return
    this.#failedOnce.add(name)
    this.failures.push(error)
    this.failed.push([at, error])
  }

  /** Reads a place that a relation leads to, and adds it. What it throws is an error beside the answer, and no gap. */
  find(read: () => P | undefined): void {
    const part = this.attempt(read)
    if (part !== undefined) this.parts.push(part)
  }

  /** The same for a place on the way, which is not added. */
  attempt(read: () => P | undefined): P | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      if (error.type !== undefined) this.#unread.add(error.type)
      if (!this.failures.includes(error)) this.failures.push(error)
      return undefined
    }
  }

  /** Tells that a kind could not be read, where this is no error. */
  leaveOut({ typeName }: Kind): void {
    this.#unread.add(typeName)
  }

  /** Tells that a place was not looked into, and why, where this is no error beside the answer. */
  miss(at: ClusterKind, error: ClientError): void {
    this.leaveOut(at.kind)
    this.gaps.push(gapOfError(this.#served, at, error))
  }

  /** Tells that a whole cluster cannot be read. What is known of it from before may still be added. */
  lose(cluster: string): void {
    this.#lost.add(cluster)
    this.failures.push(unreachableCluster(this.#served, { cluster }, true))
  }

  /** All gaps except stale or partial parts. */
  missing(): readonly ClusterGap[] {
    const lost = Array.from(this.#lost, (cluster) => {
      const { code, message } = unreachableCluster(this.#served, { cluster }, true)
      return clusterGap({ cluster, code, message, since: lostSince(this.#served, cluster) })
    })
    return [...this.gaps, ...closedGaps(this.#refusedIn, this.parts, this.gaps), ...lost]
  }

  /** How much of what the places ask for the viewer may see. */
  visible(): Visibility {
    const seen = this.parts.flatMap((part) => {
      const { scope } = part
      return scope === undefined ? [] : [{ scope, within: this.within.get(part)?.() }]
    })
    return visibilityOf(seen, this.isRefused)
  }

  /** `others`: further types that were not looked at. */
  read(others: () => Iterable<string> = () => []): PlacesRead<P> {
    const { parts, failures } = this
    let known: readonly string[] | undefined
    const notLookedAt = (): readonly string[] =>
      (known ??= [...new Set([...this.#unread, ...others()])].toSorted())
    return {
      parts,
      types: [...new Set(parts.map(({ kind }) => kind.typeName))].toSorted(),
      notLookedAt,
      complete: () => notLookedAt().length === 0,
      incomplete: () => {
        const held = parts.filter(({ cluster }) => !this.#lost.has(cluster))
        return [...this.missing(), ...gapsOfParts(this.#served, held)]
      },
      staleSince: () => staleSince(this.#served, parts),
      visible: () => this.visible(),
      failures,
    }
  }
}

/**
 * Whether the gateway does without a kind on purpose: RBAC cannot grant the metadata of Secrets alone, so an account that may
 * not list them is the rule. For other kinds, it is a gap.
 */
export function isSwitchedOff({ metadataOnly }: Kind, { code, cause }: ClientError): boolean {
  return metadataOnly && code === 'FORBIDDEN' && cause instanceof UnreadableResourceError
}

/** What a viewer may see of a part, and the namespaces that it is limited to, if any. */
export interface SeenPart {
  readonly scope: Scope
  readonly within?: readonly string[] | undefined
}

/** How much of what the parts ask for the viewer may see: the least of all. `isRefused`: whether one of them is no part. */
export function visibilityOf(parts: Iterable<SeenPart>, isRefused = false): Visibility {
  let least: Visibility = isRefused ? 'NAMESPACES' : 'ALL'
  for (const { scope, within } of parts) {
    if (scope.form === 'all' || within?.every((name) => isInScope(scope, `${name}/`))) continue
    if (scope.form === 'names') return 'NAMES'
    least = 'NAMESPACES'
  }
  return least
}

/** Looking whether there is a place takes as long as so many tests. */
const testsPerLook = 5
/** Reading it, or finding that it cannot be read, as so many more. */
const testsPerPlace = 10

export class Places<P extends KindView = KindView> extends PlacesReport<P> {
  readonly #run: ReadRun

  constructor(run: ReadRun, options?: PlacesOptions) {
    super(run.served, options)
    this.#run = run
  }

  /**
   * Reads a place, and adds the part that `partOf` makes of it. `isUnnamed`: reads it only if the kind is common or in
   * memory. Adds nothing if the cluster does not serve the kind, or nothing of it is in memory.
   */
  add(
    at: ClusterKind,
    partOf: (part: KindView) => P,
    within: Within = () => undefined,
    isUnnamed = false,
  ): void {
    const { budget } = this.#run
    budget.spend('tests', testsPerLook)
    this.put(at, () => {
      const wanted = this.isLost(at.cluster) ? { ...at, indexes: undefined } : at
      let part: KindView | undefined
      let isThere = true
      try {
        part = isUnnamed ? this.#unnamedPart(at, within) : placePart(this.#run, wanted, within)
        isThere = part !== undefined
      } finally {
        if (isThere) budget.spend('tests', testsPerPlace)
      }
      if (part === undefined) return undefined
      const made = partOf(part)
      this.within.set(made, within)
      return made
    })
  }

  #unnamedPart({ cluster, kind, indexes }: ClusterKind, within: Within): KindView | undefined {
    const { budget, parts } = this.#run
    budget.spend('tests', within()?.length ?? 0)
    const part = readUnnamed(this.#run, { cluster, kind }, { within })
    const { view } = part ?? {}
    const isIndexed = !view || [...(indexes?.needed ?? [])].every((name) => view.hasIndex(name))
    // Notes missing indexes, so that another round waits for them.
    return isIndexed ? part : parts.part({ cluster, kind, indexes }, { within })
  }
}

/**
 * The part of a kind in a cluster; `undefined` for an optional kind that the cluster does not serve. An unreachable
 * cluster does not delay the answer: only parts in memory that are known to be allowed are read. The budget pays for the
 * namespaces of each part. Throws `ClientError`.
 */
function placePart(run: ReadRun, at: ClusterKind, within: Within): KindView | undefined {
  const { served, parts, budget } = run
  const { cluster, kind, isOptional = false } = at
  const cache = served.clusters.get(cluster)
  const isKnown = cache?.connection.state === 'connected'
  if (isOptional && isKnown && !cache.serves(kind.resource)) return undefined
  const namespaces = within()
  budget.spend('tests', namespaces?.length ?? 0)
  const reading = { within: () => namespaces }
  if (!isOptional || isReachable(served, cluster)) return parts.part(at, reading)
  try {
    return parts.part(at, { ...reading, prepares: false })
  } catch (error) {
    const isUnknown = error instanceof ClientError && error.code === 'NOT_SYNCED'
    throw isUnknown ? unreachableCluster(served, at, false) : error
  }
}

/**
 * The part of a kind that the request does not name. A common kind is loaded; any other must be in memory. `undefined` if
 * it cannot be read.
 */
export function unnamedPart(
  run: ReadRun,
  at: ClusterKind,
  reading?: ListReading,
): KindView | undefined {
  return unlessRefused(() => readUnnamed(run, at, reading))
}

/** Like {@link unnamedPart}. Throws `ClientError` for a common kind that cannot be read. */
function readUnnamed(
  { served, parts }: ReadRun,
  at: ClusterKind,
  reading?: ListReading,
): KindView | undefined {
  const isLoaded = served.commonKinds.has(at.kind) && !at.kind.uncached
  return isLoaded ? parts.part(at, reading) : parts.cachedPart(at, reading)
}

/** The type names of the kinds that some of these clusters serve and that were not read there. */
export function typesNotRead(
  served: ServedSchema,
  clusters: Iterable<string>,
  parts: readonly ClusterKind[],
  isWanted: (kind: Kind) => boolean = () => true,
): readonly string[] {
  const read = Map.groupBy(parts, ({ cluster }) => cluster)
  return Array.from(clusters, (cluster) => {
    const kinds = new Set(read.get(cluster)?.map(({ kind }) => kind))
    return kindsServedBy(served, cluster)
      .filter((kind) => isWanted(kind) && !kinds.has(kind))
      .map(({ typeName }) => typeName)
  }).flat()
}

/** A gap; what it does not say is null. */
export function clusterGap(
  gap: Pick<ClusterGap, 'cluster' | 'code' | 'message'> & Partial<ClusterGap>,
): ClusterGap {
  return { type: null, since: null, from: null, to: null, ...gap }
}

function gapOfError(
  served: ServedSchema,
  { cluster, kind }: ClusterKind,
  { code, message }: ClientError,
): ClusterGap {
  const since = isLostCluster(code) ? lostSince(served, cluster) : null
  return clusterGap({ cluster, type: kind.typeName, code, message, since })
}

/** Since when a cluster cannot be reached, by RFC 3339; `null` if it can. */
function lostSince({ members }: ServedSchema, cluster: string): string | null {
  const member = members.get(cluster)
  return member === undefined || member.state === 'CONNECTED' ? null : member.since.toISOString()
}

/** The gap of a kind that a cluster does not serve. This is no error: often only some clusters have a definition. */
function notServedGap({ cluster, kind }: ClusterKind): ClusterGap {
  const { typeName: type } = kind
  const message = `cluster ${cluster} does not serve ${type}`
  return clusterGap({ cluster, type, code: 'NOT_SERVED', message })
}

/**
 * The error of an unreachable cluster, or of a kind in it. `isHeld`: the answer has what the cluster last held.
 */
export function unreachableCluster(
  { members }: ServedSchema,
  { cluster, kind }: { readonly cluster: string; readonly kind?: Kind },
  isHeld: boolean,
): ClientError {
  const type = kind?.typeName
  if (members.get(cluster)?.state === 'UNAUTHORIZED') return unauthorizedCluster(cluster, type)
  const held =
    kind === undefined
      ? ': the answer has what is known of it from before'
      : ': its objects are as they were last known'
  const message = `cluster ${cluster} cannot be reached${isHeld ? held : ''}`
  const details = { cluster, type, hint: 'try again in a moment', retryAfterMs: 1_000 }
  return new ClientError('CLUSTER_UNREACHABLE', message, details)
}

/** The gaps of parts: caches of unreachable clusters, and caches of some namespaces only. */
export function gapsOfParts(
  served: ServedSchema,
  parts: readonly PlaceRead[],
): readonly ClusterGap[] {
  return parts.flatMap((part) => {
    const { lacking } = part
    const gaps: ClusterGap[] = []
    if (lacking !== undefined) {
      // No error: the cache is meant to cover no more.
      const { cluster, type, code, message } = lacking
      gaps.push(clusterGap({ cluster, type, code, message }))
    }
    if (isReachable(served, part.cluster)) return gaps
    const gap = gapOfError(served, part, unreachableCluster(served, part, true))
    return [...gaps, { ...gap, since: staleSince(served, [part]) ?? gap.since }]
  })
}

/**
 * The gaps of clusters where the viewer may list none of the kinds. `refused`: clusters with an unnamed kind that the
 * viewer may not list. A part, or a gap for another reason, shows that the cluster is not closed.
 */
function closedGaps(
  refused: Iterable<string>,
  parts: readonly ClusterKind[],
  gaps: readonly ClusterGap[],
): readonly ClusterGap[] {
  const closed = new Set(refused)
  for (const { cluster } of parts) closed.delete(cluster)
  for (const { cluster, code } of gaps) {
    if (code !== 'FORBIDDEN' && code !== 'NOT_SERVED') closed.delete(cluster)
  }
  return Array.from(closed, (cluster) => {
    const message = `you may list none of the kinds in cluster ${cluster}`
    return clusterGap({ cluster, code: 'FORBIDDEN', message })
  })
}

/** A kind whose cache may be out of date, as in `extensions.stale`. */
export interface StaleKind {
  readonly cluster: string
  readonly type: string
  /** RFC 3339. */
  readonly since: string
}

/** Since when the first of some caches may be out of date, by RFC 3339; `null` while all are in step. */
export function staleSince(
  { clusters }: Pick<ServedSchema, 'clusters'>,
  reads: Iterable<ClusterKind>,
): string | null {
  let earliestMs: number | undefined
  for (const { cluster, kind } of reads) {
    const sinceMs = clusters.get(cluster)?.staleSinceMs(kind.resource)
    if (sinceMs === undefined) continue
    earliestMs = Math.min(sinceMs, earliestMs ?? sinceMs)
  }
  return earliestMs === undefined ? null : new Date(earliestMs).toISOString()
}

/** The kinds of an answer that may be out of date; `undefined` if there are none. */
export function staleKinds(
  served: Pick<ServedSchema, 'clusters'>,
  snapshot: Pick<ReadSnapshot, 'hasStale' | 'read'>,
): readonly StaleKind[] | undefined {
  if (!snapshot.hasStale) return undefined
  const stale = new Map<string, StaleKind>()
  for (const at of snapshot.read()) {
    const since = staleSince(served, [at])
    if (since === null) continue
    const { cluster, kind } = at
    const { typeName } = kind
    stale.set(`${cluster}/${typeName}`, { cluster, type: typeName, since })
  }
  return stale.size === 0 ? undefined : [...stale.values()]
}
