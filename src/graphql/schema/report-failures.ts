import { type GraphQLResolveInfo, locatedError } from 'graphql'
import type { ResolverContext } from './read-context.ts'

/** What could not be looked into becomes entries of `errors` beside a field that is answered all the same. */
export function reportFailures(
  failures: readonly Error[],
  report: ResolverContext['report'],
  { fieldNodes, path }: GraphQLResolveInfo,
): void {
  for (const error of failures) report(locatedError(error, fieldNodes, pathToArray(path)))
}

function pathToArray(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.push(at.key)
  return keys.toReversed()
}
