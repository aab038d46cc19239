import type { KubernetesObject, ObjectMeta } from 'informerql/informer'
import type {
  Int64,
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  EmbeddedObjectMeta,
  Event,
  EventsEvent,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  Json,
  JSONSchemaProps,
  Pod,
  PodSpec,
  Secret,
  Service,
  StatefulSet,
} from 'informerql/kubernetes'
import { describe, expectTypeOf, it } from 'vitest'

const metadata = { name: 'a', namespace: 'default' } satisfies ObjectMeta

// These hold when they compile: `npm run typecheck`.
describe('a type of an object on the wire', () => {
  it('is a KubernetesObject with its own apiVersion and kind', () => {
    expectTypeOf<Pod>().toExtend<KubernetesObject>()
    expectTypeOf<CustomResourceDefinition>().toExtend<KubernetesObject>()
    expectTypeOf<Pod['apiVersion']>().toEqualTypeOf<'v1'>()
    expectTypeOf<Deployment['apiVersion']>().toEqualTypeOf<'apps/v1'>()
    expectTypeOf<Deployment['kind']>().toEqualTypeOf<'Deployment'>()
    expectTypeOf<Pod['metadata']>().toEqualTypeOf<ObjectMeta>()
    expectTypeOf<Event['apiVersion']>().toEqualTypeOf<'v1'>()
    expectTypeOf<EventsEvent['apiVersion']>().toEqualTypeOf<'events.k8s.io/v1'>()
    expectTypeOf<HorizontalPodAutoscaler['apiVersion']>().toEqualTypeOf<'autoscaling/v2'>()
    expectTypeOf<HorizontalPodAutoscalerV1['apiVersion']>().toEqualTypeOf<'autoscaling/v1'>()
  })

  it('is told from others by its kind', () => {
    const replicasOf = (object: Deployment | StatefulSet | Pod): number | undefined => {
      switch (object.kind) {
        case 'Deployment':
          return object.spec?.replicas
        case 'StatefulSet':
          return object.status?.readyReplicas
        case 'Pod':
          return undefined
      }
    }
    expectTypeOf(replicasOf).returns.toEqualTypeOf<number | undefined>()
  })

  it('knows its fields, and no others', () => {
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }
    // @ts-expect-error -- misspelt
    void pod.spce
    // @ts-expect-error -- an object is read-only
    pod.metadata.name = 'b'
    // @ts-expect-error -- so are its lists
    pod.spec?.containers.push({ name: 'a' })
    // @ts-expect-error -- a pod has containers
    void ({} satisfies PodSpec)
    expectTypeOf<PodSpec['containers'][number]['name']>().toEqualTypeOf<string>()
    expectTypeOf<Pod['spec']>().toEqualTypeOf<PodSpec | undefined>()
  })

  it('has times, quantities, bytes and ports as the server writes them', () => {
    type PodStatus = NonNullable<Pod['status']>
    type PodCondition = NonNullable<PodStatus['conditions']>[number]
    type Container = PodSpec['containers'][number]
    type Limits = NonNullable<NonNullable<Container['resources']>['limits']>
    type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]
    expectTypeOf<PodStatus['startTime']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Limits>().toEqualTypeOf<Readonly<Record<string, string>>>()
    expectTypeOf<Secret['data']>().toEqualTypeOf<Readonly<Record<string, string>> | undefined>()
    expectTypeOf<ServicePort['targetPort']>().toEqualTypeOf<string | number | undefined>()
    expectTypeOf<PodSpec['activeDeadlineSeconds']>().toEqualTypeOf<Int64 | undefined>()
    // Fields that are null where they are empty.
    expectTypeOf<PodCondition['lastProbeTime']>().toEqualTypeOf<string | null | undefined>()
    expectTypeOf<ClusterRole['rules']>().extract<null>().toEqualTypeOf<null>()
  })

  it('has text of which values are known, and takes others', () => {
    type Phase = NonNullable<NonNullable<Pod['status']>['phase']>
    expectTypeOf<'Running'>().toExtend<Phase>()
    expectTypeOf<'NotYetInvented'>().toExtend<Phase>()
    expectTypeOf<Phase>().toExtend<string>()
    expectTypeOf<number>().not.toExtend<Phase>()
  })

  it('has templates whose metadata needs no name', () => {
    type Template = NonNullable<Deployment['spec']>['template']
    expectTypeOf<Template['metadata']>().toEqualTypeOf<EmbeddedObjectMeta | undefined>()
    void ({ metadata: { labels: { app: 'a' } } } satisfies Template)
  })

  it('contains itself where the API does', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: {
        spec: { type: 'object', additionalProperties: { items: [{ type: 'string' }] } },
        status: { default: { ready: false }, 'x-kubernetes-preserve-unknown-fields': true },
      },
    }
    type Versions = CustomResourceDefinition['spec']['versions']
    type Schema = NonNullable<Versions[number]['schema']>['openAPIV3Schema']
    expectTypeOf(schema).toExtend<Schema>()
    expectTypeOf<JSONSchemaProps['not']>().toEqualTypeOf<JSONSchemaProps | undefined>()
    expectTypeOf<JSONSchemaProps['default']>().toEqualTypeOf<Json | undefined>()
    expectTypeOf<JSONSchemaProps['additionalProperties']>().toEqualTypeOf<
      JSONSchemaProps | boolean | undefined
    >()
  })
})
