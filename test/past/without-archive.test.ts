import { startSimulator, type Simulator } from 'informerql/simulator'
import { resources } from 'informerql/kubernetes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failed, namespace, podOf, putNodes } from '../logs/small-town.ts'
import { firstAnswer, type ServedGateway, serveGateway } from '../support/gateway.ts'

describe('a gateway without an archive', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    simulator = await startSimulator({ populate: putNodes })
    const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }
    const run = { state: waiting, lastState: failed(3), restartCount: 4 }
    simulator.storage.create(resources.pods, podOf('web', run))
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const noArchive = {
    extensions: { code: 'NO_ARCHIVE', hint: expect.stringContaining('archive: { url') },
  }

  it.each([
    ['changes', '{ changes { nodes { id } } }'],
    ['differences', '{ differences(from: "2026-01-01T00:00:00Z") { nodes { id } } }'],
    ['object', `{ object(id: "one/Pod/${namespace}/web", at: "2026-01-01T00:00:00Z") { id } }`],
    ['object', `{ object(id: "one/Pod/${namespace}/web", atVersion: "7") { id } }`],
    [
      'objectByRef',
      `{ objectByRef(apiVersion: "v1", kind: "Pod", namespace: "${namespace}", name: "web", at: "2026-01-01T00:00:00Z") { id } }`,
    ],
  ])('answers `%s` of the past with the option to set', async (field, query) => {
    const { data, errors } = await gateway.query(query)
    expect(data).toEqual({ [field]: null })
    expect(errors).toMatchObject([{ path: [field], ...noArchive }])
  })

  it('answers `history` and `changesBefore` so, and all that stands beside them', async () => {
    const history = await gateway.query(
      `{ pod(namespace: "${namespace}", name: "web") { name history { nodes { id } } } }`,
    )
    expect(history.data).toEqual({ pod: { name: 'web', history: null } })
    expect(history.errors).toMatchObject([{ path: ['pod', 'history'], ...noArchive }])
    const problems = await gateway.query(
      '{ problems(types: ["Pod"]) { nodes { reason changesBefore { id } } } }',
    )
    expect(problems.data).toEqual({
      problems: { nodes: [{ reason: 'CrashLoopBackOff', changesBefore: null }] },
    })
    expect(problems.errors).toMatchObject([
      { path: ['problems', 'nodes', 0, 'changesBefore'], ...noArchive },
    ])
  })

  it('refuses to follow changes with the same code', async () => {
    const { data, errors } = await firstAnswer(
      gateway.connect(),
      'subscription { changes { changes { id } } }',
    )
    expect(data ?? null).toBeNull()
    expect(errors).toMatchObject([noArchive])
  })

  it('refuses wrong arguments all the same', async () => {
    const { errors } = await gateway.query('{ changes(first: 1000000000) { nodes { id } } }')
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'first' } }])
  })
})
