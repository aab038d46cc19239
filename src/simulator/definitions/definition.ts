import type { Unstructured } from '../../kubernetes/object.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type {
  CustomResourceDefinitionCondition as DefinitionCondition,
  CustomResourceDefinitionNames as DefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion,
} from '../../kubernetes/wire/apiextensions-v1.ts'
import type { Schema } from '../api/schema.ts'

/** A version of a definition, with its structural schema. */
export interface DefinitionVersion extends Omit<CustomResourceDefinitionVersion, 'schema'> {
  readonly schema?: { readonly openAPIV3Schema?: Schema }
}

export interface DefinitionSpec extends Omit<CustomResourceDefinitionSpec, 'versions'> {
  readonly versions: readonly DefinitionVersion[]
}

/** A name that another definition has is not accepted. */
interface DefinitionStatus extends Omit<CustomResourceDefinitionStatus, 'acceptedNames'> {
  readonly acceptedNames?: Partial<DefinitionNames>
}

export const specOf = (definition: Unstructured): DefinitionSpec =>
  definition['spec'] as DefinitionSpec

export const statusOf = (definition: Unstructured): DefinitionStatus => definition['status'] ?? {}

/** Fills in the singular and the list kind from the kind. */
export function completeNames(
  names: DefinitionNames,
): Required<Pick<DefinitionNames, 'plural' | 'singular' | 'kind' | 'listKind'>> & DefinitionNames {
  const { kind = '', plural = '' } = names as Partial<DefinitionNames>
  const { singular = '', listKind = '' } = names
  return {
    ...names,
    plural,
    kind,
    singular: singular === '' ? kind.toLowerCase() : singular,
    listKind: listKind === '' && kind !== '' ? `${kind}List` : listKind,
  }
}

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
  const { acceptedNames, conditions, storedVersions } = statusOf(definition)
  const { accepted, conflict } = acceptNames(completeNames(names), others.map(statusOf))
  // An established kind stays established, under its accepted names.
  const established = isEstablished(definition)
  const approval = approvalOf(definition)
  const outcomes: Record<string, Outcome> = {
    NamesAccepted:
      conflict === undefined
        ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { status: 'False', ...conflict },
    Established:
      conflict === undefined || established
        ? {
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ...(approval === undefined ? {} : { KubernetesAPIApprovalPolicyConformant: approval }),
  }
  const storage = versions.filter((one) => one.storage).map(({ name }) => name)
  return {
    conditions: mergedConditions(conditions ?? [], outcomes),
    acceptedNames: conflict !== undefined && established ? (acceptedNames ?? accepted) : accepted,
    storedVersions: [...new Set([...(storedVersions ?? []), ...storage])],
  }
}

/** A condition without its type and time. */
type Outcome = Record<'status' | 'reason' | 'message', string>

/** Replaces conditions in place and appends new ones. Keeps the conditions of other writers. */
function mergedConditions(
  before: readonly DefinitionCondition[],
  outcomes: Readonly<Record<string, Outcome>>,
): readonly DefinitionCondition[] {
  const conditions = new Map(before.map((one) => [one.type, one]))
  for (const [type, outcome] of Object.entries(outcomes)) {
    const old = conditions.get(type)
    const isSame = old?.status === outcome.status
    const since = isSame ? old.lastTransitionTime : undefined
    const lastTransitionTime = since ?? timestamp(Date.now())
    conditions.set(type, { type, lastTransitionTime, ...outcome })
  }
  return [...conditions.values()]
}

type Conflict = Omit<Outcome, 'status'>

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

const required = `protected groups must have approval annotation "${approvalAnnotation}"`
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** The approval of a definition's API, as a condition; `undefined` for groups that need none. */
export function approvalOf(definition: Unstructured): Outcome | undefined {
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(specOf(definition).group)) return undefined
  const given = definition.metadata.annotations?.[approvalAnnotation] ?? ''
  if (given === '') {
    return { status: 'False', reason: 'MissingAnnotation', message: `${required}, ${see}` }
  }
  if (URL.canParse(given) && new URL(given).host !== '') {
    return { status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${given}` }
  }
  if (given.startsWith('unapproved')) {
    const message = `not approved: ${JSON.stringify(given)}`
    return { status: 'False', reason: 'UnapprovedAnnotation', message }
  }
  const message = `${required} with either a URL or a reason starting with "unapproved", ${see}`
  return { status: 'False', reason: 'InvalidAnnotation', message }
}
