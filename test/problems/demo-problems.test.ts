import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { company } from '../support/company.ts'
import { serveGateway } from '../support/gateway.ts'

it('what is broken in the simulated company is a row each', async () => {
  await using cluster = await startSimulator({ populate: company({ pods: 250 }) })
  await using gateway = await serveGateway({ clusters: [{ name: 'demo', server: cluster.url }] })
  const { problems } = await gateway.data(
    '{ problems(severity: CRITICAL) { nodes { kind reason object { name } } } }',
  )
  const reasons = new Map<string, string>(
    problems.nodes.map(({ kind, reason, object }: Fields) => [reason, `${kind} ${object.name}`]),
  )
  expect(reasons.get('CrashLoopBackOff')).toMatch(/^Deployment /)
  expect(reasons.get('ImagePullBackOff')).toMatch(/^Deployment /)
  expect(reasons.get('Unschedulable')).toMatch(/^Deployment /)
  expect(reasons.get('NotReady')).toMatch(/^Node /)
  expect(reasons.get('BackoffLimitExceeded')).toMatch(/^CronJob /)
  // The broken pods of the whole cluster, counted by their owners: none is there twice.
  const roots = problems.nodes.map(({ kind, object }: Fields) => `${kind} ${object.name}`)
  expect(new Set(roots).size).toBe(roots.length)
})
