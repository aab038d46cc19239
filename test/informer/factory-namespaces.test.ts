import {
  CacheSyncError,
  createSharedInformerFactory,
  resources,
  type SharedInformerFactory,
} from 'informerql/informer'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import {
  type ContractServer,
  describeContract,
  newConfigMap,
  newNamespace,
} from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'
import { connect, endlessBackoff, until } from '../support/informer.ts'
import { ScriptedServer } from './scripted-server.ts'

const deadlineMs = 20_000
const { configMaps, namespaces: namespaceResource, secrets } = resources

const newNamespaces = async (server: ContractServer, count: number): Promise<string[]> => {
  const names: string[] = []
  while (names.length < count) names.push(await newNamespace(server))
  return names
}

describeContract('A factory of several namespaces', (server) => {
  it('has the objects of these alone, and of kinds without namespaces all', async () => {
    const [a = '', b = '', other = ''] = await newNamespaces(server(), 3)
    for (const namespace of [a, b, other]) await newConfigMap(server(), namespace, 'one')
    await using apiServer = await openApiServer(server())
    await using factory = createSharedInformerFactory({ apiServer, namespaces: [a, b] })
    const maps = factory.informer(configMaps, { fieldSelector: 'metadata.name=one' })
    const all = factory.informer(namespaceResource)
    const own = factory.informer(configMaps, { namespace: other })
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    const found = maps.lister().list()
    expect(new Set(found.map(({ metadata }) => metadata.namespace))).toEqual(new Set([a, b]))
    expect(all.lister().find(other)?.metadata.name).toBe(other)
    expect(own.lister().namespaced(other).find('one')).toBeDefined()
    expect([...(factory.namespaces ?? [])]).toEqual(
      [a, b].map((name) => [name, { isSynced: true, errors: new Map() }]),
    )
  })

  it('takes namespaces in and lets them go while it runs', async () => {
    const [a = '', b = ''] = await newNamespaces(server(), 2)
    for (const namespace of [a, b]) await newConfigMap(server(), namespace, 'one')
    await using apiServer = await openApiServer(server())
    await using factory = createSharedInformerFactory({ apiServer, namespaces: [a] })
    const maps = factory.informer(configMaps, { fieldSelector: 'metadata.name=one' })
    const told: string[] = []
    maps.addEventHandler({
      onAdd: ({ metadata }) => void told.push(`+${metadata.namespace}`),
      onDelete: ({ metadata }) => void told.push(`-${metadata.namespace}`),
    })
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    factory.setNamespaces([a, b])
    await factory.waitForCacheSync({ deadlineMs })
    expect(maps.lister().namespaced(b).find('one')).toBeDefined()
    factory.setNamespaces([b])
    await until(() => told.length === 3, 'the deletion')
    expect(told).toEqual([`+${a}`, `+${b}`, `-${a}`])
    expect([...(factory.namespaces?.keys() ?? [])]).toEqual([b])
    const late = factory.informer(secrets)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    expect([...(late.namespaces?.keys() ?? [])]).toEqual([b])
    factory.setNamespaces(undefined)
    await factory.waitForCacheSync({ deadlineMs })
    expect(maps.lister().namespaced(a).find('one')).toBeDefined()
    expect(factory.namespaces).toBeUndefined()
  })

  it('does not wait for a namespace that does not exist', async () => {
    const [a = ''] = await newNamespaces(server(), 1)
    await using apiServer = await openApiServer(server())
    const namespaces = [a, 'no-such-namespace']
    await using factory = createSharedInformerFactory({ apiServer, namespaces })
    factory.informer(configMaps)
    factory.start()
    await factory.waitForCacheSync({ deadlineMs })
    const { isSynced } = factory.namespaces?.get('no-such-namespace') ?? {}
    expect(isSynced).toBe(true)
  })
})

describe('A factory of namespaces', () => {
  const open = (
    url: string,
    namespaces: readonly string[],
  ): { readonly factory: SharedInformerFactory } & AsyncDisposable => {
    const apiServer = connect(url)
    const factory = createSharedInformerFactory({
      apiServer,
      namespaces,
      backoff: endlessBackoff,
      observer: { failed() {} },
    })
    return {
      factory,
      async [Symbol.asyncDispose]() {
        await factory.shutdown()
        await apiServer[Symbol.asyncDispose]()
      },
    }
  }

  it('names the namespaces that are not there yet, and why', async () => {
    await using server = await ScriptedServer.start()
    await using setting = open(server.url, ['a'])
    const { factory } = setting
    factory.informer(configMaps)
    factory.start()
    ;(await server.in('a', 'list')).list('10', [])
    await server.in('a', 'watch')
    await factory.waitForCacheSync({ deadlineMs })
    factory.setNamespaces(['a', 'b', 'c'])
    ;(await server.in('b', 'list')).refuse(403)
    ;(await server.in('c', 'list')).list('12', [])
    await server.in('c', 'watch')
    await until(() => factory.namespaces?.get('b')?.errors.size === 1, 'the refusal')
    await until(() => factory.namespaces?.get('c')?.isSynced === true, 'the list of c')
    const failure = await failureOf(factory.waitForCacheSync({ deadlineMs: 1 }))
    expect(failure).toBeInstanceOf(CacheSyncError)
    const message = /configmaps: a list of configmaps in b took longer than 1 ms; .*403/
    expect(failure).toMatchObject({ message: expect.stringMatching(message) })
    const states = Array.from(factory.namespaces ?? [], ([name, { isSynced, errors }]) => [
      name,
      isSynced,
      [...errors.keys()],
    ])
    expect(states).toEqual([
      ['a', true, []],
      ['b', false, ['configmaps']],
      ['c', true, []],
    ])
    const waiting = factory.waitForCacheSync({ deadlineMs })
    factory.setNamespaces(['a', 'c'])
    await waiting
  })

  it('refuses what makes no sense, by name', async () => {
    await using apiServer = connect('http://127.0.0.1:1')
    const of = (options: object) => () =>
      void createSharedInformerFactory({ apiServer, ...options })
    expect(of({ namespaces: [''] })).toThrow(/not a name/)
    expect(of({ namespaces: ['a'], namespace: 'b' })).toThrow(/cannot be combined/)
    await using factory = createSharedInformerFactory({ apiServer, namespace: 'b' })
    expect(() => factory.setNamespaces(['a'])).toThrow(/cannot be combined/)
    await using narrow = createSharedInformerFactory({ apiServer, namespaces: ['a'] })
    expect(() => narrow.setNamespaces(['a', ''])).toThrow(/not a name/)
    expect([...(narrow.namespaces?.keys() ?? [])]).toEqual(['a'])
  })
})
