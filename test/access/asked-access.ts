import type { Caller } from '../support/viewed-gateway.ts'
import { inParallel } from '../gateway/test-cluster.ts'
import type { AccessCluster, users } from './access-cluster.ts'

/** What is asked of the authorizer, as a SubjectAccessReview has it. */
export interface AskedAccess {
  readonly verb: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
}

/** What the authorizer itself says to whether somebody may do something. */
export const isAllowed = async (
  { must }: AccessCluster,
  { username, uid, groups }: Caller,
  asked: AskedAccess,
): Promise<boolean> => {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: username, uid, groups, resourceAttributes: asked },
  }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  return (await must(path, { method: 'POST', body })).status.allowed
}

/** The namespaces where somebody may do all of this to pods. */
export const mayInPods = async (
  cluster: AccessCluster,
  user: (typeof users)[number],
  verbs: readonly string[],
  namespaces: readonly string[],
): Promise<ReadonlySet<string>> => {
  const allowed = new Set<string>()
  await inParallel(namespaces, async (namespace) => {
    const answers = await Promise.all(
      verbs.map((verb) => isAllowed(cluster, user, { verb, resource: 'pods', namespace })),
    )
    if (!answers.includes(false)) allowed.add(namespace)
  })
  return allowed
}
