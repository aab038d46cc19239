import { type ApiServer, loadClusterConfig } from 'informerql/cluster'
import {
  type ApiResource,
  CacheSyncError,
  createDynamicInformerFactory,
  createSharedInformerFactory,
  InformerStoppedError,
  type Unstructured,
  type ListerWatcher,
  ResourceNotServedError,
  type SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from 'informerql/informer'
import { expect, it } from 'vitest'
import {
  ask,
  type ContractServer,
  describeContract,
  newConfigMap,
  newNamespace,
} from '../contract/contract-server.ts'
import { configMaps, connect, foldingHandler, shortBackoff, until } from '../support/informer.ts'
import { writeKubeconfig } from '../support/kubeconfig.ts'
import { failureOf } from '../api-server/local-server.ts'

const deadlineMs = 15_000
const backoff = { ...shortBackoff, initialMs: 50, maxMs: 50 }

const open = async (server: ContractServer): Promise<ApiServer> => {
  await using kubeconfig = await writeKubeconfig(server)
  const environment = {
    variables: {},
    homeDir: '/nonexistent',
    serviceAccountDir: '/nonexistent',
  }
  return connect(loadClusterConfig({ kubeconfig: kubeconfig.path }, environment))
}

const factoryOf = (
  apiServer: ApiServer,
  options: Partial<SharedInformerFactoryOptions> = {},
): SharedInformerFactory =>
  createSharedInformerFactory({
    ...(options.source === undefined ? { apiServer } : {}),
    backoff,
    ...options,
  })

const names = (objects: Iterable<Unstructured>): string[] =>
  Array.from(objects, ({ metadata }) => metadata.name)

const secrets: ApiResource = { ...configMaps, resource: 'secrets', kind: 'Secret' }
const ghosts: ApiResource = { ...configMaps, group: 'ghosts.test', resource: 'ghosts' }

const gadgets = { group: 'points.test', version: 'v1', resource: 'gadgets' } as const
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const definition = {
  metadata: { name: 'gadgets.points.test' },
  spec: {
    group: gadgets.group,
    scope: 'Cluster',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: gadgets.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

describeContract('A factory', (server) => {
  const answered = async (path: string, body: object): Promise<number> =>
    (await ask(server(), path, { method: 'POST', body })).status

  /** Until it is accepted: a definition that is new, or has just gone, takes its time. */
  const create = async (path: string, body: object): Promise<void> => {
    await expect.poll(() => answered(path, body), { timeout: deadlineMs }).toBe(201)
  }

  it('[30] has one informer per resource and options, which start when told to, again and again', async () => {
    const namespace = await newNamespace(server())
    await newConfigMap(server(), namespace, 'a')
    await using apiServer = await open(server())
    await using factory = factoryOf(apiServer, { namespace })
    const one = factory.informer(configMaps)
    expect(factory.informer(configMaps)).toBe(one)
    const other = factory.informer(configMaps, { labelSelector: 'a=b' })
    expect(other).not.toBe(one)
    expect(factory.informer({ ...configMaps }, { labelSelector: 'a=b' })).toBe(other)
    const transform = (object: Unstructured): Unstructured => object
    expect(factory.informer(configMaps, { transform })).toBe(
      factory.informer(configMaps, { transform }),
    )
    expect(factory.informer(configMaps, { transform: (object) => object })).not.toBe(
      factory.informer(configMaps, { transform: (object) => object }),
    )
    expect([...factory.informers()]).toHaveLength(5)
    expect(one.state).toBe('idle')
    factory.start()
    factory.start()
    expect(await factory.settleCacheSync({ deadlineMs })).toEqual(new Map([['configmaps', true]]))
    expect(names(one.lister().list())).toContain('a')
    expect(other.lister().list()).toEqual([])
    const late = factory.informer(secrets)
    expect(late.state).toBe('idle')
    factory.start()
    expect(await factory.settleCacheSync({ deadlineMs })).toEqual(
      new Map([
        ['configmaps', true],
        ['secrets', true],
      ]),
    )
  })

  it('[30] passes on namespace, selectors, tweaks, transform; one resource may have its own options', async () => {
    const namespace = await newNamespace(server())
    await newConfigMap(server(), namespace, 'red', { labels: { colour: 'red' } })
    await newConfigMap(server(), namespace, 'blue', { labels: { colour: 'blue' } })
    await using apiServer = await open(server())
    const tweaked: string[] = []
    await using factory = factoryOf(apiServer, {
      namespace,
      transform: (object) => ({ ...object, data: {} }),
      forResource: ({ resource }) => (resource === 'secrets' ? { resyncPeriodMs: 1000 } : {}),
    })
    const whole = factory.informer(configMaps)
    const red = factory.informer(configMaps, { labelSelector: 'colour=red' })
    const blue = factory.informer(configMaps, { fieldSelector: 'metadata.name=blue' })
    const tweak = factory.informer(configMaps, {
      tweakListOptions: (options) => {
        tweaked.push('limit' in options ? 'list' : 'watch')
        return { ...options, labelSelector: 'colour in (blue)' }
      },
    })
    const plain = foldingHandler()
    whole.addEventHandler(plain)
    const resynced = foldingHandler()
    const informer = factory.informer(secrets)
    informer.addEventHandler(resynced)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    expect(names(red.lister().list())).toEqual(['red'])
    expect(names(blue.lister().list())).toEqual(['blue'])
    expect(names(tweak.lister().list())).toEqual(['blue'])
    await until(() => tweaked.includes('watch'), 'the watch')
    expect(tweaked[0]).toBe('list')
    expect(whole.lister().namespaced(namespace).get('red')['data']).toEqual({})
    expect(
      whole
        .lister()
        .list()
        .map(({ metadata }) => metadata.namespace),
    ).toContain(namespace)
    expect(new Set(whole.store.index('namespace').values())).toEqual(new Set([namespace]))
    const secret = { metadata: { name: 's' } }
    expect(await answered(`/api/v1/namespaces/${namespace}/secrets`, secret)).toBe(201)
    await until(() => resynced.events.some((one) => one.startsWith('MODIFIED')), 'a resync')
    expect(plain.events.filter((event) => event.startsWith('MODIFIED'))).toEqual([])
  })

  it('[30] says of each resource whether it has synced, waits at shutdown, and is over then', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await open(server())
    const factory = factoryOf(apiServer, { namespace })
    const informer = factory.informer(configMaps)
    const missing = factory.informer(ghosts)
    const begun = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    informer.addEventHandler({
      onAdd: async () => {
        begun.resolve()
        await release.promise
      },
    })
    await newConfigMap(server(), namespace, 'a')
    factory.start()
    await informer.waitForSync({ deadlineMs })
    await until(() => missing.lastError !== undefined, 'the refusal')
    expect(await factory.settleCacheSync({ deadlineMs: 100 })).toEqual(
      new Map([
        ['configmaps', true],
        ['ghosts.ghosts.test', false],
      ]),
    )
    expect(missing.lastError).toMatchObject({ httpStatus: 404 })
    const failed = await failureOf(factory.waitForCacheSync({ deadlineMs: 100 }))
    expect(failed).toBeInstanceOf(CacheSyncError)
    expect(failed).toMatchObject({ value: ['ghosts.ghosts.test'] })
    expect((failed as CacheSyncError).errors.get('ghosts.ghosts.test')).toMatchObject({
      code: 'DEADLINE',
      cause: { httpStatus: 404 },
    })
    await begun.promise
    let isOver = false
    const shutdown = factory.shutdown().then(() => (isOver = true))
    await until(() => missing.state === 'stopped', 'the end of the other one')
    expect(isOver).toBe(false)
    release.resolve()
    await shutdown
    expect([informer.state, missing.state]).toEqual(['stopped', 'stopped'])
    expect(() => factory.informer(configMaps)).toThrow(InformerStoppedError)
    expect(() => factory.start()).toThrow(InformerStoppedError)
    expect(() => informer.addEventHandler({})).toThrow(InformerStoppedError)
    await factory.shutdown()
  })

  it('[30] of metadata only never receives anything else', async () => {
    const namespace = await newNamespace(server())
    await newConfigMap(server(), namespace, 'a', { data: { secret: 'nobody’s business' } })
    await using apiServer = await open(server())
    let received = ''
    const source: SharedInformerFactoryOptions['source'] = (resource, how) =>
      overheard(apiServer.resource(resource, how), (text) => {
        received += text
      })
    await using listing = factoryOf(apiServer, { namespace, source })
    await using streaming = factoryOf(apiServer, { namespace, source, initialList: 'watchlist' })
    const factories = [listing, streaming]
    const informers = factories.map((one) => one.informer(configMaps, { metadataOnly: true }))
    for (const factory of factories) factory.start()
    await Promise.all(factories.map((one) => one.waitForCacheSync({ deadlineMs })))
    await newConfigMap(server(), namespace, 'b', { data: { secret: 'nobody’s business' } })
    for (const informer of informers) {
      await until(() => informer.store.idOf(`${namespace}/b`) !== undefined, 'the second one')
      const object = informer.lister().namespaced(namespace).get('a')
      expect(Object.keys(object)).toEqual(['apiVersion', 'kind', 'metadata'])
      expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
      expect(object.metadata.uid).toBeTypeOf('string')
    }
    expect(received).toContain('PartialObjectMetadata')
    expect(received).not.toContain('business')
  })

  it('[30] that is dynamic serves any resource by its name, and says which ones there are not', async () => {
    const namespace = await newNamespace(server())
    await newConfigMap(server(), namespace, 'a')
    await using apiServer = await open(server())
    await using factory = createDynamicInformerFactory({
      apiServer,
      discoverEveryMs: 20,
      namespace,
    })
    const wanted = { group: '', version: 'v1', resource: 'configmaps' }
    const informer = await factory.informer(wanted)
    expect(await factory.informer(wanted)).toBe(informer)
    expect(informer.resource.kind).toBe('ConfigMap')
    const deployments = await factory.informer({
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
    })
    factory.start()
    expect(await factory.settleCacheSync({ deadlineMs })).toEqual(
      new Map([
        ['configmaps', true],
        ['deployments.apps', true],
      ]),
    )
    expect(deployments.lister().list()).toEqual([])
    expect(names(informer.lister().list())).toContain('a')
    const older = { group: 'apps', version: 'v1beta1', resource: 'deployments' }
    await expect(factory.informer(older)).rejects.toMatchObject({
      code: 'RESOURCE_NOT_SERVED',
      value: older,
      hint: 'it serves it in apps/v1',
    })
    await expect(factory.waitForResource(ghosts, { deadlineMs: 50 })).rejects.toThrow(
      ResourceNotServedError,
    )
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(factory.waitForResource(ghosts, { deadlineMs, signal: aborted })).rejects.toThrow(
      'enough',
    )
  })

  it('[30] that is dynamic follows a custom resource that appears, vanishes and comes back', async () => {
    await using apiServer = await open(server())
    const failures: Error[] = []
    await using factory = createDynamicInformerFactory({
      apiServer,
      discoverEveryMs: 20,
      backoff,
      observer: { failed: (_, error) => failures.push(error) },
    })
    await expect(factory.informer(gadgets)).rejects.toThrow(ResourceNotServedError)
    const appearing = factory.waitForResource(gadgets, { deadlineMs })
    const objects = '/apis/points.test/v1/gadgets'
    const gadget = (name: string, colour: string): object => ({
      apiVersion: 'points.test/v1',
      kind: 'Gadget',
      metadata: { name, labels: { colour } },
    })
    await create(definitions, definition)
    expect((await appearing).kind).toBe('Gadget')
    const all = await factory.informer(gadgets)
    const red = await factory.informer(gadgets, { labelSelector: 'colour=red' })
    const handlers = [foldingHandler(), foldingHandler()] as const
    all.addEventHandler(handlers[0])
    red.addEventHandler(handlers[1])
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    const seen = (): string => handlers.map((one) => [...one.objects.keys()].join()).join(' | ')
    await create(objects, gadget('a', 'red'))
    await create(objects, gadget('b', 'blue'))
    await until(() => seen() === 'a,b | a', seen)

    const path = `${definitions}/gadgets.points.test`
    expect((await ask(server(), path, { method: 'DELETE' })).status).toBe(200)
    await until(() => all.lastError !== undefined && red.lastError !== undefined, 'the errors')
    await until(
      () => failures.some((error) => 'httpStatus' in error && error.httpStatus === 404),
      'the refusal',
    )
    await until(() => seen() === ' | ', seen)

    await create(definitions, definition)
    await create(objects, gadget('c', 'red'))
    await create(objects, gadget('d', 'blue'))
    await until(() => seen() === 'c,d | c', seen)
    expect(names(all.lister().list())).toEqual(['c', 'd'])
    expect(names(red.lister().list())).toEqual(['c'])
    await until(() => all.state === 'synced' && red.state === 'synced', 'the state')
    expect(all.lastError).toBeUndefined()
  })
})

/** The same source, whose every byte is shown. */
const overheard = (source: ListerWatcher, hear: (text: string) => void): ListerWatcher => {
  async function* heard(
    batches: AsyncIterable<readonly Uint8Array[]>,
  ): AsyncGenerator<readonly Uint8Array[], void, void> {
    for await (const batch of batches) {
      for (const text of batch) hear(Buffer.from(text).toString())
      yield batch
    }
  }
  return {
    list: async (options, signal) => {
      const list = await source.list(options, signal)
      return { [Symbol.asyncIterator]: () => heard(list), metadata: () => list.metadata() }
    },
    watch: async (options, signal) => heard(await source.watch(options, signal)),
  }
}
