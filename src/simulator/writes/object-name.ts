import { randomInt } from 'node:crypto'
import { type FieldProblem, invalidAt, requiredAt } from '../api/field-problem.ts'
import type { StoredResource } from '../api/served-resource.ts'

/** A DNS subdomain of any length. */
export const subdomainPattern: RegExp =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** A rule for names. */
export interface NameRule {
  /** The problem of a name; `undefined` if it is valid. */
  problem(name: string): string | undefined
}

const ruleOf = (test: RegExp, most: number, rule: string): NameRule => ({
  problem: (name) => {
    if (name.length > most) return `must be no more than ${most} characters`
    return test.test(name) ? undefined : rule
  },
})

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
export const label: NameRule = {
  problem: (name) => {
    const problem = plainLabel.problem(name)
    return problem === labelRule && subdomainPattern.test(name) ? 'must not contain dots' : problem
  },
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

/** The problem of an object's name; `undefined` if it is valid. */
export function nameProblem(resource: StoredResource, name: string): FieldProblem | undefined {
  const field = 'metadata.name'
  if (name === '') return requiredAt(field, 'name or generateName is required')
  const problem = ruleFor(resource).problem(name)
  return problem === undefined ? undefined : invalidAt(field, name, problem)
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** A name: `prefix` and five random characters, without vowels so that they spell no word. */
export function generatedName(prefix: string): string {
  const suffix = Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, 58) + suffix
}
