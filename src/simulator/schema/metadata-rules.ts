import { randomInt } from 'node:crypto'
import { fieldsOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta } from '../../kubernetes/object.ts'
import type { StoredResource } from '../api/served-resource.ts'
import { type FieldProblem, invalidAt, requiredAt, tooLongAt } from '../api/status-refusal.ts'

/** Metadata that only the server writes. */
export const serverMetadata: readonly string[] = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]

/** The problem of a name; `undefined` if it is valid. */
export type NameRule = (name: string) => string | undefined

const ruleOf =
  (test: RegExp, most: number, rule: string): NameRule =>
  (name) => {
    if (name.length > most) return `must be no more than ${most} characters`
    return test.test(name) ? undefined : rule
  }

/** A DNS subdomain of any length. */
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** The name of most objects. */
export const subdomain: NameRule = ruleOf(subdomainPattern, 253, subdomainRule)

const plainLabel = ruleOf(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 63, labelRule)

/** One part of a subdomain. */
export const label: NameRule = (name) => {
  const problem = plainLabel(name)
  return problem === labelRule && subdomainPattern.test(name) ? 'must not contain dots' : problem
}

const pathSegment = ruleOf(
  /^(?!\.{1,2}$)[^/%]+$/,
  253,
  "may not be '.' or '..' and may not contain '/' or '%'",
)

/** Rules by resource. {@link ruleFor} has those of the other resources. */
const rules: Readonly<Record<string, NameRule>> = {
  namespaces: label,
  services: label,
  'cronjobs.batch': ruleOf(subdomainPattern, 52, subdomainRule),
}

function ruleFor({ group, groupResource }: StoredResource): NameRule {
  return group === 'rbac.authorization.k8s.io' ? pathSegment : (rules[groupResource] ?? subdomain)
}

function nameProblems(resource: StoredResource, name: string): FieldProblem[] {
  const field = 'metadata.name'
  if (name === '') return [requiredAt(field, 'name or generateName is required')]
  const problem = ruleFor(resource)(name)
  return problem === undefined ? [] : [invalidAt(field, name, problem)]
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A name: `prefix` and five random characters, without vowels so that they spell no word. */
export function generatedName(prefix: string): string {
  const suffix = Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, 58) + suffix
}

const maxAnnotationBytes = 256 * 1024
const maxNameUnits = 63
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
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

/** The problems of an object's metadata. Names do not change, so only those of new objects are checked. */
export function metadataProblems(
  metadata: ObjectMeta,
  created?: StoredResource,
): readonly FieldProblem[] {
  const ownerReferences = itemsOf(metadata.ownerReferences)
  return [
    ...(created === undefined ? [] : nameProblems(created, metadata.name)),
    ...textsOf(metadata.labels).flatMap(([key, value]) => [
      ...keyProblems('metadata.labels', key),
      ...valueProblems('metadata.labels', value),
    ]),
    ...annotationProblems(textsOf(metadata.annotations)),
    ...ownerReferences.flatMap(ownerProblems),
    ...controllerProblems(ownerReferences),
    ...itemsOf(metadata.finalizers).flatMap(finalizerProblems),
  ]
}

/** The text members of a client's value, which may be `null`. Skips other members. */
function textsOf(given: unknown): [string, string][] {
  return Object.entries(fieldsOf(given)).filter(
    (field): field is [string, string] => typeof field[1] === 'string',
  )
}

function itemsOf<T>(given: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(given) ? (given as readonly T[]) : []
}

type Owner = NonNullable<ObjectMeta['ownerReferences']>[number]

function annotationProblems(annotations: readonly [string, string][]): FieldProblem[] {
  const field = 'metadata.annotations'
  const bytes = annotations.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return [
    ...annotations.flatMap(([key]) => keyProblems(field, key)),
    ...(bytes > maxAnnotationBytes ? [tooLongAt(field, maxAnnotationBytes)] : []),
  ]
}

/** The problems of the key of a label or annotation. */
export function keyProblems(field: string, key: string): FieldProblem[] {
  const parts = key.split('/')
  const [own = '', ...more] = parts.toReversed()
  const [domain = ''] = more
  const isQualified = more.length === 0 || (more.length === 1 && subdomainPattern.test(domain))
  if (!isQualified) {
    const message = 'a qualified name must consist of a DNS subdomain prefix and a name'
    return [invalidAt(field, key, message)]
  }
  if (own.length > maxNameUnits) return [invalidAt(field, key, `name part ${tooLong}`)]
  return qualifiedName.test(own) ? [] : [invalidAt(field, key, nameRule)]
}

/** The problems of the value of a label. */
export function valueProblems(field: string, value: string): FieldProblem[] {
  if (value.length > maxNameUnits) return [invalidAt(field, value, tooLong)]
  return value === '' || qualifiedName.test(value) ? [] : [invalidAt(field, value, valueRule)]
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
