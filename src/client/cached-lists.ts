/**
 * Keeps the lists in the caches of Apollo Client and urql as subscriptions say. {@link foldConnection} is the rule: what a
 * cached list becomes after frames. {@link liveLists} applies it to all cached lists of a field in urql's Graphcache, which
 * it finds and writes by the cache's own functions. Deleted objects are invalidated there.
 */
import { type Frame, FrameFold, goneObjects, PageFold, type PageFrame } from './frame-fold.ts'

/** A list in a client's cache. Select at least these fields, and `totalCount` if it is shown. */
export interface CachedList<T> {
  readonly nodes: readonly T[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount?: number
}

/**
 * A cached list as the frames of a subscription have left it.
 *
 * - By a {@link FrameFold}, of a subscription with the same filters: a list without a next page gets new rows at its end;
 *   a list that has been fetched in part only loses rows, so that `fetchMore` goes on where it was.
 * - By a {@link PageFold}, of a live page with the same arguments: the rows of the page, in its order. A live page has no
 *   cursors, so `endCursor` is null. Ask for a larger `first` instead of `fetchMore`.
 *
 * Returns the same list while the fold is not complete.
 */
export function foldConnection<T extends { readonly id: string }, List extends CachedList<T>>(
  list: List & CachedList<T>,
  fold: FrameFold<T> | PageFold<T>,
): List {
  if (fold instanceof PageFold) {
    const { rows: nodes, synced, totalCount = 0 } = fold
    if (!synced) return list
    const pageInfo = { ...list.pageInfo, ...livePageInfo(totalCount, nodes.length) }
    return { ...list, nodes, pageInfo, ...counted(list, totalCount) }
  }
  const { objects, complete } = fold
  if (!complete) return list
  const held = new Set(list.nodes.map(({ id }) => id))
  const kept = list.nodes.flatMap(({ id }) => objects.get(id) ?? [])
  const added = list.pageInfo.hasNextPage
    ? []
    : [...objects].flatMap(([id, object]) => (held.has(id) ? [] : [object]))
  return { ...list, nodes: [...kept, ...added], ...counted(list, objects.size) }
}

/** The page info of a list that is a live page: it has no cursors. */
function livePageInfo(totalCount: number, shown: number): CachedList<unknown>['pageInfo'] {
  return { hasNextPage: totalCount > shown, endCursor: null }
}

/** The new count of a list that has one. */
function counted(list: CachedList<unknown>, totalCount: number): { readonly totalCount?: number } {
  return list.totalCount === undefined ? {} : { totalCount }
}

type Values = Readonly<Record<string, unknown>>

interface Entity {
  readonly __typename: string
  readonly id: string
}

/** The used part of the cache that urql's Graphcache passes to updaters. */
interface UrqlCache {
  inspectFields(entity: string): readonly {
    readonly fieldKey: string
    readonly fieldName: string
    readonly arguments: Values | null
  }[]
  resolve(entity: string, field: string): unknown
  link(entity: string, field: string, keys: never): void
  keyOfEntity(entity: never): string | null
  updateQuery(input: never, update: never): void
  invalidate(entity: never): void
}

/** An updater of urql's Graphcache. */
export type UrqlUpdater = (result: Values, args: Values, cache: UrqlCache) => void

/**
 * Keeps urql's cached lists of a field of `Query` as a subscription says: `updates: { Subscription: { pods:
 * liveLists('pods'), podsPage: liveLists('pods') } }`. Frames of a list apply to all cached lists with the same filters,
 * and invalidate deleted objects; frames of a live page apply to the list with the same arguments. The rules are those of
 * {@link foldConnection}; `relayPagination` may join the lists. Let subscriptions begin with a snapshot, without
 * `resumeFrom`.
 */
export function liveLists(field: string): UrqlUpdater {
  const folds = new Map<string, FrameFold<Entity> | PageFold<Entity>>()
  return (result, args, cache) => {
    const frame = Object.values(result).find((value) => isFrame(value))
    if (frame === undefined) return
    const isPage = 'totalCount' in frame || frame.changes.some((change) => 'step' in change)
    const name = selectionOf(args, streamArguments)
    const fold = folds.get(name) ?? (isPage ? new PageFold<Entity>() : new FrameFold<Entity>())
    folds.set(name, fold)
    if (fold instanceof PageFold) {
      fold.apply(frame as PageFrame<Entity>)
      if (!fold.synced) return
      const keys = fold.rows.map((row) => cache.keyOfEntity(row as never))
      const count = fold.totalCount ?? 0
      const pageInfo = livePageInfo(count, keys.length)
      for (const page of pagesOf(cache, field)) {
        if (selectionOf(page.args, streamArguments) !== name) continue
        cache.link(page.key, 'nodes', keys as never)
        writeParts(cache, page, { totalCount: count, pageInfo })
      }
      return
    }
    const before = new Map(fold.objects)
    fold.apply(frame as Frame<Entity>)
    if (fold.complete) foldLists(cache, field, args, fold)
    for (const id of goneObjects(frame as Frame<Entity>)) {
      const gone = before.get(id)
      if (gone !== undefined) cache.invalidate({ __typename: gone.__typename, id } as never)
    }
  }
}

/** Applies a fold to all cached lists that select the same objects. */
function foldLists(cache: UrqlCache, field: string, args: Values, fold: FrameFold<Entity>): void {
  const filters = selectionOf(args, streamArguments)
  const live = new Set([...fold.objects.values()].map((one) => cache.keyOfEntity(one as never)))
  const pages = pagesOf(cache, field).filter(
    (page) => selectionOf(page.args, pagingArguments) === filters,
  )
  for (const group of Map.groupBy(pages, ({ args: own }) => selectionOf(own, cursors)).values()) {
    const held = new Set(group.flatMap(({ nodes }) => nodes))
    for (const page of group) {
      const isLast = page.hasNextPage === false && typeof page.args['last'] !== 'number'
      const added = isLast ? [...live].filter((key) => !held.has(key)) : []
      const kept = page.nodes.filter((key) => live.has(key))
      if (added.length > 0 || kept.length < page.nodes.length) {
        cache.link(page.key, 'nodes', [...kept, ...added] as never)
      }
      writeParts(cache, page, { totalCount: live.size })
    }
  }
}

/** A page in urql's cache. */
interface UrqlPage {
  readonly field: string
  readonly args: Values
  readonly key: string
  /** The keys of its objects. */
  readonly nodes: readonly (string | null)[]
  readonly hasNextPage: unknown
}

/** The cached pages of a field of `Query`. Lists without `nodes` are not followed. */
function pagesOf(cache: UrqlCache, field: string): readonly UrqlPage[] {
  return cache.inspectFields('Query').flatMap(({ fieldKey, fieldName, arguments: args }) => {
    const key = fieldName === field ? cache.resolve('Query', fieldKey) : undefined
    const nodes = typeof key === 'string' ? cache.resolve(key, 'nodes') : undefined
    if (typeof key !== 'string' || !Array.isArray(nodes)) return []
    const pageInfo = cache.resolve(key, 'pageInfo')
    const hasNextPage =
      typeof pageInfo === 'string' ? cache.resolve(pageInfo, 'hasNextPage') : undefined
    return [{ field, args: args ?? {}, key, nodes, hasNextPage }]
  })
}

/** Writes fields of a page that are in the cache: only a query can write to an object without a key. */
function writeParts(
  cache: UrqlCache,
  { field, args, key }: UrqlPage,
  parts: { readonly totalCount: number; readonly pageInfo?: Values },
): void {
  const pageInfo = cache.resolve(key, 'pageInfo')
  const known = Object.keys(parts.pageInfo ?? {}).filter(
    (name) => typeof pageInfo === 'string' && cache.resolve(pageInfo, name) !== undefined,
  )
  const selected = [
    cache.resolve(key, 'totalCount') === undefined ? '' : 'totalCount',
    known.length === 0 ? '' : `pageInfo { __typename ${known.join(' ')} }`,
  ].join(' ')
  if (selected === ' ') return
  const names = Object.keys(args)
  // Graphcache reads the names of variables, not their types.
  const declared = names.length === 0 ? '' : `(${names.map((one) => `$${one}: JSON`).join(' ')})`
  const passed = names.length === 0 ? '' : `(${names.map((one) => `${one}: $${one}`).join(' ')})`
  const query = `query ${declared} { ${field}${passed} { __typename ${selected} } }`
  const updated = (found: Values | null): Values | null => {
    const page = found?.[field] as Values | null | undefined
    if (page === null || page === undefined) return null
    const pageParts = { ...(page['pageInfo'] as Values | undefined), ...parts.pageInfo }
    return { ...found, [field]: { ...page, ...parts, pageInfo: pageParts } }
  }
  cache.updateQuery({ query, variables: args } as never, updated as never)
}

const cursors: ReadonlySet<string> = new Set(['after', 'before'])
const pagingArguments: ReadonlySet<string> = new Set([...cursors, 'first', 'last', 'orderBy'])
const streamArguments: ReadonlySet<string> = new Set(['resumeFrom', 'coalesceMs'])

/** The given arguments without `left`, as text. */
function selectionOf(args: Values, left: ReadonlySet<string>): string {
  const given = Object.entries(args).filter(
    ([name, value]) => !left.has(name) && value !== null && value !== undefined,
  )
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function isFrame(value: unknown): value is Frame<Entity> | PageFrame<Entity> {
  return typeof value === 'object' && value !== null && 'reset' in value && 'changes' in value
}
