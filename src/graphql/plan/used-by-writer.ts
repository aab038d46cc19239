import type { FieldNode } from 'graphql'
import { type UsedByPage, UsedByRead } from '../reads/used-by-read.ts'
import type { Kind } from '../model/kind.ts'
import type { FieldArguments } from './field-arguments.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { type PlainWriter, plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { unionConnectionWriter } from './union-connection-writer.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `usedBy`. Throws `NotCoveredError`. */
export function usedByWriter(
  kind: Kind,
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const read = new UsedByRead(compiler.served, kind)
  compiler.asks({ args, needs: (values, cluster) => read.needs(values, cluster) })
  const write = unionConnectionWriter<UsedByPage>(
    {
      connection: 'UsedByConnection',
      edge: 'UsedByEdge',
      row(same) {
        const writeUse = useWriter(same, compiler)
        return (run, used, row) => writeUse(run, used.useOf(row))
      },
    },
    nodes,
    compiler,
  )
  const { place } = compiler
  return (run, part, id) => {
    run.budget.report?.at(place)
    return write(run, read.page(run, { part, id }, run.argumentsOf(args)))
  }
}

type Use = ReturnType<UsedByPage['useOf']>

function useWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): PlainWriter<Use> {
  return plainWriter<Use>('UsedBy', nodes, compiler, (name, same) => {
    switch (name) {
      case 'object': {
        const write = objectRefWriter(same, compiler)
        return (run, use) => write(run, use.object)
      }
      case 'paths':
        return (_run, use) => JSON.stringify(use.paths())
      default:
        return undefined
    }
  })
}
