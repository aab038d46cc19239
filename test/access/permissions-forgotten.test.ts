import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

describe('Permissions that are forgotten as soon as they are known', () => {
  const ann = caller('ann')
  const filter = '(where: { pods: { none: {} } })'
  let world: SmallWorld
  let served: ViewedGateway
  beforeAll(async () => {
    world = await startSmallWorld()
    await world.allow('one', 'ann', 'ann', [reads('', 'pods', 'services')])
    served = await serveViewers({
      clusters: [world.selection],
      limits: { syncDeadlineMs: 300, operationDeadlineMs: 3_000 },
      access: { allowMs: 0, denyMs: 0, maxReviewsPerOperation: 1_000_000 },
    })
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  const retryable = [{ extensions: { code: expect.any(String), retryAfterMs: 1_000 } }]

  it('fail a query in time', async () => {
    const { errors } = await served.query(ann, `{ services${filter} { totalCount } }`)
    expect(errors).toMatchObject(retryable)
  })

  it.each(['', 'other: changes { type }'])('fail a subscription in time: %s', async (more) => {
    const query = `subscription { services${filter} { synced changes { objectId } ${more} } }`
    const { value } = await served.connect(ann).iterate({ query }).next()
    expect(value?.errors).toMatchObject(retryable)
  })
})
