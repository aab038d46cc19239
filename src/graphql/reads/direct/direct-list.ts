import { objectKey } from '../../../kubernetes/object.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import { everything } from '../../../query/condition/condition.ts'
import type { WorkBudget } from '../../../query/condition/work-budget.ts'
import { CursorError, encodeCursor, listHash, positionIn } from '../../../query/page/cursor.ts'
import { type Page, pageSizeOf } from '../../../query/page/page.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { ListFieldArguments } from '../../schema/read-arguments.ts'
import { directFilterOf, filterOf } from '../list-arguments.ts'
import { type ListedPart, notOfDirectList, ReadPage } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'
import type { StoredList } from './direct-reads.ts'

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
  if ('refused' in filter) throw needsIndex(at, filter.refused, args[filter.refused])
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
  const page = new DirectPage({
    read,
    hash,
    from,
    size,
    isFirst: (after ?? null) === null,
    budget: run.budget,
  })
  const { report } = run.budget
  if (report !== undefined) report.now.returned += page.rows.length
  return new ReadPage({ kind: at.kind, page, identity, reads: [] })
}

function needsIndex({ kind, cluster }: ClusterKind, argument: string, value: unknown): ClientError {
  const message = `${argument}: ${kind.typeName} is read live, so it has no index for this argument`
  return new ClientError('UNSUPPORTED', message, {
    argument,
    value,
    cluster,
    type: kind.typeName,
    hint: 'use `namespace`, `labelSelector`, `first` and `after` only',
  })
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

interface DirectPageOptions {
  readonly read: StoredList
  /** The hash that binds its cursors to the list. */
  readonly hash: string
  readonly from: DirectPosition
  readonly size: number
  /** Whether the page starts the list. */
  readonly isFirst: boolean
  readonly budget: WorkBudget
}

/** A page of a list from the API server. */
class DirectPage implements Page<ListedPart> {
  readonly parts: readonly ListedPart[]
  readonly rows: readonly ObjectId[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly #options: DirectPageOptions
  /** Whether the server sent more than the page, or more than was read. */
  readonly #isCut: boolean

  constructor(options: DirectPageOptions) {
    const { read, from, size, isFirst } = options
    const { objects, isCut, continue: next } = read.list
    const { view } = read.part
    this.#options = options
    this.parts = [{ ...read.part, name: read.part.cluster, condition: everything }]
    this.#isCut = isCut || objects.length > from.skipped + size
    this.rows = objects
      .slice(from.skipped, from.skipped + size)
      .flatMap(({ metadata }) => view.idOf(objectKey(metadata)) ?? [])
    this.hasNextPage = this.#isCut || next !== undefined
    this.hasPreviousPage = !isFirst
  }

  partAt(): ListedPart {
    const [part] = this.parts
    if (part === undefined) throw new TypeError('a list that is read live has a part')
    return part
  }

  cursorAt(position: number): string {
    const { from, hash, read, budget } = this.#options
    const { continue: next } = read.list
    const isLast = position === this.rows.length - 1
    const [key, skipped] =
      isLast && !this.#isCut && next !== undefined
        ? [next, 0]
        : [from.token, from.skipped + position + 1]
    return encodeCursor(hash, { part: '', key, values: [String(skipped)] }, budget)
  }

  totalCount(): number {
    const { from, read } = this.#options
    const { objects, isCut, continue: next, remainingItemCount } = read.list
    if (from.token === '' && !isCut) {
      if (next === undefined) return objects.length
      if (remainingItemCount !== undefined) return objects.length + remainingItemCount
    }
    throw notOfDirectList(read.part, 'totalCount', 'the API server does not count this list')
  }

  counts(): never {
    throw withoutIndexes()
  }

  spread(): never {
    throw withoutIndexes()
  }

  sums(): never {
    throw withoutIndexes()
  }
}

function withoutIndexes(): TypeError {
  return new TypeError('a list that is read live has no indexes')
}
