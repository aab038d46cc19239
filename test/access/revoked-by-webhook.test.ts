import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { caller, serveViewers } from '../support/viewed-gateway.ts'
import { startCountedServer } from './counted-server.ts'

const reviews = '/subjectaccessreviews'
const allowMs = 1_500
const wait = { timeout: 60_000 }

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
    access: { allowMs },
  })
  const ann = caller('ann')
  const follow = (query: string) => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<unknown>()
    served.connect(ann).subscribe(
      { query },
      {
        next({ errors }) {
          if (errors !== undefined) ended.resolve(errors[0]?.extensions?.['code'])
          begun.resolve()
        },
        error: begun.reject,
        complete() {},
      },
    )
    return { begun: begun.promise, ended: ended.promise }
  }
  /** Some answer about ann has become too old, and has been asked for again. */
  const reviewed = async (): Promise<void> => {
    const before = cluster.count(reviews)
    await expect.poll(() => cluster.count(reviews), wait).toBeGreaterThan(before)
  }
  // One of a group asks again whenever an answer is too old.
  const shared = follow('subscription { configMaps { synced } }')
  await shared.begun
  await reviewed()
  const alone = follow('subscription { configMaps { changes { object { can(verb: "get") } } } }')
  await alone.begun
  await reviewed()
  review(false)
  expect(await Promise.all([shared.ended, alone.ended])).toEqual(['FORBIDDEN', 'FORBIDDEN'])
})
