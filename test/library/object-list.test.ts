import {
  type ApiServer,
  createApiServer,
  ListExpiredError,
  type ObjectPage,
} from 'informerql/cluster'
import { resources } from 'informerql/informer'
import type { ConfigMap } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { failureOf, startLocalServer } from '../api-server/local-server.ts'
import { describeContract, newConfigMap, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'

const { configMaps } = resources
const names = ['a', 'b', 'c', 'd', 'e']
const fieldSelector = 'metadata.name!=kube-root-ca.crt'

const namesOf = async (objects: AsyncIterable<ConfigMap>): Promise<string[]> => {
  const found: string[] = []
  for await (const { metadata } of objects) found.push(metadata.name)
  return found
}

describeContract('An uncached list', (server) => {
  const open = async (): Promise<{ apiServer: ApiServer; namespace: string }> => {
    const namespace = await newNamespace(server())
    for (const name of names) await newConfigMap(server(), namespace, name)
    return { namespace, apiServer: await openApiServer(server()) }
  }

  it('gives the objects one by one, over all pages, with their kind', async () => {
    const { apiServer, namespace } = await open()
    await using _ = apiServer
    const client = apiServer.client(configMaps)
    const list = client.list({ namespace, fieldSelector, limit: 2 })
    expect(await namesOf(list)).toEqual(names)
    for await (const object of list) {
      expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace } })
      expect(await client.get(object.metadata)).toEqual(object)
      break
    }
    expect(await namesOf(client.list({ namespace, labelSelector: 'app=none' }))).toEqual([])
    const all = client.list({ fieldSelector: `metadata.namespace=${namespace}`, limit: Infinity })
    expect(await namesOf(all)).toEqual(expect.arrayContaining(names))
  })

  it('gives pages of one moment', async () => {
    const { apiServer, namespace } = await open()
    await using _ = apiServer
    const pages: ObjectPage<ConfigMap>[] = []
    for await (const page of apiServer.client(configMaps).list({ namespace, limit: 2 }).pages()) {
      pages.push(page)
      await newConfigMap(server(), namespace, `later-${pages.length}`)
    }
    expect(pages.map(({ items }) => items.length).slice(0, 2)).toEqual([2, 2])
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1)
    expect(pages[0]).toMatchObject({ restarts: 0, isInconsistent: false })
    const listed = pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
    expect(listed.filter((name) => name.startsWith('later'))).toEqual([])
  })

  it('that expires between its pages fails, begins again, or goes on with what is there', async () => {
    const { apiServer, namespace } = await open()
    await using _ = apiServer
    const client = apiServer.client(configMaps)
    const read = async (whenExpired?: 'restart' | 'inconsistent'): Promise<object[]> => {
      const found: object[] = []
      const options = { namespace, fieldSelector, limit: 3 }
      const list = client.list(whenExpired === undefined ? options : { ...options, whenExpired })
      for await (const { items, restarts, isInconsistent } of list.pages()) {
        const inPage = items.map(({ metadata }) => metadata.name).join('')
        found.push({ inPage, restarts, isInconsistent })
        if (found.length > 1) continue
        await newConfigMap(server(), namespace, whenExpired ?? 'fail')
        await server().expireHistory()
      }
      return found
    }
    const failure = await failureOf(read())
    expect(failure).toBeInstanceOf(ListExpiredError)
    expect(failure).toMatchObject({ message: 'the list of configmaps expired after page 1' })
    await client.delete({ namespace, name: 'fail' })
    expect(await read('inconsistent')).toEqual([
      { inPage: 'abc', restarts: 0, isInconsistent: false },
      { inPage: 'deinconsistent', restarts: 0, isInconsistent: true },
    ])
    await client.delete({ namespace, name: 'inconsistent' })
    expect(await read('restart')).toEqual([
      { inPage: 'abc', restarts: 0, isInconsistent: false },
      { inPage: 'abc', restarts: 1, isInconsistent: false },
      { inPage: 'derestart', restarts: 1, isInconsistent: false },
    ])
  })
})

describe('A list of a server that misbehaves', () => {
  const listFrom = async (
    answer: (query: URLSearchParams) => unknown,
    limits: object = {},
  ): Promise<unknown> => {
    await using server = await startLocalServer(({ url = '' }, response) => {
      const body = answer(new URL(url, 'http://localhost').searchParams)
      if (body !== undefined) response.end(JSON.stringify(body))
    })
    await using apiServer = createApiServer({ server: server.url, ...limits })
    return await failureOf(namesOf(apiServer.client(configMaps).list({ deadlineMs: 300 })))
  }
  const page = { metadata: { resourceVersion: '1', continue: 'on' }, items: [] }

  it('has a deadline for each page', async () => {
    const failure = await listFrom((query) => (query.has('continue') ? undefined : page))
    expect(failure).toMatchObject({ code: 'CONNECTION_TIMEOUT' })
  })

  it('has a bound for each page, which the error names', async () => {
    const items = [{ metadata: { name: 'a' }, data: { text: 'x'.repeat(2_000) } }]
    const failure = await listFrom(() => ({ ...page, items }), { maxAnswerBytes: 1_000 })
    expect(failure).toMatchObject({
      message: expect.stringContaining('larger than 1000 bytes'),
      hint: 'ask for less at a time, or raise maxAnswerBytes of the connection',
    })
  })

  it('ends when a page leads to itself, or is no list', async () => {
    const again = await listFrom(() => page)
    expect(again).toMatchObject({ message: 'a list of configmaps: a page leads to itself' })
    const none = await listFrom(() => ({ kind: 'ConfigMap', metadata: {}, items: 'none' }))
    expect(none).toMatchObject({ message: 'a list of configmaps: the answer is not a list' })
  })
})
