import { beforeAll, expect, it } from 'vitest'
import { authentication, authorization, makeRoles, post, review, tokens } from './access-roles.ts'
import { type ContractAnswer, describeContract, type Fields } from './contract-server.ts'

describeContract(
  'An access review',
  (server) => {
    beforeAll(async () => makeRoles(server()))

    const token = async (spec: object): Promise<ContractAnswer> =>
      post(server(), `${authentication}/tokenreviews`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec,
      })

    it('say whose a token is', async () => {
      const answer = await token({ token: 'alice-token' })
      expect(answer.status).toBe(201)
      expect(answer.json).toMatchObject({ kind: 'TokenReview', spec: { token: 'alice-token' } })
      expect(answer.json.status).toEqual({
        authenticated: true,
        user: { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] },
        audiences: ['https://kubernetes.default.svc'],
      })
    })

    it.each([{ token: 'stolen' }, { token: 'alice-token', audiences: ['elsewhere'] }])(
      'say that %j is nobody’s',
      async (spec) => {
        const { status, json } = await token(spec)
        expect(status).toBe(201)
        expect(json.status).toEqual({ user: {}, error: 'invalid bearer token' })
      },
    )

    it('need a token, and the right to ask', async () => {
      const none = await token({})
      expect([none.status, none.json.reason]).toEqual([400, 'BadRequest'])
      const asked = await post(server(), `${authentication}/tokenreviews`, {}, 'alice-token')
      expect(asked.json.message).toBe(
        'tokenreviews.authentication.k8s.io is forbidden: User "alice" cannot create resource "tokenreviews" in API group "authentication.k8s.io" at the cluster scope',
      )
    })

    const reads =
      'RBAC: allowed by RoleBinding "alice-reads/default" of Role "reader" to User "alice"'
    const runs =
      'RBAC: allowed by ClusterRoleBinding "devs-run-apps" of ClusterRole "apps" to Group "devs"'
    const robot = { user: 'system:serviceaccount:default:robot' }
    const discovers =
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"'
    const inDefault = { namespace: 'default' }
    it.each<[object, boolean, string | undefined]>([
      [
        { user: 'alice', resourceAttributes: { ...inDefault, verb: 'get', resource: 'pods' } },
        true,
        reads,
      ],
      [
        {
          user: 'alice',
          resourceAttributes: { ...inDefault, verb: 'get', resource: 'pods', subresource: 'log' },
        },
        true,
        reads,
      ],
      [
        {
          user: 'alice',
          resourceAttributes: {
            ...inDefault,
            verb: 'get',
            resource: 'pods',
            subresource: 'exec',
          },
        },
        false,
        undefined,
      ],
      [
        { user: 'alice', resourceAttributes: { ...inDefault, verb: 'delete', resource: 'pods' } },
        false,
        undefined,
      ],
      [
        {
          user: 'alice',
          resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' },
        },
        false,
        undefined,
      ],
      [{ user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods' } }, false, undefined],
      [
        {
          user: 'alice',
          resourceAttributes: { ...inDefault, verb: 'get', resource: 'configmaps', name: 'one' },
        },
        true,
        reads,
      ],
      [
        {
          user: 'alice',
          resourceAttributes: { ...inDefault, verb: 'get', resource: 'configmaps' },
        },
        false,
        undefined,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          resourceAttributes: { verb: 'delete', group: 'apps', resource: 'deployments' },
        },
        true,
        runs,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          resourceAttributes: { verb: '*', group: 'apps', resource: '*' },
        },
        true,
        runs,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          resourceAttributes: {
            verb: 'get',
            group: 'any',
            resource: 'things',
            subresource: 'scale',
          },
        },
        true,
        runs,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          resourceAttributes: { verb: 'get', group: 'any', resource: 'things' },
        },
        false,
        undefined,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          nonResourceAttributes: { path: '/logs/today', verb: 'get' },
        },
        true,
        runs,
      ],
      [
        {
          user: 'x',
          groups: ['devs'],
          nonResourceAttributes: { path: '/metrics/more', verb: 'get' },
        },
        false,
        undefined,
      ],
      [
        {
          user: 'x',
          groups: ['system:authenticated'],
          nonResourceAttributes: { path: '/apis/apps', verb: 'get' },
        },
        true,
        discovers,
      ],
      [{ ...robot, nonResourceAttributes: { path: '/metrics', verb: 'get' } }, false, undefined],
      [
        {
          ...robot,
          resourceAttributes: {
            namespace: 'kube-public',
            verb: 'get',
            group: 'apps',
            resource: 'deployments',
          },
        },
        true,
        'RBAC: allowed by RoleBinding "robot-runs-apps/kube-public" of ClusterRole "apps" to ServiceAccount "robot/default"',
      ],
      [
        {
          ...robot,
          resourceAttributes: {
            ...inDefault,
            verb: 'get',
            group: 'apps',
            resource: 'deployments',
          },
        },
        false,
        undefined,
      ],
      [
        {
          user: 'x',
          groups: ['system:masters'],
          resourceAttributes: { verb: '*', group: '*', resource: '*' },
        },
        true,
        undefined,
      ],
    ])('say of %j: %s', async (spec, allowed, reason) => {
      const { status, json } = await review(server(), spec)
      expect(status).toBe(201)
      expect(json).toMatchObject({ kind: 'SubjectAccessReview', spec })
      expect(json.status).toEqual({ allowed, ...(reason === undefined ? {} : { reason }) })
    })

    const resourceAttributes = { verb: 'get', resource: 'pods' }
    it.each<[object, readonly string[]]>([
      [{}, ['spec.resourceAttributes', 'spec.user']],
      [{ user: 'a' }, ['spec.resourceAttributes']],
      [{ resourceAttributes }, ['spec.user']],
      [
        { user: 'a', resourceAttributes, nonResourceAttributes: { path: '/', verb: 'get' } },
        ['spec.nonResourceAttributes'],
      ],
    ])('refuse %j', async (spec, fields) => {
      const { status, json } = await review(server(), spec)
      expect(status).toBe(422)
      expect(json.details.causes.map(({ field }: Fields) => field)).toEqual(fields)
    })

    it('answer about oneself', async () => {
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { ...inDefault, verb: 'get', resource: 'pods' } },
      }
      const own = await post(
        server(),
        `${authorization}/selfsubjectaccessreviews`,
        body,
        'alice-token',
      )
      expect(own.json.status).toEqual({ allowed: true, reason: reads })
      const other = await post(
        server(),
        `${authorization}/selfsubjectaccessreviews`,
        body,
        'bob-token',
      )
      expect(other.json.status.allowed).toBe(false)
      const me = await post(server(), `${authentication}/selfsubjectreviews`, {}, 'bob-token')
      expect(me.json.status.userInfo).toEqual({
        username: 'bob',
        uid: 'bob-uid',
        groups: ['ops', 'system:authenticated'],
      })
    })

    it('answer about one namespace', async () => {
      const path = `${authorization}/namespaces/default/localsubjectaccessreviews`
      const body = (namespace: string): object => ({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'LocalSubjectAccessReview',
        metadata: inDefault,
        spec: { user: 'alice', resourceAttributes: { namespace, verb: 'get', resource: 'pods' } },
      })
      expect((await post(server(), path, body('default'))).json.status.allowed).toBe(true)
      const other = await post(server(), path, body('other'))
      expect([other.status, other.json.details.causes[0].field]).toEqual([
        422,
        'spec.resourceAttributes.namespace',
      ])
    })

    it('list the rules that hold for oneself', async () => {
      const path = `${authorization}/selfsubjectrulesreviews`
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: inDefault,
      }
      const { json } = await post(server(), path, body, 'alice-token')
      expect(json.status.incomplete).toBe(false)
      const { resourceRules, nonResourceRules } = json.status
      expect(resourceRules).toContainEqual({
        verbs: ['get', 'list'],
        apiGroups: [''],
        resources: ['pods', 'pods/log'],
      })
      expect(resourceRules).toContainEqual({
        verbs: ['get', 'list'],
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['one'],
      })
      expect(resourceRules).toContainEqual({
        verbs: ['*'],
        apiGroups: ['apps'],
        resources: ['*'],
      })
      expect(nonResourceRules).toContainEqual({
        verbs: ['get'],
        nonResourceURLs: ['/metrics', '/logs/*'],
      })
      const nowhere = await post(server(), path, { ...body, spec: {} }, 'alice-token')
      expect([nowhere.status, nowhere.json.message]).toEqual([400, 'no namespace on request'])
    })
  },
  { tokens },
)
