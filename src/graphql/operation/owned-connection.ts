import type { StoreView } from '../../informer/store-view.ts'
import { hasValue } from '../../query/condition.ts'
import { encodeCursor, decodeCursor, listHash } from '../../query/cursor.ts'
import { defaultPageSize, listPage, PageSizeError } from '../../query/page.ts'
import type { RowBudget } from '../../query/row-budget.ts'
import type { Scope } from '../../query/scope.ts'
import type { Kind } from '../schema/kind.ts'
import type {
  ConnectionSource,
  EdgeSource,
  PageArguments,
  PageInfo,
  Row,
} from '../schema/read-context.ts'
import { gatewayError } from './gateway-error.ts'

export interface OwnedConnectionOptions {
  readonly cluster: string
  /** The owner's. */
  readonly uid: string
  /** Every kind that can be owned. */
  readonly parts: readonly { readonly kind: Kind; readonly view: StoreView }[]
  readonly scope: Scope
  readonly budget: RowBudget
  readonly maxPageSize: number
}

/** The objects of all kinds that one object owns, ordered by type name, namespace and name. */
export class OwnedConnection implements ConnectionSource {
  readonly #edges: readonly EdgeSource[]
  readonly #total: number
  readonly #end: boolean
  readonly #isFirst: boolean

  /** Throws `PageSizeError`, `CursorError` and `QueryTooCostlyError`. */
  constructor(options: OwnedConnectionOptions, { first, after }: PageArguments) {
    const { uid, cluster, maxPageSize } = options
    const size = first ?? Math.min(defaultPageSize, maxPageSize)
    if (size < 0 || size > maxPageSize) throw new PageSizeError('first', first, maxPageSize)
    const hash = listHash({ list: `${cluster}/owned/${uid}` })
    this.#isFirst = after === undefined || after === null
    const start = this.#isFirst ? undefined : decodeCursor(after ?? '', hash, 'after')
    const rows = options.parts.flatMap((part) => rowsOf(part, options))
    const rest = rows.filter(({ position }) => start === undefined || position > start)
    this.#total = rows.length
    this.#end = rest.length <= size
    this.#edges = rest
      .slice(0, size)
      .map(({ position, node }) => ({ cursor: encodeCursor(hash, position), node }))
  }

  rows(): readonly Row[] {
    return this.#edges.map(({ node }) => node)
  }

  edges(): readonly EdgeSource[] {
    return this.#edges
  }

  pageInfo(): PageInfo {
    return {
      hasNextPage: !this.#end,
      hasPreviousPage: !this.#isFirst,
      startCursor: this.#edges[0]?.cursor ?? null,
      endCursor: this.#edges.at(-1)?.cursor ?? null,
    }
  }

  totalCount(): number {
    return this.#total
  }

  resourceVersion(): string {
    throw gatewayError('UNSUPPORTED', 'objects of several kinds have no common resource version')
  }
}

function rowsOf(
  { kind, view }: { kind: Kind; view: StoreView },
  { cluster, uid, scope, budget }: OwnedConnectionOptions,
): { position: string; node: Row }[] {
  const list = { list: kind.typeName }
  const rows: { position: string; node: Row }[] = []
  let after: string | undefined
  do {
    const page = listPage({
      view,
      condition: hasValue('ownerUid', [uid]),
      scope,
      budget,
      identity: list,
      first: pageOfOwned,
      after,
      maxPageSize: pageOfOwned,
    })
    budget.spend(page.ids.length)
    for (const id of page.ids) {
      const position = `${kind.typeName}\0${view.keyOf(id).replace('/', '\0')}`
      rows.push({ position, node: { kind, cluster, object: view.object(id) } })
    }
    const last = page.ids.at(-1)
    after = page.hasNextPage && last !== undefined ? page.cursorOf(last) : undefined
  } while (after !== undefined)
  return rows
}

const pageOfOwned = 1000
