import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { firstAnswer } from '../support/gateway.ts'
import { describeSmallWorld, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const root = caller('root', 'system:masters')
const ann = caller('ann')
const nobody = caller('nobody')

describeSmallWorld('Arguments that name different namespaces', (world) => {
  let served: ViewedGateway
  beforeAll(async () => {
    await world().allow('one', 'ann', 'ann', [reads('', 'pods')])
    served = await serveViewers({ clusters: [world().selection] })
  })
  afterAll(async () => served[Symbol.asyncDispose]())

  const pods = `totalCount facets(by: ["phase"]) { values { count } } nodes { id } pageInfo { hasNextPage }`
  const contradicting = [
    `{ pods(namespace: "one", where: { namespace: { eq: "two" } }) { ${pods} } }`,
    `{ pods(namespace: "two", namespaces: ["one"], orderBy: { name: ASC }) { ${pods} } }`,
    `{ pods(namespaces: ["two"], where: { phase: { eq: "Running" }, namespace: { eq: "x" } }) { ${pods} } }`,
  ]
  const empty = {
    totalCount: 0,
    facets: [{ values: [] }],
    nodes: [],
    pageInfo: { hasNextPage: false },
  }

  const loaded = async (): Promise<readonly string[]> => {
    const { data } = await served.query(
      root,
      '{ gatewayClusters { resources(loaded: true) { type } } }',
    )
    return data.gatewayClusters[0].resources.map(({ type }: { readonly type: string }) => type)
  }

  it('are followed as an empty list by every caller, and load nothing', async () => {
    const list = 'namespace: "one", where: { namespace: { eq: "two" } }'
    for (const who of [nobody, ann, root]) {
      const client = served.connect(who)
      const frames = (more: string): string =>
        `subscription { pods(${list} ${more}) { reset synced changes { type } resumeToken } }`
      const { data, errors } = await firstAnswer(client, frames(''))
      expect(errors).toBeUndefined()
      const { resumeToken, ...frame } = data.pods
      expect(frame).toEqual({ reset: true, synced: true, changes: [] })
      const again = await firstAnswer(client, frames(`resumeFrom: "${resumeToken}"`))
      expect(again.data.pods).toMatchObject(frame)
      const page = `subscription { podsPage(${list}) { reset totalCount changes { step } } }`
      expect(await firstAnswer(client, page)).toEqual({
        data: { podsPage: { reset: true, totalCount: 0, changes: [] } },
      })
    }
    expect(await loaded()).not.toContain('Pod')
  })

  it('are an empty page for every caller, and load nothing', async () => {
    for (const who of [nobody, ann]) {
      for (const query of contradicting) {
        expect(await served.query(who, query)).toEqual({ data: { pods: empty } })
      }
    }
    expect(await loaded()).not.toContain('Pod')
    for (const query of contradicting) {
      expect(await served.query(root, query)).toEqual({ data: { pods: empty } })
    }
  })

  it('leave the plain list as it is', async () => {
    const plain = '{ pods { totalCount } }'
    expect((await served.query(ann, plain)).data).toEqual({ pods: { totalCount: 1 } })
    expect((await served.query(nobody, plain)).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })
})

describe('Before the namespaces of a cluster are known', () => {
  let world: SmallWorld
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allow('one', 'ann', 'ann', [reads('', 'pods')])
    const fault = { type: 'status', code: 503 }
    await world.make('/simulator/faults', { fault, match: { resource: 'namespaces' }, times: 1e6 })
    served = await serveViewers({ clusters: [world.selection] })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  it('a caller limited to some is asked to retry, and then sees them', async () => {
    const { errors: [error] = [] } = await served.query(ann, '{ pods { totalCount } }')
    expect(error?.extensions).toMatchObject({ code: 'NOT_SYNCED', retryAfterMs: 1_000 })
    const named = await served.query(ann, '{ pods(namespace: "one") { totalCount } }')
    expect(named.data).toEqual({ pods: { totalCount: 1 } })
    await world.remove('/simulator/faults')
    const seen = async () => (await served.query(ann, '{ pods { totalCount } }')).data
    await expect.poll(seen).toEqual({ pods: { totalCount: 1 } })
  })
})
