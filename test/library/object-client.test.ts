import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type ObjectClient,
  retryOnConflict,
} from 'informerql/cluster'
import {
  addFinalizer,
  hasFinalizer,
  InvalidOptionError,
  isBeingDeleted,
  mutableCopy,
  removeFinalizer,
  resources,
} from 'informerql/informer'
import type { ConfigMap } from 'informerql/kubernetes'
import { expect, it } from 'vitest'
import { failureOf } from '../api-server/local-server.ts'
import { describeContract, newNamespace } from '../contract/contract-server.ts'
import { openApiServer } from '../support/contract-api-server.ts'

interface Setting extends AsyncDisposable {
  readonly namespace: string
  readonly client: ObjectClient<ConfigMap>
}

describeContract('A client of config maps', (server) => {
  const open = async (): Promise<Setting> => {
    const apiServer = await openApiServer(server())
    return {
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

  it('holds an object back by a finalizer until it is taken away', async () => {
    await using setting = await open()
    const { client, namespace } = setting
    const finalizer = 'tests.example.com/hold'
    const made = await client.create(
      addFinalizer<ConfigMap>(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'a' } },
        finalizer,
      ),
    )
    await client.delete(made.metadata)
    const held = await client.get(made.metadata)
    expect([isBeingDeleted(made), isBeingDeleted(held), hasFinalizer(held, finalizer)]).toEqual([
      false,
      true,
      true,
    ])
    await client.update(removeFinalizer(held, finalizer))
    expect(isNotFound(await failureOf(client.get(made.metadata)))).toBe(true)
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
    expect(read.status?.phase).toBe('Lost')
    await client.update({ ...read, status: { phase: 'Bound' } })
    expect((await client.get(made.metadata)).status?.phase).toBe('Lost')
  })
})
