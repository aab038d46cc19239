/*
 * What the metadata of every object must satisfy: names by kind, labels, annotations, owners and finalizers.
 */

import { randomInt } from 'node:crypto'
import { fieldsOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta } from '../../kubernetes/object.ts'
import type { StoredResource } from '../api/served-resource.ts'
import {
  type FieldProblem,
  type Found,
  invalidAt,
  requiredAt,
  tooLongAt,
} from '../api/status-refusal.ts'

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

const nameRule = "must be letters, digits, '-', '_' and '.', with a letter or digit at each end"
const tooLong = `must be no more than ${maxNameUnits} bytes`

/** The problems of an object's metadata. Names do not change, so only those of new objects are checked. */
export function metadataProblems(metadata: ObjectMeta, created?: StoredResource): Found {
  const { name } = metadata
  const isOfRbac = created?.group === 'rbac.authorization.k8s.io'
  const rule = isOfRbac ? pathSegment : (rules[created?.groupResource ?? ''] ?? subdomain)
  const problem = created === undefined ? undefined : rule(name)
  const annotations = textsOf(metadata.annotations)
  const bytes = annotations.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const owners = itemsOf(metadata.ownerReferences)
  const controllers = owners.filter(({ controller }) => controller === true)
  return [
    created !== undefined &&
      (name === ''
        ? requiredAt('metadata.name', 'name or generateName is required')
        : problem !== undefined && invalidAt('metadata.name', name, problem)),
    textsOf(metadata.labels).map(([key, value]) => [
      keyProblem('metadata.labels', key),
      valueProblem('metadata.labels', value),
    ]),
    annotations.map(([key]) => keyProblem('metadata.annotations', key)),
    bytes > maxAnnotationBytes && tooLongAt('metadata.annotations', maxAnnotationBytes),
    owners.map((owner) =>
      (['kind', 'name', 'uid'] as const).map(
        (member) =>
          (owner[member] ?? '') === '' &&
          invalidAt(`metadata.ownerReferences.${member}`, '', 'must not be empty'),
      ),
    ),
    controllers.length > 1 &&
      invalidAt('metadata.ownerReferences', owners, 'only one owner can be the controller'),
    itemsOf(metadata.finalizers).map((finalizer, index) => {
      const at = `metadata.finalizers[${index}]`
      const isKnown = finalizer.includes('/') || standardFinalizers.includes(finalizer)
      const message = 'must be a standard finalizer or be fully qualified'
      return keyProblem(at, finalizer) || (!isKnown && invalidAt(at, finalizer, message))
    }),
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

/** The problem of the key of a label or annotation. */
export function keyProblem(field: string, key: string): FieldProblem | false {
  const [own = '', domain, ...more] = key.split('/').toReversed()
  const isQualified = more.length === 0 && subdomainPattern.test(domain ?? 'a')
  if (!isQualified) return invalidAt(field, key, 'must be a name, with a DNS subdomain as prefix')
  if (own.length > maxNameUnits) return invalidAt(field, key, `name part ${tooLong}`)
  return !qualifiedName.test(own) && invalidAt(field, key, nameRule)
}

/** The problem of the value of a label. */
export function valueProblem(field: string, value: string): FieldProblem | false {
  if (value.length > maxNameUnits) return invalidAt(field, value, tooLong)
  return value !== '' && !qualifiedName.test(value) && invalidAt(field, value, nameRule)
}
