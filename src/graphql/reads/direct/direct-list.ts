import { objectKey } from '../../../kubernetes/object.ts'
import { everything } from '../../../query/condition/condition.ts'
import { CursorError, encodeCursor, listHash, positionIn } from '../../../query/page/cursor.ts'
import { type Page, pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { directFilterOf, filterOf, type ListFieldArguments } from '../list-arguments.ts'
import { type ListedPart, notOfDirectList, ReadPage } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'

/**
 * A page of the list of a kind without a cache, by the `limit` and `continue` of the API; `undefined` until it is read.
 * Throws `ArgumentError` or `ClientError` for arguments that such a list does not support.
 */
export function directPage(
  run: ReadRun,
  at: ClusterKind,
  args: ListFieldArguments,
): ReadPage | undefined {
  const filter = directFilterOf(args)
  if ('refused' in filter) {
    const { refused: argument } = filter
    const { cluster, kind } = at
    const message = `${argument}: ${kind.typeName} is read live, so it has no index for this argument`
    throw new ClientError('UNSUPPORTED', message, {
      argument,
      value: args[argument],
      cluster,
      type: kind.typeName,
      hint: 'use `namespace`, `labelSelector`, `first` and `after` only',
    })
  }
  const list = `${at.cluster}/live/${at.kind.listField}`
  const identity = { list, ...filterOf(run.served, at.kind, args).identity }
  const { after } = args
  const { size } = pageSizeOf(args, run.limits.maxPageSize)
  const hash = listHash(identity)
  const from = positionOf(after, hash)
  const request = {
    ...filter,
    continue: from.token === '' ? undefined : from.token,
    // The API reads 0 as no limit.
    limit: Math.max(1, from.skipped + size),
  }
  const read = run.direct.list(at, request, run.budget)
  if (read === undefined) return undefined
  const { budget } = run
  const { objects, isCut: isShort, continue: next, remainingItemCount } = read.list
  const part: ListedPart = { ...read.part, name: at.cluster, condition: everything }
  /** Whether the server sent more than the page, or more than was read. */
  const isCut = isShort || objects.length > from.skipped + size
  const rows = objects
    .slice(from.skipped, from.skipped + size)
    .flatMap(({ metadata }) => part.view.idOf(objectKey(metadata)) ?? [])
  if (budget.report !== undefined) budget.report.now.returned += rows.length
  const page: Page<ListedPart> = {
    parts: [part],
    rows,
    hasNextPage: isCut || next !== undefined,
    hasPreviousPage: (after ?? null) !== null,
    partAt: () => part,
    cursorAt(position) {
      const isLast = position === rows.length - 1
      const [key, skipped] =
        isLast && !isCut && next !== undefined
          ? [next, 0]
          : [from.token, from.skipped + position + 1]
      return encodeCursor(hash, { part: '', key, values: [String(skipped)] }, budget)
    },
    totalCount() {
      if (from.token === '' && !isShort) {
        if (next === undefined) return objects.length
        if (remainingItemCount !== undefined) return objects.length + remainingItemCount
      }
      throw notOfDirectList(part, 'totalCount', 'the API server does not count this list')
    },
    counts: withoutIndexes,
    spread: withoutIndexes,
    sums: withoutIndexes,
  }
  return new ReadPage({ kind: at.kind, page, identity, reads: [] })
}

function withoutIndexes(): never {
  throw new TypeError('a list that is read live has no indexes')
}

/** The start of a page: `skipped` objects after the start of a page of the server. */
interface DirectPosition {
  /** The server's `continue`; `''`: the start of the list. */
  readonly token: string
  readonly skipped: number
}

function positionOf(after: string | null | undefined, hash: string): DirectPosition {
  const position = positionIn(after, { hash, argument: 'after', terms: 1 })
  if (position === undefined) return { token: '', skipped: 0 }
  const skipped = Number(position.values[0])
  if (Number.isSafeInteger(skipped) && skipped >= 0 && skipped <= maxSkipped) {
    return { token: position.key, skipped }
  }
  throw new CursorError('after', String(after), 'malformed')
}

/** With a server that ignores `limit`, each page is read from the start of the list. */
const maxSkipped = 100_000
