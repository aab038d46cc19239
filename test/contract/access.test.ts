import { beforeAll, describe, expect, it } from 'vitest'
import { ask, type ContractAnswer, describeContract, type Fields } from './contract-server.ts'

const tokens = [
  { token: 'alice-token', user: 'alice', uid: 'alice-uid', groups: ['devs'] },
  { token: 'bob-token', user: 'bob', uid: 'bob-uid', groups: ['ops'] },
  {
    token: 'robot-token',
    user: 'system:serviceaccount:default:robot',
    uid: 'robot-uid',
    groups: ['system:serviceaccounts'],
  },
]

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const authentication = '/apis/authentication.k8s.io/v1'
const authorization = '/apis/authorization.k8s.io/v1'

describeContract(
  'Access',
  (server) => {
    const post = async (path: string, body: object, token?: string): Promise<ContractAnswer> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return ask(server(), path, { method: 'POST', body, headers })
    }
    const make = async (path: string, body: object): Promise<void> => {
      const answer = await post(`${rbac}/${path}`, body)
      if (answer.status !== 201) throw new Error(answer.text)
    }
    const role = (kind: string, name: string): object => ({ apiGroup: group, kind, name })
    const subject = (kind: string, name: string): object => ({ apiGroup: group, kind, name })

    beforeAll(async () => {
      const core = { apiGroups: [''] }
      await make('namespaces/default/roles', {
        metadata: { name: 'reader' },
        rules: [
          { ...core, resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
          { ...core, resources: ['configmaps'], resourceNames: ['one'], verbs: ['get', 'list'] },
        ],
      })
      await make('namespaces/default/rolebindings', {
        metadata: { name: 'alice-reads' },
        roleRef: role('Role', 'reader'),
        subjects: [subject('User', 'alice')],
      })
      await make('clusterroles', {
        metadata: { name: 'apps' },
        rules: [
          { apiGroups: ['apps'], resources: ['*'], verbs: ['*'] },
          { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] },
          { nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] },
        ],
      })
      await make('clusterrolebindings', {
        metadata: { name: 'devs-run-apps' },
        roleRef: role('ClusterRole', 'apps'),
        subjects: [subject('Group', 'devs')],
      })
      await make('namespaces/kube-public/rolebindings', {
        metadata: { name: 'robot-runs-apps' },
        roleRef: role('ClusterRole', 'apps'),
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
      })
      // A real server hears of its own writes a moment later.
      const allowed = async (): Promise<boolean> => {
        const { json } = await review({
          user: 'system:serviceaccount:default:robot',
          resourceAttributes: {
            namespace: 'kube-public',
            verb: 'get',
            group: 'apps',
            resource: 'deployments',
          },
        })
        return json.status.allowed
      }
      while (!(await allowed()));
    })

    const review = async (spec: object): Promise<ContractAnswer> =>
      post(`${authorization}/subjectaccessreviews`, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec,
      })

    describe('to resources', () => {
      const pods = '/api/v1/namespaces/default/pods'
      const at = async (path: string, more: Fields = {}): Promise<ContractAnswer> =>
        ask(server(), path, { ...more, headers: { authorization: 'Bearer alice-token' } })

      it.each([
        pods,
        '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Done',
        '/apis/apps/v1/deployments',
        '/apis/apps/v1/namespaces/kube-system/statefulsets',
      ])('%s is allowed', async (path) => {
        expect((await at(path)).status).toBe(200)
      })

      it('is asked for before it is seen whether there is such an object', async () => {
        expect((await at('/api/v1/namespaces/default/configmaps/one')).status).toBe(404)
        expect((await at('/api/v1/namespaces/default/configmaps/two')).status).toBe(403)
      })

      const inDefault = 'in API group "" in the namespace "default"'
      it.each<[string, string, string, object]>([
        [
          'GET',
          '/api/v1/pods',
          'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope',
          { kind: 'pods' },
        ],
        [
          'GET',
          `${pods}?watch=1`,
          `pods is forbidden: User "alice" cannot watch resource "pods" ${inDefault}`,
          { kind: 'pods' },
        ],
        [
          'DELETE',
          pods,
          `pods is forbidden: User "alice" cannot deletecollection resource "pods" ${inDefault}`,
          { kind: 'pods' },
        ],
        [
          'PUT',
          `${pods}/p`,
          `pods "p" is forbidden: User "alice" cannot update resource "pods" ${inDefault}`,
          { name: 'p', kind: 'pods' },
        ],
        [
          'PATCH',
          `${pods}/p/status`,
          `pods "p" is forbidden: User "alice" cannot patch resource "pods/status" ${inDefault}`,
          { name: 'p', kind: 'pods' },
        ],
        [
          'GET',
          '/api/v1/nodes/n',
          'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope',
          { name: 'n', kind: 'nodes' },
        ],
        [
          'GET',
          '/api/v1/namespaces/default',
          `namespaces "default" is forbidden: User "alice" cannot get resource "namespaces" ${inDefault}`,
          { name: 'default', kind: 'namespaces' },
        ],
        [
          'GET',
          '/apis/nothing/v1/things',
          'things.nothing is forbidden: User "alice" cannot list resource "things" in API group "nothing" at the cluster scope',
          { group: 'nothing', kind: 'things' },
        ],
        [
          'POST',
          '/apis/batch/v1/namespaces/default/jobs',
          'jobs.batch is forbidden: User "alice" cannot create resource "jobs" in API group "batch" in the namespace "default"',
          { group: 'batch', kind: 'jobs' },
        ],
      ])('%s %s is forbidden', async (method, path, message, details) => {
        const body = method === 'GET' ? undefined : {}
        const answer = await at(path, { method, body })
        expect(answer.status).toBe(403)
        expect(answer.json).toEqual({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message,
          reason: 'Forbidden',
          details,
          code: 403,
        })
      })

      it('says which role of a binding is missing', async () => {
        await make('namespaces/default/rolebindings', {
          metadata: { name: 'bob-dangles' },
          roleRef: role('Role', 'none'),
          subjects: [subject('User', 'bob')],
        })
        const spec = {
          user: 'bob',
          resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' },
        }
        await expect
          .poll(async () => (await review(spec)).json.status, { timeout: 10_000 })
          .toEqual({
            allowed: false,
            reason: `RBAC: role.${group} "none" not found`,
          })
      })
    })

    describe('to paths', () => {
      const get = async (path: string, token?: string): Promise<ContractAnswer> =>
        ask(server(), path, {
          headers: { authorization: token === undefined ? '' : `Bearer ${token}` },
        })

      it.each(['/version', '/api', '/apis', '/openapi/v3', '/healthz', '/apis/apps/v1'])(
        '%s is open to users',
        async (path) => {
          expect((await get(path, 'bob-token')).status).toBe(200)
        },
      )

      it('is open to nobody but for health and version', async () => {
        expect((await get('/version')).status).toBe(200)
        expect((await get('/readyz')).status).toBe(200)
        const closed = await get('/api')
        expect(closed.status).toBe(403)
        expect(closed.json.message).toBe(
          'forbidden: User "system:anonymous" cannot get path "/api"',
        )
        const pods = await get('/api/v1/pods')
        expect(pods.json.message).toMatch(/^pods is forbidden: User "system:anonymous" cannot list/)
      })

      it('is forbidden where no rule has it', async () => {
        const answer = await get('/metrics', 'bob-token')
        expect(answer.status).toBe(403)
        expect(answer.json).toMatchObject({
          message: 'forbidden: User "bob" cannot get path "/metrics"',
          reason: 'Forbidden',
          details: {},
        })
      })

      it('needs a token that is known', async () => {
        const answer = await get('/version', 'stolen')
        expect([answer.status, answer.json.message]).toEqual([401, 'Unauthorized'])
      })
    })

    describe('reviews', () => {
      const token = async (spec: object): Promise<ContractAnswer> =>
        post(`${authentication}/tokenreviews`, {
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
        const asked = await post(`${authentication}/tokenreviews`, {}, 'alice-token')
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
        [
          { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods' } },
          false,
          undefined,
        ],
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
        const { status, json } = await review(spec)
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
        const { status, json } = await review(spec)
        expect(status).toBe(422)
        expect(json.details.causes.map(({ field }: Fields) => field)).toEqual(fields)
      })

      it('answer about oneself', async () => {
        const body = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { ...inDefault, verb: 'get', resource: 'pods' } },
        }
        const own = await post(`${authorization}/selfsubjectaccessreviews`, body, 'alice-token')
        expect(own.json.status).toEqual({ allowed: true, reason: reads })
        const other = await post(`${authorization}/selfsubjectaccessreviews`, body, 'bob-token')
        expect(other.json.status.allowed).toBe(false)
        const me = await post(`${authentication}/selfsubjectreviews`, {}, 'bob-token')
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
        expect((await post(path, body('default'))).json.status.allowed).toBe(true)
        const other = await post(path, body('other'))
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
        const { json } = await post(path, body, 'alice-token')
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
        const nowhere = await post(path, { ...body, spec: {} }, 'alice-token')
        expect([nowhere.status, nowhere.json.message]).toEqual([400, 'no namespace on request'])
      })
    })
  },
  { tokens },
)
