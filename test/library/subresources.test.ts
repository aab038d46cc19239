import { isNotFound, type ObjectClient } from 'informerql/cluster'
import { InvalidOptionError, resources } from 'informerql/informer'
import { expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { describeContract, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'

const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'main', image: 'example/a:1' }] },
}

describeContract('A client of a subresource', (server) => {
  it('scales a workload, by every kind of write', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const client = apiServer.client(resources.deployments, { fieldManager: 'tests' })
    const selector = { matchLabels: { app: 'a' } }
    const metadata = { namespace, name: 'a' }
    await client.create({ metadata, spec: { replicas: 1, selector, template } })
    const scale = client.subresource('scale')
    const current = await scale.get(metadata)
    expect(current).toMatchObject({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      spec: { replicas: 1 },
      status: { selector: 'app=a' },
    })
    expect((await scale.update({ ...current, spec: { replicas: 2 } })).spec?.replicas).toBe(2)
    await scale.patch(metadata, { merge: { spec: { replicas: 3 } } })
    expect((await client.get(metadata)).spec?.replicas).toBe(3)
  })

  it('writes the status of pods, and evicts them', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const client = apiServer.client(resources.pods)
    const metadata = { namespace, name: 'a' }
    await client.create({ metadata, spec: template.spec })
    const status = client.subresource('status')
    await status.patch(metadata, { merge: { status: { phase: 'Running' } } })
    expect((await status.get(metadata)).status?.phase).toBe('Running')
    const answer = await client.subresource('eviction').create({ metadata }, { dryRun: true })
    expect(answer).toMatchObject({ kind: 'Status', status: 'Success' })
    await client
      .subresource('eviction')
      .create({ metadata, deleteOptions: { gracePeriodSeconds: 0 } })
    expect(isNotFound(await failureOf(client.get(metadata)))).toBe(true)
  })

  it('gives tokens of service accounts', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const accounts = apiServer.client(resources.serviceAccounts)
    const metadata = { namespace, name: 'robot' }
    await accounts.create({ metadata })
    const spec = { expirationSeconds: 600 }
    const { status } = await accounts.subresource('token').create({ metadata, spec })
    expect(status?.token.split('.')).toHaveLength(3)
  })

  it('has the methods that the server has', async () => {
    await using apiServer = await openApiServer(server())
    const verbs = async (
      path: string,
      resource: string,
    ): Promise<readonly string[] | undefined> => {
      const { resources: served } = (await apiServer.request('GET', path)) as {
        readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
      }
      return served
        .find(({ name }) => name === resource)
        ?.verbs.toSorted((a, b) => (a < b ? -1 : 1))
    }
    const whole = ['get', 'patch', 'update']
    expect(await verbs('/api/v1', 'pods/status')).toEqual(whole)
    expect(await verbs('/api/v1', 'pods/ephemeralcontainers')).toEqual(whole)
    expect(await verbs('/api/v1', 'pods/resize')).toEqual(whole)
    expect(await verbs('/apis/apps/v1', 'deployments/scale')).toEqual(whole)
    const certificates = '/apis/certificates.k8s.io/v1'
    expect(await verbs(certificates, 'certificatesigningrequests/approval')).toEqual(whole)
    expect(await verbs('/api/v1', 'pods/eviction')).toEqual(['create'])
    expect(await verbs('/api/v1', 'pods/binding')).toEqual(['create'])
    expect(await verbs('/api/v1', 'serviceaccounts/token')).toEqual(['create'])
    expect(await verbs('/api/v1', 'namespaces/finalize')).toEqual(['update'])
  })

  it('rejects for an object that is not there, and refuses a name that is none', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const client: ObjectClient = apiServer.client(resources.configMaps)
    const failure = await failureOf(client.subresource('scale').get({ namespace, name: 'a' }))
    expect(isNotFound(failure)).toBe(true)
    expect(() => client.subresource('../a' as 'status')).toThrow(InvalidOptionError)
    const own = client.subresource('restart', resources.configMaps)
    expect(isNotFound(await failureOf(own.get({ namespace, name: 'a' })))).toBe(true)
  })
})
