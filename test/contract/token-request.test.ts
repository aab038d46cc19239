import { expect, it } from 'vitest'
import { authentication, post, tokens } from './access-roles.ts'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newNamespace,
} from './contract-server.ts'

const own = 'https://kubernetes.default.svc'

describeContract(
  'A TokenRequest',
  (server) => {
    const request = async (
      namespace: string,
      name: string,
      spec: object,
    ): Promise<ContractAnswer> =>
      post(server(), `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec,
      })
    const accounts = (namespace: string): string =>
      `/api/v1/namespaces/${namespace}/serviceaccounts`
    /** A namespace with an account `robot`. */
    const robot = async (): Promise<{ namespace: string; uid: string }> => {
      const namespace = await newNamespace(server())
      const { status, json } = await post(server(), accounts(namespace), {
        metadata: { name: 'robot' },
      })
      expect(status).toBe(201)
      return { namespace, uid: json.metadata.uid }
    }
    const reviewed = async (token: string, audiences?: readonly string[]): Promise<Fields> => {
      const spec = { token, ...(audiences === undefined ? {} : { audiences }) }
      return (await post(server(), `${authentication}/tokenreviews`, { spec })).json.status
    }
    const claims = (token: string): Fields =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

    it('gives a ServiceAccount a token of its own', async () => {
      const { namespace, uid } = await robot()
      const { status, json } = await request(namespace, 'robot', { expirationSeconds: 600 })
      expect(status).toBe(201)
      expect(json).toMatchObject({
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { name: 'robot', namespace },
        spec: { audiences: [own], expirationSeconds: 600, boundObjectRef: null },
      })
      const { token, expirationTimestamp } = json.status
      expect(expirationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      const { aud, sub, iss, exp, iat, 'kubernetes.io': bound } = claims(token)
      const username = `system:serviceaccount:${namespace}:robot`
      expect([aud, sub, iss, exp - iat]).toEqual([[own], username, own, 600])
      expect(bound).toMatchObject({ namespace, serviceaccount: { name: 'robot', uid } })
      const { user, ...rest } = await reviewed(token)
      expect(rest).toEqual({ authenticated: true, audiences: [own] })
      expect(user).toEqual({
        username,
        uid,
        groups: [
          'system:serviceaccounts',
          `system:serviceaccounts:${namespace}`,
          'system:authenticated',
        ],
        extra: {
          'authentication.kubernetes.io/credential-id': [`JTI=${claims(token).jti}`],
        },
      })
      const headers = { authorization: `Bearer ${token}` }
      expect((await ask(server(), '/version', { headers })).status).toBe(200)
    })

    it('makes it good for the audiences that it names, and no others', async () => {
      const { namespace } = await robot()
      const { json } = await request(namespace, 'robot', { audiences: ['gateway', 'other'] })
      expect(json.spec).toMatchObject({
        audiences: ['gateway', 'other'],
        expirationSeconds: 3_600,
      })
      const { token } = json.status
      const { authenticated, audiences } = await reviewed(token, ['elsewhere', 'gateway'])
      expect([authenticated, audiences]).toEqual([true, ['gateway']])
      expect((await reviewed(token)).authenticated).toBeUndefined()
      const headers = { authorization: `Bearer ${token}` }
      expect((await ask(server(), '/version', { headers })).status).toBe(401)
    })

    it('makes one that is worth nothing once the account is gone', async () => {
      const { namespace } = await robot()
      const { token } = (await request(namespace, 'robot', {})).json.status
      expect((await reviewed(token)).authenticated).toBe(true)
      await ask(server(), `${accounts(namespace)}/robot`, { method: 'DELETE' })
      await expect.poll(async () => (await reviewed(token)).authenticated).toBeUndefined()
    })

    it('makes one that nobody can change', async () => {
      const { namespace } = await robot()
      const { token } = (await request(namespace, 'robot', {})).json.status
      const [head, body, signature] = token.split('.')
      const other = { ...claims(token), sub: 'system:serviceaccount:kube-system:root' }
      const forged = Buffer.from(JSON.stringify(other)).toString('base64url')
      for (const text of [
        `${head}.${forged}.${signature}`,
        `${head}.${body}.`,
        `${head}.${body}`,
      ]) {
        expect((await reviewed(text)).authenticated, text).toBeUndefined()
      }
    })

    it('is refused for an account that is not there', async () => {
      const namespace = await newNamespace(server())
      const { status, json } = await request(namespace, 'nobody', {})
      expect([status, json.message]).toEqual([404, 'serviceaccounts "nobody" not found'])
    })

    it.each([
      [10, 'may not specify a duration less than 10 minutes'],
      [2 ** 33, 'may not specify a duration larger than 2^32 seconds'],
    ])('is refused for %d seconds', async (expirationSeconds, problem) => {
      const { namespace } = await robot()
      const { status, json } = await request(namespace, 'robot', { expirationSeconds })
      expect([status, json.message]).toEqual([
        422,
        `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: ${expirationSeconds}: ${problem}`,
      ])
    })

    it('needs the right to create tokens', async () => {
      const { namespace } = await robot()
      const path = `${accounts(namespace)}/robot/token`
      const { status } = await post(server(), path, { spec: {} }, 'bob-token')
      expect(status).toBe(403)
    })
  },
  { tokens },
)
