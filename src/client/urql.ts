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
  type OperationResult,
} from '@urql/core'
import type { Cache, CacheExchangeOpts } from '@urql/exchange-graphcache'
import {
  type CachedRow,
  endOfPage,
  FollowedList,
  frameIn,
  ListCache,
  listed,
  type ListEnd,
  type QueryListOptions,
} from './followed-list.ts'
import { declaredVariables, type ListPath, listPathOf } from './list-path.ts'
import { valueText } from './live-stream.ts'
import type { LiveRequest, LiveSink } from './live-transport.ts'
import { type Exchange, mapped, type Result, type Source, withNewerKinds } from './newer-kinds.ts'
import { NewerRows, type SentOperation } from './newer-rows.ts'

type Values = Readonly<Record<string, unknown>>

type Updater = (result: Values, args: Values, cache: Cache, info: unknown) => void
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
          if (list.operationKey === lists.operationKey) list.take(result, cache)
        }
      }),
    },
  }
  const exchange = withNewerKinds(
    cacheExchange(withUpdates as CacheExchangeOpts) as never,
  ) as unknown as Exchange
  const live: Exchange = (input) => {
    ;(input.client as LiveClient)[listsOf] = lists
    return exchange({ ...input, forward: forwarding(input.forward, lists) })
  }
  return live as unknown as UrqlExchange
}

/** What is behind the cache: notes the operation of each result, and puts newer rows into the answers of queries. */
function forwarding(forward: Parameters<Exchange>[0]['forward'], lists: LiveLists): typeof forward {
  const newer = new NewerRows()
  const sent = new Map<number, SentOperation>()
  const results = new WeakMap<Result, Result>()
  const end = (key: number): void => {
    sent.get(key)?.end()
    sent.delete(key)
  }
  return (operations) => {
    const sending = mapped(operations, (operation) => {
      const { key, kind } = operation
      if (kind === 'teardown') end(key)
      else if (!sent.has(key)) sent.set(key, newer.send(kind))
      return operation
    })
    return mapped(forward(sending), (result) => {
      const { key } = result.operation
      lists.operationKey = key
      // Graphcache takes each result twice.
      const passed = results.get(result) ?? sent.get(key)?.pass(result) ?? result
      results.set(result, passed)
      if (result.hasNext !== true) end(key)
      return passed
    })
  }
}

/** Updaters for every field of a type, which call those of the app first. */
function forEveryField(
  own: Updaters = {},
  update: (field: string, result: Values, args: Values, cache: Cache) => void,
): Updaters {
  return new Proxy(own, {
    get(_, field): Updater | undefined {
      if (typeof field !== 'string') return undefined
      return (result, args, cache, info) => {
        own[field]?.(result, args, cache, info)
        update(field, result, args, cache)
      }
    },
  })
}

/** Options of {@link followUrqlList}. */
export type UrqlListOptions<Row, Variables extends object> = QueryListOptions<
  Row,
  DocumentInput<unknown, Variables>,
  Variables,
  DocumentInput
>

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
  const { variables = {}, subscription, subscriptionVariables } = options
  const list = new UrqlList<Row>(client, options as Options<Row>)
  const { query } = createRequest(subscription, {})
  const declared = subscriptionVariables ?? declaredVariables(query, variables)
  return new FollowedList<Row>(list, declared as Values, options)
}

type Options<Row> = UrqlListOptions<Row, Values>

/** A page in the cache. */
interface CachedPage {
  readonly args: Values
  readonly key: string
  /** The keys of its objects. */
  readonly nodes: readonly (string | null)[]
  readonly hasNextPage: unknown
  readonly endCursor: unknown
}

class UrqlList<Row extends CachedRow> extends ListCache<Row, Cache> {
  /** The subscription. */
  operationKey: number | undefined
  readonly #client: Client
  readonly #lists: LiveLists
  readonly #options: Options<Row>
  readonly #path: ListPath
  readonly #args: Values
  #isWriting = false
  /** The ends of pages, by the gateway's answers. */
  readonly #ends = new Map<string, ListEnd>()
  /** The own list, when it was written last. */
  #end: ListEnd | undefined
  #endCursor: string | undefined

  constructor(client: Client, options: Options<Row>) {
    const lists = (client as LiveClient)[listsOf]
    if (lists === undefined) {
      throw new TypeError('the cache of the client must be made by liveCache(cacheExchange, { … })')
    }
    super(lists, options)
    this.#client = client
    this.#lists = lists
    this.#options = options
    this.#path = listPathOf(createRequest(options.query, {}).query)
    this.#args = this.#path.argumentsOf(options.variables ?? {})
    lists.all.add(this as unknown as UrqlList<CachedRow>)
  }

  release(): void {
    this.#lists.all.delete(this as unknown as UrqlList<CachedRow>)
  }

  subscribe({ variables }: LiveRequest, sink: LiveSink): () => void {
    const request = createRequest<Values>(this.#options.subscription, { ...variables })
    this.operationKey = request.key
    const results = this.#client.executeSubscription(request) as unknown as Source<OperationResult>
    let pull: ((signal: 0 | 1) => void) | undefined
    results((signal) => {
      if (signal === 0) return sink.complete()
      if (signal.tag === 0) pull = signal[0]
      else {
        const { data, error } = signal[0]
        const frame = frameIn(data)
        const errors = error?.graphQLErrors ?? []
        if (frame !== undefined) sink.next({ data: { frame } })
        else if (error) sink.error(errors.length > 0 ? errors : error.networkError)
      }
      pull?.(0)
    })
    return () => pull?.(1)
  }

  end(): { readonly end: ListEnd; readonly cursor: unknown } | undefined {
    const { query, variables } = this.#options
    const list = this.#path.in(this.#client.readQuery(query, variables)?.data)
    const { hasNextPage, endCursor } = (isConnection(list) && list.pageInfo) || {}
    const end = this.#end ?? (hasNextPage === true ? 'more' : undefined)
    return end && { end, cursor: this.#endCursor ?? endCursor }
  }

  async fetch(after: string | undefined): Promise<void> {
    const { query, variables } = this.#options
    const cursor = after === undefined ? {} : { [this.#path.cursor]: after }
    const { data, error } = await this.#client
      .query(query, { ...variables, ...cursor }, { requestPolicy: 'network-only' })
      .toPromise()
    if (error !== undefined && this.#path.in(data) == null) throw error
  }

  /** A page is written. */
  pageWritten(field: string, page: unknown, args: Values, cache: Cache): void {
    if (field !== this.#path.field || this.#isWriting || !isConnection(page)) return
    if (selectionOf(args, paging) !== selectionOf(this.#args, paging)) return
    const pages = pagesOf(cache, field)
    const same = (left: ReadonlySet<string>): CachedPage[] =>
      pages.filter((other) => selectionOf(other.args, left) === selectionOf(args, left))
    const [written] = same(none)
    if (written === undefined) return
    const { totalCount, pageInfo } = page
    const said = { keys: written.nodes, totalCount, hasNextPage: pageInfo?.hasNextPage }
    const keys = this.rows.keys.map((row) => cache.keyOfEntity(entityOf(row)))
    const end = endOfPage(said, { ...this.rows, keys })
    // A later end takes the place of one that was doubtful.
    if (end !== 'more') for (const { key } of same(cursors)) this.#believe(key)
    this.#ends.set(written.key, end)
    this.#fold(cache)
  }

  write(isOther: boolean, gone: readonly Row[], cache: Cache): void {
    if (isOther) for (const key of this.#ends.keys()) this.#believe(key)
    this.#fold(cache)
    for (const row of gone) cache.invalidate(entityOf(row))
  }

  #believe(key: string): void {
    if (this.#ends.get(key) === 'doubtful') this.#ends.set(key, 'whole')
  }

  /** Folds the rows into the pages of all lists with the same filters; those of a live page, into its own. */
  #fold(cache: Cache): void {
    const { pageTotal, isComplete } = this.rows
    const own = selectionOf(this.#args, cursors)
    const left = pageTotal === undefined ? paging : cursors
    const filters = selectionOf(this.#args, left)
    const rows = this.rows.keys.flatMap((row) => cache.keyOfEntity(entityOf(row)) ?? [])
    // Holds rows that are in no page yet: without a link, the cache forgets them.
    if (isComplete) cache.link('Query', 'followedRows', { list: own }, rows)
    const pages = pagesOf(cache, this.#path.field).filter(
      ({ args }) => selectionOf(args, left) === filters,
    )
    this.#isWriting = true
    for (const [name, group] of Map.groupBy(pages, ({ args }) => selectionOf(args, cursors))) {
      const end = this.#foldGroup(cache, group, rows)
      if (name !== own) continue
      this.#end = end
      this.#endCursor = cursorAfter(group)
    }
    this.#isWriting = false
  }

  #foldGroup(cache: Cache, group: readonly CachedPage[], rows: readonly string[]): ListEnd {
    const { pageTotal, isOrdered } = this.rows
    const endOf = ({ key, args, hasNextPage }: CachedPage): ListEnd => {
      if (typeof args['last'] === 'number') return 'more'
      return this.#ends.get(key) ?? (hasNextPage === false ? 'whole' : 'more')
    }
    const ends = group.map(endOf)
    const end = ends.includes('doubtful') ? 'doubtful' : ends.includes('whole') ? 'whole' : 'more'
    const last = group[ends.findLastIndex((one) => one !== 'more')]
    if (last !== undefined) this.#ends.set(last.key, endOf(last))
    const keys = group.flatMap(({ nodes }) => nodes.filter((key) => key !== null))
    const now = listed({ keys, end, isJoined: group.length > 1 }, { ...this.rows, keys: rows })
    const all = new Set(now.keys)
    const isPage = pageTotal !== undefined
    // In an order of its own, a whole list is one page.
    const isOne = isOrdered && (isPage || !now.hasNextPage)
    for (const [at, page] of group.entries()) {
      const kept = page.nodes.filter((key) => key !== null && all.delete(key))
      let next: (string | null)[] = kept
      if (isOne) next = at === 0 ? [...now.keys] : []
      else if (page === last && at === group.length - 1) next = [...kept, ...all]
      if (next.length !== page.nodes.length || next.some((key, index) => key !== page.nodes[index]))
        cache.link(page.key, 'nodes', next)
      this.#writeParts(cache, page, now.totalCount, {
        ...(page === last || isPage ? { hasNextPage: now.hasNextPage } : {}),
        ...(isPage ? { endCursor: null } : {}),
      })
    }
    return now.end
  }

  /** Writes parts of a page by a query: nothing else can write to one. */
  #writeParts(
    cache: Cache,
    page: CachedPage,
    totalCount: number | undefined,
    ending: Values,
  ): void {
    if (totalCount === undefined && Object.keys(ending).length === 0) return
    const { field } = this.#path
    const pageInfo: Values = { __typename: 'PageInfo', ...ending }
    const counted = totalCount === undefined ? {} : { totalCount }
    const list: Values = { __typename: cache.resolve(page.key, '__typename'), ...counted }
    const names = Object.keys(page.args)
    const within = (args: readonly string[]): string =>
      names.length === 0 ? '' : `(${args.join(' ')})`
    // Graphcache reads the names of variables, not their types.
    const declared = within(names.map((name) => `$${name}: JSON`))
    const passed = within(names.map((name) => `${name}: $${name}`))
    const selected = `${Object.keys(list).join(' ')} pageInfo { ${Object.keys(pageInfo).join(' ')} }`
    const query = `query ${declared} { ${field}${passed} { ${selected} } }`
    cache.updateQuery(
      { query, variables: page.args },
      () => ({ [field]: { ...list, pageInfo } }) as never,
    )
  }
}

function entityOf({ __typename = '', id }: CachedRow): { __typename: string; id: string } {
  return { __typename, id }
}

/** The cursor at the end of pages that lead to each other. */
function cursorAfter(group: readonly CachedPage[]): string | undefined {
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
function pagesOf(cache: Cache, field: string): readonly CachedPage[] {
  return cache.inspectFields('Query').flatMap(({ fieldKey, fieldName, arguments: args }) => {
    const key = fieldName === field ? cache.resolve('Query', fieldKey) : undefined
    const nodes = typeof key === 'string' ? cache.resolve(key, 'nodes') : undefined
    if (typeof key !== 'string' || !Array.isArray(nodes)) return []
    const pageInfo = cache.resolve(key, 'pageInfo')
    const part = (name: string): unknown =>
      typeof pageInfo === 'string' ? cache.resolve(pageInfo, name) : undefined
    const [hasNextPage, endCursor] = [part('hasNextPage'), part('endCursor')]
    return [{ args: args ?? {}, key, nodes: nodes as CachedPage['nodes'], hasNextPage, endCursor }]
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
