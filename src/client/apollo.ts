/**
 * Follows a list in the cache of Apollo Client. Apollo itself writes the objects of frames, by their ids; this hands the
 * rows of the list to its field policy (`connection-pages.ts`), which folds them into the pages whenever the list is read.
 * The way is a write of the list without its fields, with the rows in a variable: so a frame rewrites no row. Objects that
 * are gone are evicted by their own type.
 */
import {
  type ApolloClient,
  ApolloLink,
  type DocumentNode,
  type InMemoryCache,
  Observable,
  type OperationVariables,
  type TypedDocumentNode,
} from '@apollo/client'
import { connectionPages, type HandedRows, handedRows } from './connection-pages.ts'
import {
  type CachedRow,
  FollowedList,
  frameIn,
  ListCache,
  type ListEnd,
  type QueryListOptions,
} from './followed-list.ts'
import { declaredVariables, type ListPath, listPathOf } from './list-path.ts'
import type { LiveRequest, LiveSink } from './live-transport.ts'
import { NewerRows } from './newer-rows.ts'

type Values = Readonly<Record<string, unknown>>

/** Options of {@link followApolloList}. */
export type ApolloListOptions<Row, Variables extends OperationVariables> = QueryListOptions<
  Row,
  DocumentNode | TypedDocumentNode<unknown, Variables>,
  Variables,
  DocumentNode
>

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
  const { variables = {}, subscription, subscriptionVariables } = options
  const list = new ApolloList<Row>(client, options)
  const read = subscriptionVariables ?? declaredVariables(subscription, variables)
  keepNewerRows(client)
  return new FollowedList<Row>(list, read as Values, options)
}

type Options<Row> = ApolloListOptions<Row, OperationVariables>

/** The links that do so. */
const newerRowsLinks = new WeakSet<ApolloLink>()

/** Lets the answers of the client have the rows of frames that came before them. */
function keepNewerRows(client: ApolloClient): void {
  if (newerRowsLinks.has(client.link)) return
  const newer = new NewerRows()
  const watching = new ApolloLink(
    (operation, forward) =>
      new Observable((sink) => {
        const sent = newer.send(operation.operationType)
        const receiving = forward(operation).subscribe({
          next: (result) => sink.next(sent.pass(result)),
          error: (error: unknown) => sink.error(error),
          complete: () => sink.complete(),
        })
        return () => {
          sent.end()
          receiving.unsubscribe()
        }
      }),
  )
  const link = watching.concat(client.link)
  newerRowsLinks.add(link)
  client.setLink(link)
}

class ApolloList<Row extends CachedRow> extends ListCache<Row> {
  readonly #client: ApolloClient
  readonly #options: Options<Row>
  readonly #path: ListPath
  readonly #unwatch: () => void

  constructor(client: ApolloClient, options: Options<Row>) {
    super(client.cache, options)
    this.#client = client
    this.#options = options
    this.#path = listPathOf(options.query)
    if (this.#path.keys.length === 1) this.#addPolicy('Query')
    // A list that comes into the cache, or comes again after a reset, gets the rows, too.
    this.#unwatch = client.cache.watch({
      query: this.#path.bare as DocumentNode,
      variables: options.variables ?? {},
      optimistic: false,
      callback: () => queueMicrotask(() => this.#hand({ rows: this.rows })),
    })
    this.#hand({ rows: this.rows })
  }

  write(isOther: boolean, gone: readonly Row[]): void {
    const { cache } = this.#client
    cache.batch({
      update: () => {
        if (isOther) this.#hand({ rows: this.rows })
        for (const row of gone) {
          const id = cache.identify({ __typename: row.__typename ?? '', id: row.id })
          if (id !== undefined) cache.evict({ id })
        }
      },
    })
  }

  release(): void {
    this.#unwatch()
    this.#hand({})
  }

  end(): { readonly end: ListEnd; readonly cursor: unknown } | undefined {
    let found: ReturnType<typeof this.end>
    this.#hand({ ask: (end, cursor) => (found = { end, cursor }) })
    return found
  }

  async fetch(after: string | undefined): Promise<void> {
    const { query, variables } = this.#options
    const cursor = after === undefined ? {} : { [this.#path.cursor]: after }
    const { data, error } = await this.#client.query<Values>({
      query,
      variables: { ...variables, ...cursor },
      fetchPolicy: 'network-only',
      errorPolicy: 'all',
    })
    if (error !== undefined && this.#path.in(data) == null) throw error
  }

  subscribe({ variables }: LiveRequest, sink: LiveSink): () => void {
    const following = this.#client
      .subscribe<Values>({
        query: this.#options.subscription,
        variables,
        errorPolicy: 'all',
      })
      .subscribe({
        next: ({ data, error }) => {
          this.take(data)
          const frame = frameIn(data)
          if (frame === undefined) sink.error(reasonOf(error))
          else sink.next({ data: { frame } })
        },
        error: (error: unknown) => sink.error(reasonOf(error)),
        complete: () => sink.complete(),
      })
    return () => following.unsubscribe()
  }

  /** Hands something to the policy of the list, if the list is in the cache. */
  #hand(handed: Omit<HandedRows, 'toJSON'>): void {
    const { cache } = this.#client
    const { variables } = this.#options
    const query = this.#path.bare as DocumentNode
    const data = cache.readQuery<Values>({ query, variables: variables ?? {} })
    const parent = this.#path.parent(data)
    if (parent === null || parent === undefined) return
    const { __typename = 'Query' } = parent as { readonly __typename?: string }
    if (this.#addPolicy(__typename)) return
    // The cache writes its variables as text: of this one, nothing.
    const further = { [handedRows]: { ...handed, toJSON: () => null } }
    cache.writeQuery({ query, variables: { ...variables, ...further }, data })
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
