import type { Unstructured } from '../../kubernetes/object.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { ObjectRules, ServedResource } from '../api/served-resource.ts'
import { badRequest, notFound, refuseInvalid } from '../api/status-refusal.ts'
import { definitionRules } from '../definitions/definition-rules.ts'
import type { Storage } from '../storage/storage.ts'
import { builtInRules } from './kinds/built-in-rules.ts'
import { readObject } from '../storage/stored-object.ts'

/** The object or the collection of a write. */
export interface WriteTarget {
  readonly served: ServedResource
  /** `''` for cluster-scoped resources. */
  readonly namespace: string
  readonly name: string
}

/** Options of a write. */
export interface WriteOptions {
  readonly dryRun: boolean
  /** The manager of the fields that the write sets. */
  readonly manager: string
  /** What happens besides dropping unknown fields. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** Receives warnings for the client. */
  readonly warn: (text: string) => void
  /** Makes the refusal for unknown fields, if its form differs from that of a decoded body. */
  readonly strictRefusal?: (problem: string) => Error
}

/** Options of a write to an object or a subresource. */
export interface UpdateOptions extends WriteOptions {
  /** `''`, or `status`. */
  readonly subresource: string
}

/** The current object in the requested version. Throws 404. */
export function currentObject(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
): Unstructured {
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...served, name })
  return served.stored.convert(readObject(found, served.stored), served.apiVersion)
}

function rulesOf({ rules, stored }: ServedResource): ObjectRules | undefined {
  const isDefinition = stored.groupResource === 'customresourcedefinitions.apiextensions.k8s.io'
  if (isDefinition) return definitionRules
  return stored.custom ? rules : builtInRules(stored.groupResource)
}

/** Fills in defaults and drops unknown fields. Throws if unknown fields are forbidden. */
export function settledObject(
  served: ServedResource,
  given: Unstructured,
  { fieldValidation, strictRefusal, warn }: WriteOptions,
): Unstructured {
  const rules = rulesOf(served)
  if (rules === undefined) return given
  const unknown: string[] = []
  const settled = rules.settle(given, unknown)
  const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
  if (problems.length > 0 && fieldValidation === 'Strict') {
    const problem = `strict decoding error: ${problems.join(', ')}`
    const { kind, version } = served
    throw (
      strictRefusal?.(problem) ??
      badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`)
    )
  }
  if (fieldValidation === 'Warn') for (const problem of problems) warn(problem)
  return settled
}

/** Throws 422 if the object breaks the rules of its kind. */
export function checkRules(
  served: ServedResource,
  object: Unstructured,
  previous: Unstructured | undefined,
  part: 'object' | 'status',
): void {
  const problems = rulesOf(served)?.problems(object, previous, part) ?? []
  refuseInvalid({ ...served, name: object.metadata.name }, problems)
}
