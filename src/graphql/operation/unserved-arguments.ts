import type { RelationArguments } from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'

/** Refuses what the schema has already and lists do not do yet: `orderBy`, `last`, `before`. Throws UNSUPPORTED. */
export function refuseUnserved(args: RelationArguments): void {
  for (const argument of ['orderBy', 'last', 'before'] as const) {
    const value = args[argument]
    if (value === undefined || value === null) continue
    throw new ClientError('UNSUPPORTED', `${argument} is not served yet`, {
      argument,
      value,
      hint: 'lists come in the order of namespace and name, forwards: use `first` and `after`',
    })
  }
}
