import { Refusal } from '../api/status-refusal.ts'
import type { RequestTarget } from './request-target.ts'

/** Who may come, and what each may not. */
export interface SimulatorUser {
  readonly token: string
  readonly user: string
  /** Resources that this user is forbidden, `secrets` or `deployments.apps`. */
  readonly denied?: readonly string[]
}

/** Finds the user of a request by its bearer token. Without users everybody may come. Throws 401. */
export function authenticate(
  users: readonly SimulatorUser[],
  authorization: string | undefined,
): SimulatorUser | undefined {
  if (users.length === 0) return undefined
  const [scheme = '', token = ''] = (authorization ?? '').split(' ')
  const found = users.find((user) => scheme.toLowerCase() === 'bearer' && user.token === token)
  if (found === undefined) throw new Refusal(401, 'Unauthorized', { reason: 'Unauthorized' })
  return found
}

/** Throws 403 where a user is denied the resource. */
export function authorize(
  user: SimulatorUser | undefined,
  target: RequestTarget,
  verb: string,
): void {
  const { group, resource, namespace, name, subresource } = target
  const groupResource = group === '' ? resource : `${resource}.${group}`
  if (user?.denied?.includes(groupResource) !== true) return
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const subject = name === '' ? groupResource : `${groupResource} "${name}"`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  throw new Refusal(
    403,
    `${subject} is forbidden: User "${user.user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`,
    {
      reason: 'Forbidden',
      details: {
        ...(name === '' ? {} : { name }),
        ...(group === '' ? {} : { group }),
        kind: resource,
      },
    },
  )
}
