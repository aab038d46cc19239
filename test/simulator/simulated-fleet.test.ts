import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type SimulatedFleet, startSimulatedFleet } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Fields } from '../contract/contract-server.ts'

const rest = { churn: { eventsPerSecond: 0 } }

describe('A simulated fleet', () => {
  let fleet: SimulatedFleet
  beforeAll(async () => {
    fleet = await startSimulatedFleet(rest)
  })
  afterAll(() => fleet[Symbol.asyncDispose]())

  const get = async (name: string, path: string): Promise<Fields> => {
    const { url } = fleet.clusters.find((one) => one.name === name)?.simulator ?? { url: '' }
    const server = { url, headers: {}, expireHistory: async () => undefined }
    return await ask(server, path)
  }
  const deployments = async (name: string): Promise<Map<string, Fields>> => {
    const { json } = await get(name, '/apis/apps/v1/deployments')
    return new Map(
      json.items.map((one: Fields) => [`${one.metadata.namespace}/${one.metadata.name}`, one]),
    )
  }
  const imageOf = (deployment: Fields): string => deployment?.spec.template.spec.containers[0].image

  it('has production in two regions and staging, with labels and 700 pods together', async () => {
    expect(fleet.clusters.map(({ name, labels }) => [name, labels])).toEqual([
      ['prod-eu', { env: 'production', region: 'eu-north-1' }],
      ['prod-us', { env: 'production', region: 'us-east-1' }],
      ['staging', { env: 'staging', region: 'eu-north-1' }],
    ])
    const counts = await Promise.all(
      fleet.clusters.map(async ({ name }) => (await get(name, '/api/v1/pods')).json.items.length),
    )
    expect(counts).toEqual([250, 250, 200])
  })

  it('runs the same apps: the same versions in production, newer ones and fewer replicas in staging', async () => {
    const [eu, us, staging] = await Promise.all(['prod-eu', 'prod-us', 'staging'].map(deployments))
    const names = [...(eu?.keys() ?? [])]
    expect([...(us?.keys() ?? [])]).toEqual(names)
    expect([...(staging?.keys() ?? [])]).toEqual(names)
    const app = 'storefront/shop-web'
    expect(imageOf(us?.get(app))).toBe(imageOf(eu?.get(app)))
    const minor = (image: string): number => Number(/:\d+\.(\d+)\./.exec(image)?.[1])
    expect(minor(imageOf(staging?.get(app)))).toBe(minor(imageOf(eu?.get(app))) + 1)
    expect(staging?.get(app)?.spec.replicas).toBeLessThan(eu?.get(app)?.spec.replicas)
    const uids = [eu, us, staging].map((all) => all?.get(app)?.metadata.uid)
    expect(new Set(uids).size).toBe(3)
  })

  it('has an older version in one cluster, without the fields and kinds of newer ones', async () => {
    const versions = await Promise.all(
      fleet.clusters.map(async ({ name }) => (await get(name, '/version')).json.gitVersion),
    )
    expect(versions).toEqual(['v1.36.3', 'v1.33.13', 'v1.36.3'])
    const devices = '/apis/resource.k8s.io/v1/deviceclasses'
    expect((await get('prod-eu', devices)).status).toBe(200)
    expect((await get('prod-us', devices)).status).toBe(404)
    const podSpec = async (name: string): Promise<object> =>
      (await get(name, '/openapi/v3/api/v1')).json.components.schemas['io.k8s.api.core.v1.PodSpec']
        .properties
    expect(await podSpec('prod-eu')).toHaveProperty('hostnameOverride')
    expect(await podSpec('prod-us')).not.toHaveProperty('hostnameOverride')
    const node = (await get('prod-us', '/api/v1/nodes/worker-a-001')).json
    expect(node.status.nodeInfo.kubeletVersion).toBe('v1.33.13')
  })

  it('has a kind in one cluster that the others lack', async () => {
    const path = '/apis/fjordholt.example/v1/salestaxes'
    const taxes = (await get('prod-us', path)).json.items
    expect(taxes.map(({ metadata }: Fields) => metadata.name)).toEqual([
      'new-york',
      'oregon',
      'texas',
    ])
    expect((await get('prod-eu', path)).status).toBe(404)
    expect((await get('staging', path)).status).toBe(404)
  })

  it('has certificates in one cluster, of which one ends soon and one was not issued', async () => {
    const path = '/apis/cert-manager.io/v1/certificates'
    const certificates = new Map<string, Fields>(
      (await get('prod-us', path)).json.items.map((one: Fields) => [one.metadata.name, one]),
    )
    const daysTo = (name: string): number =>
      Math.round((Date.parse(certificates.get(name)?.status.notAfter) - Date.now()) / 86_400_000)
    expect([...certificates.keys()].toSorted()).toEqual(['checkout-api', 'reports-web', 'shop-web'])
    expect(['checkout-api', 'reports-web', 'shop-web'].map(daysTo)).toEqual([5, NaN, 70])
    const ready = certificates.get('reports-web')?.status.conditions[0]
    expect(ready).toMatchObject({ type: 'Ready', status: 'False' })
  })

  it('has an Application that has drifted, a Kustomization and a release of Helm there', async () => {
    const [application] = (await get('prod-us', '/apis/argoproj.io/v1alpha1/applications')).json
      .items
    expect(application.status.sync.status).toBe('OutOfSync')
    const drifted = application.status.resources.filter(
      ({ status }: Fields) => status === 'OutOfSync',
    )
    expect(drifted.map(({ name }: Fields) => name)).toEqual(['auth-api', 'login-banner'])
    expect((await deployments('prod-us')).has('identity/auth-api')).toBe(true)
    const kustomizations = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'
    const [kustomization] = (await get('prod-us', kustomizations)).json.items
    expect(kustomization.status.inventory.entries).toHaveLength(1)
    const secrets = '/api/v1/namespaces/payments/secrets?labelSelector=owner=helm,status=deployed'
    const [secret] = (await get('prod-us', secrets)).json.items
    const packed = Buffer.from(secret.data.release, 'base64').toString()
    const release = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString())
    expect(release).toMatchObject({ name: 'rates-cache', version: 2 })
  })

  it('says of what an Application lists, and of nothing else, that Argo CD manages it', async () => {
    const kinds = [
      'api/v1/configmaps',
      'api/v1/secrets',
      'api/v1/services',
      'apis/apps/v1/deployments',
    ]
    const tracked = async (cluster: string, path: string): Promise<readonly string[]> =>
      (await get(cluster, path)).json.items.flatMap(({ metadata }: Fields) => {
        const id = metadata.annotations?.['argocd.argoproj.io/tracking-id']
        return id === undefined ? [] : [id]
      })
    for (const cluster of ['prod-eu', 'staging']) {
      for (const kind of kinds) expect(await tracked(cluster, `/${kind}`)).toEqual([])
    }
    const applications = '/apis/argoproj.io/v1alpha1/applications'
    expect(await tracked('prod-us', applications)).toEqual([])
    const found = await Promise.all(kinds.map((kind) => tracked('prod-us', `/${kind}`)))
    expect(new Set(found.flat())).toEqual(
      new Set([
        'identity:/Service:identity/auth-api',
        'identity:apps/Deployment:identity/auth-api',
        'identity:apps/Deployment:identity/login-web',
      ]),
    )
  })

  it('has other things broken in each cluster', async () => {
    const stuck = async (name: string): Promise<readonly string[]> =>
      [...(await deployments(name))]
        .filter(([, { status }]) => (status.unavailableReplicas ?? 0) > 0)
        .map(([key]) => key)
    expect(await stuck('prod-eu')).toEqual(
      expect.arrayContaining(['payments/invoice-worker', 'messaging/sms-worker']),
    )
    expect(await stuck('prod-us')).toEqual(['payments/card-gateway'])
    expect(await stuck('staging')).toEqual(['logistics/shipping-api', 'search/search-api'])
    const claim = (
      await get('prod-us', '/api/v1/namespaces/insights/persistentvolumeclaims/warehouse-export')
    ).json
    expect(claim.status.phase).toBe('Pending')
  })
})

describe('A fleet of another scenario', () => {
  it('divides the pods that are asked for among its clusters', async () => {
    await using fleet = await startSimulatedFleet({ ...rest, population: { pods: 71 } })
    const pods = { group: '', version: 'v1', resource: 'pods' }
    const counts = fleet.clusters.map(({ simulator }) => [...simulator.storage.list(pods)].length)
    expect(counts).toEqual([25, 26, 20])
  })

  it('is one cluster, called demo, where the scenario names none', async () => {
    const population = { scenario: 'examples/scenario' }
    await using fleet = await startSimulatedFleet({ ...rest, population })
    expect(fleet.clusters.map(({ name }) => name)).toEqual(['demo'])
  })

  it.each([
    ['an environment that there is not', 'environments: [prod]', /"prod", which there is not/],
    ['a Kubernetes version that is not captured', "kubernetes: '1.20'", /kubernetes: .*1\.36/],
    ['two clusters of one name', 'labels: {}\n  - { name: a, pods: 3 }', /the same name/],
  ])('is refused with %s', async (_what, line, says) => {
    const scenario = await mkdtemp(join(tmpdir(), 'informerql-fleet-'))
    const text = `company: A shop\nclusters:\n  - name: a\n    pods: 3\n    ${line}\n`
    await writeFile(join(scenario, 'scenario.yaml'), text)
    await expect(startSimulatedFleet({ population: { scenario } })).rejects.toThrow(says)
    await rm(scenario, { recursive: true })
  })

  it('is refused with a time that is none', async () => {
    const scenario = await mkdtemp(join(tmpdir(), 'informerql-fleet-'))
    await writeFile(join(scenario, 'scenario.yaml'), 'company: A shop\n')
    await mkdir(join(scenario, 'cluster'))
    const object =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\ndata: { at: '${in:soon}' }\n"
    await writeFile(join(scenario, 'cluster', 'one.yaml'), object)
    const starting = startSimulatedFleet({ population: { scenario } })
    await expect(starting).rejects.toThrow(/\$\{in:soon\} is no time: write in:3d/)
    await rm(scenario, { recursive: true })
  })
})
