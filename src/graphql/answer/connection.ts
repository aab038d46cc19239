import type { ObjectId } from '../../informer/store/store-view.ts'
import type { Page, PageOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import { facetsOf, pageInfoOf, paidRows, resumeTokenOf, sumsOf } from '../reads/connection-read.ts'
import { countsByType } from '../reads/over-kinds/any-kinds-list.ts'
import type { KindsPage } from '../reads/over-kinds/kinds-page.ts'
import {
  type ListedPart,
  pageGaps,
  pageStaleSince,
  type ReadPage,
  resourceVersionOf,
} from '../reads/read-page.ts'
import type { ReadGraph } from '../reads/graph/graph-read.ts'
import { refOf } from '../reads/object-read.ts'
import type { PlacesRead } from '../reads/places.ts'
import type { ReadRun } from '../reads/read-run.ts'
import type { ProblemsRead } from '../reads/over-kinds/problems-read.ts'
import type { SearchRead } from '../reads/over-kinds/search-read.ts'
import type { UsedByPage } from '../reads/over-kinds/used-by-read.ts'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { FacetArguments, SumArguments } from '../schema/read-arguments.ts'
import type {
  ClusterGap,
  ConnectionSource,
  EdgeSource,
  Facet,
  GraphSource,
  IndexSum,
  OwnedConnectionSource,
  PageInfo,
  ProblemsSource,
  Row,
  SearchSource,
  TypeCount,
  UsedByConnectionSource,
  UseSource,
} from '../schema/read-context.ts'

/** A page, and what is missing on it. */
interface ConnectionRead<R> extends Pick<PlacesRead<unknown>, 'staleSince' | 'incomplete'> {
  readonly page: PageOf<R>
}

/** A page as a connection. Its parts are computed on demand, within the tick that read it. */
class PageConnection<R, T> implements ConnectionSource<T> {
  protected readonly run: ReadRun
  readonly #page: PageOf<R>
  readonly #sourceOf: (row: R, at: number) => T
  readonly #of: ConnectionRead<R>
  #sources: readonly T[] | undefined

  constructor(run: ReadRun, of: ConnectionRead<R>, sourceOf: (row: R, at: number) => T) {
    this.run = run
    this.#of = of
    this.#page = of.page
    this.#sourceOf = sourceOf
  }

  nodes(): readonly T[] {
    return (this.#sources ??= paidRows(this.run.budget, this.#page).map(this.#sourceOf))
  }

  edges(): readonly EdgeSource<T>[] {
    const rows = this.nodes()
    return rows.map((node, at) => ({ cursor: this.#page.cursorAt(at), node }))
  }

  pageInfo(): PageInfo {
    return pageInfoOf(this.#page)
  }

  totalCount(): number {
    return this.#page.totalCount()
  }

  staleSince(): string | null {
    return this.#of.staleSince()
  }

  incomplete(): readonly ClusterGap[] {
    return this.#of.incomplete()
  }

  type(): string {
    throw ofSeveralKinds()
  }

  resourceVersion(): string {
    throw ofSeveralKinds()
  }

  resumeToken(): string {
    throw ofSeveralKinds()
  }

  facets(_args: FacetArguments): readonly Facet[] {
    throw ofSeveralKinds()
  }

  sum(_args: SumArguments): readonly IndexSum[] {
    throw ofSeveralKinds()
  }
}

function ofSeveralKinds(): ClientError {
  const message = 'objects of several kinds have no common index or position'
  return new ClientError('UNSUPPORTED', message)
}

/** A page of the list of a kind as a connection. */
export class ListConnection extends PageConnection<ObjectId, Row> {
  readonly #read: ReadPage

  constructor(run: ReadRun, read: ReadPage) {
    const { page } = read
    const staleSince = (): string | null => pageStaleSince(run, read)
    super(run, { page, staleSince, incomplete: () => pageGaps(run, read) }, rowsOf(page))
    this.#read = read
  }

  get failures(): readonly Error[] {
    return this.#read.failures
  }

  override type(): string {
    return this.#read.kind.typeName
  }

  override resourceVersion(): string {
    return resourceVersionOf(this.#read)
  }

  override resumeToken(): string {
    return resumeTokenOf(this.run, this.#read)
  }

  override facets(args: FacetArguments): readonly Facet[] {
    return facetsOf(this.run, this.#read, args)
  }

  override sum(args: SumArguments): readonly IndexSum[] {
    return sumsOf(this.run, this.#read, args)
  }
}

function rowsOf(page: Page<ListedPart>): (id: ObjectId, at: number) => Row {
  return (id, at) => {
    const { kind, cluster, view } = page.partAt(at)
    return { kind, cluster, object: view.object(id) }
  }
}

/** A page of objects of several kinds as a connection. */
export function polymorphicConnection(run: ReadRun, read: KindsPage): OwnedConnectionSource {
  const { types, notLookedAt, failures } = read
  const connection = new PageConnection(run, read, rowsOf(read.page))
  const counts = (): readonly TypeCount[] => countsByType(read)
  return Object.assign(connection, { ...lookedAtOf(types, notLookedAt), counts, failures })
}

function lookedAtOf(types: readonly string[], notLookedAt: () => readonly string[]) {
  return { types: () => types, notLookedAt, complete: () => notLookedAt().length === 0 }
}

/** The objects that use one object, as a connection. */
export function usedByConnection(run: ReadRun, read: UsedByPage): UsedByConnectionSource {
  const { types, notLookedAt, useOf } = read
  const row = (id: ObjectId, at: number): UseSource => useOf({ part: read.page.partAt(at), id })
  return Object.assign(new PageConnection(run, read, row), lookedAtOf(types, notLookedAt))
}

/** The results of a search as a connection. */
export function searchConnection(run: ReadRun, read: SearchRead): SearchSource {
  const { types, notLookedAt, resultOf, counts, failures } = read
  const connection = new PageConnection(run, read, resultOf)
  return Object.assign(connection, { ...lookedAtOf(types, notLookedAt), counts, failures })
}

/** A page of problems as a connection. */
export function problemsConnection(run: ReadRun, read: ProblemsRead): ProblemsSource {
  const { lookedAt, notLookedAt, problemOf, counts, failures } = read
  const connection = new PageConnection(run, read, problemOf)
  const of = { ...lookedAtOf(lookedAt, notLookedAt), lookedAt: () => lookedAt }
  return Object.assign(connection, { ...of, counts, failures })
}

/** A graph as a source for the resolvers. */
export function graphSource(graph: ReadGraph): GraphSource {
  const { nodes, edges, isCut, types, notFollowed, notLookedAt, failures } = graph
  const found = nodes.map((node) => ({ ref: refOf(node), depth: node.depth }))
  return {
    nodes: () => found,
    edges() {
      const ids = found.map(({ ref }) => idOfObjectRef(ref))
      const idOf = (position: number): string => ids[position] ?? ''
      return edges.map(({ from, to, relation }) => ({ from: idOf(from), to: idOf(to), relation }))
    },
    truncated: isCut,
    types,
    notFollowed,
    notLookedAt,
    complete: () => notLookedAt().length === 0,
    failures,
  }
}
