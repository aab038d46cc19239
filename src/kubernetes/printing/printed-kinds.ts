import type { ApiResource } from '../api-resource.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../fields.ts'
import {
  ageColumn,
  type Column,
  column,
  dateColumn,
  nameColumn,
  type PrintedKind,
  wide,
} from './column.ts'
import {
  accessModesText,
  addressIn,
  amountText,
  completions,
  endpointPort,
  eventCount,
  eventFirst,
  eventLast,
  eventObject,
  eventSource,
  externalIp,
  firstFew,
  hostsText,
  isAbsent,
  isBeingDeleted,
  jobDuration,
  jobStatus,
  kernelVersion,
  labelsText,
  loadBalancerText,
  membersIn,
  membersText,
  nodeRoles,
  nodeStatus,
  orNone,
  parametersText,
  pathOf,
  portText,
  quotaText,
  selectorText,
  selectorTextOrNone,
  suspendText,
  targets,
  textsIn,
} from './printed-text.ts'
import { podColumns } from './pod-columns.ts'

/** The columns that `kubectl get` shows for a built-in kind; `undefined` if unknown here. */
export function printedKindOf({
  group,
  version,
  kind,
}: Pick<ApiResource, 'group' | 'version' | 'kind'>): PrintedKind | undefined {
  // Version 1 of autoscalers has no list of metrics.
  return group === 'autoscaling' && version !== 'v2' ? undefined : kinds.get(`${group}/${kind}`)
}

function at(path: string): (object: Fields) => unknown {
  const members = path.split('.')
  return (object) => members.reduce<unknown>((value, name) => fieldsOf(value)[name], object)
}

function made(
  name: string,
  path: string,
  shown: (value: unknown) => unknown,
  type: 'string' | 'integer' | 'boolean' = 'string',
): Column {
  const valueOf = at(path)
  return column(name, (object) => shown(valueOf(object)), { type })
}

const text = (name: string, path: string, absent = ''): Column =>
  made(name, path, (value) => textOf(value) ?? absent)

/** The API omits zeros. */
const count = (name: string, path: string, type: 'integer' | 'string' = 'integer'): Column =>
  made(name, path, countOf, type)

const amount = (name: string, path: string, absent: string): Column =>
  made(name, path, (value) => amountText(value) ?? absent)

const size = (name: string, path: string): Column =>
  made(name, path, (list) => itemsOf(list).length, 'integer')

const isTrue = (value: unknown): boolean => value === true

const name = nameColumn()
const age = ageColumn

const containers = (podSpec = 'spec.template.spec'): readonly Column[] => [
  wide(made('Containers', `${podSpec}.containers`, (list) => membersText(list, 'name'))),
  wide(made('Images', `${podSpec}.containers`, (list) => membersText(list, 'image'))),
]

const selector = (path: string): Column => wide(made('Selector', path, selectorTextOrNone))
const labels = (title: string, path: string): Column => made(title, path, labelsText)

const readyReplicas = column('Ready', (object) => {
  const { readyReplicas: ready } = fieldsOf(object['status'])
  return `${countOf(ready)}/${countOf(fieldsOf(object['spec'])['replicas'])}`
})

const replicas = [
  name,
  count('Desired', 'spec.replicas'),
  count('Current', 'status.replicas'),
  count('Ready', 'status.readyReplicas'),
  age,
  ...containers(),
]

const phase = column('Status', (object) =>
  isBeingDeleted(object) ? 'Terminating' : (textOf(fieldsOf(object['status'])['phase']) ?? ''),
)

const storageClass = column(
  'StorageClass',
  (object) =>
    annotationOf(object, 'volume.beta.kubernetes.io/storage-class') ??
    textOf(fieldsOf(object['spec'])['storageClassName']) ??
    '',
)

const attributesClass = text('VolumeAttributesClass', 'spec.volumeAttributesClassName', '<unset>')
const volumeMode = wide(text('VolumeMode', 'spec.volumeMode', '<unset>'))

/** The name, marked for the default class of its kind. */
const className = (...annotations: readonly string[]): Column =>
  nameColumn((object) =>
    annotations.some((one) => annotationOf(object, one) === 'true') ? ' (default)' : '',
  )

const nameAndCreation = [name, { ...age, name: 'Created At', asTime: true }]
const webhooks = [name, size('Webhooks', 'webhooks'), age]

const roleBinding = [
  name,
  made('Role', 'roleRef', (role) => pathOf(role, 'kind', 'name')),
  age,
  subjects('Users', 'User', (subject) => textOf(subject['name']) ?? ''),
  subjects('Groups', 'Group', (subject) => textOf(subject['name']) ?? ''),
  subjects('ServiceAccounts', 'ServiceAccount', (subject) => pathOf(subject, 'namespace', 'name')),
]

const columnsByKind: Readonly<Record<string, readonly Column[]>> = {
  '/ConfigMap': [
    name,
    column('Data', ({ data, binaryData }) => membersIn(data) + membersIn(binaryData)),
    age,
  ],
  '/Event': [
    dateColumn('Last Seen', eventLast),
    text('Type', 'type'),
    text('Reason', 'reason'),
    made('Object', 'involvedObject', eventObject),
    wide(text('Subobject', 'involvedObject.fieldPath')),
    wide(column('Source', eventSource)),
    made('Message', 'message', (message) => (textOf(message) ?? '').trim()),
    wide(dateColumn('First Seen', eventFirst)),
    wide(column('Count', eventCount)),
    wide(name),
  ],
  '/LimitRange': nameAndCreation,
  '/Namespace': [name, text('Status', 'status.phase'), age],
  '/Node': [
    name,
    column('Status', nodeStatus),
    made('Roles', 'metadata.labels', nodeRoles),
    age,
    text('Version', 'status.nodeInfo.kubeletVersion'),
    wide(made('Internal-IP', 'status.addresses', (list) => addressIn(list, 'InternalIP'))),
    wide(made('External-IP', 'status.addresses', (list) => addressIn(list, 'ExternalIP'))),
    wide(text('OS-Image', 'status.nodeInfo.osImage', '<unknown>')),
    wide(made('Kernel-Version', 'status.nodeInfo', kernelVersion)),
    wide(text('Container-Runtime', 'status.nodeInfo.containerRuntimeVersion', '<unknown>')),
  ],
  '/PersistentVolume': [
    name,
    text('Capacity', 'spec.capacity.storage', '0'),
    made('Access Modes', 'spec.accessModes', accessModesText),
    text('Reclaim Policy', 'spec.persistentVolumeReclaimPolicy'),
    phase,
    made('Claim', 'spec.claimRef', (claim) =>
      isAbsent(claim) ? '' : pathOf(claim, 'namespace', 'name'),
    ),
    storageClass,
    attributesClass,
    text('Reason', 'status.reason'),
    age,
    volumeMode,
  ],
  '/PersistentVolumeClaim': [
    name,
    phase,
    text('Volume', 'spec.volumeName'),
    ofBoundClaim('Capacity', ({ capacity }) => textOf(fieldsOf(capacity)['storage']) ?? '0'),
    ofBoundClaim('Access Modes', ({ accessModes }) => accessModesText(accessModes)),
    storageClass,
    attributesClass,
    age,
    volumeMode,
  ],
  '/Pod': podColumns,
  '/ReplicationController': [...replicas, wide(labels('Selector', 'spec.selector'))],
  '/ResourceQuota': [
    name,
    made('Request', 'status', (status) => quotaText(status, false)),
    made('Limit', 'status', (status) => quotaText(status, true)),
    age,
  ],
  '/Secret': [name, text('Type', 'type'), made('Data', 'data', membersIn), age],
  '/Service': [
    name,
    text('Type', 'spec.type'),
    made('Cluster-IP', 'spec.clusterIPs', (list) => textsIn(list)[0] ?? '<none>'),
    column('External-IP', externalIp),
    made('Port(s)', 'spec.ports', (ports) => orNone(itemsOf(ports).map(portText).join(','))),
    age,
    wide(labels('Selector', 'spec.selector')),
  ],
  '/ServiceAccount': [name, age],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'apiextensions.k8s.io/CustomResourceDefinition': nameAndCreation,
  'apps/DaemonSet': [
    name,
    count('Desired', 'status.desiredNumberScheduled'),
    count('Current', 'status.currentNumberScheduled'),
    count('Ready', 'status.numberReady'),
    count('Up-to-date', 'status.updatedNumberScheduled'),
    count('Available', 'status.numberAvailable'),
    labels('Node Selector', 'spec.template.spec.nodeSelector'),
    age,
    ...containers(),
    selector('spec.selector'),
  ],
  'apps/Deployment': [
    name,
    readyReplicas,
    count('Up-to-date', 'status.updatedReplicas', 'string'),
    count('Available', 'status.availableReplicas', 'string'),
    age,
    ...containers(),
    wide(made('Selector', 'spec.selector', selectorText)),
  ],
  'apps/ReplicaSet': [...replicas, selector('spec.selector')],
  'apps/StatefulSet': [name, readyReplicas, age, ...containers()],
  'autoscaling/HorizontalPodAutoscaler': [
    name,
    made('Reference', 'spec.scaleTargetRef', (target) => pathOf(target, 'kind', 'name')),
    column('Targets', targets),
    amount('MinPods', 'spec.minReplicas', '<unset>'),
    count('MaxPods', 'spec.maxReplicas', 'string'),
    count('Replicas', 'status.currentReplicas', 'string'),
    age,
  ],
  'batch/CronJob': [
    name,
    text('Schedule', 'spec.schedule'),
    text('Timezone', 'spec.timeZone', '<none>'),
    made('Suspend', 'spec.suspend', suspendText, 'boolean'),
    size('Active', 'status.active'),
    dateColumn('Last Schedule', at('status.lastScheduleTime'), { absent: '<none>' }),
    age,
    ...containers('spec.jobTemplate.spec.template.spec'),
    selector('spec.jobTemplate.spec.selector'),
  ],
  'batch/Job': [
    name,
    column('Status', jobStatus),
    column('Completions', completions),
    column('Duration', () => null, { cell: jobDuration }),
    age,
    ...containers(),
    selector('spec.selector'),
  ],
  'coordination.k8s.io/Lease': [name, text('Holder', 'spec.holderIdentity'), age],
  'discovery.k8s.io/EndpointSlice': [
    name,
    text('AddressType', 'addressType'),
    made('Ports', 'ports', (ports) => firstFew(itemsOf(ports).map(endpointPort), 3, '<unset>')),
    made('Endpoints', 'endpoints', (list) =>
      firstFew(
        itemsOf(list).flatMap(({ addresses }) => textsIn(addresses)),
        3,
        '<unset>',
      ),
    ),
    age,
  ],
  'networking.k8s.io/Ingress': [
    name,
    text('Class', 'spec.ingressClassName', '<none>'),
    made('Hosts', 'spec.rules', hostsText),
    made('Address', 'status.loadBalancer', loadBalancerText),
    made('Ports', 'spec.tls', (tls) => (itemsOf(tls).length === 0 ? '80' : '80, 443')),
    age,
  ],
  'networking.k8s.io/IngressClass': [
    className('ingressclass.kubernetes.io/is-default-class'),
    text('Controller', 'spec.controller'),
    made('Parameters', 'spec.parameters', parametersText),
    age,
  ],
  'networking.k8s.io/NetworkPolicy': [
    name,
    made('Pod-Selector', 'spec.podSelector', selectorTextOrNone),
    age,
  ],
  'policy/PodDisruptionBudget': [
    name,
    amount('Min Available', 'spec.minAvailable', 'N/A'),
    amount('Max Unavailable', 'spec.maxUnavailable', 'N/A'),
    count('Allowed Disruptions', 'status.disruptionsAllowed'),
    age,
  ],
  'rbac.authorization.k8s.io/ClusterRole': nameAndCreation,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBinding,
  'rbac.authorization.k8s.io/Role': nameAndCreation,
  'rbac.authorization.k8s.io/RoleBinding': roleBinding,
  'scheduling.k8s.io/PriorityClass': [
    name,
    count('Value', 'value'),
    made('Global-Default', 'globalDefault', isTrue, 'boolean'),
    age,
    text('PreemptionPolicy', 'preemptionPolicy'),
  ],
  'storage.k8s.io/StorageClass': [
    className(
      'storageclass.kubernetes.io/is-default-class',
      'storageclass.beta.kubernetes.io/is-default-class',
    ),
    text('Provisioner', 'provisioner'),
    text('ReclaimPolicy', 'reclaimPolicy', 'Delete'),
    text('VolumeBindingMode', 'volumeBindingMode', 'Immediate'),
    made('AllowVolumeExpansion', 'allowVolumeExpansion', isTrue),
    age,
  ],
}

const kinds: ReadonlyMap<string, PrintedKind> = new Map(
  Object.entries(columnsByKind).map(([kind, columns]) => [kind, { columns }]),
)

function annotationOf(object: Fields, key: string): string | undefined {
  return textOf(fieldsOf(fieldsOf(object['metadata'])['annotations'])[key])
}

/** The status of a claim is only shown once a volume is bound to it. */
function ofBoundClaim(title: string, textIn: (status: Fields) => string): Column {
  const volume = at('spec.volumeName')
  return column(title, (object) =>
    textOf(volume(object)) === undefined ? '' : textIn(fieldsOf(object['status'])),
  )
}

function subjects(title: string, kind: string, textIn: (subject: Fields) => string): Column {
  return wide(
    made(title, 'subjects', (list) =>
      itemsOf(list)
        .filter((subject) => subject['kind'] === kind)
        .map(textIn)
        .join(', '),
    ),
  )
}
