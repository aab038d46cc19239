import { fieldsOf } from '../kubernetes/fields.ts'

const apiVersion = 'authorization.k8s.io/v1'

/** Sends a POST request with a body. Resolves with the answer as JSON. */
export type Post = (path: string, body: unknown) => Promise<unknown>

/** Creates a review of the account's own access. Resolves with its status. */
export async function accountReview(
  post: Post,
  kind: 'SelfSubjectRulesReview' | 'SelfSubjectAccessReview',
  spec: object,
): Promise<Readonly<Record<string, unknown>>> {
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`
  return fieldsOf(fieldsOf(await post(path, { apiVersion, kind, spec }))['status'])
}

/** Whether the account itself has a permission. */
export async function accountMay(
  post: Post,
  resourceAttributes: {
    readonly verb: string
    readonly group: string
    readonly resource: string
    readonly namespace?: string | undefined
  },
): Promise<boolean> {
  const status = await accountReview(post, 'SelfSubjectAccessReview', { resourceAttributes })
  return status['allowed'] === true
}
