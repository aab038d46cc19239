/** One object to create: where, and what. */
export type Manifest = readonly [path: string, object: object]

const namespace = 'kinds'
const metadata = { name: 'sample', labels: { app: 'sample' } }
const core = `/api/v1/namespaces/${namespace}`
const inGroup = (group: string): string => `/apis/${group}/namespaces/${namespace}`

const template = {
  metadata: { labels: metadata.labels },
  spec: { containers: [{ name: 'main', image: 'nginx:1' }] },
}
const onFailure = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const workload = { selector: { matchLabels: metadata.labels }, template }
const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'sample' }
const rbac = 'rbac.authorization.k8s.io'
const role = { apiGroup: rbac, kind: 'ClusterRole', name: 'sample' }
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
const webhook = {
  name: 'sample.example.com',
  clientConfig: { service: { namespace, name: 'sample' } },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  // Nothing is ever sent there.
  rules: [
    {
      apiGroups: ['example.com'],
      apiVersions: ['v1'],
      resources: ['samples'],
      operations: ['CREATE'],
    },
  ],
}
const claim = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'sample',
  resources: { requests: { storage: '1Gi' } },
}
const event = { namespace, name: 'sample' }

const deviceClaim = {
  devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'sample' } }] },
}
/** Of a key that nobody has kept. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ITUNBUUF3RVRFUE1BMEdBMVVFQXd3R2MyRnRjR3hsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowRApBUWNEUWdBRWlweVd2OGd6c0NGMkdCT1NNYStXcHVKUG5rZjkwRGExMmRPckZwVkxmcUJIS1NkRUtENk5tS210CnhMbDd6bEpOM1V2b2k0bks5SUpLaTVrVkVXa21HNkFBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSVFDS0llQWoKTG1DL2dwakRXY2FVTXpaVytNTzR4WlpLVUNJbnNLRWJkblZ2Z0FJZ1ZOUEdqKzU1R0ptRTNTNHB2N0ZmRGlXUAphcnNOekFzU2FBanVYTEZTWm5RPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'

/** An object of every kind that can be had without a controller. Their namespace comes first. */
export const manifests: readonly Manifest[] = [
  ['/api/v1/namespaces', { metadata: { name: namespace } }],
  ['/api/v1/nodes', { metadata, spec: { podCIDR: '10.1.0.0/24' } }],
  [`${core}/pods`, { metadata, spec: { ...template.spec, nodeName: 'sample' } }],
  [`${core}/podtemplates`, { metadata, template }],
  [`${core}/configmaps`, { metadata, data: { a: '1' } }],
  [`${core}/secrets`, { metadata, stringData: { password: 'not to be seen' } }],
  [`${core}/services`, { metadata, spec: { selector: metadata.labels, ports: [{ port: 80 }] } }],
  [`${core}/endpoints`, { metadata, subsets: [] }],
  [`${core}/serviceaccounts`, { metadata }],
  [`${core}/replicationcontrollers`, { metadata, spec: { replicas: 1, template } }],
  [`${core}/resourcequotas`, { metadata, spec: { hard: { 'count/secrets': '100' } } }],
  [`${core}/limitranges`, { metadata, spec: { limits: [{ type: 'Pod', max: { cpu: '64' } }] } }],
  [`${core}/persistentvolumeclaims`, { metadata, spec: claim }],
  [
    '/api/v1/persistentvolumes',
    {
      metadata,
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: claim.accessModes,
        storageClassName: 'sample',
        hostPath: { path: '/nowhere' },
      },
    },
  ],
  [
    `${core}/events`,
    {
      metadata,
      involvedObject: { kind: 'Pod', apiVersion: 'v1', ...event },
      reason: 'Sampled',
      type: 'Normal',
    },
  ],
  [`${inGroup('apps/v1')}/deployments`, { metadata, spec: workload }],
  [`${inGroup('apps/v1')}/replicasets`, { metadata, spec: workload }],
  [`${inGroup('apps/v1')}/daemonsets`, { metadata, spec: workload }],
  [
    `${inGroup('apps/v1')}/statefulsets`,
    { metadata, spec: { ...workload, serviceName: 'sample' } },
  ],
  [`${inGroup('apps/v1')}/controllerrevisions`, { metadata, revision: 1, data: { a: 1 } }],
  [`${inGroup('batch/v1')}/jobs`, { metadata, spec: { template: onFailure } }],
  [
    `${inGroup('batch/v1')}/cronjobs`,
    { metadata, spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: onFailure } } } },
  ],
  [
    `${inGroup('autoscaling/v2')}/horizontalpodautoscalers`,
    { metadata, spec: { maxReplicas: 3, scaleTargetRef: reference } },
  ],
  [
    `${inGroup('policy/v1')}/poddisruptionbudgets`,
    { metadata, spec: { minAvailable: '50%', selector: workload.selector } },
  ],
  [`${inGroup('networking.k8s.io/v1')}/networkpolicies`, { metadata, spec: { podSelector: {} } }],
  [
    `${inGroup('networking.k8s.io/v1')}/ingresses`,
    { metadata, spec: { defaultBackend: { service: { name: 'sample', port: { number: 80 } } } } },
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    { metadata, spec: { controller: 'example.com/c' } },
  ],
  [
    `${inGroup('discovery.k8s.io/v1')}/endpointslices`,
    {
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'sample' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'] }],
      ports: [{ name: '', port: 80 }],
    },
  ],
  [
    `${inGroup('coordination.k8s.io/v1')}/leases`,
    { metadata, spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } },
  ],
  [`${inGroup(`${rbac}/v1`)}/roles`, { metadata, rules: [rule] }],
  [`${inGroup(`${rbac}/v1`)}/rolebindings`, { metadata, roleRef: role }],
  [`/apis/${rbac}/v1/clusterroles`, { metadata, rules: [rule] }],
  [`/apis/${rbac}/v1/clusterrolebindings`, { metadata, roleRef: role }],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata, value: 7 }],
  ['/apis/node.k8s.io/v1/runtimeclasses', { metadata, handler: 'runc' }],
  ['/apis/storage.k8s.io/v1/storageclasses', { metadata, provisioner: 'example.com/p' }],
  ['/apis/storage.k8s.io/v1/csidrivers', { metadata: { name: 'sample.example.com' }, spec: {} }],
  [
    '/apis/storage.k8s.io/v1/csinodes',
    { metadata, spec: { drivers: [{ name: 'sample.example.com', nodeID: 'n' }] } },
  ],
  [
    '/apis/storage.k8s.io/v1/volumeattachments',
    {
      metadata,
      spec: {
        attacher: 'sample.example.com',
        nodeName: 'sample',
        source: { persistentVolumeName: 'sample' },
      },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    { metadata, webhooks: [webhook] },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    { metadata, webhooks: [webhook] },
  ],
  [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    {
      metadata,
      spec: { signerName: 'example.com/s', usages: ['client auth'], request: signingRequest },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    {
      metadata,
      spec: {
        matchConstraints: { resourceRules: webhook.rules },
        validations: [{ expression: 'true' }],
      },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    { metadata, spec: { policyName: 'sample', validationActions: ['Deny'] } },
  ],
  [
    `${inGroup('storage.k8s.io/v1')}/csistoragecapacities`,
    { metadata, storageClassName: 'sample', capacity: '1Gi' },
  ],
  [
    '/apis/storage.k8s.io/v1/volumeattributesclasses',
    { metadata, driverName: 'sample.example.com', parameters: { iops: '7' } },
  ],
  ['/apis/networking.k8s.io/v1/servicecidrs', { metadata, spec: { cidrs: ['10.2.0.0/24'] } }],
  [
    '/apis/networking.k8s.io/v1/ipaddresses',
    {
      metadata: { name: '10.2.0.7' },
      spec: { parentRef: { resource: 'services', namespace, name: 'sample' } },
    },
  ],
  ['/apis/resource.k8s.io/v1/deviceclasses', { metadata, spec: {} }],
  [`${inGroup('resource.k8s.io/v1')}/resourceclaims`, { metadata, spec: deviceClaim }],
  [
    `${inGroup('resource.k8s.io/v1')}/resourceclaimtemplates`,
    { metadata, spec: { spec: deviceClaim } },
  ],
  [
    '/apis/resource.k8s.io/v1/resourceslices',
    {
      metadata,
      spec: {
        driver: 'sample.example.com',
        nodeName: 'sample',
        pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'device', attributes: { model: { string: 'm' } } }],
      },
    },
  ],
]
