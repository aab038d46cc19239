import type { Unstructured, OwnerReference } from '../../kubernetes/object.ts'
import { type FieldManager, managedBy, managers, ownedFields } from './managed-fields.ts'
import type { PopulationResource } from './resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'

/** One object of the population and where it belongs. */
export interface PopulationItem {
  readonly resource: PopulationResource
  readonly object: Unstructured
}

/** What an object other than a pod is made of. */
export interface ObjectParts {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly createdAtMs: number
  /** When its status was last written; default: at its creation. */
  readonly updatedAtMs?: number
  readonly generation?: number
  readonly generateName?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  /** Who wrote all but the status; default: the company's deployer. */
  readonly manager?: FieldManager
  /** Who wrote the status; default: the controller manager. */
  readonly statusManager?: FieldManager
  /** `spec`, `status`, `data` and so on. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Writes an object out, managed fields included. */
export function populationItem(resource: PopulationResource, parts: ObjectParts): PopulationItem {
  const { apiVersion, kind } = resource
  const { uid, createdAtMs, manager = managers.deployer, body } = parts
  const { status, ...rest } = body
  const described = {
    ...(parts.labels === undefined ? {} : { labels: parts.labels }),
    ...(parts.annotations === undefined ? {} : { annotations: parts.annotations }),
    ...(parts.ownerReferences === undefined ? {} : { ownerReferences: parts.ownerReferences }),
    ...(parts.finalizers === undefined ? {} : { finalizers: parts.finalizers }),
  }
  const managedFields = [
    managedBy(manager, apiVersion, createdAtMs, ownedFields({ metadata: described, ...rest })),
  ]
  if (status !== undefined) {
    const reporter = parts.statusManager ?? managers.controllerStatus
    const atMs = parts.updatedAtMs ?? createdAtMs
    managedFields.push(managedBy(reporter, apiVersion, atMs, ownedFields({ status })))
  }
  const metadata = {
    name: parts.name,
    ...(parts.generateName === undefined ? {} : { generateName: parts.generateName }),
    ...(parts.namespace === undefined ? {} : { namespace: parts.namespace }),
    uid,
    creationTimestamp: timestamp(createdAtMs),
    ...(parts.generation === undefined ? {} : { generation: parts.generation }),
    ...described,
    managedFields,
  }
  return { resource, object: { apiVersion, kind, metadata, ...body } }
}

/** The reference by which `item` owns what its controller makes. */
export function ownerReference({ object }: PopulationItem): OwnerReference {
  const { apiVersion, kind, metadata } = object
  return {
    apiVersion,
    blockOwnerDeletion: true,
    controller: true,
    kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
  }
}
