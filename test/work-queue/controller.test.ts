import { expect, it } from 'vitest'
import {
  ask,
  type ContractServer,
  describeContract,
  type Fields,
  newNamespace,
} from '../contract/contract-server.ts'
import { type ExampleProcess, startExample } from '../support/example-process.ts'

async function startController(server: ContractServer): Promise<ExampleProcess> {
  const controller = await startExample('controller', server)
  await controller.printed('started controller=pod-counter')
  return controller
}

async function newPod(server: ContractServer, namespace: string, name: string): Promise<void> {
  const answer = await ask(server, `/api/v1/namespaces/${namespace}/pods`, {
    method: 'POST',
    body: { metadata: { name }, spec: { containers: [{ name: 'a', image: 'example/a' }] } },
  })
  expect(answer.status, answer.text).toBe(201)
}

const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps/pod-count`

/** What the ConfigMap says once it says it: the controller writes in its own time. */
async function expectCount(server: ContractServer, namespace: string, pods: string): Promise<void> {
  await expect
    .poll(async (): Promise<Fields> => (await ask(server, pathOf(namespace))).json.data?.pods, {
      timeout: 60_000,
    })
    .toBe(pods)
}

describeContract('the controller example', (server) => {
  it('[32] keeps the counts right through pods that come and go, and through edits by others', async () => {
    const early = await newNamespace(server())
    await newPod(server(), early, 'one')
    await using controller = await startController(server())
    await expectCount(server(), early, '1')
    const late = await newNamespace(server())
    await expectCount(server(), late, '0')

    const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`)
    await Promise.all(names.map((name) => newPod(server(), late, name)))
    await expectCount(server(), late, '12')
    await ask(server(), `/api/v1/namespaces/${late}/pods/pod-3?gracePeriodSeconds=0`, {
      method: 'DELETE',
    })
    await expectCount(server(), late, '11')

    await ask(server(), pathOf(late), {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { data: { pods: '999', note: 'kept' } },
    })
    await expectCount(server(), late, '11')
    expect((await ask(server(), pathOf(late))).json.data).toEqual({ pods: '11', note: 'kept' })
    await ask(server(), pathOf(late), { method: 'DELETE' })
    await expectCount(server(), late, '11')
    expect(await controller.interrupt(), controller.lines.join('\n')).toBe(0)
    // The ConfigMap that it has just made again may be on its way to it.
    expect(controller.lines.at(-2)).toMatch(/ info stopped controller=pod-counter left=[01]$/)
    expect(controller.lines.at(-1)).toMatch(/ info ended$/)
  })

  it('[32] tries again after a write that conflicts with a stranger', async () => {
    const namespace = await newNamespace(server())
    await using controller = await startController(server())
    await expectCount(server(), namespace, '0')
    // The stranger writes all the time, so some patches of the controller come with an older version.
    const stranger = async (): Promise<void> => {
      for (let note = 0; note < 200; note++) {
        await ask(server(), pathOf(namespace), {
          method: 'PATCH',
          contentType: 'application/merge-patch+json',
          body: { data: { pods: `wrong ${note}` } },
        })
        if (controller.lines.some((line) => line.includes('trying again'))) return
      }
    }
    await newPod(server(), namespace, 'one')
    await Promise.all([stranger(), stranger(), stranger()])
    await controller.printed('the object has changed meanwhile, trying again')
    await expectCount(server(), namespace, '1')
    expect(await controller.interrupt(), controller.lines.join('\n')).toBe(0)
  })
})
