/*
 * A connection over several gateways: lists of a kind or of several, search, problems, changes and differences. Each holder
 * reads the page that the client asks for, of its own clusters, with a cursor for each row. The rows are merged in the order
 * of the list (`row-order.ts`) and cut to the page, which ends where a holder may have more. Facts about the whole list are
 * merged by the name of their field (`merged-facts.ts`).
 *
 * A page that begins at an `offset` is found by the cursors of the skipped rows, which holders are asked for first. So are
 * rows that a holder cannot tell from those before a cursor, because the cursor has only the beginning of a long value.
 */

import {
  type FieldNode,
  getNamedType,
  type GraphQLFormattedError,
  type GraphQLObjectType,
  isObjectType,
  Kind as NodeKind,
  type ValueNode,
} from 'graphql'
import { isCutCursor } from '../../query/page/cursor.ts'
import { pageSizeOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import { factsOf, type ListFact } from './merged-facts.ts'
import {
  type AskParts,
  distinctErrors,
  failedOf,
  type FieldPart,
  inOrderOfClusters,
  listOf,
  type Merged,
  type MergedField,
  type MergeMeans,
  recordOf,
  select,
  selectAs,
} from './merged-field.ts'
import type { PageInfo } from '../schema/gateway-types.ts'
import type { Holder, RoutedField } from './routes.ts'
import type { OrderedRow, RowOrder } from './row-order.ts'

/** The most rows that an `offset` over several gateways skips: their cursors are read. */
const maxSkipped = 10_000

/** A row of a holder's page, and its position there. */
interface PageRow extends OrderedRow {
  readonly part: FieldPart
  readonly at: number
  readonly edge: Readonly<Record<string, unknown>>
}

/** Where the client selects the object of a row: within `nodes`, or within `edges` under a further key. */
interface RowPlace {
  readonly list: string
  readonly node?: string
}

export class MergedConnection implements MergedField {
  readonly #means: MergeMeans
  readonly #field: RoutedField
  readonly #order: RowOrder
  readonly #type: GraphQLObjectType
  /** The fields that the client selects, by response key. */
  readonly #selected: ReadonlyMap<string, readonly FieldNode[]>
  /** Where the objects of rows go, by the aliases under which they are asked for. */
  readonly #places = new Map<string, RowPlace>()
  readonly #facts = new Map<string, ListFact>()
  readonly #nodes: FieldNode[] = []
  readonly #key: Readonly<Record<'edges' | 'page' | 'cursor' | 'told', string>>
  /** The cursor behind which each holder begins, instead of the client's. */
  #begins: ReadonlyMap<Holder, string | undefined> | undefined

  constructor(means: MergeMeans, field: RoutedField, order: RowOrder) {
    this.#means = means
    this.#field = field
    this.#order = order
    const type = field.field && getNamedType(field.field.type)
    if (!isObjectType(type)) throw new TypeError(`${field.key} is no connection`)
    this.#type = type
    this.#selected = means.fieldsOf(field.nodes, type)
    const { prefix } = means
    this.#key = {
      edges: `${prefix}edges`,
      page: `${prefix}page`,
      cursor: `${prefix}cursor`,
      told: `${prefix}told`,
    }
    this.#nodes = this.#asked()
  }

  /** What holders are asked for. */
  #asked(): FieldNode[] {
    const { prefix } = this.#means
    const nodes: FieldNode[] = []
    const ofRow: FieldNode[] = []
    let hasRows = false
    const addObject = (place: RowPlace, selected: readonly FieldNode[]): void => {
      const alias = `${prefix}${this.#places.size}`
      this.#places.set(alias, place)
      const selections = selected.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
      ofRow.push(select('node', { alias, selections }))
    }
    for (const [key, selected] of this.#selected) {
      const name = selected[0]?.name.value ?? ''
      if (name === 'nodes') addObject({ list: key }, selected)
      if (name === 'edges') {
        for (const [inner, ofEdge] of this.#edgeFields(selected)) {
          if (ofEdge[0]?.name.value === 'node') addObject({ list: key, node: inner }, ofEdge)
        }
      }
      if (name === 'nodes' || name === 'edges' || name === 'pageInfo') hasRows = true
      else if (name !== '__typename') {
        const alias = `${prefix}f${this.#facts.size}`
        const fact = factsOf({ means: this.#means, field: this.#field, type: this.#type }, selected)
        this.#facts.set(key, { ...fact, alias })
        nodes.push(...fact.asked(alias))
      }
    }
    if (!hasRows) return nodes
    const needs = this.#order.needs
    if (needs) ofRow.push(select('node', { alias: this.#key.told, selections: needs }))
    ofRow.push(select('cursor', { alias: this.#key.cursor }))
    const page = ['hasNextPage', 'hasPreviousPage', 'endCursor'].map((name) => select(name))
    nodes.push(select('edges', { alias: this.#key.edges, selections: ofRow }))
    nodes.push(select('pageInfo', { alias: this.#key.page, selections: page }))
    return nodes
  }

  #edgeFields(selected: readonly FieldNode[]): Iterable<[string, readonly FieldNode[]]> {
    const type = getNamedType(this.#type.getFields()['edges']?.type)
    return isObjectType(type) ? this.#means.fieldsOf(selected, type) : []
  }

  asked(holder: Holder): readonly FieldNode[] {
    if (this.#begins === undefined) return [selectAs(this.#field, this.#nodes)]
    return [this.#askedBehind(holder, this.#begins.get(holder), this.#nodes)]
  }

  /** The field behind a cursor of a holder. */
  #askedBehind(
    holder: Holder,
    cursor: string | undefined,
    selections: readonly FieldNode[],
    replaced: Readonly<Record<string, ValueNode>> = {},
  ): FieldNode {
    const { key, holders } = this.#field
    const name = `after_${[...holders.keys()].indexOf(holder)}_${key}`
    const after = cursor === undefined ? undefined : this.#means.variable(name, 'String', cursor)
    return selectAs(this.#field, selections, { ...replaced, offset: undefined, after })
  }

  /** Finds where the holders begin, if neither the client's cursor nor their own order says it. */
  get prepare(): ((ask: AskParts) => Promise<void>) | undefined {
    const { offset, after, last, before } = this.#field.args
    const hasOther = (after ?? last ?? before ?? null) !== null
    if (typeof offset === 'number' && offset > 0 && !hasOther) {
      return async (ask) => await this.#skip(ask, undefined, offset)
    }
    const { isBefore } = this.#order
    if (typeof after !== 'string' || isBefore === undefined || !isCutCursor(after)) return undefined
    return async (ask) => await this.#skip(ask, after, (row) => isBefore(row, after))
  }

  /** Skips so many rows, or the rows that come before the page, in the order of the merged list. */
  async #skip(
    ask: AskParts,
    after: string | undefined,
    what: number | ((row: OrderedRow) => boolean),
  ): Promise<void> {
    const { maxPageSize } = this.#means.operation.limits
    if (typeof what === 'number' && what > maxSkipped) {
      const message = `offset: at most ${maxSkipped} rows are skipped over clusters of several gateways, and not ${what}`
      const hint = 'go on with `after`, which may begin anywhere, or name clusters of one gateway'
      throw new ClientError('UNSUPPORTED', message, { argument: 'offset', value: what, hint })
    }
    const size = typeof what === 'number' ? Math.min(what, maxPageSize) : maxPageSize
    const readers = Array.from(this.#field.holders.keys(), (holder) => ({
      holder,
      /** The last row that was skipped, and the last one that was read. */
      skipped: after,
      read: after,
      rows: [] as OrderedRow[],
      hasMore: true,
    }))
    const page = [
      select('edges', {
        alias: this.#key.edges,
        selections: [select('cursor', { alias: this.#key.cursor })],
      }),
      select('pageInfo', { alias: this.#key.page, selections: [select('hasNextPage')] }),
    ]
    const most = typeof what === 'number' ? what : Infinity
    for (let skipped = 0; skipped < most; skipped++) {
      const empty = readers.filter(({ rows, hasMore }) => rows.length === 0 && hasMore)
      if (empty.length > 0) {
        const parts = await ask((holder) => {
          const reader = empty.find((one) => one.holder === holder)
          if (reader === undefined) return undefined
          const first = { kind: NodeKind.INT, value: String(size) } as const
          return [this.#askedBehind(holder, reader.read, page, { first })]
        })
        for (const reader of empty) {
          const value = recordOf(parts.find(({ holder }) => holder === reader.holder)?.value)
          for (const edge of listOf(value[this.#key.edges])) {
            reader.rows.push({ cursor: String(recordOf(edge)[this.#key.cursor]), told: {} })
          }
          reader.read = reader.rows.at(-1)?.cursor ?? reader.read
          reader.hasMore =
            reader.rows.length > 0 && recordOf(value[this.#key.page])['hasNextPage'] === true
        }
      }
      const [next] = readers
        .filter(({ rows }) => rows.length > 0)
        .toSorted((a, b) => this.#order.compare(a.rows[0] as OrderedRow, b.rows[0] as OrderedRow))
      const row = next?.rows[0]
      if (next === undefined || row === undefined) break
      if (typeof what === 'function' && !what(row)) break
      next.rows.shift()
      next.skipped = row.cursor
    }
    this.#begins = new Map(readers.map(({ holder, skipped }) => [holder, skipped]))
  }

  async merged(parts: readonly FieldPart[], ask: AskParts): Promise<Merged> {
    const failed = failedOf(this.#field, parts)
    if (failed !== undefined) return failed
    const { rows, page } = this.#page(parts)
    this.#means.budget.spend('rows', rows.length)
    const values = await Promise.all(
      Array.from(this.#selected, async ([key, nodes]) => {
        return [key, await this.#value(key, nodes, { rows, page, parts, ask })] as const
      }),
    )
    return {
      value: Object.fromEntries(values),
      errors: inOrderOfClusters(
        distinctErrors(this.#errors(parts, rows, new Map(values))),
        this.#field.clusters ?? [],
      ),
    }
  }

  async #value(
    key: string,
    nodes: readonly FieldNode[],
    {
      rows,
      page,
      parts,
      ask,
    }: {
      readonly rows: readonly PageRow[]
      readonly page: PageInfo
      readonly parts: readonly FieldPart[]
      readonly ask: AskParts
    },
  ): Promise<unknown> {
    const name = nodes[0]?.name.value ?? ''
    const field = this.#type.getFields()[name]
    if (field === undefined) return this.#type.name
    const aliasOf = (list: string, node?: string): string =>
      [...this.#places].find(([, one]) => one.list === list && one.node === node)?.[0] ?? ''
    if (name === 'nodes') return rows.map(({ edge }) => edge[aliasOf(key)])
    if (name === 'edges') {
      const edge = getNamedType(field.type)
      const fields = [...this.#edgeFields(nodes)]
      return rows.map((row) =>
        Object.fromEntries(
          fields.map(([inner, [node]]) => {
            if (node?.name.value === 'cursor') return [inner, row.cursor]
            if (node?.name.value === 'node') return [inner, row.edge[aliasOf(key, inner)]]
            return [inner, edge.name]
          }),
        ),
      )
    }
    if (name === 'pageInfo') return this.#means.projected(field.type, nodes, page)
    const fact = this.#facts.get(key)
    if (fact === undefined) throw new TypeError(`nothing was asked about ${name}`)
    const told = parts.map(({ value }) => recordOf(value)[fact.alias])
    if (told.some((one) => one === null) && !fact.mayBeNull) return null
    const again: Parameters<ListFact['merged']>[1] = async (selections) => {
      const further = await ask((holder) =>
        parts.some((part) => part.holder === holder)
          ? [selectAs(this.#field, selections(fact.alias))]
          : undefined,
      )
      return further.map(({ value }) => recordOf(value)[fact.alias])
    }
    const clusters = parts.map(({ holder }) => this.#field.holders.get(holder) ?? [])
    const whole = await fact.merged(told, again, clusters)
    return this.#means.projected(field.type, nodes, whole)
  }

  /** The rows of the page, and where it stands in the list. */
  #page(parts: readonly FieldPart[]): {
    readonly rows: readonly PageRow[]
    readonly page: PageInfo
  } {
    const { args } = this.#field
    const { first, last } = args as {
      readonly first?: number | null
      readonly last?: number | null
    }
    const { size, backwards } = pageSizeOf(
      { first, last },
      this.#means.operation.limits.maxPageSize,
    )
    const { edges, page, cursor, told } = this.#key
    const pages = parts.map((part) => {
      const value = recordOf(part.value)
      const rows = listOf(value[edges]).map((one, at): PageRow => {
        const edge = recordOf(one)
        return { part, at, edge, cursor: String(edge[cursor]), told: recordOf(edge[told]) }
      })
      return { rows, info: recordOf(value[page]) }
    })
    const all = inMergedOrder(
      pages.map(({ rows }) => rows),
      this.#order,
    )
    const endsOf = (ones: typeof pages): readonly string[] =>
      ones
        .flatMap(({ info: { endCursor: end } }) => (typeof end === 'string' ? [end] : []))
        .toSorted((a, b) => this.#order.compareEnds(a, b))
    const has = (name: string): boolean => pages.some(({ info }) => info[name] === true)
    if (backwards) {
      const rows = size === 0 ? [] : all.slice(-size)
      const info = {
        hasNextPage: has('hasNextPage'),
        hasPreviousPage: has('hasPreviousPage') || all.length > size,
        startCursor: rows[0]?.cursor ?? null,
        endCursor: rows.at(-1)?.cursor ?? null,
      }
      return { rows, page: info }
    }
    // Behind its end, a holder may have rows that come before those of the others.
    const [bound] = endsOf(pages.filter(({ info }) => info['hasNextPage'] === true))
    const certain =
      bound === undefined ? all : all.filter((row) => this.#order.isWithin(row, bound))
    const rows = certain.slice(0, size)
    const [final, next] = [rows.at(-1), certain[size]]
    const end =
      final !== undefined && next !== undefined
        ? this.#order.endAt(final, next)
        : (bound ?? endsOf(pages).at(-1))
    const info = {
      hasNextPage: has('hasNextPage') || all.length > rows.length,
      hasPreviousPage: has('hasPreviousPage'),
      startCursor: rows[0]?.cursor ?? null,
      endCursor: size === 0 ? null : (end ?? null),
    }
    return { rows, page: info }
  }

  /** The errors of the parts, at the places of the merged answer. Those of rows on other pages are left out. */
  *#errors(
    parts: readonly FieldPart[],
    rows: readonly PageRow[],
    values: ReadonlyMap<string, unknown>,
  ): Iterable<GraphQLFormattedError> {
    const facts = new Map(Array.from(this.#facts, ([key, { alias }]) => [alias, key]))
    for (const part of parts) {
      const positions = new Map<unknown, number>()
      for (const [position, row] of rows.entries()) {
        if (row.part === part) positions.set(row.at, position)
      }
      for (const error of part.errors) {
        const [root, member, ...rest] = error.path ?? []
        const fact = facts.get(String(member))
        if (root === undefined || member === undefined) yield error
        else if (fact !== undefined) {
          if (values.get(fact) === null) yield { ...error, path: [root, fact, ...rest] }
        } else if (member === this.#key.edges) {
          const [at, alias, ...inner] = rest
          const [place, position] = [this.#places.get(String(alias)), positions.get(at)]
          if (place === undefined || position === undefined) continue
          const { list, node } = place
          yield {
            ...error,
            path: [root, list, position, ...(node === undefined ? [] : [node]), ...inner],
          }
        }
      }
    }
  }
}

/** The rows of all pages. Those of one page keep their order. */
function inMergedOrder(
  pages: readonly (readonly PageRow[])[],
  order: RowOrder,
): readonly PageRow[] {
  const heads = pages.map(() => 0)
  const rows: PageRow[] = []
  while (true) {
    let least: { readonly row: PageRow; readonly of: number } | undefined
    for (const [of, page] of pages.entries()) {
      const row = page[heads[of] ?? 0]
      if (row === undefined) continue
      if (least === undefined || order.compare(row, least.row) < 0) least = { row, of }
    }
    if (least === undefined) return rows
    rows.push(least.row)
    heads[least.of] = (heads[least.of] ?? 0) + 1
  }
}
