import { type SimulatedClusterOptions, startSimulatedCluster } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { capturedOpenApi } from '../schema/captured-cluster.ts'
import { ask, type ContractServer, type Fields, watch } from '../contract/contract-server.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }
const options: SimulatedClusterOptions = {
  population: { seed: 'spec', pods: 120 },
  churn: { seed: 'spec', eventsPerSecond: 500 },
  onChurnError: (error) => {
    throw error
  },
}

describe('A simulated cluster', () => {
  it('is populated before anybody can ask', async () => {
    await using cluster = await startSimulatedCluster({ ...options, churn: { eventsPerSecond: 0 } })
    const server: ContractServer = {
      url: cluster.url,
      headers: {},
      expireHistory: async () => undefined,
    }
    const { json } = await ask(server, '/api/v1/pods')
    expect(json.items).toHaveLength(120)
    expect(json.items[0].metadata).toHaveProperty('managedFields')
    const running = await ask(server, '/api/v1/pods?fieldSelector=status.phase%3DRunning&limit=1')
    expect(running.json.items[0].status.phase).toBe('Running')
  })

  it('is populated with objects that it would take from anybody', async () => {
    await using cluster = await startSimulatedCluster({ ...options, churn: { eventsPerSecond: 0 } })
    const server: ContractServer = {
      url: cluster.url,
      headers: {},
      expireHistory: async () => undefined,
    }
    const refusals: string[] = []
    for (const document of Object.values(capturedOpenApi)) {
      const { paths } = document as { readonly paths: object }
      for (const path of Object.keys(paths).filter((one) => /^[^{]*\/[a-z]+$/.test(one))) {
        const list = await ask(server, path)
        const { items = [] } = list.status === 200 ? list.json : {}
        for (const item of items) {
          const { name, namespace } = item.metadata
          const within = namespace === undefined ? '' : `namespaces/${namespace}/`
          const own = path.replace(/[^/]+$/, (plural) => `${within}${plural}/${name}`)
          const body = { ...item, metadata: { ...item.metadata, labels: { a: 'b' } } }
          const answer = await ask(server, `${own}?dryRun=All`, { method: 'PUT', body })
          if (answer.status === 422) refusals.push(answer.json.message)
        }
      }
    }
    expect(refusals).toEqual([])
  })

  it('changes so that a client which folds the events of a watch holds what a list shows', async () => {
    await using cluster = await startSimulatedCluster(options)
    const server: ContractServer = {
      url: cluster.url,
      headers: {},
      expireHistory: async () => undefined,
    }
    await using stream = await watch(server, '/api/v1/pods?watch=1&allowWatchBookmarks=true')
    const folded = new Map<string, Fields>()
    let last = ''
    for (let changes = 0; changes < 600; changes++) {
      const event = await stream.next()
      if (event === undefined) break
      const { namespace, name, resourceVersion } = event.object.metadata
      last = resourceVersion
      if (event.type === 'DELETED') folded.delete(`${namespace}/${name}`)
      else if (event.type !== 'BOOKMARK') folded.set(`${namespace}/${name}`, event.object)
    }
    const exact = `resourceVersion=${last}&resourceVersionMatch=Exact`
    const { json } = await ask(server, `/api/v1/pods?${exact}`)
    const listed = json.items.map((item: Fields) => ({ kind: 'Pod', apiVersion: 'v1', ...item }))
    const held = [...folded].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
    expect(held).toEqual(listed)
    expect([...cluster.storage.list(pods)].length).toBeGreaterThan(0)
  })
})
