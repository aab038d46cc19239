import {
  type ApiResource,
  type createSharedInformer,
  createSharedInformerFactory,
  type KubernetesObject,
  type Lister,
  type ResourceEventHandler,
  type SharedInformer,
  type SharedInformerFactory,
  type Transform,
} from 'informerql/informer'
import type { ConfigMap, Pod } from 'informerql/kubernetes'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { configMaps, connect } from '../support/informer.ts'

const deadlineMs = 20_000
const pods: ApiResource = { ...configMaps, resource: 'pods', kind: 'Pod', singular: 'pod' }
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'a', labels: { app: 'a' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example.com/a:1' }] },
}

/** A custom resource, as a user writes it down. */
interface Widget extends KubernetesObject {
  readonly apiVersion: 'example.com/v1'
  readonly kind: 'Widget'
  readonly spec: { readonly size: number }
}

describe('An informer of one kind', () => {
  it('gives its handlers, listeners, listers, indexes and store the objects of that kind', async () => {
    await using simulator = await startSimulator({
      populate: (storage) => void storage.create(pods, pod),
    })
    await using apiServer = connect(simulator.url)
    await using factory = createSharedInformerFactory({ source: (one) => apiServer.resource(one) })
    const informer = factory.informer<Pod>(pods, {
      transform: ({ spec: { nodeName = '', containers = [] } = {}, ...rest }) => ({
        ...rest,
        spec: { nodeName: nodeName.toUpperCase(), containers },
      }),
      indexers: { byImage: ({ spec }) => spec?.containers.map(({ image = '' }) => image) ?? [] },
    })
    informer.addIndexers({ byNode: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) })
    const added: (string | undefined)[] = []
    informer.addEventHandler({
      onAdd: ({ spec }) => void added.push(spec?.nodeName),
      onUpdate: (previous, object) => {
        expectTypeOf(previous).toEqualTypeOf<Pod>()
        expectTypeOf(object).toEqualTypeOf<Pod>()
      },
      onDelete: (object, { finalStateKnown }) => {
        expectTypeOf(object).toEqualTypeOf<Pod>()
        expectTypeOf(finalStateKnown).toEqualTypeOf<boolean>()
      },
    })
    const listener = informer.listen()
    factory.start()
    await informer.waitForSync({ deadlineMs })
    for await (const { changes } of listener) {
      expect(changes.map(({ object }) => object.spec?.nodeName)).toEqual(['NODE-1'])
      expectTypeOf(changes[0]?.previous).toEqualTypeOf<Pod | undefined>()
      break
    }
    expect(added).toEqual(['NODE-1'])
    const [id = -1] = informer.store.index('byNode').posting('NODE-1') ?? []
    expect(informer.store.object(id).spec?.containers[0]?.name).toBe('main')
    const lister = informer.lister().namespaced('default')
    expect(lister.get('a').spec?.containers).toHaveLength(1)
    expectTypeOf(lister.list('app=a')).toEqualTypeOf<Pod[]>()
    expectTypeOf(informer.store.object(id)).toEqualTypeOf<Pod>()
  })

  // These hold when they compile: `npm run typecheck`.
  it('has KubernetesObject where no type is given', () => {
    expectTypeOf<ReturnType<SharedInformer['store']['object']>>().toEqualTypeOf<KubernetesObject>()
    expectTypeOf<ReturnType<Lister['get']>>().toEqualTypeOf<KubernetesObject>()
    expectTypeOf<ReturnType<SharedInformerFactory['informer']>>().toExtend<SharedInformer>()
  })

  it('is an informer of any object, and its handler may be one of any object', () => {
    expectTypeOf<SharedInformer<Pod>>().toExtend<SharedInformer>()
    expectTypeOf<ResourceEventHandler>().toExtend<ResourceEventHandler<Pod>>()
    expectTypeOf<Parameters<SharedInformer<Pod>['addEventHandler']>[0]>().toEqualTypeOf<
      ResourceEventHandler<Pod>
    >()
  })

  it('is not an informer of another kind', () => {
    expectTypeOf<SharedInformer<Pod>>().not.toExtend<SharedInformer<ConfigMap>>()
    expectTypeOf<Lister<Pod>>().not.toExtend<Lister<ConfigMap>>()
    expectTypeOf<Transform<Pod>>().not.toExtend<Transform<ConfigMap>>()
    // @ts-expect-error -- no object
    expectTypeOf<SharedInformer<{ size: number }>>()
  })

  it('takes the type of a custom resource', () => {
    type WidgetInformer = ReturnType<typeof createSharedInformer<Widget>>
    expectTypeOf<WidgetInformer>().toEqualTypeOf<SharedInformer<Widget>>()
    type Size = ReturnType<WidgetInformer['store']['object']>['spec']['size']
    expectTypeOf<Size>().toEqualTypeOf<number>()
  })
})
