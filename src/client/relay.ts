/**
 * Follows connections in Relay's store. {@link liveEnvironment} makes the environment with a handler of connections that
 * folds the rows of a followed list into it in the same step in which Relay has joined a fetched page; the updater of the
 * subscription folds each frame in the step in which Relay writes its objects. So no reader ever sees an incomplete
 * connection that looks whole. While a list is followed, Relay's garbage collection waits, since it would take rows that are
 * in no page yet.
 */
import {
  ConnectionHandler,
  DefaultHandlerProvider,
  type Disposable as Held,
  Environment,
  type EnvironmentConfig,
  fetchQuery,
  type GraphQLTaggedNode,
  type HandleFieldPayload,
  type OperationType,
  type RecordProxy,
  type RecordSourceProxy,
  requestSubscription,
  ROOT_ID,
  type Variables,
} from 'relay-runtime'
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
import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'

/** Where an environment has its followed lists; known to every copy of this package. */
const listsOf = Symbol.for('@informerql/client: lists')

interface LiveEnvironment {
  [listsOf]?: Set<RelayList<CachedRow>>
}

/**
 * An environment for {@link followRelayList}. Its options are Relay's; by default it keeps an `ObjectRef`, which has the id
 * of the object that it refers to, apart from the object.
 */
export function liveEnvironment(config: EnvironmentConfig): Environment {
  const lists = new Set<RelayList<CachedRow>>()
  const handlerOf = config.handlerProvider ?? DefaultHandlerProvider
  const environment = new Environment({
    getDataID: ({ id }, type) => (type === 'ObjectRef' ? undefined : (id as string)),
    ...config,
    handlerProvider(handle) {
      const handler = handlerOf(handle)
      if (handle !== 'connection' || handler === undefined) return handler
      return {
        update(store, payload) {
          handler.update(store, payload)
          for (const list of lists) list.pageWritten(store, payload)
        },
      }
    },
  })
  ;(environment as LiveEnvironment)[listsOf] = lists
  return environment
}

/** Options of {@link followRelayList}. */
export interface RelayListOptions<Row> extends FollowOptions<Row> {
  /** The `key` of its `@connection`. */
  readonly connection: string
  /** The id of the object whose connection it is; default: the root. */
  readonly parentId?: string
  /** The arguments that are part of the connection's identity, as for `ConnectionHandler.getConnection`. */
  readonly filters?: Variables
  /**
   * A subscription to the same list, whose `object` selects what the list selects: `reset synced changes { type removal
   * objectId object { id … } }`. With `resumeToken` and `$resumeFrom` it continues after a lost connection.
   */
  readonly subscription: GraphQLTaggedNode
  readonly variables?: Variables
  /** The query of a next page, for `fetchMore`: that of `@refetchable`, or the page's own. */
  readonly query?: GraphQLTaggedNode
  /** Its variables, without the cursor. */
  readonly queryVariables?: Variables
  /** The variable of its cursor; default: `cursor`. */
  readonly cursorVariable?: string
}

/**
 * Keeps a connection in Relay's store as a subscription says, until it is closed: adds and removes rows, deletes the records
 * of deleted objects, and subscribes again after an error. Read it as usual, by `usePaginationFragment`; its `loadNext` and
 * `fetchMore` do the same. Throws `TypeError` for an environment that is not a {@link liveEnvironment}.
 */
export function followRelayList<Row extends CachedRow = CachedRow>(
  environment: Environment,
  options: RelayListOptions<Row>,
): FollowedList<Row> {
  const list = new RelayList<Row>(environment, options)
  return new FollowedList<Row>(list, options.variables ?? {}, options)
}

class RelayList<Row extends CachedRow> extends ListCache<Row> {
  readonly client: LiveTransport
  readonly #environment: Environment
  readonly #lists: Set<RelayList<CachedRow>>
  readonly #options: RelayListOptions<Row>
  readonly #connectionId: string
  /** The store, while it is written. */
  #store: RecordSourceProxy | undefined
  #rows: FollowedRows<Row> = { keys: [], isComplete: false, isOrdered: false }
  /** What the last page said; `undefined` before one is written. */
  #isEnd: boolean | undefined
  #isJoined = false
  #isDoubtful = false
  #state: FetchedState | undefined
  readonly #held: Held

  constructor(environment: Environment, options: RelayListOptions<Row>) {
    super()
    const lists = (environment as LiveEnvironment)[listsOf]
    if (lists === undefined) {
      throw new TypeError('the environment must be made by liveEnvironment({ network, store })')
    }
    this.#environment = environment
    this.#lists = lists
    this.#options = options
    const { parentId = ROOT_ID, connection, filters } = options
    this.#connectionId = ConnectionHandler.getConnectionID(parentId, connection, filters)
    this.client = { subscribe: (request, sink) => this.#subscribe(request, sink) }
    // Rows that are in no page yet must stay in the store: no root of it leads to them.
    this.#held = environment.getStore().holdGC()
    lists.add(this as unknown as RelayList<CachedRow>)
  }

  get cache(): object {
    return this.#environment
  }

  release(): void {
    this.#lists.delete(this as unknown as RelayList<CachedRow>)
    this.#held.dispose()
  }

  #subscribe({ variables: read }: LiveRequest, sink: LiveSink): () => void {
    const { subscription } = this.#options
    const variables = { ...read }
    const following = requestSubscription<OperationType & { readonly response: object }>(
      this.#environment,
      {
        subscription,
        variables,
        updater: (store, data) => {
          const [name, frame] = Object.entries(data ?? {})[0] ?? []
          if (name === undefined || frame === null) return
          this.#using(store, () => {
            this.folded = this.apply?.(frame as Frame<Row>)
          })
        },
        onNext: (data) => {
          const [frame] = Object.values(data ?? {})
          if (frame !== undefined && frame !== null) sink.next({ data: { frame: frame as object } })
          else sink.error([{ message: 'the subscription sent no frame' }])
        },
        onError: (error: Error & { readonly source?: { readonly errors?: unknown } }) =>
          sink.error(error.source?.errors ?? error),
        onCompleted: () => sink.complete(),
      },
    )
    return () => following.dispose()
  }

  /** A page is written. */
  pageWritten(store: RecordSourceProxy, payload: HandleFieldPayload): void {
    const parent = store.get(payload.dataID)
    const list = parent?.getLinkedRecord(payload.handleKey)
    const page = parent?.getLinkedRecord(payload.fieldKey)
    if (list?.getDataID() !== this.#connectionId || page === null || page === undefined) return
    this.#isEnd = page.getLinkedRecord('pageInfo')?.getValue('hasNextPage') === false
    const isFirst = payload.args['after'] === undefined || payload.args['after'] === null
    this.#isJoined = !isFirst
    const keys = (page.getLinkedRecords('edges') ?? []).map(idOf)
    const known = this.#rows.keys.map(({ id }) => id)
    const totalCount = page.getValue('totalCount')
    this.#isDoubtful =
      this.#isEnd && disagrees<unknown>({ keys, totalCount }, { ...this.#rows, keys: known })
    this.#using(store, () => this.#fold(store))
  }

  write(rows: FollowedRows<Row>, gone: readonly Row[]): void {
    const store = this.#store
    if (store === undefined) return
    if (rows !== this.#rows) this.#isDoubtful = false
    this.#rows = rows
    this.#fold(store)
    for (const { id } of gone) if (store.get(id) !== undefined) store.delete(id)
  }

  #using(store: RecordSourceProxy, action: () => void): void {
    this.#store = store
    action()
    this.#store = undefined
  }

  #fold(store: RecordSourceProxy): void {
    const list = store.get(this.#connectionId)
    const pageInfo = list?.getLinkedRecord('pageInfo')
    if (list === null || list === undefined || pageInfo === null || pageInfo === undefined) return
    this.#isEnd ??= pageInfo.getValue('hasNextPage') === false
    const edges = new Map((list.getLinkedRecords('edges') ?? []).map((edge) => [idOf(edge), edge]))
    const { isComplete } = this.#rows
    const isDoubtful = isComplete ? this.#isDoubtful : this.#isEnd && this.#isJoined
    const keys = [...edges.keys()].filter((id) => id !== undefined)
    const fetched = { keys, hasNextPage: !this.#isEnd, isDoubtful }
    // A row that a mutation has deleted is not added again.
    const rows = this.#rows.keys.flatMap(({ id }) => (store.get(id) ? [id] : []))
    const now = listed(fetched, { ...this.#rows, keys: rows })
    const shown = now.keys.flatMap((id) => {
      const edge = edges.get(id)
      const row = edge === undefined ? store.get(id) : undefined
      if (row === null || row === undefined) return edge ?? []
      const type = list.getType().replace(/Connection$/, 'Edge')
      return [ConnectionHandler.createEdge(store, list, row, type)]
    })
    list.setLinkedRecords(shown, 'edges')
    pageInfo.setValue(now.hasNextPage, 'hasNextPage')
    if (this.#rows.pageTotal !== undefined) pageInfo.setValue(null, 'endCursor')
    if (now.totalCount !== undefined && typeof list.getValue('totalCount') === 'number') {
      list.setValue(now.totalCount, 'totalCount')
    }
    this.#state = this.#isEnd ? (now.hasNextPage ? 'doubtful' : 'whole') : 'more'
  }

  async fetch(again: boolean): Promise<FetchedState> {
    const { query, queryVariables = {}, cursorVariable = 'cursor' } = this.#options
    if (query === undefined) throw new TypeError('followRelayList needs `query` to fetch pages')
    if (this.#rows.pageTotal !== undefined) {
      throw new TypeError('a live page has no next page: ask for a larger `first`')
    }
    if (!again && this.#state === 'whole') return 'whole'
    let cursor: unknown
    this.#environment.commitUpdate((store) => {
      const pageInfo = store.get(this.#connectionId)?.getLinkedRecord('pageInfo')
      cursor = pageInfo?.getValue('endCursor')
    })
    const after = typeof cursor === 'string' ? { [cursorVariable]: cursor } : {}
    const variables = { ...queryVariables, ...after }
    await fetchQuery(this.#environment, query, variables, {
      networkCacheConfig: { force: true },
    }).toPromise()
    return this.#state ?? 'more'
  }
}

function idOf(edge: RecordProxy | null): string | undefined {
  return edge?.getLinkedRecord('node')?.getDataID()
}
