import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { testsPerCursor } from '../../query/page/cursor.ts'
import type { Page } from '../../query/page/page.ts'
import type { Kind } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { resumeTokenOf } from '../reads/list-read.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import { selectionsOf } from './collected-fields.ts'
import { facetsWriter } from './facets-writer.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { pageInfoOf, pageInfoWriter } from './page-info-writer.ts'
import { writtenMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { leastLengthOf, type PlanRun } from './plan-run.ts'
import type { PageWriter, RowWriter } from './writers.ts'

/** Compiles the pages of lists of a kind. */
export function connectionWriter(
  kind: Kind,
  args: FieldArguments,
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): PageWriter {
  compiler.reads(kind)
  compiler.filters(kind, args)
  const type = compiler.connectionTypeOf(kind)
  const members = writtenMembers(type, selectionSets, compiler, (_name, nodes): PageWriter => {
    const write = partWriter(kind, type, nodes, compiler)
    return (run, part, page) => {
      // Relations in earlier rows may have moved the report to another place.
      run.budget.report?.at(place)
      return write(run, part, page)
    }
  })
  const { place } = compiler
  return (run, part, page) => run.object(members, part, page)
}

function partWriter(
  kind: Kind,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PageWriter {
  const name = nodes[0]?.name.value ?? ''
  const field = type.getFields()[name]
  const source = field === undefined ? undefined : fieldSourceOf(field)
  if (source?.form !== 'connection') throw new NotCoveredError(`${type.name}.${name}`)
  switch (source.part) {
    case 'nodes':
      return rowsWriter(compiler.row(kind, selectionsOf(nodes)))
    case 'edges':
      return edgesWriter(kind, nodes, compiler)
    case 'pageInfo': {
      const write = pageInfoWriter(nodes, compiler)
      return (run, _part, page) => write(run, pageInfoOf(page.ids, page))
    }
    case 'totalCount':
      return (_run, _part, page) => String(page.totalCount())
    case 'resourceVersion':
      return (_run, part) => JSON.stringify(part.view.resourceVersion)
    case 'resumeToken':
      return (run, part, page) => JSON.stringify(resumeTokenOf(part, page, run.budget))
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

type EdgeWriter = (run: PlanRun, part: KindView, page: Page, id: ObjectId) => string

function edgesWriter(kind: Kind, nodes: readonly FieldNode[], compiler: PlanCompiler): PageWriter {
  const edge = compiler.objectType(`${kind.typeName}Edge`)
  let cursors = 0
  const members = writtenMembers(edge, selectionsOf(nodes), compiler, (name, same): EdgeWriter => {
    switch (name) {
      case 'cursor':
        cursors += 1
        return (_run, _part, page, id) => JSON.stringify(page.cursorOf(id))
      case 'node': {
        const row = compiler.row(kind, selectionsOf(same))
        return (run, part, _page, id) => row(run, part, id)
      }
      default:
        throw new NotCoveredError(`${edge.name}.${name}`)
    }
  })
  const leastLength = leastLengthOf(members)
  return (run, part, page) => {
    run.budget.spend('rows', page.ids.length)
    run.budget.foresee('tests', testsPerCursor * cursors * page.ids.length)
    return run.list(page.ids, (id) => run.object(members, part, page, id), leastLength)
  }
}
