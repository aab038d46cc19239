import { type AppContext, type BackendPod, firstUid } from './app-context.ts'
import { appLabels, selectorLabels } from './app-labels.ts'
import { appTemplate, usesHostNetwork } from './app-template.ts'
import { controllerRevisionItem } from './controller-revision.ts'
import type { NodePlan } from './node-plan.ts'
import { newPod, podShape, withPodState } from './pod.ts'
import type { PodState } from './pod-state.ts'
import { ownerReference, type PopulationItem, populationItem } from './population-object.ts'
import { resources } from './resources.ts'
import { revisedTemplate } from './stateful-set.ts'
import { brokenNodeSilentForMs, hour, second } from './duration.ts'

/** A DaemonSet, its revision and one pod on each node; returns the pods. */
export function* daemonSetItems(
  context: AppContext,
): Generator<PopulationItem, readonly BackendPod[]> {
  const { app, seed, random, nodes, nowMs, createdAtMs } = context
  const hash = random.hex(10)
  const daemonSet = daemonSetItem(context)
  yield daemonSet
  yield controllerRevisionItem(context, daemonSet, hash, appTemplate(app))
  const template = revisedTemplate(appTemplate(app), hash)
  const shape = podShape(app.namespace, ownerReference(daemonSet), template, `${app.name}-`)
  const backends: BackendPod[] = []
  const taken = new Set<string>()
  for (const node of nodes) {
    let name: string
    do name = `${app.name}-${random.suffix(5)}`
    while (taken.has(name))
    taken.add(name)
    const uid = firstUid(seed, resources.pods, app.namespace, name)
    const bornAtMs = Math.max(createdAtMs, nowMs - random.integer(24, 500) * hour)
    const state = stateOn(context, node, bornAtMs)
    const pod = newPod(shape, { name, uid, createdAtMs: bornAtMs, spec: boundTo(node) })
    yield {
      resource: resources.pods,
      object: withPodState(shape, pod, state, bornAtMs + 9 * second),
    }
    if (state.kind === 'running')
      backends.push({ name, uid, at: state.at, ready: state.ready, terminating: false })
  }
  return backends
}

/** The kubelet of a silent node reports nothing more; the node controller has marked the pod as not ready. */
function stateOn({ app, placer, nowMs }: AppContext, node: NodePlan, bornAtMs: number): PodState {
  const startedAtMs = bornAtMs + 4 * second
  return {
    kind: 'running',
    at: placer.placeOn(node, usesHostNetwork(app)),
    startedAtMs,
    sinceMs: node.ready ? startedAtMs + 5 * second : nowMs - brokenNodeSilentForMs + 50 * second,
    ready: node.ready,
    restarts: 0,
  }
}

function boundTo(node: NodePlan): Record<string, unknown> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node.name] }]
  return {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
      },
    },
  }
}

function daemonSetItem(context: AppContext): PopulationItem {
  const { app, seed, createdAtMs, nodes } = context
  const ready = nodes.filter((node) => node.ready).length
  return populationItem(resources.daemonSets, {
    name: app.name,
    namespace: app.namespace,
    uid: firstUid(seed, resources.daemonSets, app.namespace, app.name),
    createdAtMs,
    generation: 1,
    labels: appLabels(app),
    annotations: { 'deprecated.daemonset.template.generation': '1' },
    body: {
      spec: {
        revisionHistoryLimit: 10,
        selector: { matchLabels: selectorLabels(app) },
        template: appTemplate(app),
        updateStrategy: {
          rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
          type: 'RollingUpdate',
        },
      },
      status: {
        currentNumberScheduled: nodes.length,
        desiredNumberScheduled: nodes.length,
        numberAvailable: ready,
        numberMisscheduled: 0,
        numberReady: ready,
        ...(ready === nodes.length ? {} : { numberUnavailable: nodes.length - ready }),
        observedGeneration: 1,
        updatedNumberScheduled: nodes.length,
      },
    },
  })
}
