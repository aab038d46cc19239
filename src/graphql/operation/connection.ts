import type { StoreView } from '../../informer/store-view.ts'
import { compileListCondition } from '../../query/list-condition.ts'
import { allOf, type Condition } from '../../query/condition.ts'
import { listPage, type Page } from '../../query/page.ts'
import type { RowBudget } from '../../query/row-budget.ts'
import type { Scope } from '../../query/scope.ts'
import type { Kind } from '../schema/kind.ts'
import type {
  ConnectionSource,
  EdgeSource,
  PageInfo,
  RelationArguments,
  Row,
} from '../schema/read-context.ts'
import { asGatewayError } from './gateway-error.ts'

export interface StoreConnectionOptions {
  readonly kind: Kind
  readonly cluster: string
  readonly view: StoreView
  /** Names the list, so that its cursors are good for no other. */
  readonly list: string
  /** What is asked for besides the arguments: a relation's condition. */
  readonly condition: Condition
  readonly scope: Scope
  readonly budget: RowBudget
  readonly maxPageSize: number
}

/** A part of one store as a connection; computed when it is first asked for, within the tick that made it. */
export class StoreConnection implements ConnectionSource {
  readonly #options: StoreConnectionOptions
  readonly #page: Page
  #rows: readonly Row[] | undefined

  /** Throws what the arguments are refused with. */
  constructor(options: StoreConnectionOptions, args: RelationArguments) {
    const { namespace, namespaces, labelSelector, where, first, after } = args
    const filter = { namespace, namespaces, labelSelector, where }
    this.#options = options
    this.#page = listPage({
      view: options.view,
      condition: allOf([
        options.condition,
        compileListCondition(given(filter), options.kind.indexes),
      ]),
      scope: options.scope,
      budget: options.budget,
      identity: { list: options.list, ...given(filter) },
      first,
      after,
      maxPageSize: options.maxPageSize,
    })
  }

  rows(): readonly Row[] {
    if (this.#rows !== undefined) return this.#rows
    const { kind, cluster, view, budget } = this.#options
    const { ids } = this.#page
    try {
      budget.spend(ids.length)
    } catch (error) {
      throw asGatewayError(error)
    }
    return (this.#rows = ids.map((id) => ({ kind, cluster, object: view.object(id) })))
  }

  edges(): readonly EdgeSource[] {
    const rows = this.rows()
    return this.#page.ids.flatMap((id, position) => {
      const node = rows[position]
      return node === undefined ? [] : [{ cursor: this.#page.cursorOf(id), node }]
    })
  }

  pageInfo(): PageInfo {
    const { ids, hasNextPage, hasPreviousPage } = this.#page
    const [first] = ids
    const last = ids.at(-1)
    return {
      hasNextPage,
      hasPreviousPage,
      startCursor: first === undefined ? null : this.#page.cursorOf(first),
      endCursor: last === undefined ? null : this.#page.cursorOf(last),
    }
  }

  totalCount(): number {
    try {
      return this.#page.totalCount()
    } catch (error) {
      throw asGatewayError(error)
    }
  }

  resourceVersion(): string {
    return this.#options.view.resourceVersion
  }
}

/** Without the arguments that were not given, so that they neither count nor change a cursor. */
function given<T extends object>(args: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
