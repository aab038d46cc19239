import type { FieldNode } from 'graphql'
import { type UsedByPage, usedByPage } from '../operation/used-by.ts'
import type { Kind } from '../model/kind.ts'
import type { UnionRow } from '../../query/page/union-page.ts'
import type { UsedByArguments } from '../schema/read-context.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { pageInfoWriter, unionPageInfo } from './page-info-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import type { RowWriter } from './writers.ts'

type PartWriter = (run: PlanRun, used: UsedByPage) => string
type UseWriter = (run: PlanRun, used: UsedByPage, row: UnionRow) => string

/** Compiles `usedBy`. Throws {@link NotCoveredError}. */
export function usedByWriter(
  kind: Kind,
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const { constant } = args
  const names = constant?.['kinds']
  for (const { user, needs } of compiler.served.relations.usesOf(kind)) {
    if (Array.isArray(names) && !names.includes(user.typeName)) continue
    for (const need of needs) compiler.reads(need.kind, need.indexes)
  }
  const members = membersOf<PartWriter>('UsedByConnection', nodes, compiler, (same) =>
    partWriter(same, compiler),
  )
  const { place } = compiler
  return (run, { cluster, view }, id) => {
    run.budget.report?.at(place)
    const { served, budget, limits } = run
    const asked = run.argumentsOf(args) as UsedByArguments
    const { maxPageSize } = limits
    const means = { served, parts: run, budget, maxPageSize }
    const used = usedByPage({ ...means, cluster, kind, view, id, args: asked })
    const texts = members.map(({ before, write }) => before + write(run, used))
    return `{${texts.join(',')}}`
  }
}

function partWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): PartWriter {
  switch (nodes[0]?.name.value) {
    case 'nodes': {
      const write = useWriter(nodes, compiler)
      return (run, used) => {
        run.budget.spend('rows', used.page.rows.length)
        return run.list(used.page.rows, (row) => write(run, used, row))
      }
    }
    case 'edges': {
      const members = membersOf<UseWriter>('UsedByEdge', nodes, compiler, (same) =>
        edgeWriter(same, compiler),
      )
      return (run, used) => {
        run.budget.spend('rows', used.page.rows.length)
        return run.list(used.page.rows, (row) => joined(members, run, used, row))
      }
    }
    case 'pageInfo': {
      const write = pageInfoWriter(nodes, compiler)
      return (_run, { page }) => write(unionPageInfo(page))
    }
    case 'totalCount':
      return (_run, { page }) => String(page.totalCount())
    case 'kinds':
      return (_run, { kinds }) => JSON.stringify(kinds)
    default:
      throw new NotCoveredError('a field of UsedByConnection')
  }
}

function edgeWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): UseWriter {
  switch (nodes[0]?.name.value) {
    case 'cursor':
      return (_run, { page }, row) => JSON.stringify(page.cursorOf(row))
    case 'node':
      return useWriter(nodes, compiler)
    default:
      throw new NotCoveredError('a field of UsedByEdge')
  }
}

function useWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): UseWriter {
  const members = membersOf<UseWriter>('UsedBy', nodes, compiler, (same): UseWriter => {
    switch (same[0]?.name.value) {
      case 'object': {
        const write = objectRefWriter(same, compiler)
        return (run, used, row) => write(run, used.useOf(row).object)
      }
      case 'paths':
        return (run, used, row) => {
          const text = JSON.stringify(used.useOf(row).paths())
          run.budget.spend('bytes', text.length)
          return text
        }
      default:
        throw new NotCoveredError('a field of UsedBy')
    }
  })
  return (run, used, row) => joined(members, run, used, row)
}

interface Member<W> {
  readonly before: string
  readonly write: W
}

/** The members of an object of a type, each with what is written ahead of it. */
function membersOf<W extends UseWriter | PartWriter>(
  typeName: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  compile: (nodes: readonly FieldNode[]) => W,
): readonly Member<W | PartWriter>[] {
  const fields = collectFields(selectionsOf(nodes), new Set([typeName]), compiler.collect)
  return Array.from(fields, ([key, same]) => ({
    before: `${JSON.stringify(key)}:`,
    write:
      same[0]?.name.value === '__typename'
        ? (): string => JSON.stringify(typeName)
        : compiler.within(key, () => compile(same)),
  }))
}

function joined(
  members: readonly Member<UseWriter>[],
  run: PlanRun,
  used: UsedByPage,
  row: UnionRow,
): string {
  return `{${members.map(({ before, write }) => before + write(run, used, row)).join(',')}}`
}
