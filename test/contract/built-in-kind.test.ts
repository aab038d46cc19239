import { beforeAll, expect, it } from 'vitest'
import { ask, type ContractAnswer, describeContract, newNamespace } from './contract-server.ts'

describeContract('A built-in kind', (server) => {
  let namespace = ''
  beforeAll(async () => {
    namespace = await newNamespace(server())
  })

  const send = async (method: string, path: string, body: unknown): Promise<ContractAnswer> => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return ask(server(), path, { method, body, contentType })
  }

  it('has a scale where its replicas count', async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
    const labels = { a: 'b', c: 'd' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 2, selector: { matchLabels: labels }, template }
    await send('POST', path, { metadata: { name: 'd' }, spec })
    const { json } = await ask(server(), `${path}/d/scale`)
    expect(json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'd', namespace },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'a=b,c=d' },
    })
    const stale = { ...json, spec: { replicas: 3 } }
    expect((await send('PUT', `${path}/d/scale`, stale)).json.spec).toEqual({ replicas: 3 })
    expect((await send('PUT', `${path}/d/scale`, stale)).status).toBe(409)
    const other = { metadata: { name: 'd', namespace, uid: 'another' }, spec: { replicas: 4 } }
    expect((await send('PUT', `${path}/d/scale`, other)).status).toBe(409)
    const negative = { metadata: { name: 'd', namespace }, spec: { replicas: -1 } }
    expect((await send('PUT', `${path}/d/scale`, negative)).json).toMatchObject({
      code: 422,
      details: { group: 'autoscaling', kind: 'Scale', causes: [{ field: 'spec.replicas' }] },
    })
    expect((await send('PATCH', `${path}/d/scale`, { spec: { replicas: 5 } })).status).toBe(200)
    expect((await ask(server(), `${path}/d`)).json.spec.replicas).toBe(5)
    expect((await ask(server(), `${path}/none/scale`)).status).toBe(404)
  })

  it('warns where its version is to go', async () => {
    const { headers } = await ask(server(), `/api/v1/namespaces/${namespace}/endpoints`)
    expect(headers.warning).toBe(
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    )
  })

  it('keeps the digits of integers beyond 2^53', async () => {
    const path = `/apis/batch/v1/namespaces/${namespace}/jobs`
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const body = JSON.stringify({
      metadata: { name: 'j' },
      spec: { activeDeadlineSeconds: 0, template },
    })
    const created = await send('POST', path, body.replace(':0', ':9007199254740993'))
    expect(created.status).toBe(201)
    await send('PATCH', `${path}/j`, '{"spec":{"activeDeadlineSeconds":9007199254740995}}')
    const { text } = await ask(server(), `${path}/j`)
    expect(text).toContain('"activeDeadlineSeconds":9007199254740995')
  })
})
