import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import type { Fields } from './random-cluster.ts'
import { company } from '../support/company.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const batch = (resource: string) => ({ group: 'batch', version: 'v1', resource })
const apps = (resource: string) => ({ group: 'apps', version: 'v1', resource })

/** May read everything but Secrets and Deployments. */
const reader = { token: 'reader-token', user: 'reader' }

const configMapKeyRef = { name: 'settings', key: 'x' }
const env = [{ name: 'X', valueFrom: { configMapKeyRef } }]
const envFrom = [{ configMapRef: { name: 'settings' } }]
const container = { name: 'main', image: 'nginx:1' }

const specs: Readonly<Record<string, Fields>> = {
  volume: { containers: [container], volumes: [{ name: 'v', configMap: { name: 'settings' } }] },
  projected: {
    containers: [container],
    volumes: [
      { name: 'e', emptyDir: {} },
      {
        name: 'p',
        projected: { sources: [{ secret: { name: 'x' } }, { configMap: { name: 'settings' } }] },
      },
    ],
  },
  env: { containers: [container, { ...container, name: 'side', env }] },
  'env-from': { containers: [{ ...container, envFrom }] },
  init: { containers: [container], initContainers: [{ ...container, name: 'init', envFrom }] },
  ephemeral: {
    containers: [container],
    ephemeralContainers: [{ ...container, name: 'debug', env }],
  },
}

const pathOf: Readonly<Record<string, string>> = {
  volume: 'spec.volumes[0].configMap.name',
  projected: 'spec.volumes[1].projected.sources[1].configMap.name',
  env: 'spec.containers[1].env[0].valueFrom.configMapKeyRef.name',
  'env-from': 'spec.containers[0].envFrom[0].configMapRef.name',
  init: 'spec.initContainers[0].envFrom[0].configMapRef.name',
  ephemeral: 'spec.ephemeralContainers[0].env[0].valueFrom.configMapKeyRef.name',
}

describe('usedBy', () => {
  let cluster: TestCluster
  let gateway: ServedGateway
  let restricted: ServedGateway
  beforeAll(async () => {
    cluster = await startSimulatedCluster(
      {
        bookmarkIntervalMs: 0,
        populate(storage) {
          company({ pods: 20, seed: 'uses' })(storage)
          const put = (resource: Parameters<typeof storage.create>[0], object: Fields): void => {
            const metadata = { namespace: 'default', ...object.metadata }
            storage.create(resource, { apiVersion: 'v1', kind: '', ...object, metadata })
          }
          for (const name of ['settings', 'of-ended', 'of-jobs', 'of-cron', 'of-sets'])
            put(core('configmaps'), { metadata: { name } })
          // A namesake elsewhere is somebody else.
          put(core('configmaps'), { metadata: { name: 'settings', namespace: 'kube-system' } })
          for (const [name, spec] of Object.entries(specs))
            put(core('pods'), { metadata: { name }, spec, status: { phase: 'Running' } })
          const volumes = (name: string): Fields => ({
            containers: [container],
            volumes: [{ name: 'v', configMap: { name } }],
          })
          for (const phase of ['Succeeded', 'Failed'])
            put(core('pods'), {
              metadata: { name: phase.toLowerCase() },
              spec: volumes('of-ended'),
              status: { phase },
            })
          const template = (name: string): Fields => ({ template: { spec: volumes(name) } })
          const done = { conditions: [{ type: 'Complete', status: 'True' }] }
          put(batch('jobs'), {
            metadata: { name: 'done' },
            spec: template('of-jobs'),
            status: done,
          })
          const failing = { conditions: [{ type: 'Failed', status: 'False' }] }
          put(batch('jobs'), {
            metadata: { name: 'runs' },
            spec: template('of-jobs'),
            status: failing,
          })
          put(batch('cronjobs'), {
            metadata: { name: 'nightly' },
            spec: { jobTemplate: { spec: template('of-cron') } },
          })
          put(apps('replicasets'), {
            metadata: { name: 'former' },
            spec: { replicas: 0, ...template('of-sets') },
          })
          put(apps('replicasets'), {
            metadata: { name: 'present' },
            spec: { replicas: 1, ...template('of-sets') },
          })
          put(core('persistentvolumeclaims'), { metadata: { name: 'scratch-data' } })
          put(core('pods'), {
            metadata: { name: 'scratch' },
            spec: { containers: [container], volumes: [{ name: 'data', ephemeral: {} }] },
            status: { phase: 'Running' },
          })
        },
      },
      [reader],
    )
    gateway = await serveGateway({ clusters: [{ name: 'one', ...cluster.selection }] })
    const selection = await cluster.selectionFor(reader)
    restricted = await serveGateway({ clusters: [{ name: 'one', ...selection }] })
  })
  afterAll(async () => {
    await restricted[Symbol.asyncDispose]()
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const usesOf = async (lookup: string, name: string): Promise<Fields[]> => {
    const place = `namespace: "default", name: "${name}"`
    const data = await gateway.data(
      `{ ${lookup}(${place}) { usedBy { nodes { object { kind name } paths } } } }`,
    )
    return data[lookup].usedBy.nodes.map(({ object, paths }: Fields) => [
      object.kind,
      object.name,
      ...paths,
    ])
  }

  it('has every place in which a pod can name a ConfigMap, and says where', async () => {
    const wanted = Object.entries(pathOf).map(([name, path]) => ['Pod', name, path])
    expect(await usesOf('configMap', 'settings')).toEqual(
      wanted.toSorted(([, a = ''], [, b = '']) => (a < b ? -1 : 1)),
    )
  })

  it('leaves out pods and Jobs that have run to their end, and ReplicaSets of former revisions', async () => {
    expect(await usesOf('configMap', 'of-ended')).toEqual([])
    const inTemplate = 'spec.template.spec.volumes[0].configMap.name'
    expect(await usesOf('configMap', 'of-jobs')).toEqual([['Job', 'runs', inTemplate]])
    expect(await usesOf('configMap', 'of-sets')).toEqual([['ReplicaSet', 'present', inTemplate]])
    const { configMaps } = await gateway.data(
      '{ configMaps(namespace: "default", where: { usedBy: { none: {} } }) { nodes { metadata { name } } } }',
    )
    const unused = configMaps.nodes.map(({ metadata }: Fields) => metadata.name)
    expect(unused).toContain('of-ended')
    expect(unused).not.toContain('of-jobs')
    expect(unused).not.toContain('settings')
  })

  it('finds what a template within a template names', async () => {
    expect(await usesOf('configMap', 'of-cron')).toEqual([
      ['CronJob', 'nightly', 'spec.jobTemplate.spec.template.spec.volumes[0].configMap.name'],
    ])
  })

  it('finds the pod that a claim was made for, whose name is put together', async () => {
    expect(await usesOf('persistentVolumeClaim', 'scratch-data')).toEqual([
      ['Pod', 'scratch', 'spec.volumes[0].name'],
    ])
  })

  it('is an error where one of the kinds cannot be read, not a part of the users', async () => {
    const query = '{ configMaps(first: 1) { nodes { usedBy { totalCount } } } }'
    const { data, errors } = await restricted.query(query)
    expect(data.configMaps.nodes).toEqual([{ usedBy: null }])
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', type: 'Deployment' } }])
    const narrowed = await restricted.data(
      '{ configMap(namespace: "default", name: "settings") { usedBy(types: ["Pod"]) { totalCount types } } }',
    )
    expect(narrowed.configMap.usedBy).toEqual({ totalCount: 6, types: ['Pod'] })
  })

  it('never calls unused what a kind that the profile leaves out may use', async () => {
    await using profiled = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      profile: { exclude: { kinds: ['DaemonSet', 'CronJob'] } },
    })
    const none = '{ configMaps(where: { usedBy: { none: {} } }) { totalCount } }'
    const field = '{ configMap(namespace: "default", name: "settings") { usedBy { totalCount } } }'
    for (const query of [none, field]) {
      const { errors } = await profiled.query(query)
      expect(errors).toMatchObject([{ extensions: { code: 'UNSUPPORTED', type: 'CronJob' } }])
      expect(errors?.[0]?.message).toContain('CronJob, DaemonSet')
    }
    const limited = await profiled.data(
      '{ configMaps(where: { usedBy: { none: { types: ["Pod"] } } }) { totalCount } }',
    )
    expect(limited.configMaps.totalCount).toBeGreaterThan(0)
    const some = await profiled.data(
      '{ configMaps(where: { usedBy: { some: {} } }) { totalCount } }',
    )
    expect(some.configMaps.totalCount).toBeGreaterThan(0)
  })

  it('never calls unused what a kind that cannot be read may use', async () => {
    const query = 'query ($where: ConfigMapWhere) { configMaps(where: $where) { totalCount } }'
    const { data, errors } = await restricted.query(query, { where: { usedBy: { none: {} } } })
    expect(data).toEqual({ configMaps: null })
    expect(errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', type: 'Deployment', argument: 'where.usedBy.none' } },
    ])
    const byPods = { usedBy: { none: { types: ['Pod'] } } }
    expect((await restricted.query(query, { where: byPods })).errors).toBeUndefined()
  })
})
