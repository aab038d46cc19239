import { firstUid } from './app-context.ts'
import { pullSecret, rootCertificate } from './app-labels.ts'
import { company } from './catalog.ts'
import type { CompanyPlan, NamespacePlan } from './company-plan.ts'
import { managers } from './managed-fields.ts'
import { nodeLeaseNamespace } from './node.ts'
import { priorities } from './pod-spec.ts'
import { type ObjectParts, type PopulationItem, populationItem } from './population-object.ts'
import { hexDigest } from './random.ts'
import { type PopulationResource, resources } from './resources.ts'
import { day } from './duration.ts'
import { diskDriver } from './volume.ts'

const clusterAgeMs = 420 * day

/** The cluster's own objects outside namespaces, then its namespaces with what every namespace has. */
export function* clusterItems(plan: CompanyPlan): Generator<PopulationItem> {
  const parts = (resource: PopulationResource, name: string): Omit<ObjectParts, 'body'> => ({
    name,
    uid: firstUid(plan.seed, resource, '', name),
    createdAtMs: plan.nowMs - clusterAgeMs,
  })
  for (const [name, value] of Object.entries(priorities)) {
    yield populationItem(resources.priorityClasses, {
      ...parts(resources.priorityClasses, name),
      manager: name.startsWith('system-') ? managers.apiServer : managers.deployer,
      generation: 1,
      body: { description: `For ${name} pods.`, preemptionPolicy: 'PreemptLowerPriority', value },
    })
  }
  yield populationItem(resources.csiDrivers, {
    ...parts(resources.csiDrivers, diskDriver),
    body: {
      spec: {
        attachRequired: true,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
        podInfoOnMount: false,
        requiresRepublish: false,
        storageCapacity: false,
        volumeLifecycleModes: ['Persistent'],
      },
    },
  })
  for (const [name, type] of [
    ['fast', 'ssd'],
    ['bulk', 'hdd'],
  ] as const) {
    yield populationItem(resources.storageClasses, {
      ...parts(resources.storageClasses, name),
      annotations: { 'storageclass.kubernetes.io/is-default-class': String(name === 'fast') },
      body: {
        allowVolumeExpansion: true,
        parameters: { type },
        provisioner: diskDriver,
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    })
  }
  yield populationItem(resources.ingressClasses, {
    ...parts(resources.ingressClasses, 'nginx'),
    generation: 1,
    body: { spec: { controller: 'k8s.io/ingress-nginx' } },
  })
  yield* clusterRoleItems(parts)
  for (const name of systemNamespaces)
    yield* namespaceItems(plan, { name, team: 'platform', environment: 'production', apps: [] })
}

function* clusterRoleItems(
  parts: (resource: PopulationResource, name: string) => Omit<ObjectParts, 'body'>,
): Generator<PopulationItem> {
  const name = 'fjordholt:observer'
  yield populationItem(resources.clusterRoles, {
    ...parts(resources.clusterRoles, name),
    body: {
      rules: [
        { apiGroups: ['', 'apps', 'batch'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      ],
    },
  })
  yield populationItem(resources.clusterRoleBindings, {
    ...parts(resources.clusterRoleBindings, name),
    body: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'engineers' }],
    },
  })
}

/** A Namespace with the ConfigMap and ServiceAccount that the controller manager makes, and for teams a quota and the registry's Secret. */
export function* namespaceItems(
  plan: CompanyPlan,
  { name: namespace, team, environment }: NamespacePlan,
): Generator<PopulationItem> {
  const { seed, nowMs } = plan
  const createdAtMs = nowMs - clusterAgeMs
  const system = namespace.startsWith('kube-') || namespace === 'default'
  yield populationItem(resources.namespaces, {
    name: namespace,
    uid: firstUid(seed, resources.namespaces, '', namespace),
    createdAtMs,
    labels: {
      'kubernetes.io/metadata.name': namespace,
      ...(system ? {} : { environment, 'pod-security.kubernetes.io/enforce': 'restricted', team }),
    },
    manager: system ? managers.apiServer : managers.deployer,
    body: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
  })
  const parts = (resource: PopulationResource, name: string): Omit<ObjectParts, 'body'> => ({
    name,
    namespace,
    uid: firstUid(seed, resource, namespace, name),
    createdAtMs,
    manager: managers.controller,
  })
  yield populationItem(resources.configMaps, {
    ...parts(resources.configMaps, rootCertificate),
    annotations: {
      'kubernetes.io/description':
        'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
    },
    body: { data: { 'ca.crt': certificateText(seed) } },
  })
  yield populationItem(resources.serviceAccounts, {
    ...parts(resources.serviceAccounts, 'default'),
    body: {},
  })
  if (team === 'platform') return
  yield populationItem(resources.secrets, {
    ...parts(resources.secrets, pullSecret),
    manager: managers.deployer,
    body: {
      data: { '.dockerconfigjson': Buffer.from(pullConfig(seed)).toString('base64') },
      type: 'kubernetes.io/dockerconfigjson',
    },
  })
  const hard = { 'count/secrets': '200', pods: '5k', 'requests.memory': '20Ti' }
  yield populationItem(resources.resourceQuotas, {
    ...parts(resources.resourceQuotas, 'team'),
    manager: managers.deployer,
    body: { spec: { hard }, status: { hard, used: { 'count/secrets': '12' } } },
  })
}

/** The namespaces that exist whatever the plan has in them. */
const systemNamespaces: readonly string[] = ['default', nodeLeaseNamespace, 'kube-public']

function certificateText(seed: string): string {
  const bytes = Buffer.from(hexDigest(`${seed}/ca`, 1400), 'hex').toString('base64')
  const lines = bytes.match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function pullConfig(seed: string): string {
  const auth = Buffer.from(`pull:${hexDigest(`${seed}/registry`, 24)}`).toString('base64')
  return JSON.stringify({ auths: { [company.registry]: { auth } } })
}
