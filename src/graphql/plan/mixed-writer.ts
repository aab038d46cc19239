import type { FieldNode } from 'graphql'
import type { UnionRow } from '../../query/page/union-page.ts'
import { type MixedPage, mixedPage } from '../operation/mixed-page.ts'
import type { OwnedArguments } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { NotCoveredError } from './not-covered.ts'
import { pageInfoWriter, unionPageInfo } from './page-info-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Where the objects of a page are looked for, and why not everywhere. */
interface MixedPlaces extends Omit<Parameters<typeof mixedPage>[0], 'budget' | 'maxPageSize'> {
  readonly failures: readonly Error[]
}

/** Reads a page of objects of several kinds, and writes it. */
export type MixedWriter = (run: PlanRun, places: MixedPlaces, args: OwnedArguments) => string

type PageMember = (run: PlanRun, mixed: MixedPage) => string
type EdgeMember = (run: PlanRun, mixed: MixedPage, row: UnionRow) => string

const [connection, edge] = ['KubernetesObjectConnection', 'KubernetesObjectEdge']

/** Compiles what is written of pages of objects of several kinds. Throws {@link NotCoveredError}. */
export function mixedConnectionWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): MixedWriter {
  const members = membersOf<PageMember>(connection, nodes, compiler, pageMember)
  const { place } = compiler
  return (run, places, args) => {
    const { budget, limits } = run
    // It is told beside the answer.
    if (places.failures.length > 0) throw new NotCoveredError('a kind that cannot be read')
    const mixed = mixedPage({ ...places, budget, maxPageSize: limits.maxPageSize }, args)
    budget.spend('bytes', members.names)
    let text = '{'
    for (const { before, write } of members) {
      // The rows may have relations, which read for other places.
      budget.report?.at(place)
      text += before + write(run, mixed)
    }
    return `${text}}`
  }
}

function pageMember(nodes: readonly FieldNode[], compiler: PlanCompiler): PageMember {
  switch (nodes[0]?.name.value) {
    case 'nodes': {
      const write = rowWriter(nodes, compiler)
      return (run, mixed) => {
        run.budget.spend('rows', mixed.page.rows.length)
        return run.list(mixed.page.rows, (row) => write(run, mixed, row))
      }
    }
    case 'edges': {
      const members = membersOf<EdgeMember>(edge, nodes, compiler, edgeMember)
      return (run, mixed) => {
        run.budget.spend('rows', mixed.page.rows.length)
        return run.list(mixed.page.rows, (row) => {
          run.budget.spend('bytes', members.names)
          let text = '{'
          for (const { before, write } of members) text += before + write(run, mixed, row)
          return `${text}}`
        })
      }
    }
    case 'pageInfo': {
      const write = pageInfoWriter(nodes, compiler)
      return (_run, { page }) => write(unionPageInfo(page))
    }
    case 'totalCount':
      return (_run, { page }) => String(page.totalCount())
    case 'kinds':
      return (run, { kinds }) => run.paid(JSON.stringify(kinds))
    default:
      throw new NotCoveredError(`a field of ${connection}`)
  }
}

function edgeMember(nodes: readonly FieldNode[], compiler: PlanCompiler): EdgeMember {
  switch (nodes[0]?.name.value) {
    case 'cursor':
      return (_run, { page }, row) => JSON.stringify(page.cursorOf(row))
    case 'node':
      return rowWriter(nodes, compiler)
    default:
      throw new NotCoveredError(`a field of ${edge}`)
  }
}

function rowWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): EdgeMember {
  const write = anyRowWriter(selectionsOf(nodes), compiler)
  return (run, { partOf }, row) => write(run, partOf(row), row.id)
}

interface Member<W> {
  readonly before: string
  readonly write: W
}

/** `names`: how long what is written of their names is, and about what else is no row. */
type Members<W> = readonly Member<W | (() => string)>[] & { readonly names: number }

/** What a part of a page takes besides its name and its rows, about. */
const partLength = 50

function membersOf<W>(
  typeName: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  compile: (nodes: readonly FieldNode[], compiler: PlanCompiler) => W,
): Members<W> {
  const fields = collectFields(selectionsOf(nodes), new Set([typeName]), compiler.collect)
  const members = Array.from(fields, ([key, same], position) => ({
    before: `${position === 0 ? '' : ','}${JSON.stringify(key)}:`,
    write:
      same[0]?.name.value === '__typename'
        ? (): string => JSON.stringify(typeName)
        : compile(same, compiler),
  }))
  const names = members.reduce((sum, { before }) => sum + before.length, partLength)
  return Object.assign(members, { names })
}
