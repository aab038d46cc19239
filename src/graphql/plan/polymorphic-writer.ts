import type { FieldNode } from 'graphql'
import { type PolymorphicPage, polymorphicPage } from '../reads/polymorphic-page.ts'
import type { OwnedArguments } from '../schema/read-arguments.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { unionConnectionWriter } from './union-connection-writer.ts'

/** Where the objects of a page are looked for, and why not everywhere. */
interface PolymorphicPlaces extends Omit<
  Parameters<typeof polymorphicPage>[0],
  'budget' | 'maxPageSize'
> {
  readonly failures: readonly Error[]
}

/** Reads a page of objects of several kinds, and writes it. */
export type PolymorphicWriter = (
  run: PlanRun,
  places: PolymorphicPlaces,
  args: OwnedArguments,
) => string

/** Compiles what is written of pages of objects, of whatever kind each of them is. Throws {@link NotCoveredError}. */
export function polymorphicConnectionWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): PolymorphicWriter {
  const write = unionConnectionWriter<PolymorphicPage>(
    {
      connection: 'KubernetesObjectConnection',
      edge: 'KubernetesObjectEdge',
      row(same) {
        const writeRow = anyRowWriter(selectionsOf(same), compiler)
        return (run, { partOf }, row) => writeRow(run, partOf(row), row.id)
      },
    },
    nodes,
    compiler,
  )
  return (run, places, args) => {
    const { budget, limits } = run
    run.errors.beside(places.failures, nodes)
    return write(run, polymorphicPage({ ...places, budget, maxPageSize: limits.maxPageSize }, args))
  }
}
