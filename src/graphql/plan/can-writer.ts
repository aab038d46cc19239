import type { FieldNode } from 'graphql'
import type { Viewer } from '../../access/viewer.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import { canAnywhere, canDo } from '../reads/permissions.ts'
import type { CanArguments, ObjectCanArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import { plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RootWriter, RowWriter } from './writers.ts'

/** Compiles `can` of an object. The server reviews the unknown permissions of all rows together, then runs again. */
export function canWriter(args: FieldArguments): RowWriter {
  return (run, part, id) => {
    const asked = run.argumentsOf(args) as unknown as ObjectCanArguments
    run.budget.spend('fields', 1)
    return String(canDo(run, part, splitObjectKey(part.view.keyOf(id)), asked) ?? null)
  }
}

/** Compiles `Query.can`. */
export function canAnywhereWriter(args: FieldArguments, compiler: PlanCompiler): RootWriter {
  return {
    args,
    needs: compiler.takeNeeds(),
    write(run) {
      const asked = run.argumentsOf(args) as unknown as CanArguments
      return String(canAnywhere(run.served, run, asked) ?? null)
    },
  }
}

/** Compiles `Query.viewer`. */
export function viewerWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  const members = valueMembers<Viewer>(['username', 'groups'])
  const write = plainWriter<Viewer>('Viewer', nodes, compiler, members)
  return {
    args,
    needs: compiler.takeNeeds(),
    write: (run) => (run.access === undefined ? 'null' : write(run, run.access.viewer)),
  }
}
