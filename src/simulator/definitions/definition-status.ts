import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import {
  completeNames,
  type DefinitionCondition,
  type DefinitionNames,
  type DefinitionStatus,
  specOf,
  statusOf,
} from './definition.ts'

/** Whether a definition is served. */
export function isEstablished(definition: Unstructured): boolean {
  return (
    statusOf(definition).conditions?.some(
      ({ type, status }) => type === 'Established' && status === 'True',
    ) === true
  )
}

/** The status of a definition. `others` are the other definitions of the group, whose names are taken. */
export function nextStatus(
  definition: Unstructured,
  others: readonly Unstructured[],
): DefinitionStatus {
  const { names, versions } = specOf(definition)
  const before = statusOf(definition)
  const { accepted, conflict } = acceptNames(completeNames(names), others.map(statusOf))
  const was = new Map((before.conditions ?? []).map((one) => [one.type, one]))
  const condition = (
    type: string,
    status: 'True' | 'False',
    reason: string,
    message: string,
  ): DefinitionCondition => {
    const old = was.get(type)
    const since = old?.status === status ? old.lastTransitionTime : timestamp(Date.now())
    return { type, status, lastTransitionTime: since, reason, message }
  }
  const namesAccepted =
    conflict === undefined
      ? condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found')
      : condition('NamesAccepted', 'False', conflict.reason, conflict.message)
  // An established kind stays established, under its accepted names.
  const established =
    conflict === undefined || isEstablished(definition)
      ? condition(
          'Established',
          'True',
          'InitialNamesAccepted',
          'the initial names have been accepted',
        )
      : condition('Established', 'False', 'NotAccepted', 'not all names are accepted')
  const storage = versions.filter((one) => one.storage).map(({ name }) => name)
  const approved = approvalOf(definition)
  const made = [
    namesAccepted,
    established,
    ...(approved === undefined
      ? []
      : [
          condition(
            'KubernetesAPIApprovalPolicyConformant',
            approved.status,
            approved.reason,
            approved.message,
          ),
        ]),
  ]
  return {
    conditions: mergedConditions(before.conditions ?? [], made),
    acceptedNames:
      conflict === undefined || !isEstablished(definition)
        ? accepted
        : (before.acceptedNames ?? accepted),
    storedVersions: [...new Set([...(before.storedVersions ?? []), ...storage])],
  }
}

/** Replaces conditions in place and appends new ones. Keeps the conditions of other writers. */
function mergedConditions(
  before: readonly DefinitionCondition[],
  made: readonly DefinitionCondition[],
): readonly DefinitionCondition[] {
  const types = new Set(before.map(({ type }) => type))
  return [
    ...before.map((one) => made.find(({ type }) => type === one.type) ?? one),
    ...made.filter(({ type }) => !types.has(type)),
  ]
}

interface Conflict {
  readonly reason: string
  readonly message: string
}

/** Accepts each free name on its own. Reports the last conflict, as a kube-apiserver does. */
function acceptNames(
  names: ReturnType<typeof completeNames>,
  others: readonly DefinitionStatus[],
): { readonly accepted: Partial<DefinitionNames>; readonly conflict: Conflict | undefined } {
  const taken = others.map(({ acceptedNames = {} }) => acceptedNames)
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
  )
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]))
  let conflict: Conflict | undefined
  const free = (name: string, among: ReadonlySet<string | undefined>, reason: string): boolean => {
    if (name === '' || !among.has(name)) return true
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` }
    return false
  }
  const { plural, singular, kind, listKind, shortNames = [], categories } = names
  const accepted = {
    plural: free(plural, resources, 'PluralConflict') ? plural : '',
    ...(free(singular, resources, 'SingularConflict') ? { singular } : {}),
    ...(shortNames.length > 0 &&
    shortNames.every((name) => free(name, resources, 'ShortNamesConflict'))
      ? { shortNames }
      : {}),
    kind: free(kind, kinds, 'KindConflict') ? kind : '',
    ...(free(listKind, kinds, 'ListKindConflict') ? { listKind } : {}),
    ...(categories === undefined ? {} : { categories }),
  }
  return { accepted, conflict }
}

/** Names the approval of an API. Definitions in groups of Kubernetes must have it. */
export const approvalAnnotation = 'api-approved.kubernetes.io'

/** The approval of a definition's API, and its condition. */
export interface DefinitionApproval {
  readonly state: 'missing' | 'invalid' | 'bypassed' | 'approved'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const required = `protected groups must have approval annotation "${approvalAnnotation}"`
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** The approval of a definition; `undefined` for groups that need none. */
export function approvalOf(definition: Unstructured): DefinitionApproval | undefined {
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(specOf(definition).group)) return undefined
  const said = definition.metadata.annotations?.[approvalAnnotation] ?? ''
  if (said === '') {
    const message = `${required}, ${see}`
    return { state: 'missing', status: 'False', reason: 'MissingAnnotation', message }
  }
  if (URL.canParse(said) && new URL(said).host !== '') {
    const message = `approved in ${said}`
    return { state: 'approved', status: 'True', reason: 'ApprovedAnnotation', message }
  }
  if (said.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(said)}`
    return { state: 'bypassed', status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  const message = `${required} with either a URL or a reason starting with "unapproved", ${see}`
  return { state: 'invalid', status: 'False', reason: 'InvalidAnnotation', message }
}
