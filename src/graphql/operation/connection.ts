import type { StoreView } from '../../informer/store/store-view.ts'
import { allOf, type Condition, hasValue } from '../../query/condition/condition.ts'
import { compileListCondition, type ListArguments } from '../../query/condition/list-condition.ts'
import { listPage } from '../../query/page/page.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Scope } from '../../query/condition/scope.ts'
import { listUnionPage } from '../../query/page/union-page.ts'
import type { Kind } from '../model/kind.ts'
import type {
  ConnectionSource,
  EdgeSource,
  PageArguments,
  PageInfo,
  RelationArguments,
  Row,
} from '../schema/read-context.ts'
import { gatewayError } from './gateway-error.ts'

interface ConnectionOptions {
  readonly cluster: string
  /** Names the list, so that its cursors are good for no other. */
  readonly list: string
  readonly budget: WorkBudget
  readonly maxPageSize: number
}

/** One kind as a part of a connection. */
export interface ConnectionPart {
  readonly kind: Kind
  readonly view: StoreView
  readonly scope: Scope
}

export interface StoreConnectionOptions extends ConnectionOptions, ConnectionPart {
  /** What is asked for besides the arguments: a relation's condition. */
  readonly condition: Condition
}

/** Objects of one kind as a connection. Throws what the arguments are refused with. */
export function storeConnection(
  options: StoreConnectionOptions,
  args: RelationArguments,
): ConnectionSource {
  const { view, kind, cluster, scope, budget, maxPageSize } = options
  const { first, after } = args
  const filter = filterOf(args)
  const page = listPage({
    view,
    condition: allOf([options.condition, compileListCondition(filter, kind.indexes)]),
    scope,
    budget,
    identity: { list: options.list, ...filter },
    first,
    after,
    maxPageSize,
  })
  return new PageConnection(options, {
    ...page,
    entries: page.ids,
    cursorOf: (id) => page.cursorOf(id),
    rowOf: (id) => ({ kind, cluster, object: view.object(id) }),
    totalCount: () => page.totalCount(),
    resourceVersion: () => view.resourceVersion,
  })
}

/** The objects of all kinds that the owner with this UID has, as a connection. */
export function ownedConnection(
  options: ConnectionOptions & { readonly uid: string; readonly parts: readonly ConnectionPart[] },
  { first, after }: PageArguments,
): ConnectionSource {
  const { cluster, budget, maxPageSize, list } = options
  const condition = hasValue('ownerUid', [options.uid])
  const kinds = new Map(options.parts.map(({ kind }) => [kind.typeName, kind]))
  const parts = options.parts.map(({ kind, view, scope }) => ({
    type: kind.typeName,
    view,
    condition,
    scope,
  }))
  const page = listUnionPage({ parts, budget, identity: { list }, first, after, maxPageSize })
  return new PageConnection(options, {
    ...page,
    entries: page.rows,
    rowOf: ({ part, id }) => {
      const kind = kinds.get(part.type)
      if (kind === undefined) throw new TypeError(`${part.type} is not among the parts`)
      return { kind, cluster, object: part.view.object(id) }
    },
    resourceVersion() {
      throw gatewayError('UNSUPPORTED', 'objects of several kinds have no common resource version')
    },
  })
}

export function filterOf({
  namespace,
  namespaces,
  labelSelector,
  where,
}: RelationArguments): ListArguments {
  return {
    namespace: namespace ?? null,
    namespaces: namespaces ?? null,
    labelSelector: labelSelector ?? null,
    where: where ?? null,
  }
}

/** A page of whatever stands for an object in it. */
interface EntryPage<T> {
  readonly entries: readonly T[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  cursorOf(entry: T): string
  rowOf(entry: T): Row
  totalCount(): number
  resourceVersion(): string
}

/** A page as a connection; its parts are computed when they are asked for, within the tick that made it. */
class PageConnection<T> implements ConnectionSource {
  readonly #budget: WorkBudget
  readonly #page: EntryPage<T>
  #rows: readonly Row[] | undefined

  constructor({ budget }: { readonly budget: WorkBudget }, page: EntryPage<T>) {
    this.#budget = budget
    this.#page = page
  }

  rows(): readonly Row[] {
    if (this.#rows !== undefined) return this.#rows
    const { entries } = this.#page
    this.#budget.spend('rows', entries.length)
    return (this.#rows = entries.map((entry) => this.#page.rowOf(entry)))
  }

  edges(): readonly EdgeSource[] {
    const rows = this.rows()
    return this.#page.entries.flatMap((entry, position) => {
      const node = rows[position]
      return node === undefined ? [] : [{ cursor: this.#page.cursorOf(entry), node }]
    })
  }

  pageInfo(): PageInfo {
    const { entries, hasNextPage, hasPreviousPage } = this.#page
    const first = entries[0]
    const last = entries.at(-1)
    return {
      hasNextPage,
      hasPreviousPage,
      startCursor: first === undefined ? null : this.#page.cursorOf(first),
      endCursor: last === undefined ? null : this.#page.cursorOf(last),
    }
  }

  totalCount(): number {
    return this.#page.totalCount()
  }

  resourceVersion(): string {
    return this.#page.resourceVersion()
  }
}
