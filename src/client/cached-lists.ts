/**
 * {@link foldConnection} is a cached list as the frames of a subscription have left it: for stores that have no adapter
 * (`apollo.ts`, `urql.ts`, `relay.ts`). The rule is that of {@link listed}.
 */
import { listed } from './followed-list.ts'
import type { FrameFold, PageFold } from './frame-fold.ts'

/** A list in a client's cache. Select at least these fields, and `totalCount` if it is shown. */
export interface CachedList<T> {
  readonly nodes: readonly T[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount?: number
}

/** A {@link FrameFold}, of any copy of this package. */
type ObjectsOf<T> = Pick<FrameFold<T>, 'objects' | 'complete'>
/** A {@link PageFold}, of any copy of this package. */
type RowsOf<T> = Pick<PageFold<T>, 'rows' | 'synced' | 'totalCount'>

/**
 * A cached list as the frames of a subscription have left it.
 *
 * - By a {@link FrameFold}, of a subscription with the same filters: a list without a next page gets new rows at its end;
 *   a list that has been fetched in part only loses rows, so that `fetchMore` goes on where it was. Fold again after each
 *   page.
 * - By a {@link PageFold}, of a live page with the same arguments: the rows of the page, in its order. A live page has no
 *   cursors, so `endCursor` is null. Ask for a larger `first` instead of `fetchMore`.
 *
 * Returns the same list while the fold is not complete.
 */
export function foldConnection<T extends { readonly id: string }, List extends CachedList<T>>(
  list: List & CachedList<T>,
  fold: ObjectsOf<T> | RowsOf<T>,
): List {
  const isPage = 'rows' in fold
  if (!(isPage ? fold.synced : fold.complete)) return list
  const objects = isPage ? new Map(fold.rows.map((row) => [row.id, row])) : fold.objects
  const { keys, hasNextPage, totalCount } = listed(
    {
      keys: list.nodes.map(({ id }) => id),
      end: list.pageInfo.hasNextPage ? 'more' : 'whole',
      isJoined: false,
    },
    {
      keys: [...objects.keys()],
      isComplete: true,
      isOrdered: isPage,
      pageTotal: isPage ? (fold.totalCount ?? 0) : undefined,
    },
  )
  const nodes = keys.flatMap((id) => objects.get(id) ?? [])
  const pageInfo = { ...list.pageInfo, hasNextPage, ...(isPage ? { endCursor: null } : {}) }
  return { ...list, nodes, pageInfo, ...(list.totalCount === undefined ? {} : { totalCount }) }
}
