import { randomInt } from 'node:crypto'
import type { FieldProblem } from '../api/status-refusal.ts'
import type { StoredResource } from '../api/served-resource.ts'

/** A DNS subdomain, however long. */
export const subdomainPattern: RegExp =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const subdomain = {
  test: subdomainPattern,
  most: 253,
  rule:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
}
const label = {
  test: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  most: 63,
  rule:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
}
const pathSegment = {
  test: /^(?!\.{1,2}$)[^/%]+$/,
  most: 253,
  rule: "may not be '.' or '..' and may not contain '/' or '%'",
}

function ruleFor({ group, resource }: StoredResource): typeof subdomain {
  if (group === 'rbac.authorization.k8s.io') return pathSegment
  return resource === 'namespaces' ? label : subdomain
}

/** What is wrong with an object's name; `undefined` where nothing is. */
export function nameProblem(resource: StoredResource, name: string): FieldProblem | undefined {
  const field = 'metadata.name'
  if (name === '') {
    const message = 'Required value: name or generateName is required'
    return { reason: 'FieldValueRequired', message, field }
  }
  const { test, most, rule } = ruleFor(resource)
  if (name.length <= most && test.test(name)) return undefined
  const problem = name.length > most ? `must be no more than ${most} characters` : rule
  const message = `Invalid value: ${JSON.stringify(name)}: ${problem}`
  return { reason: 'FieldValueInvalid', message, field }
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A name with five random characters after `prefix`, none of which can spell a word. */
export function generatedName(prefix: string): string {
  const suffix = Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, 58) + suffix
}
