import { type ExecutionResult, GraphQLError } from 'graphql'
import { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { ReadSnapshot } from './read-snapshot.ts'

/** Notes the indexes that an answer was not given for want of, as its errors tell, to be made for another round. */
export function noteMissed(
  snapshot: ReadSnapshot,
  { errors = [] }: ExecutionResult,
  failures: readonly GraphQLError[] = [],
): void {
  for (const error of [...errors, ...failures]) {
    let inner: unknown = error
    while (inner instanceof GraphQLError) inner = inner.originalError
    if (inner instanceof UnknownIndexError) snapshot.missed(inner)
  }
}
