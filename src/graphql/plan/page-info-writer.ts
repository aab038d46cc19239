import type { FieldNode } from 'graphql'
import type { PageInfo } from '../schema/read-context.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'

/** Compiles the `pageInfo` of a page. */
export function pageInfoWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PlainWriter<PageInfo> {
  const names = ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'] as const
  return plainWriter<PageInfo>('PageInfo', nodes, compiler, valueMembers(names))
}

/** The position of a page in its list. Reading a cursor creates it. */
export function pageInfoOf<T>(
  entries: readonly T[],
  page: Pick<PageInfo, 'hasNextPage' | 'hasPreviousPage'> & { cursorOf(entry: T): string },
): PageInfo {
  const { hasNextPage, hasPreviousPage } = page
  const cursorOf = (entry: T | undefined): string | null =>
    entry === undefined ? null : page.cursorOf(entry)
  return {
    hasNextPage,
    hasPreviousPage,
    get startCursor() {
      return cursorOf(entries[0])
    },
    get endCursor() {
      return cursorOf(entries.at(-1))
    },
  }
}
