import type { OwnerReference, Unstructured } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import { identified, type Written } from '../churn/object.ts'
import { uidDigest } from '../churn/random.ts'
import type { ResourceName } from '../storage/storage.ts'
import type { Plan } from './plan.ts'
import type { Manifest, Scenario } from './scenario.ts'
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
  const object = change(written(scenario, manifest, values))
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

/** A manifest with its values and its defaults, before it has an identity. Makes the `data` of a Secret. */
export function written(
  { defaults }: Scenario,
  { fill, namespaced, resource: { kind } }: Manifest,
  values: Values,
): Written {
  const { stringData, ...object } = fill(values) as Written
  const filled = withDefaults(object, defaults[kind]) as Written
  const { metadata } = filled
  const isPlaced = !namespaced || metadata.namespace !== undefined
  const namespace = isPlaced ? {} : { namespace: String(values.get('namespace', kind)) }
  const texts = Object.entries((stringData ?? {}) as Readonly<Record<string, unknown>>)
  const data = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')])
  return {
    ...filled,
    metadata: { ...metadata, ...namespace },
    ...(stringData === undefined
      ? {}
      : { data: { ...(object['data'] as object), ...Object.fromEntries(data) } }),
  }
}

/** Fills in the fields that an object leaves out, by the rules of `scenario/defaults.yaml`. */
function withDefaults(given: unknown, defaults: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(defaults))
    return given.map((item) => withDefaults(item, defaults[0]))
  if (!isRecord(given) || !isRecord(defaults)) return given
  const added: Record<string, unknown> = {}
  const filled: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(defaults)) {
    const name = key.endsWith('?') ? key.slice(0, -1) : undefined
    if (name === undefined) added[key] = defaultOf(value, given)
    else if (given[name] !== undefined) filled[name] = withDefaults(given[name], value)
  }
  const known = Object.entries(added).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), ...given, ...filled }
}

/** A default: `$name` is the value of a field of the object. `undefined` if the object lacks that field. */
function defaultOf(value: unknown, object: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string' && value.startsWith('$')) return object[value.slice(1)]
  if (!Array.isArray(value)) return value
  const items = value.map((item) => defaultOf(item, object))
  return items.includes(undefined) ? undefined : items
}
