import { describe, expect, it } from 'vitest'
import { type DegradedObject, problemsOf } from '../../packages/portal/src/overview/problems.ts'

const object = (
  kind: string,
  name: string,
  reason: string,
  rootOwner: DegradedObject['rootOwner'] = null,
): DegradedObject => ({
  id: `${kind}/${name}`,
  kind,
  namespace: kind === 'Node' ? null : 'shop',
  name,
  creationTimestamp: '2026-01-01T00:00:00Z',
  health: { status: 'DEGRADED', reason, message: `${reason} of ${kind}` },
  rootOwner,
})
const web = { id: 'Deployment/web', kind: 'Deployment', namespace: 'shop', name: 'web' }

describe('what is degraded', () => {
  it('is one problem for all pods of a Deployment and the Deployment itself, and the same reason is said once', () => {
    const problems = problemsOf([
      object('Pod', 'web-1', 'CrashLoopBackOff', web),
      object('Pod', 'web-2', 'CrashLoopBackOff', web),
      object('Pod', 'web-3', 'OOMKilled', web),
      object('Deployment', 'web', 'ProgressDeadlineExceeded'),
    ])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject(web)
    expect(
      problems[0]?.causes.map(({ reason, objects }) => [reason, objects.map(({ name }) => name)]),
    ).toEqual([
      ['CrashLoopBackOff', ['web-1', 'web-2']],
      ['OOMKilled', ['web-3']],
      ['ProgressDeadlineExceeded', ['web']],
    ])
  })

  it('begins with nodes, and is then in the order of namespaces and names', () => {
    const problems = problemsOf([
      object('Pod', 'b', 'Error'),
      object('Pod', 'a', 'Error'),
      object('Node', 'worker', 'NotReady'),
    ])
    expect(problems.map(({ name }) => name)).toEqual(['worker', 'a', 'b'])
  })
})
