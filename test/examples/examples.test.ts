import { expect, it } from 'vitest'
import {
  ask,
  type ContractServer,
  describeContract,
  newNamespace,
} from '../contract/contract-server.ts'
import { startExample } from '../support/example-process.ts'

const merge = 'application/merge-patch+json'

async function create(server: ContractServer, path: string, body: object): Promise<void> {
  const answer = await ask(server, path, { method: 'POST', body })
  expect(answer.status, answer.text).toBe(201)
}

describeContract('the examples of the informer library', (server) => {
  it('pod-watcher tells of pods that come, change and go', async () => {
    const namespace = await newNamespace(server())
    await using example = await startExample('pod-watcher', server())
    await example.printed('pods;')
    const path = `/api/v1/namespaces/${namespace}/pods`
    const spec = { containers: [{ name: 'a', image: 'example/a' }] }
    await create(server(), path, { metadata: { name: 'one' }, spec })
    await example.printed(`+ ${namespace}/one`)
    await ask(server(), `${path}/one`, {
      method: 'PATCH',
      contentType: merge,
      body: { metadata: { labels: { colour: 'blue' } } },
    })
    await example.printed('~ one ')
    await ask(server(), `${path}/one?gracePeriodSeconds=0`, { method: 'DELETE' })
    await example.printed(`- ${namespace}/one`)
    expect(await example.interrupt(), example.lines.join('\n')).toBe(0)
  })

  it('resync delivers the same version again, and an edit in between another one', async () => {
    const name = `node-${Date.now()}`
    await create(server(), '/api/v1/nodes', { metadata: { name } })
    await using example = await startExample('resync', server())
    await example.printed(`every 1 s: ${name}: resync at `)
    await example.printed(`every 5 s: ${name}: resync at `)
    await ask(server(), `/api/v1/nodes/${name}`, {
      method: 'PATCH',
      contentType: merge,
      body: { metadata: { labels: { colour: 'blue' } } },
    })
    await example.printed(`every 1 s: ${name}: update `)
    await example.printed(`every 5 s: ${name}: update `)
    expect(await example.interrupt(), example.lines.join('\n')).toBe(0)
  })

  it('custom-resources waits for the definition, and survives that it goes and comes back', async () => {
    const definition = {
      metadata: { name: 'gadgets.examples.test' },
      spec: {
        group: 'examples.test',
        scope: 'Cluster',
        names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { size: { type: 'integer' } } },
                },
              },
            },
          },
        ],
      },
    }
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const gadgets = '/apis/examples.test/v1/gadgets'
    const install = async (): Promise<void> => {
      await create(server(), definitions, definition)
      await expect.poll(async () => (await ask(server(), gadgets)).status).toBe(200)
    }
    const gadget = (name: string, size: number) => ({
      apiVersion: 'examples.test/v1',
      kind: 'Gadget',
      metadata: { name },
      spec: { size },
    })
    await using example = await startExample('custom-resources', server(), [
      'gadgets.v1.examples.test',
    ])
    await example.printed('waiting for gadgets')
    await install()
    await create(server(), gadgets, gadget('one', 1))
    await example.printed('+ one {"size":1}')
    // That came by the list. Deletions come by the watch: one that opens when the definition is gone already gets 404, and
    // nobody tells of the objects that went with it. So it has to be seen that the watch is open.
    const change = { contentType: merge, body: { spec: { size: 2 } } }
    await ask(server(), `${gadgets}/one`, { method: 'PATCH', ...change })
    await example.printed('~ one {"size":2}')
    await ask(server(), `${definitions}/gadgets.examples.test`, { method: 'DELETE' })
    await expect.poll(async () => (await ask(server(), gadgets)).status).toBe(404)
    await example.printed('- one')
    await install()
    await create(server(), gadgets, gadget('two', 2))
    await example.printed('+ two {"size":2}')
    expect(await example.interrupt(), example.lines.join('\n')).toBe(0)
    await ask(server(), `${definitions}/gadgets.examples.test`, { method: 'DELETE' })
  })
})
