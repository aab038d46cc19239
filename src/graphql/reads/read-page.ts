import type { ListIdentity } from '../../query/page/cursor.ts'
import type { ListPart } from '../../query/page/list-part.ts'
import type { Page } from '../../query/page/page.ts'
import type { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { ClusterGap } from '../schema/read-context.ts'
import { gapsOfParts, staleSince } from './places.ts'
import type { ReadRun } from './read-run.ts'

/** A kind in one cluster, as a part of a list. */
export type ListedPart = KindView & ListPart

/** One page of the list of a kind, in one cluster or several. Valid within the tick. */
export interface ReadPage {
  readonly kind: Kind
  readonly page: Page<ListedPart>
  /** Names the list and its filter in each cluster, so that cursors and tokens are valid for this list only. */
  readonly identity: ListIdentity
  /** Further kinds that decide which objects are on the page. */
  readonly reads: readonly Kind[]
  /** Whether the arguments ask for several clusters, even if these are one or none at the moment. */
  readonly isOver: boolean
  /** What could not be read, besides what is out of date of the parts. */
  readonly gaps: readonly ClusterGap[]
  /** The errors behind all gaps. */
  readonly failures: readonly ClientError[]
}

/** Since when the first of the caches that a page is read from may be out of date; `null` while all are in step. */
export function pageStaleSince({ served }: ReadRun, { page, reads }: ReadPage): string | null {
  const further = page.parts.flatMap(({ cluster }) => reads.map((kind) => ({ cluster, kind })))
  return staleSince(served, [...page.parts, ...further])
}

/** What is missing on a page, or out of date. */
export function pageGaps({ served }: ReadRun, { page, gaps }: ReadPage): readonly ClusterGap[] {
  return [...gaps, ...gapsOfParts(served, page.parts)]
}

/** The resource version of the list; `''` for one over several clusters, which has one in each. */
export function resourceVersionOf({ page, isOver }: ReadPage): string {
  return isOver ? '' : (page.parts[0]?.view.resourceVersion ?? '')
}
