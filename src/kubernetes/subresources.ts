import type { KubernetesObject, ObjectMeta } from './object.ts'
import type { ObjectReference } from './wire/core-v1.ts'

/** How many replicas a workload has and is to have: the `scale` of Deployments, StatefulSets, custom kinds, … */
export type Scale = {
  readonly apiVersion: 'autoscaling/v1'
  readonly kind: 'Scale'
  readonly metadata: ObjectMeta
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas: number; readonly selector?: string }
}

/** A request to evict a pod, which a PodDisruptionBudget may refuse with 429. */
export type Eviction = {
  readonly apiVersion: 'policy/v1'
  readonly kind: 'Eviction'
  readonly metadata: ObjectMeta
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number
    readonly dryRun?: readonly 'All'[]
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
    readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  }
}

/** A request for a token of a service account, and the answer, which has a `status`. */
export type TokenRequest = {
  readonly apiVersion: 'authentication.k8s.io/v1'
  readonly kind: 'TokenRequest'
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly audiences?: readonly string[]
    readonly expirationSeconds?: number
    readonly boundObjectRef?: {
      readonly apiVersion?: string
      readonly kind?: string
      readonly name?: string
      readonly uid?: string
    }
  }
  readonly status?: { readonly token: string; readonly expirationTimestamp: string }
}

/** The assignment of a pod to a node. */
export type Binding = {
  readonly apiVersion: 'v1'
  readonly kind: 'Binding'
  readonly metadata: ObjectMeta
  readonly target: ObjectReference
}

/** The `apiVersion` and `kind` of the objects that subresources read and write, if these are not the object itself. */
export const subresourceTypes: Readonly<
  Record<string, Pick<KubernetesObject, 'apiVersion' | 'kind'>>
> = {
  scale: { apiVersion: 'autoscaling/v1', kind: 'Scale' },
  eviction: { apiVersion: 'policy/v1', kind: 'Eviction' },
  token: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
  binding: { apiVersion: 'v1', kind: 'Binding' },
}
