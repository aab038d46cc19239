import type { KubernetesObject } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { collect, hasLabels, valueAt, valuesAt } from './collected.ts'
import { OpenApiShape } from './open-api-shape.ts'

const collected = collect({ pods: 400 })
const kinds = collected.kinds()

/** Where pods name other objects of their namespace. */
const podReferences: readonly (readonly [kind: string, path: string])[] = [
  ['ServiceAccount', 'spec.serviceAccountName'],
  ['ConfigMap', 'spec.containers[*].envFrom[*].configMapRef.name'],
  ['ConfigMap', 'spec.containers[*].env[*].valueFrom.configMapKeyRef.name'],
  ['ConfigMap', 'spec.initContainers[*].envFrom[*].configMapRef.name'],
  ['ConfigMap', 'spec.volumes[*].configMap.name'],
  ['ConfigMap', 'spec.volumes[*].projected.sources[*].configMap.name'],
  ['Secret', 'spec.containers[*].env[*].valueFrom.secretKeyRef.name'],
  ['Secret', 'spec.volumes[*].secret.secretName'],
  ['Secret', 'spec.imagePullSecrets[*].name'],
  ['PersistentVolumeClaim', 'spec.volumes[*].persistentVolumeClaim.claimName'],
]

function there(kind: string, namespace: string, name: unknown): KubernetesObject | undefined {
  return collected.get(kind, namespace, String(name))
}

describe('every kind of the population', () => {
  const shape = new OpenApiShape()

  it('is checked by what a real API server publishes', () => {
    const metadata = { name: 1, colour: 'red' }
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: [{}], priority: 'high' },
    }
    expect(shape.problems(pod)).toEqual([
      'Pod.metadata.name: integer instead of string',
      'Pod.metadata.colour: no such field',
      'Pod.spec.containers[0].name: missing',
      'Pod.spec.priority: string instead of integer',
    ])
  })

  it.each(kinds)('%s has only fields that the API has, of the right types', (kind) => {
    expect(collected.all(kind).flatMap((object) => shape.problems(object))).toEqual([])
  })

  it.each(kinds)('%s lies in a namespace that exists, and its owners exist', (kind) => {
    for (const object of collected.all(kind)) {
      const { namespace = 'default', ownerReferences = [] } = object.metadata
      expect(there('Namespace', '', namespace)).toBeDefined()
      for (const { uid, name, kind: ownerKind } of ownerReferences) {
        const owner = collected.uids.get(uid)
        expect(owner?.kind).toBe(ownerKind)
        expect(owner?.metadata.name).toBe(name)
      }
    }
  })

  it('comes after what it refers to: owners before what they own', () => {
    const seen = new Set<string>()
    for (const [uid, object] of collected.uids) {
      for (const owner of object.metadata.ownerReferences ?? []) expect(seen).toContain(owner.uid)
      seen.add(uid)
    }
  })
})

describe('pods', () => {
  const pods = collected.all('Pod')

  it.each(podReferences)('name a %s that exists in %s', (kind, path) => {
    const referring = pods.filter((pod) => valuesAt(pod, path).length > 0)
    expect(referring.length).toBeGreaterThan(0)
    for (const pod of referring)
      for (const name of valuesAt(pod, path))
        expect(there(kind, pod.metadata.namespace ?? '', name)).toBeDefined()
  })

  it('name keys that their ConfigMaps and Secrets have', () => {
    for (const pod of pods) {
      for (const [kind, field] of [
        ['ConfigMap', 'configMapKeyRef'],
        ['Secret', 'secretKeyRef'],
      ] as const) {
        for (const reference of valuesAt(pod, `spec.containers[*].env[*].valueFrom.${field}`)) {
          const { key, name } = reference as { key: string; name: string }
          const target = there(kind, pod.metadata.namespace ?? '', name)
          expect(valueAt(target, 'data')).toHaveProperty([key])
        }
      }
    }
  })

  it('mount volumes that they declare', () => {
    for (const pod of pods) {
      const volumes = valuesAt(pod, 'spec.volumes[*].name')
      for (const name of valuesAt(pod, 'spec.containers[*].volumeMounts[*].name'))
        expect(volumes).toContain(name)
    }
  })

  it('run on nodes that exist, with the addresses of those, no address twice', () => {
    const addresses = new Set<string>()
    for (const pod of pods) {
      const nodeName = valueAt(pod, 'spec.nodeName')
      if (nodeName === undefined) continue
      const node = there('Node', '', nodeName)
      expect(valuesAt(node, 'status.addresses[*].address')).toContain(valueAt(pod, 'status.hostIP'))
      const podIP = String(valueAt(pod, 'status.podIP'))
      if (valueAt(pod, 'spec.hostNetwork') === true) continue
      const network = String(valueAt(node, 'spec.podCIDR')).replace('0/24', '')
      expect(podIP.startsWith(network)).toBe(true)
      expect(addresses).not.toContain(podIP)
      addresses.add(podIP)
    }
  })

  it('have the priority of their class', () => {
    for (const pod of pods) {
      const name = valueAt(pod, 'spec.priorityClassName')
      if (name === undefined) continue
      expect(valueAt(there('PriorityClass', '', name), 'value')).toBe(valueAt(pod, 'spec.priority'))
    }
  })
})

function podsOf(namespace: string | undefined, selector: unknown): readonly KubernetesObject[] {
  return collected
    .all('Pod')
    .filter((pod) => pod.metadata.namespace === namespace && hasLabels(pod, selector))
}

describe('what stands around the pods', () => {
  it('Services, NetworkPolicies and PodDisruptionBudgets select pods', () => {
    for (const [kind, path] of [
      ['Service', 'spec.selector'],
      ['NetworkPolicy', 'spec.podSelector.matchLabels'],
      ['PodDisruptionBudget', 'spec.selector.matchLabels'],
    ] as const) {
      expect(collected.all(kind).length).toBeGreaterThan(0)
      for (const object of collected.all(kind)) {
        const pods = podsOf(object.metadata.namespace, valueAt(object, path))
        expect(pods.length, `${kind} ${object.metadata.name}`).toBeGreaterThan(0)
      }
    }
  })

  it('Ingresses name Services, ports, Secrets and a class that exist', () => {
    for (const ingress of collected.all('Ingress')) {
      const namespace = ingress.metadata.namespace ?? ''
      expect(there('IngressClass', '', valueAt(ingress, 'spec.ingressClassName'))).toBeDefined()
      for (const name of valuesAt(ingress, 'spec.tls[*].secretName'))
        expect(there('Secret', namespace, name)).toBeDefined()
      for (const backend of valuesAt(ingress, 'spec.rules[*].http.paths[*].backend.service')) {
        const service = there('Service', namespace, valueAt(backend, 'name'))
        expect(valuesAt(service, 'spec.ports[*].name')).toContain(valueAt(backend, 'port.name'))
      }
    }
  })

  it('autoscalers name Deployments, StatefulSets their Service, CronJobs own Jobs', () => {
    for (const autoscaler of collected.all('HorizontalPodAutoscaler'))
      expect(
        there(
          'Deployment',
          autoscaler.metadata.namespace ?? '',
          valueAt(autoscaler, 'spec.scaleTargetRef.name'),
        ),
      ).toBeDefined()
    for (const statefulSet of collected.all('StatefulSet'))
      expect(
        there(
          'Service',
          statefulSet.metadata.namespace ?? '',
          valueAt(statefulSet, 'spec.serviceName'),
        ),
      ).toBeDefined()
    const owners = collected.all('Job').flatMap((job) => job.metadata.ownerReferences ?? [])
    expect(new Set(owners.map(({ kind }) => kind))).toEqual(new Set(['CronJob']))
  })

  it('claims and volumes are bound to each other and name their class', () => {
    for (const claim of collected.all('PersistentVolumeClaim')) {
      const volume = there('PersistentVolume', '', valueAt(claim, 'spec.volumeName'))
      expect(valueAt(volume, 'spec.claimRef.uid')).toBe(claim.metadata.uid)
      expect(there('StorageClass', '', valueAt(claim, 'spec.storageClassName'))).toBeDefined()
      expect(there('CSIDriver', '', valueAt(volume, 'spec.csi.driver'))).toBeDefined()
    }
  })

  it('role bindings name roles and accounts', () => {
    for (const binding of collected.all('RoleBinding')) {
      const namespace = binding.metadata.namespace ?? ''
      expect(there('Role', namespace, valueAt(binding, 'roleRef.name'))).toBeDefined()
      for (const name of valuesAt(binding, 'subjects[*].name'))
        expect(there('ServiceAccount', namespace, name)).toBeDefined()
    }
  })

  it('Events are about objects that exist', () => {
    for (const event of collected.all('Event'))
      expect(collected.uids.has(String(valueAt(event, 'involvedObject.uid')))).toBe(true)
  })

  it('each node has a Lease and a CSINode of its name', () => {
    for (const node of collected.all('Node')) {
      expect(there('Lease', 'kube-node-lease', node.metadata.name)).toBeDefined()
      expect(there('CSINode', '', node.metadata.name)).toBeDefined()
    }
  })
})
