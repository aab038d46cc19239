import { beforeAll, describe, expect, it } from 'vitest'
import { group, makeRbac, makeRoles, reference, review, tokens } from './access-roles.ts'
import { ask, type ContractAnswer, describeContract, type Fields } from './contract-server.ts'

describeContract(
  'Access',
  (server) => {
    beforeAll(async () => makeRoles(server()))

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
        await makeRbac(server(), 'namespaces/default/rolebindings', {
          metadata: { name: 'bob-dangles' },
          roleRef: reference('Role', 'none'),
          subjects: [reference('User', 'bob')],
        })
        const spec = {
          user: 'bob',
          resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' },
        }
        await expect
          .poll(async () => (await review(server(), spec)).json.status)
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
  },
  { tokens },
)
