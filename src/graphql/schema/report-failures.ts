import { type GraphQLResolveInfo, locatedError } from 'graphql'
import type { ResolverContext } from './read-context.ts'

/** The same; what could not be looked into becomes entries of `errors` beside the field that is answered all the same. */
export function reportingFailures<T extends { readonly failures: readonly Error[] }>(
  found: T,
  { report }: ResolverContext,
  { fieldNodes, path }: GraphQLResolveInfo,
): T {
  for (const error of found.failures) report(locatedError(error, fieldNodes, pathToArray(path)))
  return found
}

function pathToArray(path: GraphQLResolveInfo['path']): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at: typeof path | undefined = path; at !== undefined; at = at.prev) keys.push(at.key)
  return keys.toReversed()
}
