import type { Unstructured } from '../../kubernetes/object.ts'
import { objectKey } from '../../kubernetes/object.ts'
import type { ObjectRules, ServedResource } from '../api/served-resource.ts'
import { badRequest, invalid, notFound } from '../api/status-refusal.ts'
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
}

/** `group` and `resource` of a refusal. */
export const named = ({
  group,
  resource,
}: ServedResource): { readonly group: string; readonly resource: string } => ({ group, resource })

/** The current object in the requested version. Throws 404. */
export function currentObject(
  storage: Storage,
  { served, namespace, name }: WriteTarget,
): Unstructured {
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...named(served), name })
  return served.stored.convert(readObject(found, served.stored), served.apiVersion)
}

function rulesOf({ rules, stored }: ServedResource): ObjectRules | undefined {
  const isDefinition = stored.groupResource === 'customresourcedefinitions.apiextensions.k8s.io'
  if (isDefinition) return definitionRules
  return stored.custom ? rules : builtInRules(stored.groupResource)
}

/** Makes the refusal for unknown fields, in the form of the request. */
export type StrictRefusal = (problem: string) => Error

/** Fills in defaults and drops unknown fields. Throws if unknown fields are forbidden. */
export function settledObject(
  served: ServedResource,
  given: Unstructured,
  { fieldValidation, warn }: WriteOptions,
  refusal: StrictRefusal = cannotBeHandled(served),
): Unstructured {
  const rules = rulesOf(served)
  if (rules === undefined) return given
  const unknown: string[] = []
  const settled = rules.settle(given, unknown)
  const problems = unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
  if (problems.length > 0 && fieldValidation === 'Strict') {
    throw refusal(`strict decoding error: ${problems.join(', ')}`)
  }
  if (fieldValidation === 'Warn') for (const problem of problems) warn(problem)
  return settled
}

const cannotBeHandled =
  ({ kind, version }: ServedResource): StrictRefusal =>
  (problem) =>
    badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${problem}`)

/** Throws 422 if the object breaks the rules of its kind. */
export function checkRules(
  served: ServedResource,
  object: Unstructured,
  previous: Unstructured | undefined,
  part: 'object' | 'status',
): void {
  const problems = rulesOf(served)?.problems(object, previous, part) ?? []
  if (problems.length === 0) return
  const { group, kind } = served
  throw invalid({ group, kind, name: object.metadata.name }, problems)
}
