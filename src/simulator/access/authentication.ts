import { Refusal } from '../api/status-refusal.ts'
import type { BoundIdentity, ServiceAccountTokens } from './service-account-tokens.ts'

/** Who may come, and what each may not. */
export interface SimulatorUser {
  readonly token: string
  readonly user: string
  readonly uid?: string
  /** Beside `system:authenticated`, which every user is in. `system:masters` may do anything. */
  readonly groups?: readonly string[]
  /** Resources that this user is forbidden, `secrets` or `deployments.apps`; not where RBAC decides. */
  readonly denied?: readonly string[]
}

/** Somebody as authorization sees them. */
export interface Identity {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The audience of the tokens: what a kube-apiserver's service account issuer is by default. */
export const audience = 'https://kubernetes.default.svc'

const administrator: Identity = {
  name: 'system:admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
}

const anonymous: Identity = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
}

interface AuthenticationOptions {
  /** Who brings no token is let in as nobody; else refused. */
  readonly anonymous: boolean
  readonly accounts: ServiceAccountTokens
}

/** The users of the simulated server, found by their bearer tokens. */
export class Authentication {
  /** The tokens of ServiceAccounts. */
  readonly accounts: ServiceAccountTokens
  readonly #users: ReadonlyMap<string, Identity>
  readonly #anonymous: boolean

  constructor(users: readonly SimulatorUser[], options: AuthenticationOptions) {
    this.#users = new Map(users.map((user) => [user.token, identityOf(user)]))
    this.#anonymous = options.anonymous
    this.accounts = options.accounts
  }

  /** Whose token it is, and what for. */
  find(token: string): BoundIdentity | undefined {
    const identity = this.#users.get(token)
    return identity === undefined ? this.accounts.find(token) : { identity, audiences: [audience] }
  }

  /** Who sends a request; without users everybody is the administrator. Throws 401. */
  identify(authorization: string | undefined): Identity {
    if (this.#users.size === 0) return administrator
    if (authorization === undefined || authorization === '') {
      if (this.#anonymous) return anonymous
      throw unauthorized()
    }
    const [scheme = '', token = ''] = authorization.split(' ')
    const found = scheme.toLowerCase() === 'bearer' ? this.find(token) : undefined
    if (found?.audiences.includes(audience) !== true) throw unauthorized()
    return found.identity
  }
}

const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized', { reason: 'Unauthorized' })

function identityOf({ user, uid = '', groups = [] }: SimulatorUser): Identity {
  return { name: user, uid, groups: [...new Set([...groups, 'system:authenticated'])] }
}
