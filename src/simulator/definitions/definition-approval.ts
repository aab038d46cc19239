import type { Unstructured } from '../../kubernetes/object.ts'
import { specOf } from './definition.ts'

/** By which a definition says that its API was approved; those in Kubernetes' own groups must say something. */
export const approvalAnnotation = 'api-approved.kubernetes.io'

/** What a definition says of the approval of its API, and how the condition of it reads. */
export interface DefinitionApproval {
  readonly state: 'missing' | 'invalid' | 'bypassed' | 'approved'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const required = `protected groups must have approval annotation "${approvalAnnotation}"`
const see = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** `undefined` for groups that need no approval. */
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
