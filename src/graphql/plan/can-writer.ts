import { splitObjectKey } from '../../kubernetes/object.ts'
import { knownCan } from '../operation/permissions.ts'
import type { ObjectCanArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import type { RowWriter } from './writers.ts'

/** Compiles `can` of an object: what is known of the viewer is written at once, anything else graphql-js asks for. */
export function canWriter(args: FieldArguments): RowWriter {
  return (run, part, id) => {
    const asked = run.argumentsOf(args) as unknown as ObjectCanArguments
    const known = knownCan(run.access, part, splitObjectKey(part.view.keyOf(id)), asked)
    if (known === undefined) throw new NotCoveredError('a permission that is not known yet')
    run.budget.spend('fields', 1)
    return String(known)
  }
}
