import { type AppContext, type BackendPod, firstUid } from './app-context.ts'
import { appLabels, partNames, selectorLabels } from './app-labels.ts'
import { appTemplate } from './app-template.ts'
import { controllerRevisionItem } from './controller-revision.ts'
import { newPod, podShape, type PodIdentity, withPodState } from './pod.ts'
import type { PodTemplate } from './pod-spec.ts'
import type { PodState } from './pod-state.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { hour, second } from './duration.ts'
import { volumeItems } from './volume.ts'

/** A StatefulSet, its revision, volumes and pods; returns the pods. */
export function* statefulSetItems(
  context: AppContext,
): Generator<PopulationItem, readonly BackendPod[]> {
  const { app, seed, random, nowMs, createdAtMs, placer, zones } = context
  const hash = random.hex(10)
  const template = revisedTemplate(appTemplate(app), hash)
  const statefulSet = statefulSetItem(context, hash)
  yield statefulSet
  yield controllerRevisionItem(context, statefulSet, hash, appTemplate(app))
  const shape = podShape(app.namespace, ownerReference(statefulSet), template, `${app.name}-`)
  const backends: BackendPod[] = []
  for (let ordinal = 0; ordinal < app.pods; ordinal++) {
    const at = placer.place()
    const name = `${app.name}-${ordinal}`
    const uid = firstUid(seed, resources.pods, app.namespace, name)
    const zone = zones.get(at.nodeName) ?? ''
    yield* volumeItems(context, ordinal, zone)
    const bornAtMs = Math.max(createdAtMs, nowMs - random.integer(20, 900) * hour)
    const startedAtMs = bornAtMs + 15 * second
    const sinceMs = startedAtMs + 20 * second
    const state: PodState = { kind: 'running', at, startedAtMs, sinceMs, ready: true, restarts: 0 }
    const identity = statefulPodIdentity(app.name, ordinal, uid, bornAtMs)
    const pod = withPodState(shape, newPod(shape, identity), state, sinceMs)
    yield { resource: resources.pods, object: pod }
    backends.push({ name, uid, at, ready: true, terminating: false })
  }
  return backends
}

/** What a StatefulSet gives each of its pods: a number, a host name and a volume of its own. */
export function statefulPodIdentity(
  statefulSet: string,
  ordinal: number,
  uid: string,
  createdAtMs: number,
): PodIdentity {
  const name = `${statefulSet}-${ordinal}`
  return {
    name,
    uid,
    createdAtMs,
    labels: {
      'apps.kubernetes.io/pod-index': String(ordinal),
      'statefulset.kubernetes.io/pod-name': name,
    },
    spec: {
      hostname: name,
      subdomain: `${statefulSet}-headless`,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }],
    },
  }
}

/** A template with the label that names its revision. */
export function revisedTemplate(template: PodTemplate, hash: string): PodTemplate {
  const labels = { ...template.metadata.labels, 'controller-revision-hash': hash }
  return { ...template, metadata: { ...template.metadata, labels } }
}

function statefulSetItem(context: AppContext, hash: string): PopulationItem {
  const { app, seed, createdAtMs } = context
  const revision = `${app.name}-${hash}`
  return populationItem(resources.statefulSets, {
    name: app.name,
    namespace: app.namespace,
    uid: firstUid(seed, resources.statefulSets, app.namespace, app.name),
    createdAtMs,
    generation: 1,
    labels: appLabels(app),
    body: {
      spec: {
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        podManagementPolicy: 'OrderedReady',
        replicas: app.pods,
        revisionHistoryLimit: 10,
        selector: { matchLabels: selectorLabels(app) },
        serviceName: partNames(app).headlessService,
        template: appTemplate(app),
        updateStrategy: { rollingUpdate: { partition: 0 }, type: 'RollingUpdate' },
        volumeClaimTemplates: [
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '20Gi' } },
              storageClassName: 'fast',
              volumeMode: 'Filesystem',
            },
            status: { phase: 'Pending' },
          },
        ],
      },
      status: statefulSetStatus(1, app.pods, app.pods, revision),
    },
  })
}

/** `status` of a StatefulSet all of whose pods have the same revision. */
export function statefulSetStatus(
  generation: number,
  replicas: number,
  ready: number,
  revision: string,
): Record<string, unknown> {
  return {
    availableReplicas: ready,
    collisionCount: 0,
    currentReplicas: replicas,
    currentRevision: revision,
    observedGeneration: generation,
    ...(ready === 0 ? {} : { readyReplicas: ready }),
    replicas,
    updateRevision: revision,
    updatedReplicas: replicas,
  }
}
