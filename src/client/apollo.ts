/**
 * Follows a list in the cache of Apollo Client. Apollo itself writes the objects of frames, by their ids; this hands the
 * rows of the list to its field policy (`connection-pages.ts`), which folds them into the pages whenever the list is read.
 * The way is a write of the list without its fields, with the rows in a variable: so a frame rewrites no row. Objects that
 * are gone are evicted by their own type.
 */
import type {
  ApolloClient,
  DocumentNode,
  InMemoryCache,
  OperationVariables,
  TypedDocumentNode,
} from '@apollo/client'
import { connectionPages, type HandedRows, handedRows } from './connection-pages.ts'
import {
  type CachedRow,
  type FetchedState,
  FollowedList,
  type FollowedRows,
  type FollowOptions,
  ListCache,
} from './followed-list.ts'
import { declaredVariables, type ListPath, listPathOf } from './list-path.ts'
import type { LiveRequest, LiveSink, LiveTransport } from './live-transport.ts'

/** Options of {@link followApolloList}. */
export interface ApolloListOptions<
  Row,
  Variables extends OperationVariables,
> extends FollowOptions<Row> {
  /**
   * A query with one list that selects `nodes { id … }` (or `edges { node { id … } }`), `pageInfo { hasNextPage endCursor }`
   * and, where it is shown, `totalCount`.
   */
  readonly query: DocumentNode | TypedDocumentNode<unknown, Variables>
  /** The variables of the query, without its cursor. */
  readonly variables?: Variables
  /**
   * A subscription to the same list (`pods`) or to its live page (`podsPage`), whose `object` selects at least what the
   * list selects: `reset synced changes { type removal objectId object { id … } }`, or `reset synced totalCount changes {
   * step index from objectId object { id … } }`. With `resumeToken` and `$resumeFrom` it continues after a lost connection.
   */
  readonly subscription: DocumentNode
  /** The variables of the subscription; default: those of the query that it declares. */
  readonly subscriptionVariables?: OperationVariables
}

/**
 * Keeps a list in Apollo Client's cache as a subscription says, until it is closed: adds and removes rows, evicts deleted
 * objects, and subscribes again after an error. Read the list as usual, by `useQuery` or `watchQuery`, before or after. It
 * needs the policies of `informerql schema --for apollo`; where the field of the list has none, it gets `connectionPages`.
 * Throws `TypeError` for a query without a list.
 */
export function followApolloList<Row extends CachedRow, Variables extends OperationVariables>(
  client: ApolloClient,
  options: ApolloListOptions<Row, Variables>,
): FollowedList<Row> {
  const { query, variables = {}, subscription, subscriptionVariables } = options
  const list = new ApolloList<Row>(client, query, variables, subscription)
  return new FollowedList<Row>(
    list,
    subscriptionVariables ?? declaredVariables(subscription, variables),
    options,
  )
}

interface PageEnding {
  readonly hasNextPage: boolean
  readonly endCursor: string | null
}

class ApolloList<Row extends CachedRow> extends ListCache<Row> {
  readonly client: LiveTransport
  readonly #client: ApolloClient
  readonly #query: DocumentNode
  readonly #variables: OperationVariables
  readonly #subscription: DocumentNode
  readonly #path: ListPath
  readonly #unwatch: () => void
  #rows: FollowedRows<Row> = { keys: [], isComplete: false, isOrdered: false }
  /** The cursor of the last page that was fetched. */
  #after: string | undefined
  /** The frames that have arrived while a page is fetched, and the objects that they removed. */
  #passed: { readonly frames: (() => void)[]; readonly gone: Row[] } | undefined

  constructor(
    client: ApolloClient,
    query: DocumentNode,
    variables: OperationVariables,
    subscription: DocumentNode,
  ) {
    super()
    this.#client = client
    this.#query = query
    this.#variables = variables
    this.#subscription = subscription
    this.#path = listPathOf(query)
    this.client = { subscribe: (request, sink) => this.#subscribe(request, sink) }
    if (this.#path.keys.length === 1) this.#addPolicy('Query')
    // A list that comes into the cache, or comes again after a reset, gets the rows, too.
    this.#unwatch = client.cache.watch({
      query: this.#path.bare as DocumentNode,
      variables,
      optimistic: false,
      callback: () => queueMicrotask(() => this.#hand({ rows: this.#rows })),
    })
    this.#hand({ rows: this.#rows })
  }

  get cache(): object {
    return this.#client.cache
  }

  write(rows: FollowedRows<Row>, gone: readonly Row[]): void {
    const isOther = rows !== this.#rows
    this.#rows = rows
    this.#passed?.gone.push(...gone)
    this.#client.cache.batch({
      update: () => {
        if (isOther) this.#hand({ rows })
        this.#evict(gone)
      },
    })
  }

  release(): void {
    this.#unwatch()
    this.#hand({})
  }

  /** A fetched page may be older than frames that arrive meanwhile: these are written again after it. */
  async fetch(again: boolean): Promise<FetchedState> {
    if (this.#rows.pageTotal !== undefined) {
      throw new TypeError('a live page has no next page: ask for a larger `first`')
    }
    const { hasNextPage, endCursor } = this.#ending()
    if (!again) {
      if (hasNextPage === false) return 'whole'
      if (hasNextPage === true && endCursor === undefined) {
        throw new TypeError('the list must select pageInfo { hasNextPage endCursor }')
      }
      // An empty last page has no cursor: the page before it leads to it.
      if (endCursor !== null) this.#after = endCursor
    }
    const { cursor } = this.#path
    const after = this.#after === undefined ? {} : { [cursor]: this.#after }
    const variables = { ...this.#variables, ...after }
    const passed = (this.#passed = { frames: [] as (() => void)[], gone: [] as Row[] })
    try {
      await this.#client.query({ query: this.#query, variables, fetchPolicy: 'network-only' })
    } finally {
      this.#passed = undefined
      this.#client.cache.batch({
        update: () => {
          for (const write of passed.frames) write()
          this.#evict(passed.gone)
        },
      })
    }
    let state: FetchedState = 'whole'
    this.#hand({ ask: (answer) => (state = answer) })
    return state
  }

  /** The end of the list; empty while it is not in the cache. */
  #ending(): Partial<PageEnding> {
    let found: unknown = this.#client.cache.readQuery({
      query: this.#path.ending as DocumentNode,
      variables: this.#variables,
      returnPartialData: true,
    })
    for (const key of [...this.#path.keys, 'pageInfo']) {
      found = (found as Readonly<Record<string, unknown>> | null | undefined)?.[key]
    }
    return found ?? {}
  }

  #subscribe({ variables: read }: LiveRequest, sink: LiveSink): () => void {
    const query = this.#subscription
    const variables = read as OperationVariables
    const { cache } = this.#client
    const following = this.#client
      .subscribe<Readonly<Record<string, object | null>>>({ query, variables, errorPolicy: 'all' })
      .subscribe({
        next: ({ data, error }) => {
          const [frame] = Object.values(data ?? {})
          if (frame === undefined || frame === null) {
            sink.error(reasonOf(error))
            return
          }
          this.#passed?.frames.push(() => {
            const document = cache.transformDocument(query)
            const written = {
              query: document,
              variables,
              dataId: 'ROOT_SUBSCRIPTION',
              result: data,
            }
            cache.write(written)
          })
          sink.next({ data: { frame } })
        },
        error: (error: unknown) => sink.error(reasonOf(error)),
        complete: () => sink.complete(),
      })
    return () => following.unsubscribe()
  }

  /** Hands something to the policy of the list, if the list is in the cache. */
  #hand(handed: Omit<HandedRows, 'toJSON'>): void {
    const { cache } = this.#client
    const query = this.#path.bare as DocumentNode
    const data = cache.readQuery<Readonly<Record<string, unknown>>>({
      query,
      variables: this.#variables,
    })
    let parent: unknown = data
    for (const key of this.#path.keys.slice(0, -1)) {
      parent = (parent as Readonly<Record<string, unknown>> | null)?.[key]
    }
    if (parent === null || parent === undefined) return
    const { __typename = 'Query' } = parent as { readonly __typename?: string }
    if (this.#addPolicy(__typename)) return
    // The cache writes its variables as text: of this one, nothing.
    const variables = { ...this.#variables, [handedRows]: { ...handed, toJSON: () => null } }
    cache.writeQuery({ query, variables, data })
  }

  #evict(gone: readonly Row[]): void {
    const { cache } = this.#client
    for (const row of gone) {
      const id = cache.identify({ __typename: row.__typename ?? '', id: row.id })
      if (id !== undefined) cache.evict({ id })
    }
  }

  /** Gives the list its policy if it has none that keeps pages. Returns whether it had none. */
  #addPolicy(typename: string): boolean {
    const { policies } = this.#client.cache as InMemoryCache
    const known = policies as unknown as {
      getFieldPolicy(type: string, field: string): { readonly merge?: unknown } | undefined
    }
    const { field } = this.#path
    if (known.getFieldPolicy(typename, field)?.merge !== undefined) return false
    policies.addTypePolicies({ [typename]: { fields: { [field]: connectionPages } } })
    return true
  }
}

/** Why a subscription has ended, in the words of its transport. */
function reasonOf(error: unknown): unknown {
  const { errors, message = '' } = (error ?? {}) as Partial<Error> & { readonly errors?: unknown }
  if (Array.isArray(errors)) return errors
  // The link for graphql-ws keeps the code of a closed connection in its message alone.
  const [, code, reason = ''] = /^Socket closed with event (\d{4}) ?(.*)$/s.exec(message) ?? []
  return code === undefined ? error : { code: Number(code), reason }
}
