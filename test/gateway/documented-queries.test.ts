import { OperationTypeNode } from 'graphql'
import { type SimulatedFleet, startSimulatedFleet } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { noon } from '../population/collected.ts'
import { type Example, examples, isOperation } from '../schema/documented-examples.ts'
import {
  firstAnswer,
  type ServedGateway,
  serveGateway,
  type Variables,
} from '../support/gateway.ts'

const isSubscription = ({ document }: Example): boolean =>
  document.definitions.some(
    (one) => 'operation' in one && one.operation === OperationTypeNode.SUBSCRIPTION,
  )

/** A time at which the archive knows all kinds. */
const archiveBegun = async ({ data }: ServedGateway): Promise<string> => {
  let since = ''
  await vi.waitFor(
    async () => {
      since = new Date().toISOString()
      const { changes } = await data(
        'query ($since: DateTime) { changes(since: $since, first: 1) { incomplete { type } } }',
        { since },
      )
      expect(changes.incomplete).toEqual([])
    },
    { timeout: 60_000, interval: 100 },
  )
  return since
}

describe('what the guides show as GraphQL, asked of the fleet that is simulated', () => {
  let fleet: SimulatedFleet
  let gateway: ServedGateway
  /** With a past. */
  let archived: ServedGateway
  /** What readers are to put in the place of variables. */
  let values: Variables
  beforeAll(async () => {
    const rest = { churn: { eventsPerSecond: 0 } }
    fleet = await startSimulatedFleet({ ...rest, population: { now: noon } })
    const clusters = fleet.clusters.map(({ name, labels, simulator }) => ({
      name,
      labels,
      server: simulator.url,
    }))
    gateway = await serveGateway({ clusters, allowWrites: true })
    archived = await serveGateway({ clusters, archive: { url: 'memory:' } })
    const since = await archiveBegun(archived)
    const { pods, deployments, nodes } = await gateway.data(
      '{ pods(first: 1) { nodes { id } } deployments(first: 1) { nodes { id } } nodes(first: 1) { nodes { id } } }',
    )
    values = {
      id: pods.nodes[0].id,
      deployment: deployments.nodes[0].id,
      node: nodes.nodes[0].id,
      manifest: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: shown }\n',
      text: 'cart',
      replicas: 3,
      since,
      at: since,
    }
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await archived[Symbol.asyncDispose]()
    await fleet[Symbol.asyncDispose]()
  })

  it.each(examples.filter(isOperation))('$file:$line is answered', async (example) => {
    const asked = example.file.endsWith('past.md') ? archived : gateway
    const answer = isSubscription(example)
      ? await firstAnswer(asked.connect(), example.text, values)
      : await asked.query(example.text, values)
    expect(answer.errors).toBeUndefined()
    expect(answer.data).toBeDefined()
  })
})
