import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { condition } from './health-case.ts'
import type { Fields } from './test-cluster.ts'

const stateless = {
  configMaps: ['', 'v1', 'ConfigMap'],
  secrets: ['', 'v1', 'Secret'],
  serviceAccounts: ['', 'v1', 'ServiceAccount'],
  roles: ['rbac.authorization.k8s.io', 'v1', 'Role'],
  storageClasses: ['storage.k8s.io', 'v1', 'StorageClass'],
  priorityClasses: ['scheduling.k8s.io', 'v1', 'PriorityClass'],
  leases: ['coordination.k8s.io', 'v1', 'Lease'],
  networkPolicies: ['networking.k8s.io', 'v1', 'NetworkPolicy'],
  endpointSlices: ['discovery.k8s.io', 'v1', 'EndpointSlice'],
} as const

describe('what health says', () => {
  let simulator: Simulator
  let gateway: ServedGateway

  beforeAll(async () => {
    simulator = await startSimulator()
    for (const [list, [group, version, kind]] of Object.entries(stateless)) {
      const isGlobal = list === 'storageClasses' || list === 'priorityClasses'
      const metadata = { name: 'stateless', ...(isGlobal ? {} : { namespace: 'default' }) }
      const apiVersion = group === '' ? version : `${group}/${version}`
      const resource = list.toLowerCase()
      simulator.storage.create({ group, version, resource }, { apiVersion, kind, metadata })
    }
    for (const [name, ready] of Object.entries({ up: 'True', down: 'False', silent: 'Unknown' })) {
      const status = { conditions: [condition('Ready', ready, `Is${name}`)] }
      simulator.storage.create(
        { group: '', version: 'v1', resource: 'nodes' },
        { apiVersion: 'v1', kind: 'Node', metadata: { name }, status },
      )
    }
    const rollout = (name: string, status: Fields, revision = '35'): void => {
      const annotations = { 'deployment.kubernetes.io/revision': revision }
      simulator.storage.create(
        { group: 'apps', version: 'v1', resource: 'deployments' },
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name, namespace: 'default', annotations },
          spec: { replicas: 2 },
          status,
        },
      )
    }
    const late = condition('Progressing', 'False', 'ProgressDeadlineExceeded', 'has timed out')
    const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 2 }
    rollout('stuck', { ...counts, updatedReplicas: 1, conditions: [late] })
    rollout('not-up', { ...counts, updatedReplicas: 2, availableReplicas: 1, conditions: [late] })
    rollout('both', { ...counts, updatedReplicas: 2, conditions: [late] })
    rollout('surplus', { ...counts, replicas: 24, updatedReplicas: 2 })
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  it.each(Object.keys(stateless))('nothing of %s, whichever way it is asked', async (list) => {
    const { all, healthy, none } = await gateway.data(`{
      all: ${list} {
        totalCount
        nodes { health { status } }
        facets(by: "health") { values { value } missingCount }
      }
      healthy: ${list}(where: { health: { eq: HEALTHY } }) { totalCount }
      none: ${list}(where: { health: { exists: false } }, orderBy: [{ health: ASC }]) { totalCount }
    }`)
    expect(all.totalCount).toBeGreaterThan(0)
    expect(new Set(all.nodes.map(({ health }: Fields) => health))).toEqual(new Set([null]))
    expect(all.facets).toEqual([{ values: [], missingCount: all.totalCount }])
    expect([healthy.totalCount, none.totalCount]).toEqual([0, all.totalCount])
  })

  it('the same of a node that is not ready or silent in its row, a filter, a count and problems', async () => {
    const { nodes, broken, problems } = await gateway.data(`{
      nodes { nodes { name health { status reason } } facets(by: "health") { values { value count } } }
      broken: nodes(where: { health: { eq: DEGRADED } }) { nodes { name } }
      problems(types: ["Node"]) { nodes { severity object { name } } }
    }`)
    expect(nodes.nodes.map(({ name, health }: Fields) => [name, health.status])).toEqual([
      ['down', 'DEGRADED'],
      ['silent', 'DEGRADED'],
      ['up', 'HEALTHY'],
    ])
    expect(nodes.facets[0].values).toEqual([
      { value: 'DEGRADED', count: 2 },
      { value: 'HEALTHY', count: 1 },
    ])
    expect(broken.nodes.map(({ name }: Fields) => name)).toEqual(['down', 'silent'])
    expect(problems.nodes.map(({ object }: Fields) => object.name).toSorted()).toEqual([
      'down',
      'silent',
    ])
  })

  it('which revision does not come up, and how many replicas are too many', async () => {
    const { deployments } = await gateway.data(
      '{ deployments { nodes { name health { status message } } } }',
    )
    expect(
      Object.fromEntries(
        deployments.nodes.map(({ name, health }: Fields) => [name, Object.values(health)]),
      ),
    ).toEqual({
      stuck: ['DEGRADED', 'revision 35 does not come up: 1 of 2 updated'],
      'not-up': ['DEGRADED', 'revision 35 does not come up: 1 of 2 available'],
      both: [
        'DEGRADED',
        'revision 35 does not come up: 1 of 3 replicas not available, 1 of earlier revisions',
      ],
      surplus: ['PROGRESSING', '22 replicas of earlier revisions are still to end'],
    })
  })
})
