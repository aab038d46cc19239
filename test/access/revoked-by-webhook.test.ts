import { startSimulator } from 'informerql/simulator'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { startCountedServer } from './counted-server.ts'

const reviews = '/subjectaccessreviews'
const allowMs = 4_000
const denyMs = 1_000

it('what a webhook takes back ends a subscription with rows of its own when the answer is too old, although others have asked since it began', async () => {
  await using simulator = await startSimulator()
  await created(simulator, '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
  await using cluster = await startCountedServer(simulator.url)
  const review = (allowed: boolean): void =>
    cluster.answer(reviews, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      status: { allowed, reason: 'so the webhook says' },
    })
  review(true)
  await using served = await serveViewers({
    clusters: [{ name: 'one', server: cluster.url }],
    access: { allowMs, denyMs },
  })
  const ann = caller('ann')
  const follow = (query: string) => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<unknown>()
    const seen: { code?: unknown } = {}
    served.connect(ann).subscribe(
      { query },
      {
        next({ errors }) {
          if (errors !== undefined) ended.resolve((seen.code = errors[0]?.extensions?.['code']))
          begun.resolve()
        },
        error: begun.reject,
        complete() {},
      },
    )
    return { seen, begun: begun.promise, ended: ended.promise }
  }
  /** Something has been asked again that is known of ann. */
  const reviewed = async (meanwhile: () => Promise<unknown> = () => sleep(20)): Promise<void> => {
    const before = cluster.count(reviews)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    while (cluster.count(reviews) === before) await meanwhile()
    // That may be more than one review.
    await sleep(200)
  }
  // One of a group asks again whenever an answer is too old.
  const shared = follow('subscription { configMaps { synced } }')
  await shared.begun
  await reviewed()
  await sleep(allowMs / 2)
  const query = 'subscription { configMaps { changes { object { can(verb: "get") } } } }'
  const alone = follow(query)
  await alone.begun
  await reviewed()
  review(false)
  expect(await shared.ended).toBe('FORBIDDEN')
  await reviewed(async () => served.query(ann, '{ configMaps { totalCount } }'))
  expect(alone.seen.code).toBe('FORBIDDEN')
})
