/**
 * `informerql/kubernetes`: types of the objects that Kubernetes 1.36 serves, as they are on the wire, by the names of the
 * GraphQL schema, and the `resources` that have them: `import { type Pod, resources } from 'informerql/kubernetes'`.
 */
import './lib/node-version.ts'
export { type BuiltInResources, resources } from './kubernetes/resources.ts'
export type { ApiResource, Resource } from './kubernetes/api-resource.ts'
export type {
  Json,
  JsonObject,
  KubernetesObject,
  ObjectMeta,
  OwnerReference,
  Unstructured,
} from './kubernetes/object.ts'
export type { Binding, Eviction, Scale, TokenRequest } from './kubernetes/subresources.ts'
export type * from './kubernetes/wire/admissionregistration-v1.ts'
export type * from './kubernetes/wire/apiextensions-v1.ts'
export type * from './kubernetes/wire/apiregistration-v1.ts'
export type * from './kubernetes/wire/apps-v1.ts'
export type * from './kubernetes/wire/autoscaling-v1.ts'
export type * from './kubernetes/wire/autoscaling-v2.ts'
export type * from './kubernetes/wire/batch-v1.ts'
export type * from './kubernetes/wire/certificates-v1.ts'
export type * from './kubernetes/wire/coordination-v1.ts'
export type * from './kubernetes/wire/core-v1.ts'
export type * from './kubernetes/wire/discovery-v1.ts'
export type * from './kubernetes/wire/events-v1.ts'
export type * from './kubernetes/wire/flowcontrol-v1.ts'
export type * from './kubernetes/wire/meta-v1.ts'
export type * from './kubernetes/wire/networking-v1.ts'
export type * from './kubernetes/wire/node-v1.ts'
export type * from './kubernetes/wire/policy-v1.ts'
export type * from './kubernetes/wire/rbac-v1.ts'
export type * from './kubernetes/wire/resource-v1.ts'
export type * from './kubernetes/scalars.ts'
export type * from './kubernetes/wire/scheduling-v1.ts'
export type * from './kubernetes/wire/storage-v1.ts'
