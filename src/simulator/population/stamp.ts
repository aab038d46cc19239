import type { OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { identified, type Written } from '../churn/object.ts'
import { uidDigest } from '../churn/random.ts'
import type { ResourceName } from '../storage/storage.ts'
import type { Plan } from './plan.ts'
import type { Manifest } from './scenario.ts'
import { ScenarioError, type Values } from './template.ts'

/** The object of a manifest, completed as an API server would. `change` adds the parts that no manifest has. */
export function stamped(
  { seed, scenario }: Plan,
  manifest: Manifest,
  values: Values,
  createdAtMs: number,
  change: (object: Written) => Written = (object) => object,
): Unstructured {
  const { resource, place } = manifest
  const object = change(written(manifest, values))
  const { name, namespace = '', ownerReferences, managedFields = [deployer] } = object.metadata
  if (typeof name !== 'string') throw new ScenarioError(place, `a ${resource.kind} without a name`)
  const uidOf = (owner: OwnerReference): string => {
    const kind = scenario.kindOf(owner.apiVersion, owner.kind)
    if (kind === undefined) throw new ScenarioError(place, `its owner is an unknown ${owner.kind}`)
    return firstUid(seed, kind.resource, kind.namespaced ? namespace : '', owner.name)
  }
  const owners = ownerReferences?.map((owner) => ({ ...owner, uid: uidOf(owner) }))
  const owned = owners === undefined ? {} : { ownerReferences: owners }
  const metadata = { ...object.metadata, ...owned, managedFields }
  const uid = firstUid(seed, resource, namespace, name)
  return identified(resource, { ...object, metadata }, { uid, createdAtMs })
}

const deployer = { manager: 'argocd-controller', operation: 'Apply' } as const

/** The UID of a manifest's object. It follows from the seed and the object's name. */
export function firstUid(
  seed: string,
  { group, resource }: ResourceName,
  namespace: string,
  name: string,
): string {
  return uidDigest(`${seed}/${group}/${resource}/${namespace}/${name}`)
}

/** A manifest with its values, before it has an identity. Makes the `data` of a Secret. */
export function written(
  { fill, namespaced, resource: { kind } }: Manifest,
  values: Values,
): Written {
  const { stringData, ...object } = fill(values) as Written
  const { metadata } = object
  const isPlaced = !namespaced || metadata.namespace !== undefined
  const placed = isPlaced
    ? object
    : { ...object, metadata: { ...metadata, namespace: String(values.get('namespace', kind)) } }
  if (stringData === undefined) return placed
  const texts = Object.entries(stringData as Readonly<Record<string, unknown>>)
  const data = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return { ...placed, data: { ...(object['data'] as object), ...Object.fromEntries(data) } }
}
