import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type AuthenticationOptions, defaultAuthenticationOptions } from 'informerql'
import { SignJWT } from 'jose'
import { type Configuration, Provider } from 'oidc-provider'

function groupsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `a-group-with-a-long-name-${at}`)
}

/** Whom the provider knows: by account, with the groups in their tokens. */
const people: Readonly<
  Record<string, { readonly name: string; readonly groups: readonly string[] }>
> = {
  alice: { name: 'Alice Adams', groups: ['payments'] },
  bob: { name: 'Bob Brown', groups: ['orders'] },
  carol: { name: 'Carol of many groups', groups: groupsOf(100) },
  dave: { name: 'Dave of all groups', groups: groupsOf(1_000) },
}

/** A genuine OpenID Connect provider on loopback, with a page on which people choose who they are. */
export interface SignInProvider extends AsyncDisposable {
  readonly url: string
  /**
   * Registers the gateway. Sessions and grants of earlier registrations are forgotten. `namesSessions`: whether ID tokens
   * have a `sid`, as by default.
   */
  readonly register: (gatewayOrigin: string, namesSessions?: boolean) => void
  /** A logout token with these claims. */
  readonly logoutToken: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  /** How long tokens last from now on. */
  tokenSeconds: number
  /** Answers nothing but 500 while true. */
  broken: boolean
  /** Requests for tokens do what they do at once, and are answered after this. */
  held: Promise<void> | undefined
  /** How many of them have been held. */
  holds: number
  /** The requests that it has got: `POST /token`. */
  readonly requests: string[]
}

export interface SignInProviderOptions {
  readonly tls?: { readonly cert: string; readonly key: string }
}

const clientSecret = 'a-secret-of-the-client'

/** The options of a gateway that signs its users in. */
export interface SignInAuth extends AuthenticationOptions {
  readonly oidc: NonNullable<AuthenticationOptions['oidc']>
  readonly login: NonNullable<AuthenticationOptions['login']>
}

/** Writes the secrets of a gateway into a folder, and makes its options for signing in at a provider. */
export const signInAuth = async (
  { url: issuer }: Pick<SignInProvider, 'url'>,
  dir: string,
): Promise<SignInAuth> => {
  const [clientSecretFile, sessionSecretFile] = ['client', 'session'].map((name) => join(dir, name))
  await writeFile(clientSecretFile ?? '', `${clientSecret}\n`)
  await writeFile(sessionSecretFile ?? '', `${'s'.repeat(40)}\n`)
  return {
    ...defaultAuthenticationOptions(),
    mode: 'oidc-login',
    oidc: {
      issuer,
      algorithms: ['RS256'],
      usernameClaim: 'sub',
      usernamePrefix: 'oidc:',
      groupsClaim: 'groups',
      groupsPrefix: 'oidc:',
      extraClaims: {},
      requiredClaims: {},
    },
    login: {
      clientId: 'gateway',
      clientSecretFile,
      sessionSecretFile,
      scopes: ['openid', 'profile', 'email'],
      authorizationParameters: {},
      apiServerToken: 'id',
      sessionMaxMs: 3_600_000,
      bearerTokens: 'oidc',
      required: true,
    },
  }
}

export const startSignInProvider = async ({
  tls,
}: SignInProviderOptions = {}): Promise<SignInProvider> => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwks = { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }
  const state = {
    tokenSeconds: 300,
    broken: false,
    held: undefined as Promise<void> | undefined,
    holds: 0,
    requests: [] as string[],
  }
  let url = ''
  const made = (gatewayOrigin: string, namesSessions = true): Provider => {
    const lifetime = (): number => state.tokenSeconds
    const configuration = {
      jwks: jwks as NonNullable<Configuration['jwks']>,
      clients: [
        {
          client_id: 'gateway',
          client_secret: clientSecret,
          redirect_uris: [`${gatewayOrigin}/auth/callback`],
          post_logout_redirect_uris: [`${gatewayOrigin}/`],
          backchannel_logout_uri: `${gatewayOrigin}/auth/backchannel-logout`,
          backchannel_logout_session_required: namesSessions,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code' as const],
        },
      ],
      // Its own dispatcher refuses to reach loopback.
      fetch: (address: string, options: RequestInit & { dispatcher?: unknown }) => {
        delete options.dispatcher
        return fetch(address, options)
      },
      cookies: { keys: ['a key of the provider'] },
      claims: { openid: ['sub'], profile: ['name', 'groups'] },
      conformIdTokenClaims: false,
      findAccount: (_: unknown, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, ...people[accountId] }),
      }),
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      ttl: {
        IdToken: lifetime,
        AccessToken: lifetime,
        RefreshToken: 3_600,
        Session: 3_600,
        Grant: 3_600,
        Interaction: 600,
      },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/choose/${uid}` },
      loadExistingGrant: async (context: {
        oidc: {
          client?: { clientId: string }
          session?: { accountId?: string }
          provider: Provider
        }
      }) => {
        const { client, session, provider } = context.oidc
        const grant = new provider.Grant({
          clientId: client?.clientId ?? '',
          accountId: session?.accountId ?? '',
        })
        grant.addOIDCScope('openid profile email')
        grant.addResourceScope('urn:api', 'openid profile email')
        await grant.save()
        return grant
      },
      features: {
        devInteractions: { enabled: false },
        revocation: { enabled: true },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => 'urn:api',
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: 'openid profile email',
            audience: 'gateway',
            accessTokenFormat: 'jwt' as const,
            accessTokenTTL: state.tokenSeconds,
          }),
        },
      },
    }
    return new Provider(url, configuration as unknown as Configuration)
  }
  let provider: Provider
  const choose = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, , uid, accountId] = (request.url ?? '').split('/')
    if (accountId !== undefined) {
      await provider.interactionFinished(request, response, { login: { accountId } })
      return
    }
    const links = Object.entries(people).map(
      ([account, { name }]) => `<a href="/choose/${uid}/${account}">${name}</a>`,
    )
    response.setHeader('content-type', 'text/html').end(links.join('\n'))
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    state.requests.push(`${request.method} ${new URL(request.url ?? '', url).pathname}`)
    if (state.held !== undefined && request.url === '/token') {
      const { held } = state
      const end = response.end.bind(response) as (body: unknown) => void
      response.end = (body?: unknown) => {
        state.holds += 1
        void held.then(() => end(body))
        return response
      }
    }
    if (state.broken) response.writeHead(500).end()
    else if (request.url?.startsWith('/choose/') === true) void choose(request, response)
    else void provider.callback()(request, response)
  }
  const server = tls === undefined ? createHttpServer(listener) : createHttpsServer(tls, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  provider = made('http://127.0.0.1:1')
  return Object.assign(state, {
    url,
    register: (...of: Parameters<typeof made>) => void (provider = made(...of)),
    logoutToken: (claims: Readonly<Record<string, unknown>>) =>
      new SignJWT({
        jti: randomUUID(),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer(url)
        .setAudience('gateway')
        .setIssuedAt()
        .setExpirationTime('2m')
        .sign(privateKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}
