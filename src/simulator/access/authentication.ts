/*
 * Finds the user who sends a request. The server knows the tokens of the configured users, trusts those of another issuer,
 * and signs tokens for ServiceAccounts. The configuration says whether it refuses a request without a token, or takes
 * the sender for the administrator or for an anonymous user.
 */

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import { Refusal } from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'

/** A user of the simulated server. */
export interface SimulatorUser {
  readonly token: string
  readonly user: string
  readonly uid?: string
  /** Groups besides `system:authenticated`, which holds every user. `system:masters` may do anything. */
  readonly groups?: readonly string[]
  /** Resources that the user may not access: `secrets`, `deployments.apps`. RBAC ignores the list. */
  readonly denied?: readonly string[]
}

/**
 * Names the users of tokens that another issuer signs, as a kube-apiserver with `--oidc-issuer-url` does; `undefined` for
 * other tokens.
 */
export type IdentifyToken = (token: string) => Pick<SimulatorUser, 'user' | 'groups'> | undefined

export interface Identity {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The audience of the tokens: the default service account issuer of a kube-apiserver. */
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

/**
 * Knows the users, and issues and checks the tokens of ServiceAccounts: JWTs that this server signs, valid until they
 * expire or their account is deleted. The server stores none of them. Another server, or this server after a restart,
 * refuses them.
 */
export class Authentication {
  readonly #storage: Storage
  readonly #users: ReadonlyMap<string, Identity>
  readonly #anonymous: boolean
  readonly #identifyToken: IdentifyToken | undefined
  readonly #key = randomBytes(32)

  /** Requests without a token run as `system:anonymous` if that is allowed, and are refused otherwise. */
  constructor(
    storage: Storage,
    users: readonly SimulatorUser[],
    options: {
      readonly allowAnonymous: boolean
      readonly identifyToken?: IdentifyToken | undefined
    },
  ) {
    this.#storage = storage
    this.#users = new Map(users.map((user) => [user.token, identityOf(user)]))
    this.#anonymous = options.allowAnonymous
    this.#identifyToken = options.identifyToken
  }

  /** The user and the audiences of a token. */
  find(token: string): BoundIdentity | undefined {
    const issued = this.#identifyToken?.(token)
    const identity = issued === undefined ? this.#users.get(token) : identityOf(issued)
    return identity === undefined ? this.#account(token) : { identity, audiences: [audience] }
  }

  /**
   * The user who sends a request. Without configured users, every request comes from the administrator, except those with
   * a token if tokens of another issuer are known. Throws 401.
   */
  identify(authorization: string | undefined): Identity {
    const isGiven = authorization !== undefined && authorization !== ''
    if (this.#users.size === 0 && !(isGiven && this.#identifyToken !== undefined)) {
      return administrator
    }
    if (!isGiven) {
      if (this.#anonymous) return anonymous
      throw unauthorized()
    }
    const [scheme = '', token = ''] = authorization.split(' ')
    const found = scheme.toLowerCase() === 'bearer' ? this.find(token) : undefined
    if (found?.audiences.includes(audience) !== true) throw unauthorized()
    return found.identity
  }

  /** A new token and its expiry (RFC 3339); `undefined` if the account does not exist. */
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
      iss: audience,
      jti: randomUUID(),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: iat,
      sub: `system:serviceaccount:${namespace}:${name}`,
    })
    const token = `${head}.${body}.${this.#sign(`${head}.${body}`)}`
    return { token, expirationTimestamp: timestamp(exp * 1_000) }
  }

  /** The account of a token; `undefined` if another server signed it, if it has expired, or if its account is deleted. */
  #account(token: string): BoundIdentity | undefined {
    const [head = '', body = '', signature = '', ...more] = token.split('.')
    const expected = this.#sign(`${head}.${body}`)
    if (more.length > 0 || signature.length !== expected.length) return undefined
    if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
    const { aud, exp, sub, jti } = claims
    const { namespace, serviceaccount } = claims['kubernetes.io']
    const { name, uid } = serviceaccount
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
    return this.#storage.get(resources.serviceAccounts, namespace, name)?.metadata.uid
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

const unauthorized = (): Refusal => new Refusal(401, 'Unauthorized')

function identityOf({ user, uid = '', groups = [] }: Omit<SimulatorUser, 'token'>): Identity {
  return { name: user, uid, groups: [...new Set([...groups, 'system:authenticated'])] }
}

/** The claims of a ServiceAccount's token. Source: KEP-1205, bound service account tokens. */
interface Claims {
  readonly aud: readonly string[]
  readonly exp: number
  readonly sub: string
  readonly jti: string
  readonly 'kubernetes.io': {
    readonly namespace: string
    readonly serviceaccount: { readonly name: string; readonly uid: string }
  }
}

/** The user of a token, and the audiences for which the token is valid. */
interface BoundIdentity {
  readonly identity: Identity
  readonly audiences: readonly string[]
}

interface TokenOrder {
  readonly namespace: string
  readonly name: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
