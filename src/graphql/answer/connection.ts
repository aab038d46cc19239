import type { ReadPage } from '../reads/direct/direct-list.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { UnionRow } from '../../query/page/union-page.ts'
import type { FacetArguments } from '../schema/read-arguments.ts'
import type {
  ConnectionSource,
  GraphSource,
  EdgeSource,
  Facet,
  OwnedConnectionSource,
  PageInfo,
  Row,
  UsedByConnectionSource,
  UseSource,
} from '../schema/read-context.ts'
import { ClientError } from '../errors/client-error.ts'
import { facetsOf } from '../reads/facets-read.ts'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { ReadGraph } from '../reads/graph/graph-read.ts'
import { refOf } from '../reads/object-read.ts'
import type { PolymorphicPage } from '../reads/polymorphic-page.ts'
import type { UsedByPage } from '../reads/used-by-read.ts'
import { resumeTokenOf } from '../reads/list-read.ts'

/** A page of objects of one kind as a connection. */
export function storeConnection({ part, page }: ReadPage, budget: WorkBudget): ConnectionSource {
  const { view, kind, cluster } = part
  return new PageConnection(budget, {
    hasNextPage: page.hasNextPage,
    hasPreviousPage: page.hasPreviousPage,
    entries: page.ids,
    cursorOf: (id) => page.cursorOf(id),
    rowOf: (id) => ({ kind, cluster, object: view.object(id) }),
    totalCount: () => page.totalCount(),
    resourceVersion: () => view.resourceVersion,
    resumeToken: () => resumeTokenOf(part, page, budget),
    facets: (args) => facetsOf(page, part, args),
  })
}

/** A page of objects of several kinds as a connection. */
export function polymorphicConnection(
  { page, partOf, kinds, notLookedAt, failures }: PolymorphicPage,
  budget: WorkBudget,
): OwnedConnectionSource {
  const connection = new PageConnection(budget, {
    ...page,
    entries: page.rows,
    rowOf(row) {
      const { cluster, kind, view } = partOf(row)
      return { kind, cluster, object: view.object(row.id) }
    },
    resourceVersion: ofSeveralKinds,
    resumeToken: ofSeveralKinds,
    facets: ofSeveralKinds,
  })
  return Object.assign(connection, { kinds: () => kinds, notLookedAt, failures })
}

/** The objects that use one object, as a connection. */
export function usedByConnection(
  { page, kinds, useOf }: UsedByPage,
  budget: WorkBudget,
): UsedByConnectionSource {
  const connection = new PageConnection<UnionRow, UseSource>(budget, {
    ...page,
    entries: page.rows,
    rowOf: useOf,
    resourceVersion: ofSeveralKinds,
    resumeToken: ofSeveralKinds,
    facets: ofSeveralKinds,
  })
  return Object.assign(connection, { kinds: () => kinds })
}

function ofSeveralKinds(): never {
  throw new ClientError('UNSUPPORTED', 'objects of several kinds have no common index or position')
}

/** A page of entries, each of which stands for an object. */
interface EntryPage<T, R> {
  readonly entries: readonly T[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  cursorOf(entry: T): string
  rowOf(entry: T): R
  totalCount(): number
  resourceVersion(): string
  resumeToken(): string
  facets(args: FacetArguments): readonly Facet[]
}

/** A page as a connection. Its parts are computed on demand, within the tick that made it. */
class PageConnection<T, R = Row> implements ConnectionSource<R> {
  readonly #budget: WorkBudget
  readonly #page: EntryPage<T, R>
  #rows: readonly R[] | undefined

  constructor(budget: WorkBudget, page: EntryPage<T, R>) {
    this.#budget = budget
    this.#page = page
  }

  rows(): readonly R[] {
    if (this.#rows !== undefined) return this.#rows
    const { entries } = this.#page
    this.#budget.spend('rows', entries.length)
    return (this.#rows = entries.map((entry) => this.#page.rowOf(entry)))
  }

  edges(): readonly EdgeSource<R>[] {
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

  resumeToken(): string {
    return this.#page.resumeToken()
  }

  facets(args: FacetArguments): readonly Facet[] {
    return this.#page.facets(args)
  }
}

/** A graph as a source for the resolvers. */
export function graphSource(graph: ReadGraph): GraphSource {
  const { nodes, edges, isCut, kinds, notFollowed, failures } = graph
  const found = nodes.map((node) => ({ ref: refOf(node), depth: node.depth }))
  return {
    nodes: () => found,
    edges() {
      const ids = found.map(({ ref }) => idOfObjectRef(ref))
      const idOf = (position: number): string => ids[position] ?? ''
      return edges.map(({ from, to, relation }) => ({ from: idOf(from), to: idOf(to), relation }))
    },
    truncated: isCut,
    kinds,
    notFollowed,
    failures,
  }
}
