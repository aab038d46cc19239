import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { startProgram } from '../support/example-process.ts'

it('pods are joined with costs from a REST service in one request, and namespaces with people from SQLite', async () => {
  await using stack = new AsyncDisposableStack()
  const requests: (readonly string[])[] = []
  const service = createServer((request, response) => {
    void text(request).then((body) => {
      const { uids } = JSON.parse(body) as { readonly uids: readonly string[] }
      requests.push(uids)
      const costs = uids.slice(1).map((uid, at) => [uid, { monthly: at + 1, currency: 'EUR' }])
      response.end(JSON.stringify(Object.fromEntries(costs)))
    })
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  stack.defer(() => void service.close())
  const folder = await mkdtemp(join(tmpdir(), 'informerql-extension-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const file = join(folder, 'on-call.db')
  const database = new DatabaseSync(file)
  database.exec(`
    CREATE TABLE on_call (namespace TEXT PRIMARY KEY, name TEXT, phone TEXT);
    INSERT INTO on_call VALUES ('shop', 'Ann', '+1'), ('bank', 'Ann', '+1'), ('gone', 'Bob', '+2');
  `)
  database.close()
  const simulator = stack.use(await startSimulator())
  for (const name of ['shop', 'bank']) {
    await created(simulator, '/api/v1/namespaces', { metadata: { name } })
    for (const pod of ['a', 'b']) {
      const spec = { containers: [{ name: 'a', image: 'example/a' }] }
      await created(simulator, `/api/v1/namespaces/${name}/pods`, { metadata: { name: pod }, spec })
    }
  }
  const { port } = service.address() as AddressInfo
  const example = stack.use(
    startProgram(
      process.execPath,
      [
        '--conditions=informerql-source',
        'examples/extension.ts',
        `--costs=http://127.0.0.1:${port}/costs`,
        `--on-call=${file}`,
        `--server=${simulator.url}`,
        '--port=0',
      ],
      {},
    ),
  )
  await example.printed('serving ')
  const url = example.lines.find((line) => line.startsWith('serving '))?.slice('serving '.length)
  const query = `{
    namespaces(where: { name: { in: ["bank", "shop"] } }) { nodes { onCall { name phone } pods { nodes { metadata { name } cost { monthly currency } } } } }
    person(name: "Ann") { phone namespaces { metadata { name } pods { totalCount } } }
  }`
  const answer = await fetch(url ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const cost = (monthly: number): object => ({ monthly, currency: 'EUR' })
  const ann = { name: 'Ann', phone: '+1' }
  const pods = (...costs: readonly (object | null)[]): object => ({
    nodes: costs.map((one, at) => ({ metadata: { name: 'ab'[at] }, cost: one })),
  })
  expect(await answer.json()).toEqual({
    data: {
      namespaces: {
        nodes: [
          { onCall: ann, pods: pods(null, cost(1)) },
          { onCall: ann, pods: pods(cost(2), cost(3)) },
        ],
      },
      person: {
        phone: '+1',
        namespaces: ['bank', 'shop'].map((name) => ({
          metadata: { name },
          pods: { totalCount: 2 },
        })),
      },
    },
  })
  expect(requests).toHaveLength(1)
  expect(requests[0]).toHaveLength(4)
  expect(await example.interrupt()).toBe(0)
})
