import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { firstAnswer } from '../support/gateway.ts'
import { type Caller, caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads pods in `one`; in `two` there are others. */
const alice = caller('alice')
const admin = caller('admin', 'system:masters')
/** Reads nothing. */
const mallory = caller('mallory')

const listed =
  '{ edges { cursor node { metadata { namespace name } } } totalCount pageInfo { hasNextPage hasPreviousPage } }'
const list = `query ($after: String, $before: String, $first: Int, $last: Int, $orderBy: [PodOrder!]) {
  pods(after: $after, before: $before, first: $first, last: $last, orderBy: $orderBy) ${listed} }`
const frames = `subscription ($resumeFrom: String) {
  pods(resumeFrom: $resumeFrom) { reset synced resumeToken changes { type objectId object { metadata { namespace name } } } } }`
const page = `subscription ($resumeFrom: String) { podsPage(first: 2, resumeFrom: $resumeFrom) {
  reset synced totalCount resumeToken changes { step objectId object { metadata { namespace name } } } } }`

/** What is hidden: in whatever way it would be told. */
const hidden = /two|hidden-/

const addHidden = async ({ make }: SmallWorld, from: number, to: number): Promise<void> => {
  for (let at = from; at < to; at += 1) {
    const containers = [{ name: 'main', image: `hidden-${at}:1` }]
    await make('/api/v1/namespaces/two/pods', {
      metadata: { name: `hidden-${at}`, labels: { app: `hidden-${at}` } },
      spec: { nodeName: `hidden-${at}`, containers },
    })
  }
}

describe('Positions that somebody else was given', () => {
  let world: SmallWorld
  let replicas: readonly ViewedGateway[] = []
  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allow('one', 'alice', 'alice', [reads('', 'pods')])
    await addHidden(world, 0, 5)
    const clusters = [world.selection]
    replicas = [await serveViewers({ clusters }), await serveViewers({ clusters })]
  })
  afterAll(async () => {
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  const [first, second] = [() => replicas[0] as ViewedGateway, () => replicas[1] as ViewedGateway]

  it.each([
    { orderBy: undefined },
    { orderBy: [{ image: 'ASC' }] },
    { orderBy: [{ nodeName: 'DESC' }, { creationTimestamp: 'ASC' }] },
  ])('a cursor leads nowhere but in what its reader sees: $orderBy', async ({ orderBy }) => {
    const all = await first().query(admin, list, { first: 100, orderBy })
    const cursors: readonly string[] = all.data.pods.edges.flatMap(
      ({ cursor, node }: { cursor: string; node: { metadata: { namespace: string } } }) =>
        node.metadata.namespace === 'two' ? [cursor] : [],
    )
    expect(cursors).toHaveLength(6)
    for (const cursor of [cursors[0], cursors[3], cursors[5]]) {
      const [version, hash, key, ...values] = JSON.parse(
        Buffer.from(cursor ?? '', 'base64url').toString(),
      ) as readonly string[]
      // Of an object that there never was, at the same place.
      const forged = Buffer.from(JSON.stringify([version, hash, `${key}-x`, ...values])).toString(
        'base64url',
      )
      for (const where of ['after', 'before'] as const) {
        const size = where === 'after' ? { first: 1 } : { last: 1 }
        const answers: string[] = []
        for (const replica of replicas) {
          for (const position of [cursor, forged]) {
            const answer = await replica.query(alice, list, {
              [where]: position,
              ...size,
              orderBy,
            })
            expect(answer.data.pods.totalCount).toBe(1)
            answers.push(JSON.stringify(answer))
          }
        }
        expect(new Set(answers).size).toBe(1)
        expect(answers[0]).not.toMatch(hidden)
      }
      const refused = await second().query(mallory, list, { after: cursor, orderBy })
      expect(refused.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    }
  })

  it.each([
    ['pods', frames],
    ['podsPage', page],
  ])('a token begins anew: %s', async (field, query) => {
    const read = async (replica: ViewedGateway, who: Caller, resumeFrom?: string) =>
      firstAnswer(replica.connect(who), query, { resumeFrom })
    const { data } = await read(first(), admin)
    const queried = await first().query(admin, '{ pods(first: 2) { resumeToken } }')
    await addHidden(world, field === 'pods' ? 5 : 6, field === 'pods' ? 6 : 7)
    await world.remove(`/api/v1/namespaces/two/pods/hidden-${field === 'pods' ? 0 : 1}`)
    for (const token of [data[field].resumeToken, queried.data.pods.resumeToken] as string[]) {
      for (const replica of replicas) {
        const answer = await read(replica, alice, token)
        expect(answer.data[field]).toMatchObject({ reset: true, changes: [{}] })
        expect(JSON.stringify(answer)).not.toMatch(hidden)
        const refused = await read(replica, mallory, token)
        expect(refused.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
      }
    }
  })
})

describe('What an operation costs because of objects that its viewer does not see', () => {
  it('is told by no figure', async () => {
    await using world = await startSmallWorld()
    await world.allow('one', 'alice', 'alice', [reads('', 'pods')])
    await addHidden(world, 0, 30)
    await using served = await serveViewers({
      clusters: [world.selection],
      limits: { work: { examined: 30 } },
    })
    for (let at = 0; at < 10; at += 1) {
      const containers = [{ name: 'main', image: 'shop:1' }]
      const metadata = { name: `shop-${at}` }
      await world.make('/api/v1/namespaces/one/pods', { metadata, spec: { containers } })
    }
    const by = '["image", "nodeName", "name"]'
    const costly = [
      `{ pods(first: 0) { facets(by: ${by}) { distinctCount } } }`,
      `{ pods(first: 0, where: { phase: { eq: "Pending" } }) { facets(by: ${by}) { distinctCount } } }`,
    ]
    const errors = async () =>
      Promise.all(costly.map(async (query) => (await served.query(alice, query)).errors))
    const before = await errors()
    for (const error of before) expect(error?.[0]?.extensions.code).toBe('QUERY_TOO_COSTLY')
    await addHidden(world, 30, 60)
    await vi.waitUntil(async () => {
      const { data } = await served.query(
        admin,
        '{ pod(namespace: "two", name: "hidden-59") { id } }',
      )
      return data.pod !== null
    })
    expect(await errors()).toEqual(before)
  })
})
