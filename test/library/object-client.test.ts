import {
  type ApiServer,
  CutObjectError,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ObjectClient,
  retryOnConflict,
} from 'informerql/cluster'
import {
  createSharedInformer,
  dropFinalizer,
  ensureFinalizer,
  hasFinalizer,
  InvalidOptionError,
  isBeingDeleted,
  mutableCopy,
  resources,
} from 'informerql/informer'
import type { ConfigMap } from 'informerql/kubernetes'
import { expect, it, vi } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { describeContract, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'

interface Setting extends AsyncDisposable {
  readonly apiServer: ApiServer
  readonly namespace: string
  readonly client: ObjectClient<ConfigMap>
}

describeContract('A client of config maps', (server) => {
  const open = async (): Promise<Setting> => {
    const apiServer = await openApiServer(server())
    return {
      apiServer,
      namespace: await newNamespace(server()),
      client: apiServer.client(resources.configMaps, { fieldManager: 'tests' }),
      [Symbol.asyncDispose]: () => apiServer[Symbol.asyncDispose](),
    }
  }

  it('creates, reads, replaces and deletes', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const made = await client.create({ metadata: { namespace, name: 'a' }, data: { n: '1' } })
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { n: '1' } })
    expect(await client.get({ namespace, name: 'a' })).toEqual(made)
    const again = client.create({ metadata: { namespace, name: 'a' } })
    const refused = await failureOf(again)
    expect([isAlreadyExists(refused), isConflict(refused), isNotFound(refused)]).toEqual([
      true,
      false,
      false,
    ])
    const copy = mutableCopy(made)
    copy.data = { n: '2' }
    expect(await client.update(copy)).toMatchObject({ data: { n: '2' } })
    await client.delete(made.metadata)
    expect(isNotFound(await failureOf(client.get(made.metadata)))).toBe(true)
    const named = await client.create({ metadata: { namespace, generateName: 'any-' } })
    expect(named.metadata.name).toMatch(/^any-.+/)
  })

  it('writes only what its preconditions allow', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const first = await client.create({ metadata: { namespace, name: 'a' }, data: { n: '1' } })
    const second = await client.update({ ...first, data: { n: '2' } })
    const at = first.metadata
    const { resourceVersion = '' } = first.metadata
    const stale = { preconditions: { resourceVersion } }
    const stranger = { preconditions: { uid: '6f1d1bb1-0000-4000-8000-000000000000' } }
    const writes = [
      () => client.update({ ...first, data: { n: '3' } }),
      () => client.patch(at, { merge: { data: { n: '3' } } }, stale),
      () => client.patch(at, { json: [{ op: 'add', path: '/data/n', value: '3' }] }, stale),
      () => client.delete(at, stale),
      () => client.delete(at, stranger),
    ]
    for (const write of writes) {
      expect(isConflict(await failureOf(write())), String(write)).toBe(true)
    }
    expect(await client.get(at)).toEqual(second)
    const { uid = '' } = at
    await client.delete(at, { preconditions: { uid } })
  })

  it('patches in three ways', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const at = { namespace, name: 'a' }
    await client.create({ metadata: at, data: { n: '1', old: 'yes' } })
    const merged = await client.patch(at, { merge: { data: { n: '2', old: null } } })
    expect(merged.data).toEqual({ n: '2' })
    const strategic = await client.patch(at, { strategic: { metadata: { labels: { a: 'b' } } } })
    expect(strategic.metadata.labels).toEqual({ a: 'b' })
    const steps = [
      { op: 'test', path: '/data/n', value: '2' },
      { op: 'replace', path: '/data/n', value: '3' },
    ] as const
    expect((await client.patch(at, { json: steps })).data).toEqual({ n: '3' })
  })

  it('tries again after a conflict, with what it reads anew', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const at = { namespace, name: 'a' }
    await client.create({ metadata: at, data: { n: '0' } })
    let attempts = 0
    const increments = Array.from({ length: 4 }, () =>
      retryOnConflict(
        async () => {
          attempts += 1
          const { data = {}, ...object } = await client.get(at)
          await client.update({ ...object, data: { n: `${Number(data['n']) + 1}` } })
        },
        { attempts: 50 },
      ),
    )
    await Promise.all(increments)
    expect((await client.get(at)).data).toEqual({ n: '4' })
    expect(attempts).toBeGreaterThanOrEqual(4)
  })

  /** The namespace's config maps as an informer has them, once it has what the server has: a first list may be older. */
  const cacheOf = async (
    { apiServer, client, namespace }: Setting,
    options: { readonly metadataOnly?: boolean } = {},
  ): Promise<AsyncDisposable & { get(name: string): Promise<ConfigMap> }> => {
    const { configMaps: resource } = resources
    const cache = createSharedInformer({ apiServer, resource, namespace, ...options })
    const stop = new AbortController()
    const running = cache.run(stop.signal)
    await cache.waitForSync({ deadlineMs: 30_000 })
    return {
      async get(name) {
        const { resourceVersion } = (await client.get({ namespace, name })).metadata
        return vi.waitFor(() => {
          const cached = cache.lister().namespaced(namespace).get(name)
          expect(cached.metadata.resourceVersion).toBe(resourceVersion)
          return cached
        }, 30_000)
      },
      async [Symbol.asyncDispose]() {
        stop.abort()
        await running
      },
    }
  }
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  const finalizer = 'tests.example.com/hold'

  it('never loses by an update what a cache left out', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const at = { namespace, name: 'a' }
    const metadata = { ...at, annotations: { [lastApplied]: '{"data":{"n":"1"}}', kept: 'yes' } }
    await client.create({ metadata, data: { n: '1' } })
    for (const options of [{}, { metadataOnly: true }]) {
      await using cache = await cacheOf(setting, options)
      const cached = await cache.get('a')
      const versionless = { ...cached.metadata, resourceVersion: '' }
      for (const changed of [
        cached,
        mutableCopy(cached),
        { ...cached, data: { n: '2' } },
        { ...cached, metadata: { ...cached.metadata, labels: { a: 'b' } } },
        { ...cached, metadata: versionless },
        structuredClone(cached),
      ]) {
        const refusal = await failureOf(client.update(changed))
        expect(refusal).toBeInstanceOf(CutObjectError)
        expect(refusal).toMatchObject({
          code: 'CUT_OBJECT',
          hint: expect.stringContaining('patch'),
        })
      }
      // The ways out.
      await client.patch(cached.metadata, { merge: { data: { n: '2' } } })
      await client.update({ ...(await client.get(at)), data: { n: '3' } })
      expect(await client.get(at)).toMatchObject({
        data: { n: '3' },
        metadata: { annotations: metadata.annotations },
      })
    }
    // Of this one the server has no more than that, managed by nobody.
    const empty = await client.create({ metadata: { namespace, name: 'empty' } })
    expect('managedFields' in empty.metadata).toBe(false)
    expect((await client.update({ ...empty, data: { n: '1' } })).data).toEqual({ n: '1' })
    // An object that was never read has not been cut.
    const replacement = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: at,
      data: { n: '4' },
    } as const
    expect((await client.update(replacement)).data).toEqual({ n: '4' })
  })

  it('holds an object back by a finalizer until it is taken away, from a cache and without a loss', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const at = { namespace, name: 'a' }
    const annotations = { [lastApplied]: '{"data":{"n":"1"}}' }
    const finalizers = ['tests.example.com/other']
    const made = await client.create({
      metadata: { ...at, annotations, finalizers },
      data: { n: '1' },
    })
    await using cache = await cacheOf(setting)
    const ensured = await ensureFinalizer(client, await cache.get('a'), finalizer)
    expect(ensured.metadata).toMatchObject({ annotations, finalizers: [...finalizers, finalizer] })
    expect(ensured.data).toEqual({ n: '1' })
    expect(await ensureFinalizer(client, ensured, finalizer)).toBe(ensured)
    // What the cache held then is not what there is now.
    expect(
      isConflict(await failureOf(ensureFinalizer(client, made, 'tests.example.com/late'))),
    ).toBe(true)
    await client.delete(at)
    const held = await client.get(at)
    expect([isBeingDeleted(made), isBeingDeleted(held), hasFinalizer(held, finalizer)]).toEqual([
      false,
      true,
      true,
    ])
    await dropFinalizer(client, made, finalizer)
    expect(isConflict(await failureOf(dropFinalizer(client, ensured, finalizer)))).toBe(true)
    await dropFinalizer(client, held, finalizer)
    const last = await client.get(at)
    expect(last.metadata).toMatchObject({ annotations, finalizers })
    await dropFinalizer(client, last, 'tests.example.com/other')
    expect(isNotFound(await failureOf(client.get(at)))).toBe(true)
    // Another was quicker.
    await dropFinalizer(client, last, 'tests.example.com/other')
  })

  it('says before it asks that a namespace, a name or a field manager is missing', async () => {
    await using apiServer = await openApiServer(server())
    const client = apiServer.client(resources.configMaps)
    const metadata = { namespace: 'default', name: 'a' }
    for (const asked of [
      () => client.get({ name: 'a' }),
      () => client.get({ namespace: 'default', name: '' }),
      () => client.create({ metadata: { name: 'a' } }),
      () => client.apply({ metadata }),
    ]) {
      expect(await failureOf(asked()), String(asked)).toBeInstanceOf(InvalidOptionError)
    }
  })

  it('stores nothing in a dry run', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const metadata = { namespace, name: 'a' }
    expect((await client.create({ metadata }, { dryRun: true })).metadata.name).toBe('a')
    expect(isNotFound(await failureOf(client.get(metadata)))).toBe(true)
  })

  it('writes the status of what has one apart from the rest', async () => {
    const namespace = await newNamespace(server())
    await using apiServer = await openApiServer(server())
    const client = apiServer.client(resources.persistentVolumeClaims)
    const made = await client.create({
      metadata: { namespace, name: 'a' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    await client.status.patch(made.metadata, { merge: { status: { phase: 'Lost' } } })
    const read = await client.status.get(made.metadata)
    const { managedFields: _, ...metadata } = read.metadata as typeof read.metadata & {
      readonly managedFields: unknown
    }
    const cut = { ...read, metadata }
    expect(await failureOf(client.status.update(cut))).toBeInstanceOf(CutObjectError)
    expect(read.status?.phase).toBe('Lost')
    await client.update({ ...read, status: { phase: 'Bound' } })
    expect((await client.get(made.metadata)).status?.phase).toBe('Lost')
  })
})
