/*
 * What the metadata of every object must satisfy, and the words of the rules of built-in kinds: each makes a check, which
 * finds the problems of one value. A check looks at a value in its place, and answers with a problem, a list of what it
 * found, or `false`. Texts are not those of a kube-apiserver; reasons and fields are.
 */

import { randomInt } from 'node:crypto'
import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta } from '../../kubernetes/object.ts'
import { isRawJson } from '../../lib/json.ts'
import { equalJson } from '../api/json.ts'
import type { StoredResource } from '../api/served-resource.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  type Found,
  invalidAt,
  problemsIn,
  requiredAt,
  tooLongAt,
  unsupportedAt,
} from '../api/status-refusal.ts'

/** A value of an object. */
export interface Place {
  readonly value: unknown
  readonly path: string
  /** The object around it. */
  readonly parent: Fields
  /** The value before the write; `undefined` for new objects and for the items of lists. */
  readonly previous?: { readonly value: unknown } | undefined
}

export type Check = (at: Place) => Found

/** The items of a list; none for other values. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Whether Go would see the value as absent: it does not distinguish absent from empty values. */
export function isEmpty(value: unknown): boolean {
  const isNone = value === undefined || value === null || value === '' || value === 0
  return isNone || (Array.isArray(value) && value.length === 0)
}

/** The names of these members that an object has. */
export const membersOf = (object: unknown, ...names: readonly string[]): readonly string[] =>
  names.filter((name) => (fieldsOf(object)[name] ?? null) !== null)

export const all =
  (...checks: readonly Check[]): Check =>
  (at) =>
    checks.map((check) => check(at))

/** Reports what the first check finds that finds anything. */
export const firstOf =
  (...checks: readonly Check[]): Check =>
  (at) =>
    checks.map((check) => problemsIn(check(at))).find(({ length }) => length > 0)

export const each =
  (check: Check): Check =>
  ({ value, path, parent }) =>
    listOf(value).map((item, index) => check({ value: item, path: `${path}[${index}]`, parent }))

type Condition = (value: unknown, parent: Fields) => boolean

/** Shows absent values as `''`. */
export const invalidIf =
  (isWrong: Condition, message: string): Check =>
  ({ value, path, parent }) =>
    isWrong(value, parent) && invalidAt(path, value ?? '', message)

/** Forbids a value that is not empty, under a condition on the object around it. */
export const forbiddenIf =
  (isForbidden: (parent: Fields) => boolean, message: string): Check =>
  ({ value, path, parent }) =>
    !isEmpty(value) && isForbidden(parent) && forbiddenAt(path, message)

export const requiredIf =
  (isRequired: (parent: Fields) => boolean): Check =>
  ({ value, path, parent }) =>
    isEmpty(value) && isRequired(parent) && requiredAt(path)

export const required: Check = requiredIf(() => true)

export const immutable: Check = ({ value, path, previous }) =>
  previous !== undefined &&
  !equalJson(previous.value ?? null, value ?? null) &&
  invalidAt(path, value ?? null, 'field is immutable')

/** Integers beyond 2^53 are kept as their digits. */
const numberOf = (value: unknown): number =>
  Number(isRawJson(value) ? JSON.stringify(value) : value)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

export const atLeast = (least: number): Check =>
  invalidIf(
    (value) => isGiven(value) && numberOf(value) < least,
    `must be greater than or equal to ${least}`,
  )

export const between = (least: number, most: number): Check =>
  invalidIf(
    (value) => isGiven(value) && !(numberOf(value) >= least && numberOf(value) <= most),
    `must be between ${least} and ${most}, inclusive`,
  )

export const port: Check = between(1, 65_535)

export const userId: Check = between(0, 2 ** 31 - 1)

/** One of these texts, or nothing. */
export const oneOf =
  (...supported: readonly unknown[]): Check =>
  ({ value, path }) =>
    !isEmpty(value) && !supported.includes(value) && unsupportedAt(path, value, supported)

/** A name that satisfies a rule. Skips empty names. */
export const named =
  (name: NameRule): Check =>
  ({ value, path }) => {
    const problem = isGiven(value) && value !== '' ? name(String(value)) : undefined
    return problem !== undefined && invalidAt(path, value, problem)
  }

/** The name of a port: an IANA service name. */
export const portName: Check = named((name) =>
  /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && name.length <= 15
    ? undefined
    : 'must be at most 15 lower case letters, digits and single hyphens between them, with a letter',
)

export const portOrName: Check = (at) => (typeof at.value === 'string' ? portName : port)(at)

/** A number or a percentage; at most 100 % if `bounded`. */
export const intOrPercent =
  (bounded = false): Check =>
  (at) => {
    const { value, path } = at
    if (typeof value !== 'string') return atLeast(0)(at)
    const isRight = /^[0-9]+%$/.test(value) && !(bounded && amountOf(value) > 100)
    return !isRight && invalidAt(path, value, `must be a percentage${bounded ? ' up to 100%' : ''}`)
  }

/** The number in a number or percentage; 0 without one. */
export const amountOf = (value: unknown): number => Number.parseInt(String(value), 10) || 0

/** Labels, or a map of required labels. */
export const labels: Check = ({ value, path }) =>
  Object.entries(fieldsOf(value)).map(([key, text]) => [
    keyProblem(path, key),
    valueProblem(path, String(text)),
  ])

export const labelKey: Check = ({ value, path }) =>
  !isEmpty(value) && keyProblem(path, String(value))

/** Reports items of a list with the same `member`. `taken` are values that the items may not have either. */
export const unique =
  (member: string, taken: Iterable<unknown> = []): Check =>
  ({ value, path }) => {
    const seen = new Set(taken)
    return listOf(value).map((item, index) => {
      const own = fieldsOf(item)[member]
      const isNew = isEmpty(own) || !seen.has(own)
      seen.add(own)
      return !isNew && duplicateAt(`${path}[${index}].${member}`, own)
    })
  }

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

const requirement: Check = ({ value, path, parent }) => {
  const { key, operator, values } = fieldsOf(value)
  const isKnown = isEmpty(operator) || operators.includes(String(operator))
  const isOfSet = operator === 'In' || operator === 'NotIn'
  const isOdd = isKnown && !isOfSet && !isEmpty(values)
  return [
    labelKey({ value: key, path: `${path}.key`, parent }),
    !isKnown && invalidAt(`${path}.operator`, operator, 'not a label selector operator'),
    isOfSet && isEmpty(values) && requiredAt(`${path}.values`),
    isOdd && forbiddenAt(`${path}.values`, `may not be specified with ${String(operator)}`),
  ]
}

/** A label selector, in both forms. */
export const labelSelector: Check = ({ value, path, parent }) => {
  const { matchExpressions, matchLabels } = fieldsOf(value)
  return [
    labels({ value: matchLabels, path: `${path}.matchLabels`, parent }),
    each(requirement)({ value: matchExpressions, path: `${path}.matchExpressions`, parent }),
  ]
}

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
function keyProblem(field: string, key: string): FieldProblem | false {
  const [own = '', domain, ...more] = key.split('/').toReversed()
  const isQualified = more.length === 0 && subdomainPattern.test(domain ?? 'a')
  if (!isQualified) return invalidAt(field, key, 'must be a name, with a DNS subdomain as prefix')
  if (own.length > maxNameUnits) return invalidAt(field, key, `name part ${tooLong}`)
  return !qualifiedName.test(own) && invalidAt(field, key, nameRule)
}

/** The problem of the value of a label. */
function valueProblem(field: string, value: string): FieldProblem | false {
  if (value.length > maxNameUnits) return invalidAt(field, value, tooLong)
  return value !== '' && !qualifiedName.test(value) && invalidAt(field, value, nameRule)
}
