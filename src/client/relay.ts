/**
 * Follows connections in Relay's store. {@link liveEnvironment} makes the environment with a handler of connections that
 * folds the rows of a followed list into it in the same step in which Relay has joined a fetched page; the updater of the
 * subscription folds each frame in the step in which Relay writes its objects. So no reader ever sees an incomplete
 * connection that looks whole. Rows that are in no page yet are retained, as an operation that selects them would do it.
 */
import type {
  Disposable as Held,
  Environment,
  EnvironmentConfig,
  GraphQLTaggedNode,
  HandleFieldPayload,
  INetwork,
  NormalizationLinkedField,
  OperationDescriptor,
  OperationType,
  RecordProxy,
  RecordSourceProxy,
  Variables,
} from 'relay-runtime'
import * as namespace from 'relay-runtime'
import {
  type CachedRow,
  endOfPage,
  FollowedList,
  frameIn,
  type FollowOptions,
  ListCache,
  listed,
  type ListEnd,
} from './followed-list.ts'
import type { LiveRequest, LiveSink } from './live-transport.ts'
import { NewerRows } from './newer-rows.ts'

// Node finds all names of older versions, which are no modules, in the default export alone.
const { default: runtime = namespace } = namespace as object as { default?: typeof namespace }
const { ConnectionHandler, fetchQuery, getRequest, Observable, requestSubscription, ROOT_ID } =
  runtime

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
  const handlerOf = config.handlerProvider ?? runtime.DefaultHandlerProvider
  const environment = new runtime.Environment({
    getDataID: ({ id }, type) => (type === 'ObjectRef' ? undefined : (id as string)),
    ...config,
    network: withNewerRows(config.network),
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

/** Puts the rows of frames into older answers of queries. */
function withNewerRows(network: INetwork): INetwork {
  const newer = new NewerRows()
  return {
    ...network,
    execute(request, ...rest) {
      const results = network.execute(request, ...rest)
      return Observable.create((sink) => {
        const sent = newer.send(request.operationKind)
        return results.map(sent.pass).finally(sent.end).subscribe(sink)
      })
    },
  }
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

/** After so many changes of rows the store is searched for what nothing retains any more. */
const changesUntilCollected = 500

class RelayList<Row extends CachedRow> extends ListCache<Row, RecordSourceProxy> {
  readonly #environment: Environment
  readonly #lists: Set<RelayList<CachedRow>>
  readonly #options: RelayListOptions<Row>
  readonly #connectionId: string
  /** The record that links to all rows. */
  readonly #rowsId: string
  readonly #retained: Held
  /** Holds back the garbage collection while a snapshot arrives, whose rows nothing links to yet. */
  #held: Held | undefined
  #changes = 0
  /** What the last page said; `undefined` before one is written. */
  #pageEnd: ListEnd | undefined
  #isJoined = false
  #end: ListEnd | undefined

  constructor(environment: Environment, options: RelayListOptions<Row>) {
    const lists = (environment as LiveEnvironment)[listsOf]
    if (lists === undefined) {
      throw new TypeError('the environment must be made by liveEnvironment({ network, store })')
    }
    super(environment, options)
    this.#environment = environment
    this.#lists = lists
    this.#options = options
    const { parentId = ROOT_ID, connection, filters, subscription, variables } = options
    this.#connectionId = ConnectionHandler.getConnectionID(parentId, connection, filters)
    this.#rowsId = runtime.generateUniqueClientID()
    this.#retained = environment.retain(rowsOf(subscription, variables ?? {}, this.#rowsId))
    lists.add(this as unknown as RelayList<CachedRow>)
  }

  release(): void {
    this.#lists.delete(this as unknown as RelayList<CachedRow>)
    this.#retained.dispose()
    this.#hold(false)
  }

  end(): { readonly end: ListEnd; readonly cursor: unknown } | undefined {
    return this.#end && { end: this.#end, cursor: null }
  }

  subscribe({ variables }: LiveRequest, sink: LiveSink): () => void {
    const { subscription } = this.#options
    const following = requestSubscription<OperationType & { readonly response: object }>(
      this.#environment,
      {
        subscription,
        variables: { ...variables },
        updater: (store, data) => this.take(data, store),
        onNext: (data) => sink.next({ data }),
        onError: (error: Error & { readonly source?: { readonly errors?: unknown } }) =>
          sink.error(error.source?.errors ?? error),
        onCompleted: () => sink.complete(),
      },
    )
    return () => following.dispose()
  }

  override take(data: unknown, store: RecordSourceProxy): void {
    const { reset, synced, changes } = frameIn(data) ?? {}
    if (reset === true) this.#hold(true)
    super.take(data, store)
    if (synced === true) this.#hold(false)
    this.#changes += changes?.length ?? 0
    if (this.#changes < changesUntilCollected) return
    this.#changes = 0
    const { scheduleGC } = this.#environment.getStore() as { readonly scheduleGC?: () => void }
    scheduleGC?.call(this.#environment.getStore())
  }

  #hold(isNeeded: boolean): void {
    if (isNeeded) this.#held ??= this.#environment.getStore().holdGC()
    else this.#held = this.#held?.dispose() as undefined
  }

  /** A page is written. */
  pageWritten(store: RecordSourceProxy, payload: HandleFieldPayload): void {
    const parent = store.get(payload.dataID)
    const list = parent?.getLinkedRecord(payload.handleKey)
    const page = parent?.getLinkedRecord(payload.fieldKey)
    if (list?.getDataID() !== this.#connectionId || page === null || page === undefined) return
    const { after } = payload.args
    this.#isJoined = after !== undefined && after !== null
    const said = {
      keys: (page.getLinkedRecords('edges') ?? []).map(idOf),
      totalCount: page.getValue('totalCount'),
      hasNextPage: page.getLinkedRecord('pageInfo')?.getValue('hasNextPage'),
    }
    const keys = this.rows.keys.map(({ id }) => id)
    this.#pageEnd = endOfPage<unknown>(said, { ...this.rows, keys })
    this.#fold(store)
  }

  write(isOther: boolean, gone: readonly Row[], store: RecordSourceProxy): void {
    if (isOther && this.#pageEnd === 'doubtful') this.#pageEnd = 'whole'
    const rows = store.get(this.#rowsId) ?? store.create(this.#rowsId, 'FollowedRows')
    rows.setLinkedRecords(
      this.rows.keys.map(({ id }) => store.get(id) ?? null),
      'rows',
    )
    this.#fold(store)
    for (const { id } of gone) if (store.get(id) !== undefined) store.delete(id)
  }

  #fold(store: RecordSourceProxy): void {
    const list = store.get(this.#connectionId)
    const pageInfo = list?.getLinkedRecord('pageInfo')
    if (list === null || list === undefined || pageInfo === null || pageInfo === undefined) return
    this.#pageEnd ??= pageInfo.getValue('hasNextPage') === false ? 'whole' : 'more'
    const edges = new Map((list.getLinkedRecords('edges') ?? []).map((edge) => [idOf(edge), edge]))
    const fetched = {
      keys: [...edges.keys()].filter((id) => id !== undefined),
      end: this.#pageEnd,
      isJoined: this.#isJoined,
    }
    // A row that a mutation has deleted is not added again.
    const rows = this.rows.keys.flatMap(({ id }) => (store.get(id) ? [id] : []))
    const now = listed(fetched, { ...this.rows, keys: rows })
    const shown = now.keys.flatMap((id) => {
      const edge = edges.get(id)
      const row = edge === undefined ? store.get(id) : undefined
      if (row === null || row === undefined) return edge ?? []
      const type = list.getType().replace(/Connection$/, 'Edge')
      return [ConnectionHandler.createEdge(store, list, row, type)]
    })
    list.setLinkedRecords(shown, 'edges')
    pageInfo.setValue(now.hasNextPage, 'hasNextPage')
    if (this.rows.pageTotal !== undefined) pageInfo.setValue(null, 'endCursor')
    if (now.totalCount !== undefined && typeof list.getValue('totalCount') === 'number') {
      list.setValue(now.totalCount, 'totalCount')
    }
    this.#end = now.end
  }

  /** Relay takes a page by the cursor of the connection alone. */
  async fetch(): Promise<void> {
    const { query, queryVariables = {}, cursorVariable = 'cursor' } = this.#options
    if (query === undefined) throw new TypeError('followRelayList needs `query` to fetch pages')
    let cursor: unknown
    this.#environment.commitUpdate((store) => {
      const pageInfo = store.get(this.#connectionId)?.getLinkedRecord('pageInfo')
      cursor = pageInfo?.getValue('endCursor')
    })
    const after = typeof cursor === 'string' ? { [cursorVariable]: cursor } : {}
    const variables = { ...queryVariables, ...after }
    const force = { networkCacheConfig: { force: true } }
    await fetchQuery(this.#environment, query, variables, force).toPromise()
  }
}

/** An operation that selects of the rows of a record what a subscription selects of its objects. */
function rowsOf(
  subscription: GraphQLTaggedNode,
  variables: Variables,
  dataId: string,
): OperationDescriptor {
  const request = getRequest(subscription)
  const frame = fieldIn(request.operation)
  const changes = frame && fieldIn(frame, 'changes')
  const object = changes && fieldIn(changes, 'object')
  const rows = { ...object, alias: null, name: 'rows', args: null, storageKey: null, plural: true }
  const operation = { ...request.operation, selections: object === undefined ? [] : [rows] }
  const params = { ...request.params, cacheID: dataId }
  return runtime.createOperationDescriptor(
    { ...request, params, operation } as typeof request,
    variables,
    null,
    dataId,
  )
}

function fieldIn({ selections }: { readonly selections: readonly unknown[] }, name?: string) {
  return (selections as readonly NormalizationLinkedField[]).find(
    (one) => one.kind === 'LinkedField' && (name === undefined || one.name === name),
  )
}

function idOf(edge: RecordProxy | null): string | undefined {
  return edge?.getLinkedRecord('node')?.getDataID()
}
