/** What is tried with one kind: each patch (RFC 7386) is merged into the object, which is then created, or changed by it. */
export interface ValidationCases {
  readonly path: string
  readonly object: object
  readonly created: readonly object[]
  readonly updated: readonly object[]
}

const labels = { app: 'a' }
const container = { name: 'c', image: 'example/i' }
const podSpec = { containers: [container] }
const template = { metadata: { labels }, spec: podSpec }
const selector = { matchLabels: labels }

/** A patch of the first container. */
const inContainer = (...parts: readonly object[]): object[] =>
  parts.map((part) => ({ containers: [{ ...container, ...part }] }))

const handler = { httpGet: { path: '/', port: 80 } }

/** Patches of the spec of a pod, alone or in a template. */
const podSpecs: readonly object[] = [
  { containers: null },
  { containers: [] },
  { containers: [{}] },
  { containers: [container, container] },
  { containers: [{ ...container, name: 'Bad_Name' }, { name: 'x'.repeat(64) }] },
  { restartPolicy: 'Sometimes' },
  { dnsPolicy: 'Sometimes' },
  { terminationGracePeriodSeconds: -1 },
  { activeDeadlineSeconds: 0 },
  { hostname: 'Bad_Host', subdomain: 'a.b' },
  { serviceAccountName: 'Bad_Account', nodeName: 'Bad_Node' },
  { nodeSelector: { 'bad key': 'bad value' } },
  { imagePullSecrets: [{}] },
  { initContainers: [container, { name: 'i' }] },
  { securityContext: { runAsUser: -1, fsGroup: -1 } },
  {
    tolerations: [
      { operator: 'Exists', value: 'a' },
      { key: 'a', operator: 'Sometimes', effect: 'NoRun' },
      { key: 'bad key', tolerationSeconds: 1 },
    ],
  },
  {
    volumes: [
      { name: 'Bad_Name', emptyDir: {} },
      { name: 'a', emptyDir: {}, configMap: { name: 'a' } },
      { name: 'b', configMap: {} },
      { name: 'c', secret: {} },
      { name: 'd', persistentVolumeClaim: {} },
      { name: 'e', hostPath: {} },
      { emptyDir: {} },
    ],
  },
  {
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'a', emptyDir: {} },
    ],
  },
  ...inContainer(
    { imagePullPolicy: 'Sometimes', terminationMessagePolicy: 'Never' },
    { image: ' a' },
    {
      ports: [
        {},
        { containerPort: 70_000, hostPort: -1 },
        { containerPort: 1, name: 'Bad_Name', protocol: 'HTTP' },
        { containerPort: 2, name: 'a' },
        { containerPort: 3, name: 'a' },
        { containerPort: 4, name: 'x'.repeat(16) },
        { containerPort: 5, name: '1' },
      ],
    },
    {
      env: [
        { value: 'a' },
        { name: 'a=b', value: 'a' },
        { name: 'a', value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'b', valueFrom: {} },
        { name: 'c', valueFrom: { secretKeyRef: { name: 'a' } } },
        { name: 'd', valueFrom: { configMapKeyRef: { key: 'a' } } },
        {
          name: 'e',
          valueFrom: {
            secretKeyRef: { name: 'a', key: 'a' },
            configMapKeyRef: { name: 'a', key: 'a' },
          },
        },
      ],
    },
    { envFrom: [{}, { configMapRef: {} }, { secretRef: { name: 'a' }, prefix: 'a=' }] },
    { resources: { requests: { cpu: '2', memory: '-1' }, limits: { cpu: '1' } } },
    { resources: { requests: { widgets: '1', 'example.com/widgets': '1' } } },
    {
      volumeMounts: [
        {},
        { name: 'missing', mountPath: '/a' },
        { name: 'missing', mountPath: '/a' },
      ],
    },
    { livenessProbe: {}, readinessProbe: { ...handler, periodSeconds: -1, failureThreshold: -1 } },
    { livenessProbe: { ...handler, successThreshold: 2, exec: { command: ['a'] } } },
    { readinessProbe: { httpGet: { port: 0 } }, livenessProbe: { exec: {} } },
    { startupProbe: { tcpSocket: { port: 'Bad_Port' }, timeoutSeconds: -1 } },
    { startupProbe: { httpGet: { path: '/', port: 70_000, scheme: 'FTP' } } },
    { lifecycle: { preStop: {}, postStart: { exec: {} } } },
    { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
    { securityContext: { runAsUser: -1, runAsGroup: -1 } },
  ),
]

const inSpec = (...specs: readonly object[]): object[] => specs.map((spec) => ({ spec }))
const inTemplate = (...specs: readonly object[]): object[] =>
  specs.map((spec) => ({ template: { spec } }))

/** Patches of what the workloads of `apps` have in common. */
const workloads: readonly object[] = [
  { spec: null },
  ...inSpec(
    { selector: null },
    { selector: { matchLabels: null } },
    { selector: { matchLabels: { app: 'other' } } },
    { selector: { matchLabels: { app: 'bad value' } } },
    { selector: { matchLabels: { 'bad key': 'a' } } },
    { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
    { selector: { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['a'] }] } },
    { selector: { matchExpressions: [{ key: 'app', operator: 'Sometimes' }] } },
    { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] } },
    { template: null },
    { template: { metadata: null } },
    { template: { metadata: { labels: { app: 'b' } } } },
    { template: { metadata: { labels: { app: 'a', 'bad key': 'bad value' } } } },
    { minReadySeconds: -1, revisionHistoryLimit: -1 },
    ...inTemplate(
      { restartPolicy: 'Never' },
      { restartPolicy: 'Sometimes' },
      { activeDeadlineSeconds: 5 },
      { containers: null },
      { containers: [{ name: 'Bad_Name' }] },
      ...inContainer({ ports: [{ containerPort: 0 }] }, { livenessProbe: {} }),
    ),
  ),
]

/** Updates of the same. */
const workloadUpdates: readonly object[] = inSpec(
  { selector: { matchLabels: { app: 'b' } } },
  { selector: { matchLabels: { app: 'b' } }, template: { metadata: { labels: { app: 'b' } } } },
  { template: { metadata: { labels: { app: 'b' } } } },
  ...inTemplate({ containers: [] }, ...inContainer({ image: 'example/other' })),
)

const apps = (resource: string, spec: object, own: Partial<ValidationCases>): ValidationCases => ({
  path: `/apis/apps/v1/namespaces/NAMESPACE/${resource}`,
  object: { spec: { selector, template, ...spec } },
  created: [...workloads, ...(own.created ?? [])],
  updated: [...workloadUpdates, ...(own.updated ?? [])],
})

const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const [mounted = {}] = inTemplate(
  ...inContainer({ volumeMounts: [{ name: 'a', mountPath: '/a' }] }),
)
const jobTemplate = { spec: { ...podSpec, restartPolicy: 'Never' } }
const backend = { service: { name: 'a', port: { number: 80 } } }
const at = (group: string, resource: string): string => {
  const root = group.includes('/') ? `/apis/${group}` : '/api/v1'
  return `${root}/namespaces/NAMESPACE/${resource}`
}
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' }

/** By kind, the checks of a kube-apiserver that tests of controllers rely on. */
export const validationCases: Readonly<Record<string, ValidationCases>> = {
  Pod: {
    path: at('', 'pods'),
    object: { spec: podSpec },
    created: [{ spec: null }, ...inSpec(...podSpecs)],
    updated: [
      { metadata: { labels: { a: 'b' } } },
      ...inSpec(
        ...inContainer({ image: 'example/other' }, { command: ['a'] }),
        { containers: [container, { ...container, name: 'd' }] },
        { nodeName: 'b' },
        { restartPolicy: 'Never' },
        { activeDeadlineSeconds: 5 },
        { tolerations: [{ key: 'a', operator: 'Exists' }] },
      ),
    ],
  },
  Deployment: apps(
    'deployments',
    { replicas: 1 },
    {
      created: inSpec(
        { replicas: -1 },
        { strategy: { type: 'Sometimes' } },
        { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
        { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
        { strategy: { rollingUpdate: { maxSurge: -1, maxUnavailable: '101%' } } },
        { strategy: { rollingUpdate: { maxSurge: 'a', maxUnavailable: '0%' } } },
        { minReadySeconds: 10, progressDeadlineSeconds: 10 },
        { progressDeadlineSeconds: -1 },
      ),
      updated: inSpec({ replicas: -1 }, { replicas: 3 }),
    },
  ),
  ReplicaSet: apps(
    'replicasets',
    { replicas: 1 },
    { created: inSpec({ replicas: -1 }), updated: inSpec({ replicas: -1 }) },
  ),
  StatefulSet: apps(
    'statefulsets',
    { replicas: 1, serviceName: 'a' },
    {
      created: inSpec(
        { replicas: -1 },
        { serviceName: null },
        { podManagementPolicy: 'Sometimes' },
        { updateStrategy: { type: 'Sometimes' } },
        { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
        { updateStrategy: { rollingUpdate: { partition: -1 } } },
        { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Sometimes' } },
        { ordinals: { start: -1 } },
        { ...mounted, volumeClaimTemplates: [{ metadata: { name: 'a' }, spec: claim }] },
        { ...mounted, volumeClaimTemplates: [{ metadata: { name: 'b' }, spec: claim }] },
        { volumeClaimTemplates: [{ metadata: { name: 'Bad_Name' }, spec: {} }] },
      ),
      updated: inSpec(
        { replicas: -1 },
        { replicas: 3 },
        { serviceName: 'b' },
        { podManagementPolicy: 'Parallel' },
        { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
      ),
    },
  ),
  DaemonSet: apps(
    'daemonsets',
    {},
    {
      created: inSpec(
        { updateStrategy: { type: 'Sometimes' } },
        { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
        { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
        { updateStrategy: { rollingUpdate: { maxUnavailable: -1 } } },
      ),
      updated: [],
    },
  ),
  Job: {
    path: at('batch/v1', 'jobs'),
    object: { spec: { template: jobTemplate } },
    created: [
      { spec: null },
      ...inSpec(
        { template: null },
        { parallelism: -1, completions: -1, backoffLimit: -1 },
        { activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1 },
        { completionMode: 'Sometimes' },
        { completionMode: 'Indexed' },
        { selector },
        { selector, manualSelector: true },
        { podReplacementPolicy: 'Sometimes' },
        ...inTemplate(
          { restartPolicy: null },
          { restartPolicy: 'Always' },
          { containers: [] },
          { containers: [{ name: 'Bad_Name' }] },
        ),
      ),
    ],
    updated: inSpec(
      { parallelism: 2 },
      { parallelism: -1 },
      { completions: 3 },
      { suspend: true },
      { backoffLimit: 3 },
      { completionMode: 'Indexed' },
      { selector: { matchLabels: { a: 'b' } } },
      ...inTemplate({ restartPolicy: 'OnFailure' }, ...inContainer({ image: 'example/other' })),
    ),
  },
  CronJob: {
    path: at('batch/v1', 'cronjobs'),
    object: { spec: { schedule: '0 * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
    created: [
      { spec: null },
      { metadata: { name: 'x'.repeat(53) } },
      ...inSpec(
        { schedule: null },
        { schedule: '* * *' },
        { schedule: '61 * * * *' },
        { schedule: '@hourly' },
        { schedule: 'TZ=UTC 0 * * * *' },
        { timeZone: 'Nowhere/City' },
        { timeZone: '' },
        { concurrencyPolicy: 'Sometimes' },
        { startingDeadlineSeconds: -1 },
        { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
        { jobTemplate: null },
        { jobTemplate: { spec: { parallelism: -1, selector } } },
        { jobTemplate: { spec: { template: { spec: { restartPolicy: 'Always' } } } } },
        { jobTemplate: { spec: { template: { spec: { containers: null } } } } },
      ),
    ],
    updated: inSpec(
      { schedule: '1 * * * *' },
      { schedule: 'a' },
      { jobTemplate: { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } } },
    ),
  },
  Service: {
    path: at('', 'services'),
    object: { spec: { selector: labels, clusterIP: '10.0.0.77', ports: [{ port: 80 }] } },
    created: [
      { spec: null },
      { metadata: { name: '1a' } },
      { metadata: { name: 'a.b' } },
      { metadata: { name: 'x'.repeat(64) } },
      ...inSpec(
        { ports: null },
        { ports: [] },
        { ports: null, clusterIP: 'None' },
        { ports: [{}] },
        { ports: [{ port: 70_000, protocol: 'HTTP', targetPort: 70_000 }] },
        { ports: [{ port: 80, targetPort: 'Bad_Name' }] },
        { ports: [{ port: 80 }, { port: 81 }] },
        {
          ports: [
            { name: 'a', port: 80 },
            { name: 'a', port: 81 },
          ],
        },
        {
          ports: [
            { name: 'a', port: 80 },
            { name: 'b', port: 80 },
          ],
        },
        { ports: [{ name: 'Bad_Name', port: 80 }] },
        { ports: [{ port: 80, nodePort: 30_000 }] },
        { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
        { type: 'Sometimes' },
        { type: 'ExternalName', clusterIP: null },
        { type: 'ExternalName', clusterIP: null, ports: null, externalName: 'Bad_Name' },
        { type: 'ExternalName', externalName: 'example.com' },
        { clusterIP: 'a' },
        { type: 'NodePort', clusterIP: 'None' },
        { selector: { 'bad key': 'bad value' } },
        { sessionAffinity: 'Sometimes' },
        { externalIPs: ['a'] },
        { externalTrafficPolicy: 'Local' },
        { type: 'LoadBalancer', externalTrafficPolicy: 'Sometimes' },
        { internalTrafficPolicy: 'Sometimes' },
        { loadBalancerSourceRanges: ['10.0.0.0/8'] },
        { healthCheckNodePort: 30_000 },
      ),
    ],
    updated: inSpec(
      { clusterIP: '10.0.0.78', clusterIPs: ['10.0.0.78'] },
      { clusterIP: 'None', clusterIPs: ['None'] },
      { ports: [] },
      { ports: [{ port: 81 }] },
      { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null },
      { selector: { app: 'b' } },
    ),
  },
  ConfigMap: {
    path: at('', 'configmaps'),
    object: { immutable: true, data: { a: '1' } },
    created: [{ data: { 'bad key': '1', '..': '2' } }, { binaryData: { a: 'YQ==' } }],
    updated: [{ data: { a: '2' } }, { immutable: null }, { metadata: { labels: { a: 'b' } } }],
  },
  Secret: {
    path: at('', 'secrets'),
    object: { immutable: true, type: 'Opaque', data: { a: 'YQ==' } },
    created: [
      { data: { 'bad key': 'YQ==' } },
      { type: 'kubernetes.io/tls' },
      { type: 'kubernetes.io/basic-auth' },
      { type: 'kubernetes.io/service-account-token' },
      { type: 'kubernetes.io/dockerconfigjson' },
    ],
    updated: [{ data: { a: 'Yg==' } }, { immutable: null }, { type: 'example.com/other' }],
  },
  PersistentVolumeClaim: {
    path: at('', 'persistentvolumeclaims'),
    object: { spec: claim },
    created: [
      { spec: null },
      ...inSpec(
        { accessModes: null },
        { accessModes: ['Sometimes'] },
        { resources: null },
        { resources: { requests: { storage: '0' } } },
        { resources: { requests: { storage: '-1' } } },
        { volumeMode: 'Sometimes' },
        { storageClassName: 'Bad_Name' },
      ),
    ],
    updated: inSpec(
      { accessModes: ['ReadWriteMany'] },
      { storageClassName: 'b' },
      { resources: { requests: { storage: '2Gi' } } },
    ),
  },
  Ingress: {
    path: at('networking.k8s.io/v1', 'ingresses'),
    object: { spec: { defaultBackend: backend } },
    created: [
      { spec: null },
      ...inSpec(
        { defaultBackend: {} },
        { defaultBackend: { service: { name: 'Bad_Name', port: {} } } },
        { defaultBackend: { service: { name: 'a', port: { number: 70_000 } } } },
        { rules: [{ host: 'Bad_Host' }, { host: '*.example.com' }, { host: '10.0.0.1' }] },
        { rules: [{ http: { paths: [] } }] },
        { rules: [{ http: { paths: [{ path: '/', backend }] } }] },
        { rules: [{ http: { paths: [{ path: 'a', pathType: 'Prefix', backend }] } }] },
        { rules: [{ http: { paths: [{ path: '/', pathType: 'Sometimes', backend: {} }] } }] },
        { tls: [{ hosts: ['Bad_Host'], secretName: 'Bad_Name' }] },
        { ingressClassName: 'Bad_Name' },
      ),
    ],
    updated: [],
  },
  HorizontalPodAutoscaler: {
    path: at('autoscaling/v2', 'horizontalpodautoscalers'),
    object: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      },
    },
    created: [
      { spec: null },
      ...inSpec(
        { maxReplicas: 0 },
        { minReplicas: 4 },
        { minReplicas: 0 },
        { minReplicas: -1 },
        { scaleTargetRef: { kind: null, name: null } },
        { scaleTargetRef: { kind: 'a/b', name: 'a/b' } },
        { metrics: [{ type: 'Sometimes' }] },
        { metrics: [{ type: 'Resource' }] },
      ),
    ],
    updated: inSpec({ maxReplicas: -1 }),
  },
  PodDisruptionBudget: {
    path: at('policy/v1', 'poddisruptionbudgets'),
    object: { spec: { minAvailable: 1, selector } },
    created: inSpec(
      { maxUnavailable: 1 },
      { minAvailable: -1 },
      { minAvailable: '101%' },
      { minAvailable: 'a' },
      { selector: { matchLabels: { 'bad key': 'a' } } },
      { unhealthyPodEvictionPolicy: 'Sometimes' },
    ),
    updated: [],
  },
  Role: {
    path: at('rbac.authorization.k8s.io/v1', 'roles'),
    object: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    created: [
      { rules: [{}] },
      { rules: [{ apiGroups: [''], verbs: ['get'] }] },
      { rules: [{ nonResourceURLs: ['/a'], verbs: ['get'] }] },
    ],
    updated: [],
  },
  RoleBinding: {
    path: at('rbac.authorization.k8s.io/v1', 'rolebindings'),
    object: { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'a', namespace: 'a' }] },
    created: [
      { roleRef: null },
      { roleRef: { kind: 'Sometimes', name: '' } },
      { subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      { subjects: [{ kind: 'User' }, { kind: 'Sometimes', name: 'a' }] },
    ],
    updated: [{ roleRef: { name: 'b' } }, { subjects: null }],
  },
  Lease: {
    path: at('coordination.k8s.io/v1', 'leases'),
    object: { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } },
    created: inSpec({ leaseDurationSeconds: 0 }, { leaseTransitions: -1 }, { holderIdentity: '' }),
    updated: [],
  },
}
