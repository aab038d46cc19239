import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from 'informerql'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveGateway, type ServedGateway } from '../support/gateway.ts'
import { object, RelationCluster } from './relation-cluster.ts'

const log = { info() {}, warn() {}, error() {} }

describe('a reference is looked up in the cluster of who refers', () => {
  const simulators: Simulator[] = []
  let gateway: ServedGateway
  beforeAll(async () => {
    for (const label of ['first', 'second']) {
      simulators.push(
        await startSimulator({
          bookmarkIntervalMs: 0,
          populate(storage) {
            const node = { group: '', version: 'v1', resource: 'nodes' }
            const pod = { group: '', version: 'v1', resource: 'pods' }
            const metadata = { name: 'same', labels: { of: label } }
            storage.create(node, { apiVersion: 'v1', kind: 'Node', metadata })
            storage.create(pod, {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: { name: label, namespace: 'default' },
              spec: { nodeName: 'same', containers: [] },
            })
          },
        }),
      )
    }
    const clusters = simulators.map(({ url }, at) => ({ name: `c${at}`, server: url }))
    gateway = await serveGateway({ clusters })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    for (const simulator of simulators) await simulator[Symbol.asyncDispose]()
  })

  it.each(['first', 'second'])('forwards and backwards, in the %s of two', async (label) => {
    const cluster = label === 'first' ? 'c0' : 'c1'
    const data = await gateway.data(`{
      pod(cluster: "${cluster}", namespace: "default", name: "${label}") { node { metadata { label(key: "of") } } }
      node(cluster: "${cluster}", name: "same") { pods { nodes { metadata { name } } } }
    }`)
    expect(data.pod.node.metadata.label).toBe(label)
    expect(data.node.pods.nodes).toEqual([{ metadata: { name: label } }])
  })
})

describe('row 53: what pods and nodes use is read when it is asked for', () => {
  let cluster: RelationCluster
  beforeAll(async () => {
    cluster = await RelationCluster.start({
      uncached: ['metrics.k8s.io/PodMetrics', 'metrics.k8s.io/NodeMetrics'],
    })
    await cluster.define([
      'PodMetrics.metrics.k8s.io/v1beta1',
      'NodeMetrics.metrics.k8s.io/v1beta1*',
    ])
  })
  afterAll(async () => cluster[Symbol.asyncDispose]())

  it('by the name of the pod or the node, and null where there is none', async () => {
    await expect
      .poll(() => cluster.gateway.schema.getType('NodeMetrics'), { timeout: 30_000 })
      .toBeDefined()
    cluster.create('here', [
      object('v1', 'Pod', 'busy', { spec: { containers: [] } }),
      object('v1', 'Pod', 'new', { spec: { containers: [] } }),
      object('metrics.k8s.io/v1beta1', 'PodMetrics', 'busy'),
    ])
    expect(await cluster.namesAt('here', 'pod busy metrics')).toBe('busy')
    expect(await cluster.namesAt('here', 'pod new metrics')).toBe(null)
    cluster.create('here', [
      object('v1', 'Node', 'rel-busy'),
      object('v1', 'Node', 'rel-new'),
      object('metrics.k8s.io/v1beta1', 'NodeMetrics', 'rel-busy'),
    ])
    const metrics = async (name: string) => cluster.namesAt('here', `node ${name} metrics`)
    await expect.poll(async () => metrics('rel-busy').catch(String)).toBe('rel-busy')
    expect(await metrics('rel-new')).toBe(null)
  })
})

it('a relation of the SDL that goes in a circle fails the start, and names the circle', async () => {
  await using simulator = await startSimulator({ bookmarkIntervalMs: 0 })
  const directory = await mkdtemp(join(tmpdir(), 'informerql-circle-'))
  try {
    await writeFile(
      join(directory, 'circle.graphql'),
      'extend type Node { a: PodConnection @through(path: "a.node.pods") }',
    )
    const clusters = [{ name: 'test', server: simulator.url }]
    await expect(createGateway({ clusters, log, schema: directory })).rejects.toMatchObject({
      code: 'SCHEMA_SDL',
      problem: 'circle',
      message: expect.stringContaining('Node.a → Node.a'),
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
