import { firstUid } from './app-context.ts'
import { imageIdOf } from './container-status.ts'
import { eventItem } from './event.ts'
import { managers } from './managed-fields.ts'
import { healthyConditions, unknownConditions, unreachableTaints } from './node-health.ts'
import { type NodePlan, podsPerNode, region } from './node-plan.ts'
import { type PopulationItem, populationItem } from './population-object.ts'
import { createRandom, uidDigest } from './random.ts'
import { resources } from './resources.ts'
import { microTimestamp } from '../../kubernetes/timestamp.ts'
import { brokenNodeSilentForMs, day, minute, second } from './duration.ts'
import { diskDriver } from './volume.ts'

/** The namespace that kubelets keep their Leases in. */
export const nodeLeaseNamespace = 'kube-node-lease'

/** A Node with its Lease and CSINode, and what is known of its trouble. */
export function* nodeItems(
  seed: string,
  nowMs: number,
  plan: NodePlan,
  images: readonly string[],
): Generator<PopulationItem> {
  const createdAtMs = nowMs - createRandom(`${seed}/age/${plan.name}`).integer(20, 90) * day
  const silentSinceMs = nowMs - brokenNodeSilentForMs
  const heardAtMs = plan.ready ? nowMs - (plan.index % 10) * second : silentSinceMs
  const node = populationItem(resources.nodes, {
    name: plan.name,
    uid: plan.uid,
    createdAtMs,
    updatedAtMs: heardAtMs,
    labels: nodeLabels(plan),
    annotations: {
      'csi.volume.kubernetes.io/nodeid': JSON.stringify({ [diskDriver]: plan.name }),
      'node.alpha.kubernetes.io/ttl': '0',
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    },
    manager: managers.kubelet,
    statusManager: managers.kubeletStatus,
    body: {
      spec: {
        podCIDR: `${plan.podNetwork}.0/24`,
        podCIDRs: [`${plan.podNetwork}.0/24`],
        providerID: `fjordcloud:///${plan.zone}/${plan.name}`,
        ...(plan.ready ? {} : { taints: unreachableTaints(silentSinceMs + 40 * second) }),
      },
      status: nodeStatus(plan, createdAtMs, heardAtMs, images),
    },
  })
  yield node
  yield leaseItem(seed, plan, createdAtMs, heardAtMs)
  yield populationItem(resources.csiNodes, {
    name: plan.name,
    uid: firstUid(seed, resources.csiNodes, '', plan.name),
    createdAtMs,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: plan.name, uid: plan.uid }],
    manager: managers.kubelet,
    body: {
      spec: {
        drivers: [
          {
            allocatable: { count: 26 },
            name: diskDriver,
            nodeID: plan.name,
            topologyKeys: ['topology.kubernetes.io/zone'],
          },
        ],
      },
    },
  })
  if (!plan.ready) {
    yield eventItem({
      regarding: node.object,
      type: 'Normal',
      reason: 'NodeNotReady',
      message: `Node ${plan.name} status is now: NodeNotReady`,
      component: 'node-controller',
      firstAtMs: silentSinceMs + 40 * second,
      lastAtMs: silentSinceMs + 40 * second,
      count: 1,
    })
  }
}

function nodeLabels(plan: NodePlan): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': plan.architecture,
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': plan.architecture,
    'kubernetes.io/hostname': plan.name,
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': plan.instanceType,
    'topology.kubernetes.io/region': region,
    'topology.kubernetes.io/zone': plan.zone,
  }
}

function nodeStatus(
  plan: NodePlan,
  createdAtMs: number,
  heardAtMs: number,
  images: readonly string[],
): Record<string, unknown> {
  const { cpus, memoryGi, name, architecture } = plan
  const shared = { 'hugepages-2Mi': '0', pods: String(podsPerNode) }
  return {
    addresses: [
      { address: plan.address, type: 'InternalIP' },
      { address: name, type: 'Hostname' },
    ],
    allocatable: {
      cpu: `${cpus * 1000 - 110}m`,
      'ephemeral-storage': '95551679124',
      memory: `${memoryGi * 1_048_576 - 1_153_434}Ki`,
      ...shared,
    },
    capacity: {
      cpu: String(cpus),
      'ephemeral-storage': '103867372Ki',
      memory: `${memoryGi * 1_048_576 - 524_288}Ki`,
      ...shared,
    },
    conditions: plan.ready
      ? healthyConditions(heardAtMs, createdAtMs + minute)
      : unknownConditions(heardAtMs, heardAtMs + 40 * second),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    images: images.map((image, index) => ({
      names: [imageIdOf(image), image],
      sizeBytes: 18_000_000 + ((index * 7_919_333) % 240_000_000),
    })),
    nodeInfo: {
      architecture,
      bootID: uidDigest(`${plan.uid}/boot`),
      containerRuntimeVersion: 'containerd://2.2.1',
      kernelVersion: '6.18.9',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.36.3',
      machineID: plan.uid.replaceAll('-', ''),
      operatingSystem: 'linux',
      osImage: 'Debian GNU/Linux 13 (trixie)',
      systemUUID: uidDigest(`${plan.uid}/system`),
    },
  }
}

function leaseItem(
  seed: string,
  plan: NodePlan,
  createdAtMs: number,
  renewedAtMs: number,
): PopulationItem {
  return populationItem(resources.leases, {
    name: plan.name,
    namespace: nodeLeaseNamespace,
    uid: firstUid(seed, resources.leases, nodeLeaseNamespace, plan.name),
    createdAtMs,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: plan.name, uid: plan.uid }],
    manager: managers.kubelet,
    body: {
      spec: {
        holderIdentity: plan.name,
        leaseDurationSeconds: 40,
        renewTime: microTimestamp(renewedAtMs),
      },
    },
  })
}
