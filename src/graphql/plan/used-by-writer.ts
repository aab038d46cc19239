import type { FieldNode } from 'graphql'
import { type UsedByPage, usedByPage } from '../reads/used-by-read.ts'
import { everything } from '../../query/condition/condition.ts'
import type { Kind } from '../model/kind.ts'
import type { RelatedNeed } from '../reads/schema-relations.ts'
import type { UsedByArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { type PlainWriter, plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { unionConnectionWriter } from './union-connection-writer.ts'
import type { RowWriter } from './writers.ts'

type Values = Readonly<Record<string, unknown>>

/** Compiles `usedBy`. Throws `NotCoveredError`. */
export function usedByWriter(
  kind: Kind,
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RowWriter {
  const { relations, clusters } = compiler.served
  const needs = ({ kinds }: Values, cluster: string): readonly RelatedNeed[] =>
    relations.usesOf(kind).flatMap(({ user, needs: ofUser }) => {
      const isAsked = !Array.isArray(kinds) || kinds.includes(user.typeName)
      return isAsked && clusters.get(cluster)?.serves(user.resource) === true ? ofUser : []
    })
  compiler.asks({ args, needs })
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
  return (run, { cluster, view }, id) => {
    run.budget.report?.at(place)
    const { served, budget, limits } = run
    const asked = run.argumentsOf(args) as UsedByArguments
    if (run.followed !== undefined) {
      const reads = run.once(args, cluster, () =>
        needs({ ...asked }, cluster).map((need) => need.kind),
      )
      run.followed({ reads, condition: everything, isSaid: false })
    }
    const { maxPageSize } = limits
    const means = { served, parts: run, budget, maxPageSize }
    return write(run, usedByPage({ ...means, cluster, kind, view, id, args: asked }))
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
