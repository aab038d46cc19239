import { flagAt, groupOf, listAt, textAt, valueAt } from '../object/json.ts'

/** What makes a new object when one goes. */
export interface Maker {
  readonly kind: string
  readonly name: string
}

/** What controllers make again, by the group and kind of the controller. A CronJob makes another Job at its next time, not this one again. */
const makes: Readonly<Record<string, string>> = {
  'apps Deployment': 'apps ReplicaSet',
  'apps ReplicaSet': ' Pod',
  'apps StatefulSet': ' Pod',
  'apps DaemonSet': ' Pod',
  'batch Job': ' Pod',
  ' ReplicationController': ' Pod',
  // Static pods.
  ' Node': ' Pod',
  ' Service': 'discovery.k8s.io EndpointSlice',
}

/** Those that have replaced a pod when it ends, not when it is deleted. */
const replaceEnded = ['Job', 'ReplicaSet', 'ReplicationController']

/** The owner of an object that makes it again when it is deleted. Reads `metadata`, `status.phase` of a pod, `spec.replicas` of a ReplicaSet. */
export function makerOf({
  apiVersion,
  kind,
  json,
}: {
  readonly apiVersion: string
  readonly kind: string
  readonly json: unknown
}): Maker | undefined {
  const controller = controllerOf(json)
  if (controller === undefined) return undefined
  const { group, kind: by, name } = controller
  if (makes[`${group} ${by}`] !== `${groupOf(apiVersion)} ${kind}`) return undefined
  const isEnded = ['Succeeded', 'Failed'].includes(textAt(json, 'status', 'phase') ?? '')
  if (isEnded && replaceEnded.includes(by)) return undefined
  // That of an earlier revision, which is there to roll back to.
  if (by === 'Deployment' && valueAt(json, 'spec', 'replicas') === 0) return undefined
  return { kind: by, name }
}

/** The owner that an object belongs to, whatever becomes of it. */
export function controllerOf(json: unknown): (Maker & { readonly group: string }) | undefined {
  const owner = listAt(json, 'metadata', 'ownerReferences').find((one) => flagAt(one, 'controller'))
  return owner === undefined
    ? undefined
    : {
        group: groupOf(textAt(owner, 'apiVersion') ?? ''),
        kind: textAt(owner, 'kind') ?? '',
        name: textAt(owner, 'name') ?? '',
      }
}

/** Whether a pod has volumes whose data ends with it. */
export function hasEmptyDir(json: unknown): boolean {
  return listAt(json, 'spec', 'volumes').some((volume) => valueAt(volume, 'emptyDir') !== undefined)
}
