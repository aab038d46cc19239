import { once } from 'node:events'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { resources, type Unstructured } from 'informerql/kubernetes'
import { createChurn, type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { company } from '../support/company.ts'

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator({ populate: company({ pods: 120 }) })
})
afterAll(async () => simulator[Symbol.asyncDispose]())

type Status = Readonly<Record<'name' | 'restartCount', unknown>> & {
  readonly state: Readonly<Record<string, object | undefined>>
  readonly lastState: { readonly terminated?: object }
}

function statusesOf(pod: Unstructured): readonly Status[] {
  const { containerStatuses = [] } = pod['status'] as { containerStatuses?: readonly Status[] }
  return containerStatuses
}

function podOf(app: string, test: (pod: Unstructured) => boolean = () => true): Unstructured {
  const pods = [...simulator.storage.list(resources.pods)].filter(
    (pod) => pod.metadata.labels?.['app.kubernetes.io/name'] === app && test(pod),
  )
  const [first] = pods
  if (first === undefined) throw new Error(`no pod of ${app}`)
  return first
}

const runs = (pod: Unstructured): boolean =>
  statusesOf(pod).every(({ state }) => state['running'] !== undefined)

async function log(
  { metadata: { namespace, name } }: Unstructured,
  query = '',
): Promise<readonly string[]> {
  const response = await fetch(
    `${simulator.url}/api/v1/namespaces/${namespace}/pods/${name}/log?${query}`,
  )
  if (response.status !== 200) throw new Error(await response.text())
  return (await response.text()).split('\n').slice(0, -1)
}

it('a worker that crashes says why', async () => {
  const pod = podOf('invoice-worker', (one) => one.metadata.namespace === 'payments' && !runs(one))
  const lines = await log(pod)
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'fatal', exitCode: 1 })
  expect(lines.at(-1)).toContain('queue.dsn is not set')
  expect(await log(pod, 'previous=true')).toEqual(lines)
})

it('the same time has the same lines, whatever part of them is asked for', async () => {
  const pod = podOf('shop-web', runs)
  const [container] = statusesOf(pod)
  const named = `container=${String(container?.name)}&timestamps=true`
  const whole = await log(pod, named)
  expect(whole.length).toBeGreaterThan(20)
  const part = whole.slice(-10)
  const tail = await log(pod, `${named}&tailLines=10`)
  expect(tail.filter((line) => part.includes(line)).length).toBeGreaterThan(5)
  const [time = ''] = part[0]?.split(' ') ?? []
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  const since = await log(pod, `${named}&sinceTime=${time}`)
  expect(since.slice(0, 10)).toEqual(part)
  const times = whole.map((line) => line.split(' ')[0] ?? '')
  expect(times).toEqual(times.toSorted())
  expect((await log(pod, `${named}&limitBytes=100`)).join('\n').length).toBeLessThanOrEqual(100)
})

it('a container without a previous run, and one that waits, say so', async () => {
  const pod = podOf('shop-web', runs)
  const container = `container=${String(statusesOf(pod)[0]?.name)}`
  await expect(log(pod, `${container}&previous=true`)).rejects.toThrow(
    /previous terminated container .* in pod .* not found/,
  )
  const pulls = podOf('sms-worker', (one) => !runs(one))
  await expect(log(pulls)).rejects.toThrow('is waiting to start: trying and failing to pull image')
})

it('a followed log goes on with the container, says why it ended, and ends with it', async () => {
  const { storage } = simulator
  const pod = podOf('invoice-worker', (one) => runs(one))
  const annotations = { 'simulator/log-lines-per-second': '200' }
  const busy = storage.update(resources.pods, {
    ...pod,
    metadata: { ...pod.metadata, annotations },
  })
  const { namespace, name } = busy.metadata
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?follow=true&tailLines=1`
  const [response] = await once(get(new URL(path, simulator.url)), 'response')
  const lines = createInterface({ input: response })[Symbol.asyncIterator]()
  for (let read = 0; read < 50; read++) expect(await lines.next()).toMatchObject({ done: false })
  const [status] = statusesOf(busy)
  const terminated = {
    containerID: (status as unknown as { containerID: string }).containerID,
    exitCode: 1,
    reason: 'Error',
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: new Date().toISOString(),
  }
  const waiting = { reason: 'CrashLoopBackOff' }
  storage.update(resources.pods, {
    ...busy,
    status: {
      ...(busy['status'] as object),
      containerStatuses: [{ ...status, state: { waiting }, lastState: { terminated } }],
    },
  })
  const rest: string[] = []
  for await (const line of { [Symbol.asyncIterator]: () => lines }) rest.push(line)
  expect(rest.at(-1)).toContain('queue.dsn is not set')
})

it('the log of a pod on a node that is down cannot be read', async () => {
  const { storage } = simulator
  const down = [...storage.list(resources.nodes)].find((node) => {
    const { conditions } = node['status'] as { conditions: readonly Record<string, string>[] }
    return conditions.some(({ type, status }) => type === 'Ready' && status !== 'True')
  })
  const pod = [...storage.list(resources.pods)].find(
    (one) => (one['spec'] as { nodeName?: string }).nodeName === down?.metadata.name,
  )
  if (pod === undefined) throw new Error('the node has no pods')
  await expect(log(pod, `container=${String(statusesOf(pod)[0]?.name)}`)).rejects.toThrow(
    'dial tcp',
  )
})

it('the crash loop of the churn has the log of each run', async () => {
  const churn = createChurn({ writer: simulator.storage })
  for (let step = 0; step < 300; step++) churn.step()
  const pod = podOf(
    'invoice-worker',
    (one) => statusesOf(one)[0]?.lastState.terminated !== undefined,
  )
  expect((await log(pod, 'previous=true')).at(-1)).toContain('queue.dsn is not set')
})
