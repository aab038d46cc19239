import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'

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

/** What a token of a ServiceAccount says. Source: KEP-1205, bound service account tokens. */
interface Claims {
  readonly aud: readonly string[]
  readonly exp: number
  readonly sub: string
  readonly jti: string
  readonly account: AccountClaim
}

interface AccountClaim {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Who brings a token, and what it is for. */
export interface BoundIdentity {
  readonly identity: Identity
  readonly audiences: readonly string[]
}

export interface TokenOrder {
  readonly namespace: string
  readonly name: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
}

const resource = { group: '', version: 'v1', resource: 'serviceaccounts' }

/**
 * The tokens that ServiceAccounts are given: JWTs of this server, good until they expire or their account is gone. Nothing is
 * kept of them, and another server, or the same one after a restart, does not know them.
 */
export class ServiceAccountTokens {
  readonly #storage: Storage
  readonly #issuer: string
  readonly #key = randomBytes(32)

  constructor(storage: Storage, issuer: string) {
    this.#storage = storage
    this.#issuer = issuer
  }

  /** A token, and when it expires (RFC 3339); `undefined` where there is no such account. */
  issue(
    order: TokenOrder,
  ): { readonly token: string; readonly expirationTimestamp: string } | undefined {
    const { namespace, name, audiences, expirationSeconds } = order
    const uid = this.#uidOf(namespace, name)
    if (uid === undefined) return undefined
    const iat = Math.floor(Date.now() / 1_000)
    const exp = iat + expirationSeconds
    const head = encoded({ alg: 'HS256', typ: 'JWT' })
    const body = encoded({
      aud: audiences,
      exp,
      iat,
      iss: this.#issuer,
      jti: randomUUID(),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: iat,
      sub: subjectOf(namespace, name),
    })
    const token = `${head}.${body}.${this.#sign(`${head}.${body}`)}`
    const expirationTimestamp = new Date(exp * 1_000).toISOString().replace('.000', '')
    return { token, expirationTimestamp }
  }

  /** Whose token it is; `undefined` where it is none of this server, too old, or of an account that is no more. */
  find(token: string): BoundIdentity | undefined {
    const [head = '', body = '', signature = '', ...more] = token.split('.')
    const expected = this.#sign(`${head}.${body}`)
    if (more.length > 0 || signature.length !== expected.length) return undefined
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined
    const { aud, exp, sub, jti, account } = claimsOf(body)
    const { namespace, name, uid } = account
    if (exp * 1_000 <= Date.now() || this.#uidOf(namespace, name) !== uid) return undefined
    const groups = [
      'system:serviceaccounts',
      `system:serviceaccounts:${namespace}`,
      'system:authenticated',
    ]
    const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] }
    return { identity: { name: sub, uid, groups, extra }, audiences: aud }
  }

  #uidOf(namespace: string, name: string): string | undefined {
    const found = this.#storage.get(resource, namespace, name)
    return found?.metadata.uid
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

const subjectOf = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The claims of a body that this server has signed. */
function claimsOf(body: string): Claims {
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Omit<
    Claims,
    'account'
  > & {
    readonly 'kubernetes.io': {
      readonly namespace: string
      readonly serviceaccount: { readonly name: string; readonly uid: string }
    }
  }
  const { namespace, serviceaccount } = claims['kubernetes.io']
  return { ...claims, account: { namespace, ...serviceaccount } }
}
