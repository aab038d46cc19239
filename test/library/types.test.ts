import type { ApiServer, ObjectClient, Status } from 'informerql/cluster'
import {
  type ApiResource,
  createSharedInformer,
  createWorkQueue,
  int64ToBigInt,
  int64ToNumber,
  type KubernetesObject,
  type MetadataOf,
  mutableCopy,
  type Resource,
  type ResourceEventHandler,
  resources,
  type SharedInformer,
  type SharedInformerFactory,
} from 'informerql/informer'
import type { ConfigMap, Int64, Pod, Scale } from 'informerql/kubernetes'
import { describe, expect, expectTypeOf, it } from 'vitest'

/** A custom resource as a user writes it down: a plain interface, not a type alias. */
interface Widget extends KubernetesObject {
  readonly spec: { readonly size: number }
  readonly status?: { readonly ready: boolean }
}

/** The least that a resource needs. */
const widgets: Resource<Widget> = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

interface Gadget extends Conditioned {
  readonly kind: 'Gadget'
  readonly spec: {
    readonly paused: boolean
    readonly names?: readonly string[]
    readonly size: number
  }
}
const conditioned: Resource<Gadget> = {
  group: 'example.com',
  version: 'v1',
  resource: 'gadgets',
  kind: 'Gadget',
  namespaced: true,
}

const discovered: ApiResource = { ...widgets, group: '', resource: 'pods', kind: 'Pod' }

declare const factory: SharedInformerFactory
declare const apiServer: ApiServer

/** Of a kind that is not known here. */
const writesAny = async <T extends KubernetesObject>(client: ObjectClient<T>, object: T) => {
  await client.apply(object, { fieldManager: 'tests' })
  await client.apply({ ...object, metadata: { ...object.metadata, labels: { app: 'a' } } })
  await client.apply({ metadata: { name: 'a', labels: { app: 'a' } } })
  await client.patch(object.metadata, { merge: { metadata: { labels: { app: null } } } })
  await client.patch(object.metadata, { strategic: { metadata: { finalizers: ['a'] } } })
  await client.status.apply(object)
}

/** A kind of which some fields are known. */
interface Conditioned extends KubernetesObject {
  readonly spec: { readonly paused?: boolean; readonly names?: readonly string[] }
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] }
}

/** Of any kind that has those fields, whatever else it has. */
const writesSome = async <T extends Conditioned>(client: ObjectClient<T>, object: T) => {
  const conditions = [...(object.status?.conditions ?? []), { type: 'Ready', status: 'True' }]
  const { metadata } = object
  await client.patch<Conditioned>(metadata, { merge: { spec: { paused: true } } })
  await client.status.patch<Conditioned>(metadata, { merge: { status: { conditions } } })
  await client.subresource('status').apply<Conditioned>({ metadata, status: { conditions } })
  const applied: T = await client.apply<Conditioned>({ metadata, spec: { names: ['a'] } })
  await client.apply(applied)
  // @ts-expect-error -- no such field
  await client.apply<Conditioned>({ metadata, spec: { siez: 1 } })
  // @ts-expect-error -- not every object of the type has a size
  await client.patch<Gadget>(metadata, { merge: { spec: { size: 1 } } })
  const written: T = await client.apply({ ...object, status: { ...object.status, conditions } })
  return await client.update({ ...written, spec: { ...written.spec, paused: true } })
}

/** Of any kind, by its resource. */
const connects = async <T extends KubernetesObject>(resource: Resource<T>, object: T) => {
  const client = apiServer.client(resource)
  await client.create(object)
  for await (const one of client.list({ namespace: 'a' })) await client.update(one)
  const listed = client.list()[Symbol.asyncIterator]().next()
  await client.subresource('scale').patch(object.metadata, { merge: { spec: { replicas: 1 } } })
  await client.subresource('status').update(object)
  return listed
}

// These hold when they compile: `npm run typecheck`.
const never = (check: () => unknown): void => expect(check).toBeTypeOf('function')

describe('The types of the library', () => {
  it('let an object of any kind be applied and merged, and one of a known kind by its fields only', () => {
    expect(writesAny).toBeTypeOf('function')
    never(async () => {
      const client = apiServer.client(resources.configMaps)
      const metadata = { name: 'a' }
      await client.apply({ metadata, data: { a: '1' } })
      // @ts-expect-error -- numbers are not data of a ConfigMap
      await client.apply({ metadata, data: { a: 1 } })
      // @ts-expect-error -- no such field
      await client.apply({ metadata, dta: {} })
      // @ts-expect-error -- numbers are not data of a ConfigMap
      await client.patch(metadata, { merge: { data: { a: 1 } } })
      // @ts-expect-error -- no such field
      await client.patch(metadata, { merge: { dta: {} } })
      const wrong = { metadata, data: { a: 1 } }
      // @ts-expect-error -- numbers are not data of a ConfigMap, in a variable either
      await client.apply(wrong)
      const wrongPatch = { merge: { data: { a: 1 } } }
      // @ts-expect-error -- numbers are not data of a ConfigMap, in a variable either
      await client.patch(metadata, wrongPatch)
    })
  })

  it('let an object of any kind that has some fields be written by these fields', () => {
    expect(writesSome).toBeTypeOf('function')
    expect(connects).toBeTypeOf('function')
    never(async () => {
      await writesSome(apiServer.client(conditioned), {} as Gadget)
      // @ts-expect-error -- a config map has no spec
      await writesSome(apiServer.client(resources.configMaps), {} as ConfigMap)
    })
  })

  it('know the subresources of a kind, and what they read and write', () => {
    never(async () => {
      const pods = apiServer.client(resources.pods)
      const at = { name: 'a' }
      expectTypeOf(await pods.subresource('resize').get(at)).toEqualTypeOf<Pod>()
      expectTypeOf(
        await pods.subresource('eviction').create({ metadata: at }),
      ).toEqualTypeOf<Status>()
      expectTypeOf(await pods.subresource('scale').get(at)).toEqualTypeOf<Scale>()
      // @ts-expect-error -- of pods
      void apiServer.client(resources.nodes).subresource('eviction')
      // @ts-expect-error -- no such subresource
      void pods.subresource('evicton')
      // @ts-expect-error -- an eviction is only created
      void pods.subresource('eviction').get(at)
      // @ts-expect-error -- replicas are a number
      void pods.subresource('scale').patch(at, { merge: { spec: { replicas: '1' } } })
      const any = apiServer.client(discovered)
      void any.subresource('token').create({ metadata: at, spec: { expirationSeconds: 600 } })
      const own = apiServer.client(widgets).subresource('restart', widgets)
      expectTypeOf(await own.get(at)).toEqualTypeOf<Widget>()
    })
  })

  it('know the objects of a resource without being told', () => {
    never(() => {
      const pods = factory.informer(resources.pods)
      expectTypeOf(pods).toEqualTypeOf<SharedInformer<Pod>>()
      expectTypeOf(pods.lister().find('a')).toEqualTypeOf<Pod | undefined>()
      expectTypeOf(factory.informer(widgets)).toEqualTypeOf<SharedInformer<Widget>>()
      expectTypeOf(apiServer.client(resources.configMaps)).toEqualTypeOf<ObjectClient<ConfigMap>>()
      const own = createSharedInformer({ apiServer, resource: widgets })
      expectTypeOf(own).toEqualTypeOf<SharedInformer<Widget>>()
      const { spec } = factory
        .informer({ ...widgets })
        .lister()
        .get('a')
      expectTypeOf(spec).toEqualTypeOf<{ readonly size: number }>()
    })
    expect(resources.pods).toEqual({
      group: '',
      version: 'v1',
      resource: 'pods',
      kind: 'Pod',
      namespaced: true,
    })
  })

  it('take a plain interface, and refuse a field that it does not have', () => {
    never(() => {
      const informer = factory.informer(widgets, {
        indexers: { size: ({ spec }) => [`${spec.size}`] },
      })
      const widget = informer.lister().get('a')
      // @ts-expect-error -- misspelt
      void widget.sepc
      // @ts-expect-error -- misspelt in an index function
      factory.informer(widgets, { indexers: { size: ({ sepc }) => [`${sepc}`] } })
      const client = apiServer.client(widgets)
      void client.create({ metadata: { name: 'a' }, spec: { size: 1 } })
      // @ts-expect-error -- misspelt in a write
      void client.create({ metadata: { name: 'a' }, spec: { siez: 1 } })
      // @ts-expect-error -- a widget has a spec
      void client.create({ metadata: { name: 'a' } })
      // @ts-expect-error -- misspelt in a patch
      void client.patch({ name: 'a' }, { merge: { spec: { siez: 1 } } })
      void client.patch({ name: 'a' }, { merge: { status: null } })
      void client.apply({ metadata: { name: 'a' }, spec: {} })
      expectTypeOf<SharedInformer<Widget>>().toExtend<SharedInformer>()
    })
  })

  it('leave objects of no known type open', () => {
    never(() => {
      const informer = factory.informer(discovered)
      expectTypeOf(informer.lister().get('a')['spec']).toEqualTypeOf<unknown>()
    })
  })

  it('give a handler of a deletion the object, never a tombstone', () => {
    never(() => {
      const handler: ResourceEventHandler<Pod> = {
        onDelete: (pod: Pod, { finalStateKnown }) => {
          expectTypeOf(pod.metadata.name).toEqualTypeOf<string>()
          expectTypeOf(finalStateKnown).toEqualTypeOf<boolean>()
        },
      }
      void handler
      // @ts-expect-error -- a handler of config maps is none of pods
      const wrong: ResourceEventHandler<Pod> = { onDelete: (map: ConfigMap) => void map }
      void wrong
      // @ts-expect-error -- nor is one of updates
      const other: ResourceEventHandler<Pod> = { onUpdate: (map: ConfigMap) => void map }
      void other
    })
  })

  it('show a store that is only read', () => {
    never(() => {
      const { store } = factory.informer(resources.pods)
      expectTypeOf(store.size).toEqualTypeOf<number>()
      // @ts-expect-error -- the informer alone writes
      store.remove('default/a')
      // @ts-expect-error -- the informer alone writes
      store.put({})
    })
  })

  it('show of metadata only no more than that', () => {
    never(() => {
      const partial = factory.informer(resources.pods, { metadataOnly: true })
      expectTypeOf(partial).toEqualTypeOf<SharedInformer<MetadataOf<Pod>>>()
      const pod = partial.lister().get('a')
      expectTypeOf(pod.metadata.name).toEqualTypeOf<string>()
      // @ts-expect-error -- not there
      void pod.spec
      const own = createSharedInformer({ apiServer, resource: resources.pods, metadataOnly: true })
      // @ts-expect-error -- not there
      own.addEventHandler({ onAdd: ({ spec }) => void spec })
    })
  })

  it('make a copy that can be changed, at any depth', () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', labels: { app: 'a' } },
      spec: { containers: [{ name: 'main' }] },
    }
    const copy = mutableCopy(pod)
    copy.metadata.labels = { ...copy.metadata.labels, tier: 'web' }
    const [container] = copy.spec?.containers ?? []
    if (container !== undefined) container.image = 'example/a:2'
    copy.spec?.containers.push({ name: 'sidecar' })
    expect(copy.spec?.containers).toEqual([
      { name: 'main', image: 'example/a:2' },
      { name: 'sidecar' },
    ])
    expect(pod.spec?.containers).toEqual([{ name: 'main' }])
    expect(pod.metadata.labels).toEqual({ app: 'a' })
  })

  it('say of a 64-bit integer that it may be its digits', () => {
    const digits = '9007199254740993'
    const json = JSON as unknown as { rawJSON(text: string): Int64 }
    const long = json.rawJSON(digits)
    expect([int64ToBigInt(long), int64ToBigInt(5)]).toEqual([9007199254740993n, 5n])
    expect([int64ToNumber(long), int64ToNumber(5)]).toEqual([9007199254740992, 5])
    const copy = mutableCopy({ metadata: { name: 'a' }, spec: { size: long } })
    expect(JSON.stringify(copy)).toContain(`"size":${digits}`)
    never(() => {
      // @ts-expect-error -- not a number for certain
      const wrong: number = long
      return wrong
    })
  })

  it('take keys of any type in a work queue', () => {
    const queue = createWorkQueue<{ readonly cluster: string; readonly key: string }>()
    queue.add({ cluster: 'a', key: 'default/x' })
    expectTypeOf<ReturnType<typeof queue.get>>().resolves.toEqualTypeOf<
      { readonly cluster: string; readonly key: string } | undefined
    >()
    never(() => {
      // @ts-expect-error -- no key of this queue
      queue.add('default/x')
    })
  })
})
