/*
 * The list of a kind without a cache. The API server orders it and cuts it to pages, by `limit` and `continue`. A cursor
 * of the gateway names a `continue` and a number of objects after it, so a page may end within a page of the server.
 */

import { objectKey } from '../../../kubernetes/object.ts'
import { everything } from '../../../query/condition/condition.ts'
import { cursorError, type ListIdentity, listHash, positionIn } from '../../../query/page/cursor.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { directFilterOf, type ListFieldArguments } from '../list-arguments.ts'
import { type ListedPart, notOfDirectList } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'

/**
 * The list as a part, without rows until it is read. Throws `ArgumentError` or `ClientError` for arguments that such a
 * list does not support. `identity`: the list that its cursors are bound to.
 */
export function directPart(
  run: ReadRun,
  at: ClusterKind,
  args: ListFieldArguments,
  identity: ListIdentity,
): ListedPart {
  const { cluster, kind } = at
  const { budget } = run
  const filter = directFilterOf(args)
  if ('refused' in filter) {
    const { refused: argument } = filter
    const message = `${argument}: ${kind.typeName} is read live, so it has no index for this argument`
    throw new ClientError('UNSUPPORTED', message, {
      argument,
      value: args[argument],
      cluster,
      type: kind.typeName,
      hint: 'use `namespace`, `labelSelector`, `first` and `after` only',
    })
  }
  const { size } = pageSizeOf(args, run.limits.maxPageSize)
  // A page begins `skipped` objects after a `continue` of the server, or after the start of the list (`''`).
  const context = { hash: listHash(identity), argument: 'after', terms: 1 }
  const { key: token, values } = positionIn(args.after, context) ?? { key: '', values: ['0'] }
  const skipped = Number(values[0])
  if (!Number.isSafeInteger(skipped) || skipped < 0 || skipped > maxSkipped) {
    throw cursorError('after', String(args.after), 'malformed')
  }
  const request = {
    ...filter,
    continue: token === '' ? undefined : token,
    // The API reads 0 as no limit.
    limit: Math.max(1, skipped + size),
  }
  const read = run.direct.list(at, request, budget)
  const { objects, isCut: isShort, continue: next, remainingItemCount } = read.list
  /** Whether the server sent more objects than the page, or its answer was cut short. */
  const isCut = isShort || objects.length > skipped + size
  const rows = objects
    .slice(skipped, skipped + size)
    .flatMap(({ metadata }) => read.part.view.idOf(objectKey(metadata)) ?? [])
  const part = { ...read.part, name: cluster, condition: everything }
  return {
    ...part,
    served: {
      rows,
      hasNextPage: isCut || next !== undefined,
      positionAt(position) {
        const isLast = position === rows.length - 1
        return isLast && !isCut && next !== undefined
          ? { part: '', key: next, values: ['0'] }
          : { part: '', key: token, values: [String(skipped + position + 1)] }
      },
      totalCount() {
        if (token === '' && !isShort) {
          if (next === undefined) return objects.length
          if (remainingItemCount !== undefined) return objects.length + remainingItemCount
        }
        throw notOfDirectList(part, 'totalCount', 'the API server does not count this list')
      },
    },
  }
}

/** If a server ignores `limit`, each page is read from the start of the list. */
const maxSkipped = 100_000
