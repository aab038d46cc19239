import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { object, RelationCluster } from './relation-cluster.ts'

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
    await expect.poll(() => cluster.gateway.schema.getType('NodeMetrics')).toBeDefined()
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
