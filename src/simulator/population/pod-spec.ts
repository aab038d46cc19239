/** A container of a pod's template, with the fields that the simulator itself reads. */
export interface Container {
  readonly name: string
  readonly image: string
  readonly resources: ContainerResources
  readonly volumeMounts?: readonly VolumeMount[]
  readonly [field: string]: unknown
}

/** `resources` of a container. */
interface ContainerResources {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** One mount of a container. */
export interface VolumeMount {
  readonly mountPath: string
  readonly name: string
  readonly readOnly?: boolean
}

/** The part of a pod's `spec` that the simulator itself reads. */
interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly serviceAccountName: string
  readonly priorityClassName?: string
  readonly hostNetwork?: boolean
  readonly tolerations?: readonly object[]
  readonly volumes?: readonly { readonly name: string; readonly [source: string]: unknown }[]
  readonly [field: string]: unknown
}

/** `spec.template` of a workload. */
export interface PodTemplate {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: PodSpec
}

/** The value that each priority class gives its pods. */
export const priorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
  'customer-facing': 100_000,
  background: -100,
}
