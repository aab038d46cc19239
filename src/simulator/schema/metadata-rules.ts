/*
 * What the metadata of every object must satisfy: names by kind, labels, annotations, owners and finalizers.
 */

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
  "a lowercase RFC 1123 subdomain must have lower case letters, digits, '-' and '.', with a letter or digit at each end"
const labelRule =
  "a lowercase RFC 1123 label must have lower case letters, digits and '-', with a letter or digit at each end"

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

/** The rules of the names of resources that are no subdomains. */
const rules: Readonly<Record<string, NameRule>> = {
  namespaces: label,
  services: label,
  'cronjobs.batch': ruleOf(subdomainPattern, 52, subdomainRule),
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
  "must be letters, digits, '-', '_' and '.', with a letter or digit at each end of the name"
const valueRule =
  "must be empty, or letters, digits, '-', '_' and '.', with a letter or digit at each end"
const tooLong = `must be no more than ${maxNameUnits} bytes`

/** The problems of an object's metadata. Names do not change, so only those of new objects are checked. */
export function metadataProblems(
  metadata: ObjectMeta,
  created?: StoredResource,
): readonly FieldProblem[] {
  const found: FieldProblem[] = []
  if (created !== undefined) {
    const { group, groupResource } = created
    const { name } = metadata
    const isOfRbac = group === 'rbac.authorization.k8s.io'
    const rule = isOfRbac ? pathSegment : (rules[groupResource] ?? subdomain)
    const problem = rule(name)
    if (name === '') {
      found.push(requiredAt('metadata.name', 'name or generateName is required'))
    } else if (problem !== undefined) found.push(invalidAt('metadata.name', name, problem))
  }
  for (const [key, value] of textsOf(metadata.labels)) {
    found.push(...keyProblems('metadata.labels', key), ...valueProblems('metadata.labels', value))
  }
  const annotations = textsOf(metadata.annotations)
  const field = 'metadata.annotations'
  const bytes = annotations.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  found.push(...annotations.flatMap(([key]) => keyProblems(field, key)))
  if (bytes > maxAnnotationBytes) found.push(tooLongAt(field, maxAnnotationBytes))
  const owners = itemsOf(metadata.ownerReferences)
  for (const owner of owners) {
    for (const member of ['kind', 'name', 'uid'] as const) {
      if ((owner[member] ?? '') !== '') continue
      found.push(invalidAt(`metadata.ownerReferences.${member}`, '', 'must not be empty'))
    }
  }
  const [one, other] = owners.filter(({ controller }) => controller === true)
  if (one !== undefined && other !== undefined) {
    const both = `${one.kind}/${one.name} and ${other.kind}/${other.name}`
    const message = `Only one reference can have Controller set to true. Found "true" in references for ${both}`
    found.push(invalidAt('metadata.ownerReferences', owners, message))
  }
  for (const [index, finalizer] of itemsOf(metadata.finalizers).entries()) {
    const at = `metadata.finalizers[${index}]`
    const problems = keyProblems(at, finalizer)
    const isKnown = finalizer.includes('/') || standardFinalizers.includes(finalizer)
    const message = 'name is neither a standard finalizer name nor is it fully qualified'
    found.push(...problems)
    if (problems.length === 0 && !isKnown) found.push(invalidAt(at, finalizer, message))
  }
  return found
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
