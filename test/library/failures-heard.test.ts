import { type ApiServer, createApiServer } from 'informerql/cluster'
import {
  createController,
  createSharedInformer,
  createSharedInformerFactory,
  resources,
} from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMap, ScriptedServer } from '../informer/scripted-server.ts'
import { connect, endlessBackoff, shortBackoff, until } from '../support/informer.ts'

const { configMaps } = resources
let warnings: (Error & { readonly code?: string; readonly detail?: string })[] = []
const hear = (warning: Error): void => void warnings.push(warning)

describe('Failures that nobody observes', () => {
  beforeEach(() => {
    warnings = []
    process.on('warning', hear)
  })
  afterEach(() => void process.off('warning', hear))

  it('are warnings of the process, the first of each kind', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const informer = createSharedInformer({
      apiServer,
      resource: configMaps,
      backoff: shortBackoff,
    })
    informer.addEventHandler({
      onAdd: () => {
        throw new Error('out of ideas')
      },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    for (let times = 0; times < 2; times += 1) {
      const list = await server.next('list')
      list.refuse(403)
    }
    await server.sync('10', [configMap('a', '1'), configMap('b', '2')])
    await until(() => informer.failures.get('handler') === 2, 'both failures')
    await until(() => warnings.length >= 2, 'the warnings')
    stop.abort()
    await running
    expect(informer.failures.get('list')).toBe(2)
    expect(warnings.map(({ name, code }) => `${name} ${code}`)).toEqual([
      'InformerWarning INFORMER_LIST',
      'InformerWarning INFORMER_HANDLER',
    ])
    const [list, handler] = warnings
    expect(list?.message).toMatch(/^informer of configmaps: GET .*403/)
    expect(handler?.message).toContain('out of ideas')
    expect(handler?.detail).toContain('informer.failures')
  })

  it('of a controller of raw deltas are, too', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const controller = createController({
      apiServer,
      resource: configMaps,
      knownObjects: 'none',
      process: () => {},
    })
    const stop = new AbortController()
    const running = controller.run(stop.signal)
    const list = await server.next('list')
    list.refuse(403)
    await until(() => warnings.length > 0, 'the warning')
    stop.abort()
    await running
    expect(warnings[0]).toMatchObject({ code: 'INFORMER_LIST' })
  })

  it('are none of the process where somebody does', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const heard: string[] = []
    const informer = createSharedInformer({
      apiServer,
      resource: configMaps,
      observer: { failed: (failure) => void heard.push(failure) },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    const list = await server.next('list')
    list.refuse(403)
    await until(() => heard.length > 0, 'the failure')
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await running
    expect([heard, warnings]).toEqual([['list'], []])
  })
})

describe('One observer of many informers', () => {
  it('is told of which resource a failure is', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const heard: string[] = []
    await using factory = createSharedInformerFactory({
      apiServer,
      observer: { failed: (failure, _, { resource }) => void heard.push(`${failure} ${resource}`) },
    })
    factory.informer(configMaps)
    factory.informer(resources.pods)
    factory.start()
    for (let times = 0; times < 2; times += 1) (await server.next('list')).refuse(403)
    await until(() => heard.length === 2, 'both failures')
    expect(heard.toSorted()).toEqual(['list configmaps', 'list pods'])
  })
})

describe('A resource whose kind is written in another case than the server writes it', () => {
  const wrong = { ...configMaps, kind: 'configmap' }

  it('never syncs, and the failure says how the server writes it', async () => {
    await using simulator = await startSimulator()
    await using apiServer = connect(simulator.url)
    await using factory = createSharedInformerFactory({ apiServer, observer: { failed() {} } })
    const informer = factory.informer(wrong)
    factory.start()
    await until(() => informer.lastError !== undefined, 'the failure')
    expect(informer.lastError).toMatchObject({
      message: expect.stringContaining('its kind is "ConfigMapList", not configmapList'),
      hint: "write the resource's kind as the server does",
    })
    expect(informer.hasSynced()).toBe(false)
  })

  it('is a failure of the watch where the list does not say its kind, and no event is dropped unheard', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const informer = createSharedInformer({
      apiServer,
      resource: wrong,
      backoff: endlessBackoff,
      observer: { failed() {} },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    const list = await server.next('list')
    list.json({ metadata: { resourceVersion: '10' }, items: [] })
    ;(await server.next('watch')).send('ADDED', configMap('a', '11'))
    await until(() => informer.state === 'waiting', 'the failure')
    expect(informer.lastError).toMatchObject({
      code: 'WRONG_KIND',
      message: expect.stringContaining('expected v1 configmap, found ["v1","ConfigMap"]'),
    })
    expect(informer.failures.get('watch')).toBe(1)
    stop.abort()
    await running
  })
})

describe('What the API server warns of', () => {
  const deprecated = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'
  const write = async (apiServer: ApiServer, name: string): Promise<void> => {
    await apiServer.client(resources.endpoints).create({ metadata: { namespace: 'default', name } })
  }

  it('is told to the observer of the connection, once each', async () => {
    await using simulator = await startSimulator()
    const heard: string[] = []
    await using apiServer = createApiServer({
      server: simulator.url,
      observer: { warned: (text) => void heard.push(text) },
    })
    for (const name of ['a', 'b']) await write(apiServer, name)
    expect(heard).toEqual([deprecated])
  })

  it('is a warning of the process where nobody observes it', async () => {
    warnings = []
    process.on('warning', hear)
    await using simulator = await startSimulator()
    await using apiServer = connect(simulator.url)
    for (const name of ['a', 'b']) await write(apiServer, name)
    await using other = createApiServer({ server: simulator.url, name: 'other', observer: {} })
    await write(other, 'c')
    await until(() => warnings.length > 1, 'the warnings')
    process.off('warning', hear)
    expect(warnings).toMatchObject([
      { name: 'ApiServerWarning', message: `test: ${deprecated}` },
      { name: 'ApiServerWarning', message: `other: ${deprecated}` },
    ])
  })
})

describe('A handler', () => {
  it('that never returns does not hold up the stop for ever, and is named', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const failures: Error[] = []
    const informer = createSharedInformer({
      apiServer,
      resource: configMaps,
      handlerStopDeadlineMs: 20,
      observer: { failed: (_, error) => void failures.push(error) },
    })
    const begun = Promise.withResolvers<void>()
    informer.addEventHandler({
      onAdd: () => {
        begun.resolve()
        return new Promise<void>(() => {})
      },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    await server.sync('10', [configMap('a', '1')])
    await begun.promise
    stop.abort()
    await running
    expect(failures).toMatchObject([{ code: 'HANDLER_STUCK', value: 'default/a' }])
  })

  it('can be waited for until it has been told of everything', async () => {
    await using server = await ScriptedServer.start()
    await using apiServer = connect(server.url)
    const informer = createSharedInformer({
      apiServer,
      resource: configMaps,
      handlerStopDeadlineMs: 1,
      observer: { failed: () => {} },
    })
    const told: string[] = []
    const registration = informer.addEventHandler({
      onAdd: async ({ metadata }) => {
        await new Promise((resolve) => setImmediate(resolve))
        told.push(metadata.name)
      },
    })
    const stop = new AbortController()
    const running = informer.run(stop.signal)
    await server.sync('10', [configMap('a', '1'), configMap('b', '2')])
    await registration.waitForSync({ deadlineMs: 10_000 })
    expect([told, registration.hasSynced()]).toEqual([['a', 'b'], true])
    const begun = Promise.withResolvers<void>()
    const late = informer.addEventHandler({
      onAdd: () => {
        begun.resolve()
        return new Promise<void>(() => {})
      },
    })
    await begun.promise
    const waiting = late.waitForSync().catch((error: unknown) => error)
    informer.removeEventHandler(late)
    expect(await waiting).toMatchObject({ code: 'HANDLER_REMOVED' })
    stop.abort()
    await running
  })
})
