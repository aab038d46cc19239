/**
 * A field policy for connections in Apollo Client's cache. The pages of a list are stored by the cursor before each, and
 * joined when the list is read: from the first page on, each page leads to the next one by its end cursor. So `fetchMore`
 * makes the list longer, and pages that no longer join are not shown. A list that is followed (`apollo.ts`) has the rows of
 * its subscription beside its pages. Every read of the list folds them in, so no write of a page makes an incomplete list
 * look whole.
 */
import {
  type CachedRow,
  endOfPage,
  type FollowedRows,
  listed,
  type ListEnd,
} from './followed-list.ts'

/** A page of a connection in Apollo Client's cache, by field names. */
type Stored = Readonly<Record<string, unknown>>

/**
 * The pages of one list by the cursor before each page (after it, for a list that is read backwards); the first by
 * `''`. A page that failed is null.
 */
export interface ConnectionPages {
  readonly pages: Readonly<Record<string, Stored | null>>
  /** The rows of its subscription, for a list that is followed. */
  readonly followed?: FollowedRows<Stored> | undefined
  /** Whether the last page knows other rows than these. */
  readonly isDoubtful?: boolean
}

/** The used part of the options that Apollo Client passes to a field policy. */
interface PolicyOptions {
  readonly args: Stored | null
  readonly variables?: Stored | undefined
  readonly canRead: (value: never) => boolean
  readonly readField: (field: string, from: never) => unknown
  readonly toReference: (row: never) => unknown
}

/**
 * The variable by which a follower hands rows to this policy, as a {@link HandedRows}. It belongs to no operation. By its
 * name rather than by a symbol, since the policy may be of another copy of this package than the follower.
 */
export const handedRows = '@informerql/client: followed rows'

/** What a follower hands to the policy. */
export interface HandedRows {
  /** The rows of the list; absent when it is not followed any more. */
  readonly rows?: FollowedRows<CachedRow> | undefined
  /** Asks for the end of the list and the cursor there, and changes nothing. */
  readonly ask?: (end: ListEnd, cursor: unknown) => void
  readonly toJSON: () => null
}

/** A field policy of Apollo Client's InMemoryCache. */
export interface ConnectionPolicy {
  readonly keyArgs: (args: Stored | null) => string[] | false
  readonly merge: (
    existing: ConnectionPages | undefined,
    incoming: Stored | null,
    options: PolicyOptions,
  ) => ConnectionPages
  readonly read: (
    existing: ConnectionPages | undefined,
    options: PolicyOptions,
  ) => Stored | null | undefined
}

/** The lists of a connection. Selected ones are joined page by page. */
const lists = ['nodes', 'edges'] as const

/**
 * Lets Apollo Client keep connections: stores the pages of a list (equal arguments except the cursor) separately and
 * joins them by their cursors. `fetchMore({ variables: { after } })` makes the list longer; a query with its own cursor
 * reads its own page; and if the first page is fetched again and ends elsewhere, later pages are dropped instead of
 * shown twice. All queries of a list should select `nodes`, or all `edges`.
 */
export const connectionPages: ConnectionPolicy = {
  keyArgs(args) {
    const names = Object.entries(args ?? {}).filter(
      ([name, value]) => name !== 'after' && name !== 'before' && value !== undefined,
    )
    return names.length === 0 ? false : names.map(([name]) => name).toSorted()
  },

  merge(existing, incoming, options) {
    const { args, variables, toReference } = options
    const handed = variables?.[handedRows] as HandedRows | undefined
    if (handed !== undefined && existing !== undefined) {
      const { rows, ask } = handed
      if (ask !== undefined) {
        if (existing.pages[''] == null) return existing
        const { list, end } = listOf(existing, options)
        ask(end, (list['pageInfo'] as Stored)['endCursor'])
        return existing
      }
      if (rows === undefined) return left(existing, options)
      const keys = rows.keys.map((row) => toReference(row as never) as Stored)
      return { ...existing, followed: { ...rows, keys }, isDoubtful: false }
    }
    const cursor = cursorOf(args)
    const known = existing?.pages[cursor]
    const page = incoming && {
      ...known,
      ...incoming,
      pageInfo: joined(known?.['pageInfo'], incoming['pageInfo']),
    }
    const pages = { ...existing?.pages, [cursor]: page }
    const end = endOf(page, existing?.followed, options)
    const kept = end === 'more' ? existing : { ...existing, isDoubtful: end === 'doubtful' }
    if (cursor !== '') return { ...kept, pages }
    return {
      ...kept,
      pages: page === null ? { '': null } : Object.fromEntries(chain(pages, args)),
    }
  },

  read(existing, options) {
    if (existing === undefined) return undefined
    const { args } = options
    const cursor = cursorOf(args)
    const { [cursor]: only } = existing.pages
    if (only === undefined || only === null) return only
    if (cursor !== '') return alive(only, options)
    return listOf(existing, options).list
  },
}

/** The pages from the first one on, joined and with the rows of the subscription. */
function listOf(
  existing: ConnectionPages,
  options: PolicyOptions,
): { readonly list: Stored; readonly end: ListEnd } {
  const { args } = options
  const pages = chain(existing.pages, args).map(([, page]) => alive(page, options))
  const list = joinedPages(isBackwards(args) ? pages.toReversed() : pages, options)
  const { followed, isDoubtful } = existing
  const end = hasNextPage(list) ? 'more' : isDoubtful === true ? 'doubtful' : 'whole'
  if (followed === undefined || isBackwards(args)) return { list, end }
  return withFollowed(list, { end, isJoined: pages.length > 1 }, followed, options)
}

/** The end that a page says. */
function endOf(
  page: Stored | null,
  followed: FollowedRows<Stored> | undefined,
  { readField }: PolicyOptions,
): ListEnd {
  const name = lists.find((list) => Array.isArray(page?.[list]))
  if (page === null || name === undefined || followed === undefined) return 'more'
  const keys = (page[name] as readonly Stored[]).map(
    (row) => nodeOf(name, row, readField)?.['__ref'],
  )
  const known = followed.keys.map((node) => node['__ref'])
  const { totalCount, pageInfo } = page
  const { hasNextPage: isMore } = (pageInfo ?? {}) as Stored
  return endOfPage({ keys, totalCount, hasNextPage: isMore }, { ...followed, keys: known })
}

function nodeOf(
  name: (typeof lists)[number],
  row: Stored,
  readField: PolicyOptions['readField'],
): Stored | undefined {
  return name === 'nodes' ? row : (readField('node', row as never) as Stored | undefined)
}

function hasNextPage(page: Stored | null | undefined): boolean {
  return (page?.['pageInfo'] as Stored | undefined)?.['hasNextPage'] === true
}

/** A list that is not followed any more: one page, as it was read last. */
function left(existing: ConnectionPages, options: PolicyOptions): ConnectionPages {
  return existing.followed === undefined || existing.pages[''] == null
    ? existing
    : { pages: { '': listOf(existing, options).list } }
}

/** Folds the rows of a subscription into a list. */
function withFollowed(
  list: Stored,
  ending: { readonly end: ListEnd; readonly isJoined: boolean },
  followed: FollowedRows<Stored>,
  { canRead, readField }: PolicyOptions,
): { readonly list: Stored; readonly end: ListEnd } {
  const name = lists.find((one) => Array.isArray(list[one]))
  if (name === undefined) return { list, end: ending.end }
  const rows = new Map<unknown, Stored>()
  for (const row of list[name] as readonly Stored[]) {
    rows.set(nodeOf(name, row, readField)?.['__ref'], row)
  }
  const keys = [...rows.keys()]
  const living = new Map<unknown, Stored>()
  // The cache no longer has rows that were evicted before their removal arrives, as by a mutation.
  for (const node of followed.keys) if (canRead(node as never)) living.set(node['__ref'], node)
  const pageInfo = list['pageInfo'] as Stored
  const now = listed<unknown>({ keys, ...ending }, { ...followed, keys: [...living.keys()] })
  const edgeTo = (node: Stored | undefined): Stored => ({
    __typename: String(list['__typename']).replace(/Connection$/, 'Edge'),
    cursor: '',
    node,
  })
  const shown = now.keys.map(
    (key) => rows.get(key) ?? (name === 'nodes' ? living.get(key) : edgeTo(living.get(key))),
  )
  const last = followed.pageTotal === undefined ? {} : { endCursor: null }
  const isCounted = list['totalCount'] !== undefined && now.totalCount !== undefined
  const whole = {
    ...list,
    [name]: shown,
    pageInfo: { ...pageInfo, hasNextPage: now.hasNextPage, ...last },
    ...(isCounted ? { totalCount: now.totalCount } : {}),
  }
  return { list: whole, end: now.end }
}

function cursorOf(args: Stored | null): string {
  const cursor = args?.['after'] ?? args?.['before']
  return typeof cursor === 'string' ? cursor : ''
}

function isBackwards(args: Stored | null): boolean {
  return typeof args?.['last'] === 'number'
}

/** The first page and each following page, with their cursors. */
function chain(
  pages: Readonly<Record<string, Stored | null>>,
  args: Stored | null,
): readonly (readonly [string, Stored])[] {
  const found = new Map<string, Stored>()
  const shown = lists.filter((list) => Array.isArray(pages['']?.[list]))
  for (let cursor: unknown = ''; typeof cursor === 'string' && !found.has(cursor);) {
    const page: Stored | null | undefined = pages[cursor]
    if (page === undefined || page === null || !shown.every((list) => Array.isArray(page[list])))
      break
    found.set(cursor, page)
    cursor = edgeOf(page, isBackwards(args))
  }
  return [...found]
}

/** The cursor at the end of a page, from its `pageInfo` or its edges. */
function edgeOf(page: Stored, backwards: boolean): unknown {
  const named = (page['pageInfo'] as Stored | undefined)?.[backwards ? 'startCursor' : 'endCursor']
  if (named !== undefined) return named
  const edges = page['edges'] as readonly Stored[] | undefined
  return edges?.at(backwards ? 0 : -1)?.['cursor']
}

/** A page without evicted objects. */
function alive(page: Stored, { canRead, readField }: PolicyOptions): Stored {
  const { nodes, edges } = page as Readonly<Record<(typeof lists)[number], never[] | undefined>>
  return {
    ...page,
    ...(nodes === undefined ? {} : { nodes: nodes.filter((node) => canRead(node)) }),
    ...(edges === undefined
      ? {}
      : { edges: edges.filter((edge) => canRead(readField('node', edge) as never)) }),
  }
}

/** Joins pages in list order. An object that has moved between two fetched pages is shown once. */
function joinedPages(pages: readonly Stored[], { args, readField }: PolicyOptions): Stored {
  const [first] = pages
  const last = pages.at(-1)
  const joinedLists: Record<string, unknown> = {}
  for (const list of lists) {
    if (!Array.isArray(first?.[list])) continue
    const rows = pages.flatMap((page) => page[list] as readonly never[])
    joinedLists[list] = once(list, rows, readField)
  }
  const [begin, end] = [first?.['pageInfo'], last?.['pageInfo']] as (Stored | undefined)[]
  const pageInfo = joined(isBackwards(args) ? end : begin, isBackwards(args) ? begin : end)
  for (const name of ['startCursor', 'hasPreviousPage']) copyField(name, begin, pageInfo)
  for (const name of ['endCursor', 'hasNextPage']) copyField(name, end, pageInfo)
  return { ...Object.assign({}, ...pages), ...joinedLists, pageInfo }
}

/** Rows without repetitions. Rows that the cache does not hold by reference stay. */
function once(
  list: (typeof lists)[number],
  rows: readonly never[],
  readField: PolicyOptions['readField'],
): readonly unknown[] {
  const seen = new Set<unknown>()
  return rows.filter((row) => {
    const node = (list === 'nodes' ? row : readField('node', row)) as Stored | null | undefined
    const reference = node?.['__ref']
    if (reference === undefined) return true
    const isNew = !seen.has(reference)
    seen.add(reference)
    return isNew
  })
}

function copyField(name: string, from: Stored | undefined, to: Record<string, unknown>): void {
  if (from?.[name] !== undefined) to[name] = from[name]
}

function joined(one: unknown, other: unknown): Record<string, unknown> {
  return { ...(one as Stored | undefined), ...(other as Stored | undefined) }
}
