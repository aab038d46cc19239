import { link, reference, settledForm } from './link.ts'
import { chain, owner, ownerForm } from './owner-links.ts'
import type { FieldCase, Form, Place } from './field-case.ts'
import { all, at, targetName } from './form.ts'
import { selection } from './selection-links.ts'

/** What owns what: between two kinds, and with one in between. */
const owners: readonly FieldCase[] = [
  owner('ReplicaSet.deployment,workload', 'Deployment.replicaSets'),
  owner('ReplicaSet.rollout', 'ArgoRollout.replicaSets'),
  owner('Pod.replicaSet,workload', 'ReplicaSet.pods'),
  owner('Pod.statefulSet,workload', 'StatefulSet.pods'),
  owner('Pod.daemonSet', 'DaemonSet.pods'),
  owner('Pod.job', 'Job.pods'),
  owner('Pod.replicationController', 'ReplicationController.pods'),
  owner('Pod', 'ArgoWorkflow.pods'),
  owner('Job.cronJob', 'CronJob.jobs'),
  owner('Job', 'KedaScaledJob.jobs'),
  owner('ControllerRevision.statefulSet,workload', 'StatefulSet.controllerRevisions'),
  owner('ControllerRevision.daemonSet', 'DaemonSet.controllerRevisions'),
  chain('Pod.deployment,workload', 'ReplicaSet', 'Deployment.pods'),
  chain('Pod.cronJob', 'Job', 'CronJob.pods'),
  chain('Pod.rollout', 'ReplicaSet', 'ArgoRollout.pods'),
  link('Pod.controller', 'ReplicaSet', {
    meant: [ownerForm('ReplicaSet')],
    missed: [
      ownerForm('ReplicaSet', { controller: false }),
      ownerForm('ReplicaSet', { uid: 'a former one' }),
    ],
  }),
]

/** The Events about the pods of a workload, which it owns itself or through one of another kind. */
function behindPods(type: string, between?: string): FieldCase {
  const middle: Place = `${between ?? type} ~middle`
  const top: Place = `${type} ~top`
  const direct = settledForm(ownerForm(type), top)
  const ofPod = (name: string): Form => ({
    involvedObject: { kind: 'Pod', namespace: '<here>', name, uid: `<uid Pod ${name}>` },
  })
  return {
    objects: [
      [top],
      [`${type} ~idle`],
      ...(between === undefined ? [] : [[middle, direct] as const]),
      [
        'Pod ~own',
        all(
          at('metadata.labels.app', 'web'),
          between === undefined ? direct : settledForm(ownerForm(between), middle),
        ),
      ],
      ['Pod ~stray', at('metadata.labels.app', 'stray')],
      ['Event ~own', ofPod('~own')],
      ['Event ~stray', ofPod('~stray')],
      ['Event ~of-top', { involvedObject: { kind: type, namespace: '<here>', name: '~top' } }],
    ],
    leads: { [`${type}.podEvents`]: { [top]: ['Event ~own'] } },
  }
}

const pods: readonly FieldCase[] = [
  behindPods('Deployment', 'ReplicaSet'),
  behindPods('ReplicaSet'),
  behindPods('StatefulSet'),
  behindPods('DaemonSet'),
  behindPods('Job'),
  behindPods('CronJob', 'Job'),
  behindPods('ReplicationController'),
  behindPods('ArgoRollout', 'ReplicaSet'),
]

const containers = ['containers', 'initContainers', 'ephemeralContainers']

/** Where pods name ConfigMaps: forms of a pod's spec. */
const configMapForms: readonly Form[] = [
  at('volumes[*].configMap.name'),
  at('volumes[*].projected.sources[*].configMap.name'),
  ...containers.flatMap((list) => [
    at(`${list}[*].env[*].valueFrom.configMapKeyRef.name`),
    at(`${list}[*].envFrom[*].configMapRef.name`),
  ]),
]

/** Where pods name Secrets. */
const secretForms: readonly Form[] = [
  at('volumes[*].secret.secretName'),
  at('volumes[*].projected.sources[*].secret.name'),
  at('volumes[*].csi.nodePublishSecretRef.name'),
  at('volumes[*].azureFile.secretName'),
  ...['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map((driver) =>
    at(`volumes[*].${driver}.secretRef.name`),
  ),
  at('imagePullSecrets[*].name'),
  ...containers.flatMap((list) => [
    at(`${list}[*].env[*].valueFrom.secretKeyRef.name`),
    at(`${list}[*].envFrom[*].secretRef.name`),
  ]),
]

const claimForm = at('volumes[*].persistentVolumeClaim.claimName')

/** What pods name, and what names pods have made: `<pod>-<volume>`. */
const uses: readonly FieldCase[] = [
  link('Pod.configMaps', 'ConfigMap.pods', {
    meant: configMapForms.map((spec) => ({ spec })),
    missed: [at('spec.volumes[*].name'), { spec: secretForms[0] }],
  }),
  link('Pod.secrets', 'Secret.pods', {
    meant: secretForms.map((spec) => ({ spec })),
    missed: [at('spec.volumes[*].name'), { spec: configMapForms[0] }],
  }),
  link('Pod.persistentVolumeClaims', 'PersistentVolumeClaim.pods', {
    meant: [{ spec: claimForm }],
    missed: [at('spec.volumes[*].name')],
  }),
  {
    objects: [
      ['Pod ~app', { spec: { volumes: [{ name: 'scratch', ephemeral: {} }, { name: 'cache' }] } }],
      ['PersistentVolumeClaim ~app-scratch'],
      ['PersistentVolumeClaim ~app-cache'],
      ['PersistentVolumeClaim ~app-scratch@there'],
    ],
    leads: {
      'Pod.persistentVolumeClaims': { 'Pod ~app': ['PersistentVolumeClaim ~app-scratch'] },
      'PersistentVolumeClaim.pods': { 'PersistentVolumeClaim ~app-scratch': ['Pod ~app'] },
    },
  },
  reference(
    'Pod.resourceClaims',
    'ResourceClaim.pods',
    'spec.resourceClaims[*].resourceClaimName',
    'status.resourceClaimStatuses[*].resourceClaimName',
  ),
  reference('Pod.node', 'Node.pods', 'spec.nodeName'),
  reference('Pod.serviceAccount', 'ServiceAccount.pods', 'spec.serviceAccountName'),
  reference('Pod.priorityClass', 'PriorityClass.pods', 'spec.priorityClassName'),
  reference('Pod.runtimeClass', 'RuntimeClass.pods', 'spec.runtimeClassName'),
]

/** The kinds that have pod templates: where, and what they call what the pods use. */
const templates: readonly (readonly [type: string, path: string, claims?: string])[] = [
  ['Deployment', 'spec.template.spec', 'persistentVolumeClaims'],
  ['ReplicaSet', 'spec.template.spec', 'persistentVolumeClaims'],
  ['StatefulSet', 'spec.template.spec', 'mountedPersistentVolumeClaims'],
  ['DaemonSet', 'spec.template.spec', 'persistentVolumeClaims'],
  ['Job', 'spec.template.spec', 'persistentVolumeClaims'],
  ['ReplicationController', 'spec.template.spec', 'persistentVolumeClaims'],
  ['CronJob', 'spec.jobTemplate.spec.template.spec', 'persistentVolumeClaims'],
  ['PodTemplate', 'template.spec', 'persistentVolumeClaims'],
  ['ArgoRollout', 'spec.template.spec'],
]

const ofTemplates: readonly FieldCase[] = templates.flatMap(([type, path, claims]) => {
  // A pod that says so itself, beside its template's, says nothing of the template.
  const missed = [at('spec.volumes[*].configMap.name'), at('metadata.annotations.template')]
  const within = (forms: readonly Form[]): readonly Form[] => forms.map((form) => at(path, form))
  return [
    link(`${type}.configMaps`, 'ConfigMap', { meant: within(configMapForms), missed }),
    link(`${type}.secrets`, 'Secret', { meant: within(secretForms) }),
    ...(claims === undefined
      ? []
      : [
          link(`${type}.${claims}`, 'PersistentVolumeClaim', { meant: within([claimForm]) }),
          link(`${type}.serviceAccount`, 'ServiceAccount', {
            meant: within([{ serviceAccountName: targetName }]),
          }),
        ]),
  ]
})

/** The kinds whose pods something may select, and how the fields that lead to them are called. */
const selected: readonly (readonly [type: string, field: string, path: string])[] = [
  ['Deployment', 'deployments', 'spec.template'],
  ['StatefulSet', 'statefulSets', 'spec.template'],
  ['DaemonSet', 'daemonSets', 'spec.template'],
  ['ReplicaSet', 'replicaSets', 'spec.template'],
  ['Job', 'jobs', 'spec.template'],
  ['CronJob', 'cronJobs', 'spec.jobTemplate.spec.template'],
  ['ReplicationController', 'replicationControllers', 'spec.template'],
  ['ArgoRollout', 'argoRollouts', 'spec.template'],
]

/** What selects the template of a workload, which has no pods. Its own labels do not count. */
const surroundings: readonly FieldCase[] = selected.flatMap(([type, field, path]) => {
  const target = all(
    at(`${path}.metadata.labels`, { rel: targetName, also: 'yes' }),
    at('metadata.labels.own', 'yes'),
  )
  return [
    link(`Service.${field}`, `${type}.services`, {
      target,
      meant: [
        at('spec.selector', { rel: targetName }),
        at('spec.selector', { rel: targetName, also: 'yes' }),
      ],
      missed: [
        at('spec.selector', {}),
        at('spec.selector', { rel: targetName, also: 'no' }),
        at('spec.selector', { rel: targetName, own: 'yes' }),
      ],
    }),
    ...(
      [
        ['NetworkPolicy', 'networkPolicies', 'spec.podSelector'],
        ['PodDisruptionBudget', 'disruptionBudgets', 'spec.selector'],
      ] as const
    ).map(([selecting, back, selector]) =>
      selection(`${selecting}.${field}`, `${type}.${back}`, selector, {
        target,
        bare: at(selector, { matchLabels: { rel: 'nobody' } }),
      }),
    ),
  ]
})

/** A Service of one pod of a StatefulSet, by the label that its controller gives the pod. */
const ofOnePod = link('Service.statefulSets', 'StatefulSet.services', {
  target: at('spec.template.metadata.labels.app', 'web'),
  meant: [
    at('spec.selector', { 'statefulset.kubernetes.io/pod-name': `${targetName}-0` }),
    at('spec.selector', { app: 'web', 'statefulset.kubernetes.io/pod-name': `${targetName}-12` }),
  ],
  missed: [
    at('spec.selector', { 'statefulset.kubernetes.io/pod-name': `${targetName}-x` }),
    at('spec.selector', { app: 'db', 'statefulset.kubernetes.io/pod-name': `${targetName}-0` }),
  ],
})

/** A Service of one revision of a Rollout, by the label that its controller gives the pods. */
const ofOneRevision = link('Service.argoRollouts', 'ArgoRollout.services', {
  target: at('spec.template.metadata.labels.app', targetName),
  meant: [at('spec.selector', { app: targetName, 'rollouts-pod-template-hash': '5d4f' })],
  missed: [at('spec.selector', { app: 'db', 'rollouts-pod-template-hash': '5d4f' })],
})

/** Relations of workloads, and of what pods use. */
export const workloadFieldCases: readonly FieldCase[] = [
  ...owners,
  ...pods,
  ...surroundings,
  ofOnePod,
  ofOneRevision,
  ...uses,
  ...ofTemplates,
  {
    objects: [
      ['StatefulSet ~web', at('spec.volumeClaimTemplates[*].metadata.name', 'data')],
      ['StatefulSet ~bare'],
      ['PersistentVolumeClaim data-~web-0'],
      ['PersistentVolumeClaim data-~web-12'],
      ['PersistentVolumeClaim data-~web-01'],
      ['PersistentVolumeClaim log-~web-0'],
      ['PersistentVolumeClaim data-~web-0@there'],
    ],
    leads: {
      'StatefulSet.persistentVolumeClaims': {
        'StatefulSet ~web': [
          'PersistentVolumeClaim data-~web-0',
          'PersistentVolumeClaim data-~web-12',
        ],
      },
      'PersistentVolumeClaim.statefulSet': {
        'PersistentVolumeClaim data-~web-0': ['StatefulSet ~web'],
        'PersistentVolumeClaim data-~web-12': ['StatefulSet ~web'],
      },
    },
  },
  reference('StatefulSet.service', 'Service.governedStatefulSets', 'spec.serviceName'),
]
