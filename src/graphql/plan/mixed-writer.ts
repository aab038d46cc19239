import type { FieldNode } from 'graphql'
import { type MixedPage, mixedPage } from '../operation/mixed-page.ts'
import type { OwnedArguments } from '../schema/read-arguments.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { unionConnectionWriter } from './union-connection-writer.ts'

/** Where the objects of a page are looked for, and why not everywhere. */
interface MixedPlaces extends Omit<Parameters<typeof mixedPage>[0], 'budget' | 'maxPageSize'> {
  readonly failures: readonly Error[]
}

/** Reads a page of objects of several kinds, and writes it. */
export type MixedWriter = (run: PlanRun, places: MixedPlaces, args: OwnedArguments) => string

/** Compiles what is written of pages of objects, of whatever kind each of them is. Throws {@link NotCoveredError}. */
export function mixedConnectionWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): MixedWriter {
  const write = unionConnectionWriter<MixedPage>(
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
    return write(run, mixedPage({ ...places, budget, maxPageSize: limits.maxPageSize }, args))
  }
}
