import { setImmediate as turn } from 'node:timers/promises'
import type { ApiServer } from 'informerql/cluster'
import { type ListerWatcher, resourceVersion } from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import {
  connectTo,
  failureOf,
  neverAborted,
  pods,
  readFrames,
  startLocalServer,
} from './local-server.ts'

type ResourceClient = ReturnType<ApiServer['resource']>
type ListStream = Awaited<ReturnType<ResourceClient['list']>>

/** The informer's contract: that this compiles is the test. */
const asListerWatcher = (client: ResourceClient): ListerWatcher => client

const metadataOnlyList = {
  kind: 'PartialObjectMetadataList',
  apiVersion: 'meta.k8s.io/v1',
  metadata: {},
  items: [{ metadata: { name: 'a' } }],
}

/** What a client asks for: the address and the Accept header of one request. */
const requestOf = async (
  ask: (client: ListerWatcher) => Promise<unknown>,
  options: { metadataOnly?: boolean; resource?: typeof pods } = {},
): Promise<{ path: string; query: Record<string, string>; accept: string | undefined }> => {
  let seen = { path: '', query: {}, accept: undefined as string | undefined }
  await using server = await startLocalServer(({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    seen = { path: pathname, query: Object.fromEntries(searchParams), accept: headers.accept }
    response.end(JSON.stringify(metadataOnlyList))
  })
  await using api = connectTo(server.url)
  const { resource = pods, ...rest } = options
  await ask(asListerWatcher(api.resource(resource, rest)))
  return seen
}

describe('what a resource client asks for', () => {
  it('sends the parameters of a list that are there, and no others', async () => {
    expect(await requestOf(async (client) => client.list({}, neverAborted()))).toEqual({
      path: '/api/v1/pods',
      query: {},
      accept: 'application/json',
    })
    const all = {
      labelSelector: 'app in (web,api),tier!=cache,!legacy',
      fieldSelector: 'status.phase=Running,spec.nodeName!=a b',
      resourceVersion: resourceVersion('0'),
      resourceVersionMatch: 'NotOlderThan',
      limit: 500,
      continue: 'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ==+/&',
    } as const
    const { path, query } = await requestOf(async (client) =>
      client.list({ ...all, namespace: 'team-a' }, neverAborted()),
    )
    expect(path).toBe('/api/v1/namespaces/team-a/pods')
    expect(query).toEqual({ ...all, limit: '500' })
    const latest = { resourceVersion: resourceVersion(''), continue: '' }
    expect((await requestOf(async (client) => client.list(latest, neverAborted()))).query).toEqual(
      {},
    )
  })

  it('sends the parameters of a watch', async () => {
    const options = {
      resourceVersion: resourceVersion('12'),
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      timeoutSeconds: 301,
    } as const
    const resource = { ...pods, group: 'apps', resource: 'deployments', kind: 'Deployment' }
    const asked = await requestOf(async (client) => client.watch(options, neverAborted()), {
      resource,
    })
    expect(asked).toEqual({
      path: '/apis/apps/v1/deployments',
      query: {
        watch: 'true',
        resourceVersion: '12',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
        sendInitialEvents: 'true',
        timeoutSeconds: '301',
      },
      accept: 'application/json',
    })
  })

  it('asks for metadata and nothing else where only that may be read', async () => {
    const options = { metadataOnly: true }
    const list = await requestOf(async (client) => client.list({}, neverAborted()), options)
    expect(list.accept).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')
    const watch = await requestOf(async (client) => client.watch({}, neverAborted()), options)
    expect(watch.accept).toBe('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')
  })
})

/** A server that sends these parts one after the other. */
const readParts = async (
  parts: readonly (string | Buffer)[],
  read: (client: ResourceClient) => Promise<string[]>,
  options = {},
): Promise<string[]> => {
  await using server = await startLocalServer(async (_, response) => {
    for (const part of parts) {
      response.write(part)
      await turn()
    }
    response.end()
  })
  await using api = connectTo(server.url)
  return await read(api.resource(pods, options))
}

const list = async (client: ResourceClient): Promise<string[]> =>
  readFrames(await client.list({}, neverAborted()))
const watch = async (client: ResourceClient): Promise<string[]> =>
  readFrames(await client.watch({}, neverAborted()))

const listText = Buffer.from(
  '{"kind":"PodList","items":[{"a":"\u2028\\"]}\\\\"},{"b":[{}]}],"metadata":{"resourceVersion":"7"}}\n',
)
const watchText = Buffer.from(
  '{"type":"ADDED","object":{"a":"\u2028"}}\n{"type":"DELETED","object":{}}\n',
)

describe('what a resource client reads', () => {
  it('does not depend on where the bytes are split', async () => {
    const items = await readParts([listText], list)
    const events = await readParts([watchText], watch)
    expect([items.length, events.length]).toEqual([2, 2])
    for (let at = 1; at < listText.length; at++) {
      const parts = [listText.subarray(0, at), listText.subarray(at)]
      expect(await readParts(parts, list)).toEqual(items)
    }
    for (let at = 1; at < watchText.length; at++) {
      const parts = [watchText.subarray(0, at), watchText.subarray(at)]
      expect(await readParts(parts, watch)).toEqual(events)
    }
  })

  it('is never a shorter list than was sent', async () => {
    for (let length = 0; length < listText.length - 1; length++) {
      const error = await failureOf(readParts([listText.subarray(0, length)], list))
      expect(error).toMatchObject({ code: 'TRUNCATED_FRAME' })
    }
    const cut = await failureOf(readParts([watchText.subarray(0, -1)], watch))
    expect(cut).toMatchObject({ code: 'TRUNCATED_FRAME' })
  })

  it('are frames in which U+2028 is a character like others', async () => {
    const [event = ''] = await readParts([watchText], watch)
    expect(JSON.parse(event)).toEqual({ type: 'ADDED', object: { a: '\u2028' } })
  })

  it('tells the metadata of a list once it has been read', async () => {
    await using server = await startLocalServer((_, response) => {
      const metadata = {
        resourceVersion: '9',
        continue: 'more',
        remainingItemCount: 3,
        selfLink: '',
      }
      response.end(JSON.stringify({ items: [{}], metadata }))
    })
    await using api = connectTo(server.url)
    const stream: ListStream = await api.resource(pods).list({}, neverAborted())
    expect(() => stream.metadata()).toThrow(TypeError)
    await readFrames(stream)
    expect(stream.metadata()).toEqual({
      resourceVersion: '9',
      continue: 'more',
      remainingItemCount: 3,
    })
  })

  it('has no resource version and no more pages where the server says neither', async () => {
    for (const metadata of [undefined, null, {}, { continue: '', resourceVersion: '' }]) {
      await using server = await startLocalServer((_, response) => {
        response.end(JSON.stringify({ items: null, metadata }))
      })
      await using api = connectTo(server.url)
      const stream = await api.resource(pods).list({}, neverAborted())
      expect(await readFrames(stream)).toEqual([])
      expect(stream.metadata()).toEqual({ resourceVersion: '' })
    }
  })

  it('is refused where whole objects come although only metadata may be read', async () => {
    const options = { metadataOnly: true }
    const whole = JSON.stringify({ kind: 'SecretList', metadata: {}, items: [{ data: 'secret' }] })
    const error = await failureOf(readParts([whole], list, options))
    expect(error).toMatchObject({ code: 'MALFORMED_LIST', value: 'SecretList' })
    expect(await readParts([JSON.stringify(metadataOnlyList)], list, options)).toHaveLength(1)
    const kindLast = JSON.stringify({ metadata: {}, items: [{}], kind: 'SecretList' })
    expect(await failureOf(readParts([kindLast], list, options))).toMatchObject({
      code: 'MALFORMED_LIST',
    })
  })
})
