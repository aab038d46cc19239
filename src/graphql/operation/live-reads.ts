import type { DirectList } from '../../cache/direct-api.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { compileLabelSelector } from '../../query/condition/list-condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { CursorError, listHash } from '../../query/page/cursor.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import type { ListFieldArguments, LookupArguments } from '../schema/read-arguments.ts'
import type {
  ConnectionSource,
  EdgeSource,
  PageInfo,
  Row,
  SecretContents,
} from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import type { ClusterKind } from './kind-view.ts'
import type { LiveLoader } from './live-loader.ts'
import { noSecretInFrames } from './secret-loader.ts'
import { forbiddenList, type ViewerAccess } from './viewer-access.ts'

export interface LiveReadsOptions {
  readonly loader: LiveLoader
  readonly budget: WorkBudget
  readonly maxPageSize: number
  /** What the viewer may see; absent: everything. */
  readonly access: ViewerAccess | undefined
}

/** Reads kinds without a cache, and objects that are asked for live, straight from the API server. */
export class LiveReads {
  readonly #options: LiveReadsOptions

  constructor(options: LiveReadsOptions) {
    this.#options = options
  }

  async lookup(at: ClusterKind, { namespace, name }: LookupArguments): Promise<Row | null> {
    const { loader, budget, access } = this.#options
    const reads = budget.report?.reachedLive()
    const place = namespace === undefined ? { name } : { namespace, name }
    if ((await access?.mayLook(at, objectKey(place))) === false) return null
    const object = await loader.object(at, place)
    if (object === undefined) return null
    budget.spend('rows', 1)
    if (reads !== undefined) reads.returned += 1
    return { ...at, object }
  }

  /** What a Secret holds, as whoever asks is told it; `null` where it is gone. Throws in frames. */
  async secret(row: Row): Promise<SecretContents | null> {
    const { loader, budget } = this.#options
    if (loader.secrets === undefined) throw noSecretInFrames(row)
    const reads = budget.report?.reachedLive()
    budget.spend('examined', 1)
    const contents = await loader.secrets.contents(row)
    if (reads !== undefined && contents !== null) reads.returned += 1
    return contents
  }

  /** A page of a list, by the API's own `limit` and `continue`. Throws what the caller has to mend. */
  async list(at: ClusterKind, args: ListFieldArguments): Promise<ConnectionSource> {
    const { loader, budget, maxPageSize, access } = this.#options
    for (const argument of needingIndex) {
      const value = args[argument]
      if (value !== undefined && value !== null) throw needsIndex(at, argument, value)
    }
    compileLabelSelector(args.labelSelector)
    const { size } = pageSizeOf(args, maxPageSize)
    const { namespace, labelSelector } = args
    const place = `${at.cluster}/live/${at.kind.listField}`
    const hash = listHash({
      list: place,
      namespace: namespace ?? null,
      labelSelector: labelSelector ?? null,
    })
    const from = positionOf(args.after, hash)
    // The gateway reads with its own account, which may see more.
    if ((await access?.mayList(at, namespace ?? '')) === false) throw forbiddenList(at, false)
    const reads = budget.report?.reachedLive()
    const list = await loader.list(at, {
      namespace: namespace ?? undefined,
      labelSelector: labelSelector ?? undefined,
      continue: from.token === '' ? undefined : from.token,
      // The API takes 0 for no limit.
      limit: Math.max(1, from.skipped + size),
    })
    const connection = new LiveConnection({ at, args, hash, from, list, size })
    budget.spend('rows', connection.rows().length)
    if (reads !== undefined) reads.returned += connection.rows().length
    return connection
  }
}

const needingIndex = ['where', 'orderBy', 'ids', 'namespaces', 'last', 'before'] as const

function needsIndex({ kind, cluster }: ClusterKind, argument: string, value: unknown): ClientError {
  const message = `${argument}: ${kind.typeName} is read live, without the index that this needs`
  return new ClientError('UNSUPPORTED', message, {
    argument,
    value,
    cluster,
    kind: kind.typeName,
    hint: 'use namespace, labelSelector, first and after',
  })
}

/** Where a page begins: so many objects behind the beginning of the server's own page. */
interface LivePosition {
  /** The server's `continue`; `''`: the beginning of the list. */
  readonly token: string
  readonly skipped: number
}

const cursorVersion = 'live1'

function cursorOf({ token, skipped }: LivePosition, hash: string): string {
  return Buffer.from(JSON.stringify([cursorVersion, hash, token, skipped])).toString('base64url')
}

function positionOf(after: string | null | undefined, hash: string): LivePosition {
  if (after === undefined || after === null) return { token: '', skipped: 0 }
  const [version, of, token, skipped] = parsed(after)
  const isCursor =
    version === cursorVersion &&
    typeof token === 'string' &&
    typeof skipped === 'number' &&
    Number.isSafeInteger(skipped) &&
    skipped >= 0 &&
    skipped <= maxSkipped
  if (!isCursor) throw new CursorError('after', after, 'malformed')
  if (of !== hash) throw new CursorError('after', after, 'otherQuery')
  return { token, skipped }
}

/** Of servers that know no `limit`, each page is read from the beginning. */
const maxSkipped = 100_000

function parsed(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

interface LivePage {
  readonly at: ClusterKind
  readonly args: ListFieldArguments
  /** What its cursors are bound to. */
  readonly hash: string
  readonly from: LivePosition
  readonly list: DirectList
  readonly size: number
}

class LiveConnection implements ConnectionSource {
  readonly #page: LivePage
  readonly #rows: readonly Row[]

  constructor(page: LivePage) {
    const { at, from, list, size } = page
    this.#page = page
    this.#rows = list.objects
      .slice(from.skipped, from.skipped + size)
      .map((object) => ({ ...at, object }))
  }

  rows(): readonly Row[] {
    return this.#rows
  }

  edges(): readonly EdgeSource[] {
    return this.#rows.map((node, position) => ({ node, cursor: this.#cursorBehind(position) }))
  }

  pageInfo(): PageInfo {
    const { args } = this.#page
    const { length } = this.#rows
    return {
      hasNextPage: this.#isCut || this.#next !== undefined,
      hasPreviousPage: args.after !== undefined && args.after !== null,
      startCursor: length === 0 ? null : this.#cursorBehind(0),
      endCursor: length === 0 ? null : this.#cursorBehind(length - 1),
    }
  }

  totalCount(): number {
    const { from, list } = this.#page
    const isFromStart = from.token === ''
    const { remainingItemCount } = list
    if (isFromStart && !list.isCut) {
      if (list.continue === undefined) return list.objects.length
      if (remainingItemCount !== undefined) return list.objects.length + remainingItemCount
    }
    throw this.#unsupported('totalCount', 'the API server does not count such a list')
  }

  resourceVersion(): string {
    return this.#page.list.resourceVersion
  }

  resumeToken(): never {
    throw this.#unsupported('resumeToken', 'there are no subscriptions to it')
  }

  facets(): never {
    throw this.#unsupported('facets', 'there are no indexes to count by')
  }

  /** Whether the server has sent more than the page, or more than was read. */
  get #isCut(): boolean {
    const { from, list, size } = this.#page
    return list.isCut || list.objects.length > from.skipped + size
  }

  get #next(): string | undefined {
    return this.#page.list.continue
  }

  #cursorBehind(position: number): string {
    const { from, hash } = this.#page
    const isLast = position === this.#rows.length - 1
    if (isLast && !this.#isCut && this.#next !== undefined) {
      return cursorOf({ token: this.#next, skipped: 0 }, hash)
    }
    return cursorOf({ token: from.token, skipped: from.skipped + position + 1 }, hash)
  }

  #unsupported(field: string, why: string): ClientError {
    const { cluster, kind } = this.#page.at
    const message = `${field}: ${kind.typeName} is read live: ${why}`
    return new ClientError('UNSUPPORTED', message, {
      argument: field,
      cluster,
      kind: kind.typeName,
      hint: 'leave the field out',
    })
  }
}
