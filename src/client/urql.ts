/**
 * Follows lists in urql's Graphcache. It is written only while it takes a result in, by updaters: so {@link liveCache} makes
 * the cache with updaters for every field of `Query` and `Subscription`. One folds each frame of a followed list into its
 * cached pages; one does so when a page is written. Both write in the same step as the result, so no reader ever sees a
 * list that is said to be whole and is not. Which operation a result is of, the exchange notes before the cache has it.
 */
import {
  type Client,
  createRequest,
  type DocumentInput,
  type Exchange as UrqlExchange,
} from '@urql/core'
import type { CacheExchangeOpts } from '@urql/exchange-graphcache'
import {
  type CachedRow,
  disagrees,
  type FetchedState,
  FollowedList,
  type FollowedRows,
  type FollowOptions,
  ListCache,
  listed,
} from './followed-list.ts'
import type { Frame } from './frame-fold.ts'
import { declaredVariables, type ListPath, listPathOf } from './list-path.ts'
import { valueText } from './live-stream.ts'
import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'
import { withNewerKinds } from './newer-kinds.ts'

type Values = Readonly<Record<string, unknown>>

/** The used part of the cache that Graphcache passes to updaters. */
interface Graphcache {
  inspectFields(entity: string): readonly {
    readonly fieldKey: string
    readonly fieldName: string
    readonly arguments: Values | null
  }[]
  resolve(entity: string, field: string): unknown
  link(entity: string, field: string, ...rest: readonly unknown[]): void
  keyOfEntity(entity: unknown): string | null
  updateQuery(input: unknown, update: (found: Values | null) => Values | null): void
  invalidate(entity: unknown): void
}

type Updater = (result: Values, args: Values, cache: Graphcache, info: unknown) => void
type Updaters = Readonly<Record<string, Updater | undefined>>

/** The followed lists of a client, and the operation whose result its cache takes in. */
interface LiveLists {
  readonly all: Set<UrqlList<CachedRow>>
  operationKey: number | undefined
}

/** Where a client has them; known to every copy of this package. */
const listsOf = Symbol.for('@informerql/client: lists')

interface LiveClient {
  [listsOf]?: LiveLists
}

/**
 * A cache for {@link followUrqlList}: `liveCache(cacheExchange, { keys, possibleTypes, … })`, with the options of
 * Graphcache. Fragments on `KubernetesObject` match objects of kinds that are newer than `possibleTypes`, too, as by
 * `withNewerKinds`.
 */
export function liveCache(
  cacheExchange: (options: CacheExchangeOpts) => UrqlExchange,
  options: CacheExchangeOpts,
): UrqlExchange {
  const lists: LiveLists = { all: new Set(), operationKey: undefined }
  const updates = options.updates as Readonly<Record<string, Updaters>> | undefined
  const withUpdates = {
    ...options,
    updates: {
      ...updates,
      Query: forEveryField(updates?.['Query'], (field, result, args, cache) => {
        for (const list of lists.all) list.pageWritten(field, result[field], args, cache)
      }),
      Subscription: forEveryField(updates?.['Subscription'], (_field, result, _args, cache) => {
        for (const list of lists.all) {
          if (list.operationKey === lists.operationKey) list.frameWritten(result, cache)
        }
      }),
    },
  }
  const exchange = withNewerKinds(
    cacheExchange(withUpdates as CacheExchangeOpts) as (
      input: never,
    ) => (operations: never) => unknown,
  ) as unknown as Exchange
  const live: Exchange = (input) => {
    ;(input.client as LiveClient)[listsOf] = lists
    return exchange({
      ...input,
      forward(operations) {
        const results = input.forward(operations)
        return (sink) =>
          results((signal) => {
            if (signal !== 0 && signal.tag === 1) lists.operationKey = signal[0].operation.key
            sink(signal)
          })
      },
    })
  }
  return live as unknown as UrqlExchange
}

type Source<T> = (
  sink: (
    signal: 0 | { readonly tag: 0; readonly 0: unknown } | { readonly tag: 1; readonly 0: T },
  ) => void,
) => void
type Answering = (operations: unknown) => Source<{ readonly operation: { readonly key: number } }>
type Exchange = (input: { readonly client: object; readonly forward: Answering }) => Answering

/** Updaters for every field of a type, which call those of the app first. */
function forEveryField(
  own: Updaters = {},
  update: (field: string, result: Values, args: Values, cache: Graphcache) => void,
): Updaters {
  const made = new Map<string, Updater>()
  return new Proxy(own, {
    get(_, field) {
      if (typeof field !== 'string') return undefined
      const known = made.get(field)
      if (known !== undefined) return known
      const updater: Updater = (result, args, cache, info) => {
        own[field]?.(result, args, cache, info)
        update(field, result, args, cache)
      }
      made.set(field, updater)
      return updater
    },
  })
}

/** Options of {@link followUrqlList}. */
export interface UrqlListOptions<Row, Variables extends object> extends FollowOptions<Row> {
  /**
   * A query with one list at its root that selects `nodes { id … }`, `pageInfo { hasNextPage endCursor }` and, where it is
   * shown, `totalCount`.
   */
  readonly query: DocumentInput<unknown, Variables>
  /** The variables of the query, without its cursor. */
  readonly variables?: Variables
  /**
   * A subscription to the same list (`pods`) or to its live page (`podsPage`), whose `object` selects at least what the
   * list selects: `reset synced changes { type removal objectId object { id … } }`, or `reset synced totalCount changes {
   * step index from objectId object { id … } }`. With `resumeToken` and `$resumeFrom` it continues after a lost connection.
   */
  readonly subscription: DocumentInput
  /** The variables of the subscription; default: those of the query that it declares. */
  readonly subscriptionVariables?: object
}

/**
 * Keeps a list in urql's Graphcache as a subscription says, until it is closed: adds and removes rows, invalidates deleted
 * objects, and subscribes again after an error. The frames apply to all cached lists with the same filters. Read the list as
 * usual, by `useQuery` or `client.query`; `relayPagination` may join its pages. Throws `TypeError` for a query without a
 * list, and for a client whose cache is not a {@link liveCache}.
 */
export function followUrqlList<Row extends CachedRow, Variables extends object>(
  client: Client,
  options: UrqlListOptions<Row, Variables>,
): FollowedList<Row> {
  const { query, variables = {}, subscription, subscriptionVariables } = options
  const list = new UrqlList<Row>(client, query, variables, subscription)
  const { query: document } = createRequest(subscription, {})
  const declared = subscriptionVariables ?? declaredVariables(document, variables)
  return new FollowedList<Row>(list, declared as Values, options)
}

/** A page in the cache. */
interface CachedPage {
  readonly args: Values
  readonly key: string
  /** The keys of its objects. */
  readonly nodes: readonly (string | null)[]
  readonly hasNextPage: unknown
  readonly endCursor: unknown
}

class UrqlList<Row extends CachedRow> extends ListCache<Row> {
  readonly client: LiveTransport
  /** The subscription. */
  operationKey: number | undefined
  readonly #client: Client
  readonly #lists: LiveLists
  readonly #query: DocumentInput
  readonly #variables: Values
  readonly #path: ListPath
  readonly #args: Values
  /** The cache, while it takes a result in. */
  #cache: Graphcache | undefined
  #isWriting = false
  #rows: FollowedRows<Row> = { keys: [], isComplete: false, isOrdered: false }
  /** The pages that are the last of their lists, by the gateway's answers, and those that disagree with the frames. */
  readonly #ends = new Set<string>()
  readonly #doubtful = new Set<string>()
  /** The own list, when it was written last; and the cursor of its last page. */
  #state: FetchedState | undefined
  #endCursor: string | undefined
  #after: string | undefined

  constructor(
    client: Client,
    query: DocumentInput,
    variables: Values,
    subscription: DocumentInput,
  ) {
    super()
    const lists = (client as LiveClient)[listsOf]
    if (lists === undefined) {
      throw new TypeError('the cache of the client must be made by liveCache(cacheExchange, { … })')
    }
    this.#client = client
    this.#lists = lists
    this.#query = query
    this.#variables = variables
    this.#path = listPathOf(createRequest(query, {}).query)
    this.#args = this.#path.argumentsOf(variables)
    this.client = { subscribe: (request, sink) => this.#subscribe(subscription, request, sink) }
    lists.all.add(this as unknown as UrqlList<CachedRow>)
  }

  get cache(): object {
    return this.#lists
  }

  release(): void {
    this.#lists.all.delete(this as unknown as UrqlList<CachedRow>)
  }

  #subscribe(document: DocumentInput, { variables }: LiveRequest, sink: LiveSink): () => void {
    const request = createRequest(document, { ...variables })
    this.operationKey = request.key
    const following = this.#client
      .executeSubscription<Values>(request)
      .subscribe(({ data, error }) => {
        const frame = Object.values(data ?? {}).find((value) => isFrame(value))
        if (frame !== undefined) sink.next({ data: { frame } })
        else if (error !== undefined) {
          const { graphQLErrors, networkError } = error
          sink.error(graphQLErrors.length > 0 ? graphQLErrors : networkError)
        }
      })
    return () => following.unsubscribe()
  }

  /** A frame of the subscription is written. */
  frameWritten(result: Values, cache: Graphcache): void {
    const frame = Object.values(result).find((value) => isFrame(value))
    if (frame === undefined) return
    this.#cache = cache
    this.folded = this.apply?.(frame as Frame<Row>)
    this.#cache = undefined
  }

  /** A page is written. */
  pageWritten(field: string, page: unknown, args: Values, cache: Graphcache): void {
    const { field: own } = this.#path
    if (field !== own || this.#isWriting || !isConnection(page)) return
    if (selectionOf(args, paging) !== selectionOf(this.#args, paging)) return
    const written = pagesOf(cache, field).find(
      ({ args: others }) => selectionOf(others, none) === selectionOf(args, none),
    )
    if (written === undefined) return
    const { key, nodes } = written
    const isEnd = page.pageInfo?.hasNextPage === false
    if (isEnd) this.#ends.add(key)
    else this.#ends.delete(key)
    const keys = this.#rows.keys.map((row) => cache.keyOfEntity(row))
    const { totalCount } = page
    const isOther = isEnd && disagrees({ keys: nodes, totalCount }, { ...this.#rows, keys })
    if (isOther) this.#doubtful.add(key)
    else this.#doubtful.delete(key)
    this.#fold(cache)
  }

  write(rows: FollowedRows<Row>, gone: readonly Row[]): void {
    const cache = this.#cache
    if (cache === undefined) return
    if (rows !== this.#rows) this.#doubtful.clear()
    this.#rows = rows
    this.#fold(cache)
    for (const row of gone) cache.invalidate({ __typename: row.__typename, id: row.id })
  }

  /** Folds the rows into the pages of all lists with the same filters; those of a live page, into its own. */
  #fold(cache: Graphcache): void {
    const { pageTotal, isComplete } = this.#rows
    const own = selectionOf(this.#args, cursors)
    const left = pageTotal === undefined ? paging : cursors
    const filters = selectionOf(this.#args, left)
    const rows = this.#rows.keys.flatMap((row) => cache.keyOfEntity(row) ?? [])
    // Holds rows that are in no page yet: without a link, the cache forgets them.
    if (isComplete) cache.link('Query', 'followedRows', { list: own }, rows)
    const pages = pagesOf(cache, this.#path.field).filter(
      ({ args }) => selectionOf(args, left) === filters,
    )
    this.#isWriting = true
    for (const [name, group] of Map.groupBy(pages, ({ args }) => selectionOf(args, cursors))) {
      const state = this.#foldGroup(cache, group, rows)
      if (name !== own) continue
      this.#state = state
      this.#endCursor = endOf(group)
    }
    this.#isWriting = false
  }

  #foldGroup(
    cache: Graphcache,
    group: readonly CachedPage[],
    rows: readonly string[],
  ): FetchedState {
    const { isComplete, pageTotal, isOrdered } = this.#rows
    const end = group.find(
      ({ key, args, hasNextPage }) =>
        typeof args['last'] !== 'number' && (this.#ends.has(key) || hasNextPage === false),
    )
    if (end !== undefined) this.#ends.add(end.key)
    const isDoubtful = isComplete ? this.#doubtful.has(end?.key ?? '') : group.length > 1
    const keys = group.flatMap(({ nodes }) => nodes.filter((key) => key !== null))
    const now = listed(
      { keys, hasNextPage: end === undefined, isDoubtful },
      { ...this.#rows, keys: rows },
    )
    const all = new Set(now.keys)
    const isWhole = !now.hasNextPage || pageTotal !== undefined
    // In an order of its own, a whole list is one page.
    const isOne = isWhole && isOrdered
    for (const [at, page] of group.entries()) {
      const kept = page.nodes.filter((key) => key !== null && all.delete(key))
      let next: readonly unknown[] = kept
      if (isOne) next = at === 0 ? now.keys : []
      else if (page === end && at === group.length - 1) next = [...kept, ...all]
      if (next.length !== page.nodes.length || next.some((key, index) => key !== page.nodes[index]))
        cache.link(page.key, 'nodes', next)
    }
    this.#writeParts(cache, group, end, now)
    if (end === undefined) return 'more'
    return now.hasNextPage ? 'doubtful' : 'whole'
  }

  /** Writes the counts and the end of a list where they are in the cache: only a query can write to pages. */
  #writeParts(
    cache: Graphcache,
    group: readonly CachedPage[],
    end: CachedPage | undefined,
    { hasNextPage, totalCount }: { readonly hasNextPage: boolean; readonly totalCount: unknown },
  ): void {
    const { field } = this.#path
    const isPage = this.#rows.pageTotal !== undefined
    for (const page of group) {
      const { args, key } = page
      const pageInfo = cache.resolve(key, 'pageInfo')
      const has = (name: string): boolean =>
        typeof pageInfo === 'string' && cache.resolve(pageInfo, name) !== undefined
      const parts: Record<string, unknown> = {}
      if ((page === end || isPage) && has('hasNextPage')) parts['hasNextPage'] = hasNextPage
      if (isPage && has('endCursor')) parts['endCursor'] = null
      const isCounted = totalCount !== undefined && cache.resolve(key, 'totalCount') !== undefined
      const selected = [
        isCounted ? 'totalCount' : '',
        Object.keys(parts).length === 0
          ? ''
          : `pageInfo { __typename ${Object.keys(parts).join(' ')} }`,
      ].join(' ')
      if (selected === ' ') continue
      const names = Object.keys(args)
      // Graphcache reads the names of variables, not their types.
      const declared =
        names.length === 0 ? '' : `(${names.map((one) => `$${one}: JSON`).join(' ')})`
      const passed =
        names.length === 0 ? '' : `(${names.map((one) => `${one}: $${one}`).join(' ')})`
      const query = `query ${declared} { ${field}${passed} { __typename ${selected} } }`
      cache.updateQuery({ query, variables: args }, (found) => {
        const was = found?.[field] as Values | null | undefined
        if (was === null || was === undefined) return null
        const next = { ...(was['pageInfo'] as Values | undefined), ...parts }
        return {
          ...found,
          [field]: { ...was, ...(isCounted ? { totalCount } : {}), pageInfo: next },
        }
      })
    }
  }

  async fetch(again: boolean): Promise<FetchedState> {
    if (this.#rows.pageTotal !== undefined) {
      throw new TypeError('a live page has no next page: ask for a larger `first`')
    }
    if (!again) {
      if (this.#state === 'whole') return 'whole'
      this.#after = this.#endCursor ?? this.#shown()?.endCursor ?? this.#after
    }
    const after = this.#after === undefined ? {} : { [this.#path.cursor]: this.#after }
    const variables = { ...this.#variables, ...after }
    const { error } = await this.#client
      .query(this.#query, variables, { requestPolicy: 'network-only' })
      .toPromise()
    if (error !== undefined) throw error
    return this.#state ?? 'more'
  }

  /** The end of the list, as its query reads it. */
  #shown(): { readonly endCursor?: string | null } | undefined {
    const { data } = this.#client.readQuery(this.#query, this.#variables) ?? {}
    const list = (data as Values | null | undefined)?.[this.#path.keys[0] ?? '']
    return isConnection(list) ? list.pageInfo : undefined
  }
}

/** The cursor at the end of pages that lead to each other. */
function endOf(group: readonly CachedPage[]): string | undefined {
  const byCursor = new Map(group.map((page) => [page.args['after'] ?? '', page]))
  let end: string | undefined
  for (let page = byCursor.get(''); page !== undefined;) {
    byCursor.delete(page.args['after'] ?? '')
    if (typeof page.endCursor !== 'string') break
    end = page.endCursor
    page = byCursor.get(end)
  }
  return end
}

/** The cached pages of a field of `Query`. Lists without `nodes` are not followed. */
function pagesOf(cache: Graphcache, field: string): readonly CachedPage[] {
  return cache.inspectFields('Query').flatMap(({ fieldKey, fieldName, arguments: args }) => {
    const key = fieldName === field ? cache.resolve('Query', fieldKey) : undefined
    const nodes = typeof key === 'string' ? cache.resolve(key, 'nodes') : undefined
    if (typeof key !== 'string' || !Array.isArray(nodes)) return []
    const pageInfo = cache.resolve(key, 'pageInfo')
    const part = (name: string): unknown =>
      typeof pageInfo === 'string' ? cache.resolve(pageInfo, name) : undefined
    const [hasNextPage, endCursor] = [part('hasNextPage'), part('endCursor')]
    return [{ args: args ?? {}, key, nodes, hasNextPage, endCursor }]
  })
}

const none: ReadonlySet<string> = new Set()
const cursors: ReadonlySet<string> = new Set(['after', 'before'])
const paging: ReadonlySet<string> = new Set([...cursors, 'first', 'last', 'orderBy'])

/** The given arguments without `left`, as text. */
function selectionOf(args: Values, left: ReadonlySet<string>): string {
  const given = Object.entries(args).filter(
    ([name, value]) => !left.has(name) && value !== null && value !== undefined,
  )
  return valueText(Object.fromEntries(given))
}

interface Connection {
  readonly totalCount?: number
  readonly pageInfo?: { readonly hasNextPage?: boolean; readonly endCursor?: string | null }
}

function isConnection(value: unknown): value is Connection {
  return typeof value === 'object' && value !== null && 'pageInfo' in value
}

function isFrame(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('changes' in value || 'reset' in value)
}
