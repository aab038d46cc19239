import type { FieldNode } from 'graphql'
import type { Kind, PolymorphicRelationField } from '../model/kind.ts'
import { OwnedRead, ownerOf } from '../reads/owned-read.ts'
import type { PolymorphicPage } from '../reads/polymorphic-page.ts'
import { PolymorphicRead } from '../reads/polymorphic-read.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { unionConnectionWriter } from './union-connection-writer.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `owned`. Throws {@link NotCoveredError}. */
export function ownedWriter(
  owner: Kind,
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const read = new OwnedRead(compiler.served, owner)
  compiler.asks({ args, needs: (values, cluster) => read.needs(values, cluster) })
  const write = pageWriter(nodes, compiler)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    return write(run, read.page(run, ownerOf({ part, id }), run.argumentsOf(args)))
  }
}

/** Compiles a relation to objects of several kinds. Throws {@link NotCoveredError}. */
export function polymorphicRelationWriter(
  from: Kind,
  field: PolymorphicRelationField,
  { args, nodes }: { readonly args: FieldArguments; readonly nodes: readonly FieldNode[] },
  compiler: PlanCompiler,
): RowWriter {
  const read = new PolymorphicRead(compiler.served, from, field)
  compiler.asks({ args, needs: (values) => read.needs(values) })
  const write = pageWriter(nodes, compiler)
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    return write(run, read.page(run, { part, id }, run.argumentsOf(args)))
  }
}

/** Compiles pages of objects of any kind. */
function pageWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): (run: PlanRun, page: PolymorphicPage) => string {
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
  return (run, page) => {
    run.errors.beside(page.failures, nodes)
    return write(run, page)
  }
}
