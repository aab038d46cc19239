import type { FieldNode } from 'graphql'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import { referenced } from '../reads/object-read.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { writtenMembers } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes an `ObjectRef`. */
export type ObjectRefWriter = (run: PlanRun, ref: ObjectRef) => string

const typeName = 'ObjectRef'

/** Compiles an `ObjectRef`. Throws {@link NotCoveredError}. */
export function objectRefWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): ObjectRefWriter {
  const type = compiler.objectType(typeName)
  const members = writtenMembers(type, selectionsOf(nodes), compiler, (name, same, key) =>
    compiler.within(key, () => memberWriter(name, same, compiler)),
  )
  return (run, ref) => {
    run.budget.spend('fields', members.length)
    return run.object(members, ref)
  }
}

function memberWriter(
  name: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): ObjectRefWriter {
  switch (name) {
    case 'id':
      return (_run, ref) => JSON.stringify(idOfObjectRef(ref))
    case 'apiVersion':
    case 'kind':
    case 'namespace':
    case 'name':
      return (_run, ref) => JSON.stringify(ref[name])
    case 'object': {
      const write = anyRowWriter(selectionsOf(nodes), compiler)
      const { place } = compiler
      return (run, ref) => {
        run.budget.report?.at(place)
        const found = referenced(run, ref)
        if (found === undefined) return 'null'
        run.budget.spend('rows', 1)
        return write(run, found.part, found.id)
      }
    }
    default:
      throw new NotCoveredError(`${typeName}.${name}`)
  }
}
