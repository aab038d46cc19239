import { expect, it, vi } from 'vitest'
import { core, startPast, wait } from './past-gateway.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

it('changes of Secrets are told by their keys, without any value, and stand before the problem of a pod that uses them', async () => {
  await using past = await startPast()
  const { gateway } = past
  const secrets = `${core}/secrets`
  await past.make(secrets, {
    metadata: { name: 'login' },
    data: { password: base64('hunter-one'), user: base64('ann') },
  })
  await past.seen()
  await past.patch(`${secrets}/login`, { data: { password: base64('hunter-two') } }, 'rotator')
  await past.patch(`${secrets}/login`, { data: { token: base64('hunter-three') } }, 'rotator')
  const query = `{ changes(types: ["Secret"], where: { name: { eq: "login" } }) {
    nodes { type manager object { kind name } fields { path before after masked } } incomplete { code } } }`
  await vi.waitFor(async () => {
    const { changes } = await gateway.data(query)
    const text = JSON.stringify(changes)
    expect(text).not.toContain('hunter')
    expect(text).not.toContain(base64('hunter-two'))
    expect(changes.incomplete).toEqual([])
    const paths = changes.nodes.map(({ type, manager, fields }: (typeof changes.nodes)[number]) => [
      type,
      manager,
      fields.map(({ path }: { path: string }) => path),
    ])
    expect(paths).toEqual([
      ['MODIFIED', 'rotator', ['/data/token']],
      ['MODIFIED', 'rotator', ['/data']],
      ['ADDED', expect.anything(), expect.anything()],
    ])
  }, wait)
  await past.make(`${core}/pods`, {
    metadata: { name: 'user' },
    spec: {
      containers: [{ name: 'main', image: 'a', envFrom: [{ secretRef: { name: 'login' } }] }],
    },
  })
  await past.patch(`${core}/pods/user/status`, {
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'main',
          image: 'a',
          imageID: '',
          ready: false,
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        },
      ],
    },
  })
  await vi.waitFor(async () => {
    const { problems } = await gateway.data(
      '{ problems { nodes { object { name } changesBefore { object { kind name } } } } }',
    )
    const row = problems.nodes.find(
      ({ object }: { object: { name: string } }) => object.name === 'user',
    )
    expect(row?.changesBefore).toContainEqual({ object: { kind: 'Secret', name: 'login' } })
  }, wait)
})
