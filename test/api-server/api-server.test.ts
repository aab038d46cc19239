import { type ApiServer, createApiServer, loadClusterConfig } from 'informerql/cluster'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import {
  bareEnvironment,
  connectTo,
  failureOf,
  neverAborted,
  pods,
  readFrames,
} from './local-server.ts'

const configMap = (name: string, value: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
})

const configMaps = { ...pods, resource: 'configmaps', kind: 'ConfigMap', singular: 'configmap' }
const path = '/api/v1/namespaces/default/configmaps'

interface WatchEvent {
  readonly type: string
  readonly object: {
    readonly kind?: string
    readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  }
}

interface Named {
  readonly kind?: string
  readonly metadata: { readonly name: string }
  readonly data?: { readonly value: string }
}

/** What holds on every API server. */
const holds = (connect: () => ApiServer): void => {
  it('discovers what is served, in the aggregated form', async () => {
    await using api = connect()
    const { resources, failures, format } = await api.discover()
    expect([format, failures]).toEqual(['aggregated', []])
    const found = resources.find(({ group, resource }) => group === '' && resource === 'pods')
    expect(found).toMatchObject({
      kind: 'Pod',
      namespaced: true,
      shortNames: ['po'],
      singular: 'pod',
    })
    expect(found?.subresources).toContain('log')
    expect(resources.length).toBeGreaterThan(50)
    expect(await api.version()).toMatchObject({
      major: 1,
      gitVersion: expect.stringMatching(/^v1\.\d+/),
    })
  })

  it('fetches OpenAPI documents by their hash', async () => {
    await using api = connect()
    const wanted = ['api/v1', 'apis/apps/v1']
    const isWanted = (document: string) => wanted.includes(document)
    const { documents, failures } = await api.openApi({ isWanted })
    expect([Object.keys(documents).toSorted(), failures]).toEqual([wanted, []])
    expect(documents['api/v1']?.components?.schemas).toHaveProperty(['io.k8s.api.core.v1.Pod'])
    const again = await api.openApi({ isWanted })
    expect(again.documents['api/v1']).toBe(documents['api/v1'])
  })

  it('lists what was written byte for byte, page by page and as metadata', async () => {
    await using api = connect()
    const values = ['\u2028 \\ " ] } é 🎉', 'x'.repeat(200_000), 'c', 'd', 'e', 'f']
    for (const [position, value] of values.entries()) {
      await api.request('POST', path, { body: configMap(`listed-${position}`, value) })
    }
    const client = api.resource(configMaps)
    const selection = { namespace: 'default' }
    const found: string[] = []
    let next: string | undefined
    do {
      const list = await client.list(
        { ...selection, limit: 3, ...(next === undefined ? {} : { continue: next }) },
        neverAborted(),
      )
      found.push(...(await readFrames(list)))
      next = list.metadata().continue
    } while (next !== undefined)
    const read = found
      .map((text) => JSON.parse(text) as Named)
      .filter(({ metadata }) => metadata.name.startsWith('listed-'))
    expect(read.map(({ data }) => data?.value)).toEqual(values)
    const partial = api.resource(configMaps, { metadataOnly: true })
    const items = await readFrames(await partial.list(selection, neverAborted()))
    expect(items.length).toBe(found.length)
    for (const text of items) expect(JSON.parse(text)).not.toHaveProperty('data')
  })

  it('watches from a list on, with bookmarks, until the time is up', async () => {
    await using api = connect()
    const client = api.resource(configMaps)
    const selection = { namespace: 'default' }
    const list = await client.list(selection, neverAborted())
    await readFrames(list)
    const options = { ...selection, allowWatchBookmarks: true, timeoutSeconds: 6 }
    const watch = await client.watch(
      { ...options, resourceVersion: list.metadata().resourceVersion },
      neverAborted(),
    )
    await api.request('POST', path, { body: configMap('watched', 'one\u2028two') })
    await api.request('PATCH', `${path}/watched`, {
      body: { data: { value: 'three' } },
      contentType: 'application/merge-patch+json',
    })
    await api.request('DELETE', `${path}/watched`)
    const events = (await readFrames(watch)).map((text) => JSON.parse(text) as WatchEvent)
    const changes = events.filter(({ type }) => type !== 'BOOKMARK')
    expect(changes.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    const [added] = changes
    expect(added?.object).toMatchObject(configMap('watched', 'one\u2028two'))
  })

  it('streams a list up to its closing bookmark, as metadata too', async () => {
    await using api = connect()
    for (const metadataOnly of [false, true]) {
      const watch = await api.resource(configMaps, { metadataOnly }).watch(
        {
          namespace: 'default',
          allowWatchBookmarks: true,
          sendInitialEvents: true,
          resourceVersionMatch: 'NotOlderThan',
          timeoutSeconds: 30,
        },
        neverAborted(),
      )
      const kinds = new Set<string | undefined>()
      let isComplete = false
      reading: for await (const batch of watch) {
        for (const frame of batch) {
          const { type, object } = JSON.parse(String(Buffer.from(frame))) as WatchEvent
          if (type === 'BOOKMARK')
            isComplete = 'k8s.io/initial-events-end' in (object.metadata.annotations ?? {})
          else kinds.add(object.kind)
          if (isComplete) break reading
        }
      }
      expect([...kinds]).toEqual([metadataOnly ? 'PartialObjectMetadata' : 'ConfigMap'])
    }
  })

  it('carries the Status of what is refused', async () => {
    await using api = connect()
    expect(await failureOf(api.request('GET', `${path}/missing`))).toMatchObject({
      httpStatus: 404,
      status: { kind: 'Status', reason: 'NotFound', details: { name: 'missing' } },
    })
    const expired = api.resource(configMaps).list({ continue: 'nonsense' }, neverAborted())
    expect(await failureOf(expired)).toMatchObject({ httpStatus: 400 })
  })
}

describe('a connection to the simulated API server', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(async () => simulator[Symbol.asyncDispose]())
  holds(() => connectTo(simulator.url))
})

describeWithControlPlane('a connection', (plane) => {
  const kubeconfig = () => plane().kubeconfigPath
  const connect = (gzip = false): ApiServer =>
    createApiServer({
      name: 'real',
      config: loadClusterConfig({ kubeconfig: kubeconfig() }, bareEnvironment),
      gzip,
    })
  holds(() => connect())

  it('reads the same compressed', async () => {
    const answers: string[][] = []
    for (const gzip of [true, false]) {
      await using api = connect(gzip)
      answers.push(await readFrames(await api.resource(configMaps).list({}, neverAborted())))
    }
    expect(answers[0]).toEqual(answers[1])
  })

  it('tells a token that is not known', async () => {
    const config = loadClusterConfig({ kubeconfig: kubeconfig() }, bareEnvironment)
    const user = { ...config.user, token: 'nonsense' }
    await using api = createApiServer({ name: 'real', config: { ...config, user } })
    expect(await failureOf(api.version())).toMatchObject({ httpStatus: 401 })
  })
})
