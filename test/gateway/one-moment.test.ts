import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { runSeed } from '../support/random.ts'
import { makeNamespaces, writeRandomly } from './random-writes.ts'
import { describeClusters, type Fields, inParallel, must } from './test-cluster.ts'

const namespaces = ['moment-a', 'moment-b'] as const
const nodes = ['moment-0', 'moment-1', 'moment-2'] as const
const seed = runSeed
const writes = 600

const query = `{
  nodes { nodes { pods { totalCount } } }
  namespaces { nodes { pods(first: 500) { totalCount nodes { metadata { uid } } } } }
  unscheduled: pods(where: { nodeName: { exists: false } }) { totalCount }
  running: pods(where: { phase: { eq: "Running" } }) { totalCount }
  others: pods(where: { not: { phase: { eq: "Running" } } }) { totalCount }
  pods(first: 500) { totalCount resourceVersion nodes { id metadata { uid } node { pods(first: 500) { nodes { id } } } } }
}`

const sum = (objects: readonly Fields[]): number =>
  objects.reduce((total: number, { pods }: Fields) => total + pods.totalCount, 0)

describeClusters('an answer', (cluster) => {
  let gateway: ServedGateway

  beforeAll(async () => {
    await makeNamespaces(cluster(), namespaces)
    await inParallel(nodes, async (name) =>
      must(cluster(), '/api/v1/nodes', { method: 'POST', body: { metadata: { name } } }),
    )
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster().selection }],
      // It asks for whole lists within whole lists.
      limits: { maxPathRows: 1_000_000 },
    })
    await gateway.data(query)
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it(`shows one moment in all of its parts, during ${writes} writes (SEED=${seed})`, async () => {
    const written = new AbortController()
    const writing = writeRandomly({ cluster: cluster(), seed, writes, namespaces, nodes }).finally(
      () => written.abort(),
    )
    const moments = new Set<string>()
    while (!written.signal.aborted) {
      const answer = await gateway.data(query)
      const { totalCount } = answer.pods
      moments.add(answer.pods.resourceVersion)
      expect({
        listed: answer.pods.nodes.length,
        ofNodes: sum(answer.nodes.nodes) + answer.unscheduled.totalCount,
        ofNamespaces: sum(answer.namespaces.nodes),
        ofPhases: answer.running.totalCount + answer.others.totalCount,
      }).toEqual({
        listed: totalCount,
        ofNodes: totalCount,
        ofNamespaces: totalCount,
        ofPhases: totalCount,
      })
      expect(uidsOf(answer.namespaces.nodes.flatMap(({ pods }: Fields) => pods.nodes))).toEqual(
        uidsOf(answer.pods.nodes),
      )
      const bound = answer.pods.nodes.filter(({ node }: Fields) => node !== null)
      for (const { id, node } of bound) expect(node.pods.nodes).toContainEqual({ id })
    }
    await writing
    expect(moments.size).toBeGreaterThan(5)
  })
})

const uidsOf = (pods: readonly Fields[]): readonly string[] =>
  pods.map(({ metadata }) => metadata.uid).toSorted((a, b) => (a < b ? -1 : 1))
