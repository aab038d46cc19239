import type { Unstructured } from '../../kubernetes/object.ts'
import { equalJson } from '../api/json.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import { type FieldProblem, invalidAt, requiredAt, unsupportedAt } from '../api/field-problem.ts'
import { completeNames, type DefinitionSpec, specOf, statusOf } from './definition.ts'
import { approvalAnnotation, approvalOf } from './definition-approval.ts'
import { isEstablished } from './definition-status.ts'
import { versionProblems } from './definition-version-check.ts'

/** The rules of CustomResourceDefinitions themselves. Source: apiextensions.k8s.io/v1 validation. */
export const definitionRules: ObjectRules = {
  settle: (definition) => {
    const spec = (definition['spec'] ?? {}) as Partial<DefinitionSpec>
    const names = completeNames(spec.names ?? { plural: '', kind: '' })
    const versions = spec.versions ?? []
    const conversion = spec.conversion ?? { strategy: 'None' }
    const { group = '', scope = '' } = spec
    return { ...definition, spec: { ...spec, group, scope, names, versions, conversion } }
  },
  problems: (definition, previous, part) =>
    part === 'status'
      ? []
      : [...definitionProblems(definition), ...updateProblems(definition, previous)],
}

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

function definitionProblems(definition: Unstructured): FieldProblem[] {
  const { metadata } = definition
  const { group, names, scope, conversion, versions, preserveUnknownFields } = specOf(definition)
  const { plural, singular, kind, listKind } = names
  const found: FieldProblem[] = []
  if (metadata.name !== `${plural}.${group}`) {
    found.push(
      invalidAt('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'),
    )
  }
  const approval = approvalOf(definition)
  const approvalField = `metadata.annotations[${approvalAnnotation}]`
  if (approval?.state === 'missing') found.push(requiredAt(approvalField, approval.message))
  if (approval?.state === 'invalid') {
    found.push(
      invalidAt(approvalField, metadata.annotations?.[approvalAnnotation], approval.message),
    )
  }
  if (group === '') found.push(requiredAt('spec.group'))
  else if (!group.includes('.')) {
    found.push(invalidAt('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') {
    found.push(requiredAt('spec.scope'))
  } else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    found.push(unsupportedAt('spec.scope', scope, ['Cluster', 'Namespaced']))
  }
  for (const [name, value] of Object.entries({
    plural,
    singular: singular ?? '',
    kind,
    listKind: listKind ?? '',
  })) {
    const field = `spec.names.${name}`
    if (value === '') found.push(requiredAt(field))
    else if (!label.test(value.toLowerCase())) found.push(invalidAt(field, value, labelRule))
    else if ((name === 'plural' || name === 'singular') && !label.test(value)) {
      found.push(invalidAt(field, value, labelRule))
    }
  }
  if (preserveUnknownFields === true) {
    const message =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    found.push(invalidAt('spec.preserveUnknownFields', true, message))
  }
  const strategy = conversion?.strategy ?? 'None'
  if (strategy === 'Webhook' && conversion?.webhook === undefined) {
    const message = 'required when strategy is set to Webhook'
    found.push(requiredAt('spec.conversion.webhookClientConfig', message))
  } else if (strategy !== 'None' && strategy !== 'Webhook') {
    found.push(unsupportedAt('spec.conversion.strategy', strategy, ['None', 'Webhook']))
  }
  return [...found, ...versionProblems(versions)]
}

function updateProblems(
  definition: Unstructured,
  previous: Unstructured | undefined,
): FieldProblem[] {
  if (previous === undefined) return []
  const [before, after] = [specOf(previous), specOf(definition)]
  const found: FieldProblem[] = []
  const immutable = (field: string, old: unknown, value: unknown): void => {
    if (!equalJson(old, value)) found.push(invalidAt(field, value, 'field is immutable'))
  }
  if (isEstablished(previous)) {
    immutable('spec.scope', before.scope, after.scope)
    immutable('spec.names.kind', before.names.kind, after.names.kind)
  }
  immutable('spec.group', before.group, after.group)
  immutable('spec.names.plural', before.names.plural, after.names.plural)
  const names = new Set(after.versions.map(({ name }) => name))
  for (const [at, name] of (statusOf(previous).storedVersions ?? []).entries()) {
    if (names.has(name)) continue
    const message =
      `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a ` +
      `storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    found.push(invalidAt(`status.storedVersions[${at}]`, name, message))
  }
  return found
}
