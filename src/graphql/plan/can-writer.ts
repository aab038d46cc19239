import { splitObjectKey } from '../../kubernetes/object.ts'
import { knownCan } from '../operation/permissions.ts'
import type { ObjectCanArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `can` of an object. What is not known of the viewer is asked about for all rows together, and then written. */
export function canWriter(args: FieldArguments): RowWriter {
  return (run, part, id) => {
    run.parts.dependsOnViewer?.()
    const asked = run.argumentsOf(args) as unknown as ObjectCanArguments
    const known = knownCan(run.parts, part, splitObjectKey(part.view.keyOf(id)), asked)
    run.budget.spend('fields', 1)
    if (typeof known === 'boolean') return String(known)
    run.parts.asks(part.cluster, known)
    return 'null'
  }
}
