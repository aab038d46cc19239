// Imports internals: the examples are part of a page that only a browser shows.
import { startSimulatedCluster } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleOperations } from '../../src/command/example-operations.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

describe('The examples of GraphiQL', () => {
  let cluster: AsyncDisposable
  let served: ServedGateway
  beforeAll(async () => {
    const simulated = await startSimulatedCluster({
      population: { pods: 40 },
      churn: { eventsPerSecond: 0 },
    })
    cluster = simulated
    served = await serveGateway({ clusters: [{ name: 'demo', server: simulated.url }] })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const nameOf = (document: string): string =>
    /(?:query|subscription) (\w+)/.exec(document)?.[1] ?? ''

  it.each(exampleOperations.map((document) => [nameOf(document), document] as const))(
    '%s is answered',
    async (_, document) => {
      const answer = await firstAnswer(served.connect(), document)
      expect(answer.errors).toBeUndefined()
      const [[, first] = []] = Object.entries(answer.data as object)
      expect(first).not.toBeNull()
    },
  )

  it('have a name each, which is that of their tab', () => {
    const names = exampleOperations.map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(names).not.toContain('')
  })
})
