import type { FieldNode } from 'graphql'
import type { UnionPage, UnionRow } from '../../query/page/union-page.ts'
import type { PageInfo } from '../schema/read-context.ts'
import { plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Compiles the `pageInfo` of a page of objects of several kinds. */
export function pageInfoWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): (run: PlanRun, pageInfo: PageInfo) => string {
  const names = ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'] as const
  return plainWriter<PageInfo>('PageInfo', nodes, compiler, valueMembers(names))
}

/** Where a page of objects of several kinds stands in its list. */
export function unionPageInfo(page: UnionPage): PageInfo {
  const { rows, hasNextPage, hasPreviousPage } = page
  const cursorOf = (row: UnionRow | undefined): string | null =>
    row === undefined ? null : page.cursorOf(row)
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: cursorOf(rows[0]),
    endCursor: cursorOf(rows.at(-1)),
  }
}
