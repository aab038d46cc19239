import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import {
  ask,
  type ContractServer,
  describeContract,
  type Fields,
  newNamespace,
} from '../contract/contract-server.ts'
import { writeKubeconfig } from './kubeconfig.ts'

/** The example as a process, and everything it has printed. */
interface Controller extends AsyncDisposable {
  readonly lines: readonly string[]
  /** Resolves when a line that contains the text has been printed. */
  readonly printed: (text: string) => Promise<void>
  /** SIGINT; answers with the exit code. */
  readonly interrupt: () => Promise<number | null>
}

async function startController(server: ContractServer): Promise<Controller> {
  await using kubeconfig = await writeKubeconfig(server)
  const child: ChildProcess = spawn(
    process.execPath,
    [
      '--conditions=informerql-source',
      'examples/controller.ts',
      ...(server.ca === undefined ? ['--server', server.url] : []),
    ],
    {
      env: { ...process.env, KUBECONFIG: kubeconfig.path },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Also where a test gives up before it has a controller to dispose of.
      timeout: 60_000,
      killSignal: 'SIGKILL',
    },
  )
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const ended = once(child, 'close')
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) throw new Error('the output of the example is piped')
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      for (const look of waiting) look()
    })
  }
  const printed = (text: string) => {
    const found = Promise.withResolvers<void>()
    const look = () => {
      if (lines.some((line) => line.includes(text))) found.resolve()
    }
    waiting.add(look)
    look()
    const early = ended.then(() => found.reject(new Error(`ended early:\n${lines.join('\n')}`)))
    return Promise.race([found.promise, early]).finally(() => waiting.delete(look))
  }
  await printed('counting the pods of')
  return {
    lines,
    printed,
    interrupt: async () => {
      child.kill('SIGINT')
      await ended
      return child.exitCode
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
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
      timeout: 20_000,
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
    expect(controller.lines.at(-1)).toBe('stopped, 0 namespaces left for the next start')
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
        if (controller.lines.some((line) => line.includes('the cache was behind'))) return
      }
    }
    await newPod(server(), namespace, 'one')
    await Promise.all([stranger(), stranger(), stranger()])
    await controller.printed('the cache was behind')
    await expectCount(server(), namespace, '1')
    expect(await controller.interrupt(), controller.lines.join('\n')).toBe(0)
  })
})
