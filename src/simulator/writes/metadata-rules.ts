import type { ObjectMeta } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type FieldProblem, invalidAt, tooLongAt } from '../api/field-problem.ts'
import { subdomainPattern } from './object-name.ts'

const maxAnnotationBytes = 256 * 1024
const maxNameUnits = 63
const name = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const standardFinalizers = ['foregroundDeletion', 'orphan', 'kubernetes']

const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const tooLong = `must be no more than ${maxNameUnits} bytes`

/** The problems of an object's metadata, except those of its name. */
export function metadataProblems(metadata: ObjectMeta): readonly FieldProblem[] {
  const labels = fieldsOf(metadata.labels)
  const annotations = fieldsOf(metadata.annotations)
  const finalizers = itemsOf(metadata.finalizers)
  const ownerReferences = itemsOf(metadata.ownerReferences)
  return [
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...keyProblems('metadata.labels', key),
      ...valueProblems('metadata.labels', value),
    ]),
    ...annotationProblems(annotations),
    ...ownerReferences.flatMap(ownerProblems),
    ...controllerProblems(ownerReferences),
    ...finalizers.flatMap(finalizerProblems),
  ]
}

/** The text members of a client's value, which may be `null`. Skips other members. */
function fieldsOf(given: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(given)) return {}
  const texts = Object.entries(given).filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  )
  return Object.fromEntries(texts)
}

function itemsOf<T>(given: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(given) ? (given as readonly T[]) : []
}

type Owner = NonNullable<ObjectMeta['ownerReferences']>[number]

function annotationProblems(annotations: Readonly<Record<string, string>>): FieldProblem[] {
  const field = 'metadata.annotations'
  const problems = Object.keys(annotations).flatMap((key) => keyProblems(field, key))
  const bytes = Object.entries(annotations)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= maxAnnotationBytes) return problems
  return [...problems, tooLongAt(field, maxAnnotationBytes)]
}

/** The problems of the key of a label or annotation. */
export function keyProblems(field: string, key: string): FieldProblem[] {
  const parts = key.split('/')
  const [own = '', ...more] = parts.toReversed()
  const [domain = ''] = more
  const isQualified = more.length === 0 || (more.length === 1 && subdomainPattern.test(domain))
  if (!isQualified)
    return [
      invalidAt(field, key, 'a qualified name must consist of a DNS subdomain prefix and a name'),
    ]
  if (own.length > maxNameUnits) return [invalidAt(field, key, `name part ${tooLong}`)]
  return name.test(own) ? [] : [invalidAt(field, key, nameRule)]
}

/** The problems of the value of a label. */
export function valueProblems(field: string, value: string): FieldProblem[] {
  if (value.length > maxNameUnits) return [invalidAt(field, value, tooLong)]
  return value === '' || name.test(value) ? [] : [invalidAt(field, value, valueRule)]
}

function ownerProblems(owner: Owner): FieldProblem[] {
  return (['kind', 'name', 'uid'] as const)
    .filter((member) => (owner[member] ?? '') === '')
    .map((member) => invalidAt(`metadata.ownerReferences.${member}`, '', 'must not be empty'))
}

function controllerProblems(owners: readonly Owner[]): FieldProblem[] {
  const [one, other] = owners.filter(({ controller }) => controller === true)
  if (one === undefined || other === undefined) return []
  const both = `${one.kind}/${one.name} and ${other.kind}/${other.name}`
  const message = `Only one reference can have Controller set to true. Found "true" in references for ${both}`
  return [invalidAt('metadata.ownerReferences', owners, message)]
}

function finalizerProblems(finalizer: string, at: number): FieldProblem[] {
  const field = `metadata.finalizers[${at}]`
  const problems = keyProblems(field, finalizer)
  if (problems.length > 0 || finalizer.includes('/') || standardFinalizers.includes(finalizer)) {
    return problems
  }
  const rule = 'name is neither a standard finalizer name nor is it fully qualified'
  return [invalidAt(field, finalizer, rule)]
}
