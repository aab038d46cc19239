import {
  type FieldNode,
  GraphQLNonNull,
  type GraphQLObjectType,
  type SelectionSetNode,
} from 'graphql'
import { everything } from '../../query/condition/condition.ts'
import type { Page } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type { KindPart } from '../operation/kind-part.ts'
import { resumeTokenOf } from '../operation/connection.ts'
import { pageOf } from '../operation/list-request.ts'
import { whereKinds } from '../operation/where-kinds.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { facetsWriter } from './facets-writer.ts'
import type { FieldArguments } from './field-arguments.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import type { ConnectionWriter, PageWriter, RowWriter } from './writers.ts'

/** What a connection writes besides its names and its rows, about. */
const partLength = 100

/** Compiles what is written of the pages of lists of a kind. */
export function connectionWriter(
  kind: Kind,
  args: FieldArguments,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): ConnectionWriter {
  compiler.reads(kind)
  compiler.filters(kind, args)
  const type = compiler.connectionTypeOf(kind)
  const members: { readonly before: string; readonly write: PageWriter }[] = []
  for (const [key, nodes] of collectFields(selectionSets, new Set([type.name]), compiler.collect)) {
    const before = `${members.length === 0 ? '' : ','}${JSON.stringify(key)}:`
    const field = { key, type: fieldType(type, nodes[0]?.name.value ?? ''), nodes }
    members.push({ before, write: answered(field, partWriter(kind, type, nodes, compiler)) })
  }
  const names = members.reduce((sum, { before }) => sum + before.length, partLength)
  const { place } = compiler
  return (run, part, list) => {
    const { report } = run.budget
    report?.at(place)
    const { budget, related, limits } = run
    const means = { budget, maxPageSize: limits.maxPageSize, related }
    if (run.followed !== undefined) followFilter(run, kind, args)
    const page = pageOf(part, list, run.requestOf(args, kind), means)
    run.budget.spend('bytes', names)
    let text = '{'
    for (const { before, write } of members) {
      // The rows may have relations, which read for other places.
      report?.at(place)
      text += before + write(run, part, page)
    }
    return `${text}}`
  }
}

/** Tells of the objects that the filter of a list rests on. */
function followFilter(run: PlanRun, kind: Kind, args: FieldArguments): void {
  const reads = run.once(args, 'where', () =>
    whereKinds(run.served, kind, run.argumentsOf(args)['where']).map((need) => need.kind),
  )
  if (reads.length > 0) run.followed?.({ reads, condition: everything, isSaid: false })
}

function partWriter(
  kind: Kind,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageWriter {
  const name = nodes[0]?.name.value ?? ''
  if (name === '__typename') return constant(type.name)
  const field = type.getFields()[name]
  const source = field === undefined ? undefined : fieldSourceOf(field)
  if (source?.form !== 'connection') throw new NotCoveredError(`${type.name}.${name}`)
  switch (source.part) {
    case 'nodes':
      return rowsWriter(compiler.row(kind, selectionsOf(nodes)))
    case 'edges':
      return edgesWriter(kind, nodes, compiler)
    case 'pageInfo':
      return pageInfoWriter(nodes, compiler)
    case 'totalCount':
      return (_run, _part, page) => String(page.totalCount())
    case 'resourceVersion':
      return (_run, part) => JSON.stringify(part.view.resourceVersion)
    case 'resumeToken':
      return (_run, part, page) => JSON.stringify(resumeTokenOf(part, page))
    case 'facets':
      return facetsWriter(type, nodes, compiler)
    default:
      throw new NotCoveredError(`${type.name}.${name}`)
  }
}

function rowsWriter(write: RowWriter): PageWriter {
  return (run, part, { ids }) => {
    run.budget.spend('rows', ids.length)
    return run.list(ids, (id) => write(run, part, id))
  }
}

function edgesWriter(kind: Kind, nodes: readonly FieldNode[], compiler: PlanCompiler): PageWriter {
  const edge = `${kind.typeName}Edge`
  const members = [...collectFields(selectionsOf(nodes), new Set([edge]), compiler.collect)].map(
    ([key, same]) => {
      const before = `${JSON.stringify(key)}:`
      switch (same[0]?.name.value) {
        case '__typename':
          return { before, write: () => JSON.stringify(edge) }
        case 'cursor':
          return { before, write: cursorOf }
        case 'node': {
          const row = compiler.row(kind, selectionsOf(same))
          const node = (run: PlanRun, part: KindPart, id: number): string => row(run, part, id)
          const write = answered(
            { key, type: new GraphQLNonNull(compiler.typeOf(kind)), nodes: same },
            node,
          )
          return {
            before,
            write: (run: PlanRun, part: KindPart, _: Page, id: number) => write(run, part, id),
          }
        }
        default:
          throw new NotCoveredError(edge)
      }
    },
  )
  const names = members.reduce((sum, { before }) => sum + before.length, partLength)
  return (run, part, page) => {
    run.budget.spend('rows', page.ids.length)
    return run.list(page.ids, (id) => {
      run.budget.spend('bytes', names)
      const texts = members.map(({ before, write }) => before + write(run, part, page, id))
      return `{${texts.join(',')}}`
    })
  }
}

function cursorOf(_run: PlanRun, _part: KindPart, page: Page, id: number): string {
  return JSON.stringify(page.cursorOf(id))
}

function pageInfoWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): PageWriter {
  const members = [
    ...collectFields(selectionsOf(nodes), new Set(['PageInfo']), compiler.collect),
  ].map(([key, same]) => ({ before: `${JSON.stringify(key)}:`, name: same[0]?.name.value }))
  return (_run, _part, page) => {
    const texts = members.map(({ before, name }) => before + JSON.stringify(pageInfoOf(page, name)))
    return `{${texts.join(',')}}`
  }
}

function pageInfoOf(page: Page, name: string | undefined): unknown {
  const { ids } = page
  switch (name) {
    case '__typename':
      return 'PageInfo'
    case 'hasNextPage':
      return page.hasNextPage
    case 'hasPreviousPage':
      return page.hasPreviousPage
    case 'startCursor':
      return ids[0] === undefined ? null : page.cursorOf(ids[0])
    case 'endCursor': {
      const last = ids.at(-1)
      return last === undefined ? null : page.cursorOf(last)
    }
    default:
      throw new NotCoveredError(`PageInfo.${name}`)
  }
}

function constant(value: string): PageWriter {
  const text = JSON.stringify(value)
  return () => text
}
