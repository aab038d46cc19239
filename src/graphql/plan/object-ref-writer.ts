import type { FieldNode } from 'graphql'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { ObjectRef } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { referenced } from '../operation/object-read.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes an `ObjectRef`. */
export type ObjectRefWriter = (run: PlanRun, ref: ObjectRef) => string

const typeName = 'ObjectRef'

/** Compiles what is written of an `ObjectRef`. Throws {@link NotCoveredError}. */
export function objectRefWriter(
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): ObjectRefWriter {
  const type = compiler.objectType(typeName)
  const members = Array.from(
    collectFields(selectionsOf(nodes), new Set([typeName]), compiler.collect),
    ([key, same]) => {
      const write = compiler.within(key, () => memberWriter(same, compiler))
      const field = { key, type: fieldType(type, same[0]?.name.value ?? ''), nodes: same }
      return { before: `${JSON.stringify(key)}:`, write: answered(field, write) }
    },
  )
  return (run, ref) => {
    run.budget.spend('fields', members.length)
    const texts = members.map(({ before, write }) => before + write(run, ref))
    const text = `{${texts.join(',')}}`
    run.budget.spend('bytes', text.length)
    return text
  }
}

function memberWriter(nodes: readonly FieldNode[], compiler: PlanCompiler): ObjectRefWriter {
  const name = nodes[0]?.name.value ?? ''
  switch (name) {
    case '__typename':
      return () => JSON.stringify(typeName)
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
