import { objectKey } from '../../../kubernetes/object.ts'
import { everything } from '../../../query/condition/condition.ts'
import { cursorError, type ListIdentity, listHash, positionIn } from '../../../query/page/cursor.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { directFilterOf, type ListFieldArguments } from '../list-arguments.ts'
import { type ListedPart, notOfDirectList } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'
import { notRead } from './direct-reads.ts'

/**
 * The list of a kind without a cache, as a part whose rows the API server orders and cuts to pages, by its `limit` and
 * `continue`. Until it is read, it has no rows. Throws `ArgumentError` or `ClientError` for arguments that such a list does not
 * support. `identity`: what its cursors are bound to.
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
  const from = positionOf(args.after, listHash(identity))
  const request = {
    ...filter,
    continue: from.token === '' ? undefined : from.token,
    // The API reads 0 as no limit.
    limit: Math.max(1, from.skipped + size),
  }
  const read = run.direct.list(at, request, budget) ?? notRead(at)
  const { objects, isCut: isShort, continue: next, remainingItemCount } = read.list
  /** Whether the server sent more than the page, or more than was read. */
  const isCut = isShort || objects.length > from.skipped + size
  const rows = objects
    .slice(from.skipped, from.skipped + size)
    .flatMap(({ metadata }) => read.part.view.idOf(objectKey(metadata)) ?? [])
  const part = { ...read.part, name: cluster, condition: everything }
  return {
    ...part,
    served: {
      rows,
      hasNextPage: isCut || next !== undefined,
      positionAt(position) {
        const isLast = position === rows.length - 1
        const [key, skipped] =
          isLast && !isCut && next !== undefined
            ? [next, 0]
            : [from.token, from.skipped + position + 1]
        return { part: '', key, values: [String(skipped)] }
      },
      totalCount() {
        if (from.token === '' && !isShort) {
          if (next === undefined) return objects.length
          if (remainingItemCount !== undefined) return objects.length + remainingItemCount
        }
        throw notOfDirectList(part, 'totalCount', 'the API server does not count this list')
      },
    },
  }
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
  throw cursorError('after', String(after), 'malformed')
}

/** With a server that ignores `limit`, each page is read from the start of the list. */
const maxSkipped = 100_000
