import { isIP } from 'node:net'
import { type Fields, fieldsOf, itemsOf } from '../../../kubernetes/fields.ts'
import type { Unstructured } from '../../../kubernetes/object.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { equalJson } from '../../api/json.ts'
import type { ObjectRules } from '../../api/served-resource.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
} from '../../api/status-refusal.ts'
import {
  all,
  atLeast,
  type Check,
  type Checks,
  forbiddenIf,
  forbiddenUnless,
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
  labels,
  labelSelector,
  listOf,
  named,
  oneOf,
  port,
  portName,
  type Previous,
  problemsOf,
  quantityOf,
  required,
  requiredIf,
  unique,
} from '../../schema/field-checks.ts'
import { label, subdomain } from '../../schema/metadata-rules.ts'
import { podChecks } from './pod-checks.ts'
import { workloadChecks } from './workload-checks.ts'

/** Checks of an object as a whole. */
type ObjectCheck = (object: Fields, previous: Previous) => readonly FieldProblem[]

const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
  "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

const dataKeys: Check = (value, path) =>
  Object.keys(fieldsOf(value)).flatMap((key) => {
    const at = `${path}[${key}]`
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) return [invalidAt(at, key, keyRule)]
    if (key === '.' || key === '..') return [invalidAt(at, key, `must not be '${key}'`)]
    return key.startsWith('..') ? [invalidAt(at, key, "must not start with '..'")] : []
  })

/** Immutable data stays unchanged, and stays immutable. */
const immutableData: ObjectCheck = (object, previous) => {
  const before = fieldsOf(previous?.value)
  if (before['immutable'] !== true) return []
  return ['data', 'binaryData', 'immutable']
    .filter((field) => !equalJson(before[field] ?? null, object[field] ?? null))
    .map((field) => forbiddenAt(field, 'field is immutable when `immutable` is set'))
}

const duplicateData: ObjectCheck = ({ binaryData, data }) =>
  Object.keys(fieldsOf(data))
    .filter((key) => key in fieldsOf(binaryData))
    .map((key) => invalidAt(`data[${key}]`, key, 'duplicate of key present in binaryData'))

const secretData: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}

const secretType: ObjectCheck = (secret, previous) => {
  const { data, metadata, type = 'Opaque' } = secret
  const given = fieldsOf(data)
  const lacking = (keys: readonly string[]): FieldProblem[] =>
    keys.filter((key) => !(key in given)).map((key) => requiredAt(`data[${key}]`))
  const found = lacking(secretData[String(type)] ?? [])
  const either = ['username', 'password']
  if (type === 'kubernetes.io/basic-auth' && !either.some((key) => key in given)) {
    found.push(...lacking(either))
  }
  const account = 'kubernetes.io/service-account.name'
  const isToken = type === 'kubernetes.io/service-account-token'
  if (isToken && isEmpty(fieldsOf(fieldsOf(metadata)['annotations'])[account])) {
    found.push(requiredAt(`metadata.annotations[${account}]`))
  }
  const { type: before = 'Opaque' } = fieldsOf(previous?.value)
  return [...found, ...immutable(type, 'type', secret, previous && { value: before })]
}

const claimSpec: Checks = {
  accessModes: required('at least 1 access mode is required'),
  'accessModes[]': (value, path, parent) =>
    oneOf(
      'ReadOnlyMany',
      'ReadWriteMany',
      'ReadWriteOnce',
      'ReadWriteOncePod',
    )(value, path.replace(/\[\d+\]$/, ''), parent),
  resources: (value, path) => {
    const { storage } = fieldsOf(fieldsOf(value)['requests'])
    const at = `${path}[storage]`
    if (isEmpty(storage)) return [requiredAt(at)]
    return quantityOf(storage) > 0 ? [] : [invalidAt(at, storage, 'must be greater than zero')]
  },
  volumeMode: oneOf('Block', 'Filesystem'),
  storageClassName: named(subdomain),
}

const claimChange: ObjectCheck = ({ spec }, previous) => {
  if (previous === undefined) return []
  const { spec: before, status } = fieldsOf(previous.value)
  const isBound = fieldsOf(status)['phase'] === 'Bound'
  const kept = (one: unknown): object => {
    const { storageClassName: _, volumeAttributesClassName: __, resources, ...rest } = fieldsOf(one)
    return isBound ? rest : { ...rest, resources }
  }
  // A claim without a class may get one later.
  const { storageClassName: was } = fieldsOf(before)
  const isReclassed = !isEmpty(was) && was !== fieldsOf(spec)['storageClassName']
  if (!isReclassed && equalJson(kept(before), kept(spec))) return []
  const message =
    'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
  return [forbiddenAt('spec', message)]
}

const address: Check = invalidIf(
  (value) => isIP(String(value)) === 0,
  'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
)

const zeroPort: Check = (value, path, parent) => port(value ?? 0, path, parent)

const typeOf = ({ type = 'ClusterIP' }: Fields): unknown => type
const isOfType =
  (type: string) =>
  (service: Fields): boolean =>
    typeOf(service) === type
const hasLocalTraffic = (service: Fields): boolean =>
  typeOf(service) === 'LoadBalancer' && service['externalTrafficPolicy'] === 'Local'

const serviceFields: Checks = {
  type: oneOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'),
  selector: labels,
  sessionAffinity: oneOf('ClientIP', 'None'),
  internalTrafficPolicy: oneOf('Cluster', 'Local'),
  externalTrafficPolicy: [
    oneOf('Cluster', 'Local'),
    invalidIf(
      (value, service) => !isEmpty(value) && typeOf(service) === 'ClusterIP',
      'may only be set for externally-accessible services',
    ),
  ],
  externalName: [
    requiredIf(isOfType('ExternalName')),
    (value, path, service) =>
      isOfType('ExternalName')(service) ? named(subdomain)(value, path, service) : [],
  ],
  healthCheckNodePort: invalidIf(
    (value, service) => !isEmpty(value) && !hasLocalTraffic(service),
    "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ),
  'externalIPs[]': address,
  ports: unique('name'),
  'ports[].name': named(label),
  'ports[].port': zeroPort,
  'ports[].protocol': oneOf('SCTP', 'TCP', 'UDP'),
  // It defaults to the port.
  'ports[].targetPort': (value, path, parent) =>
    typeof value === 'string'
      ? portName(value, path, parent)
      : zeroPort(isEmpty(value) ? parent['port'] : value, path, parent),
}

const addressOf = (spec: Fields): unknown => listOf(spec['clusterIPs'])[0] ?? spec['clusterIP']

const serviceAddress: Check = (value, path, _, previous) => {
  const spec = fieldsOf(value)
  const before = fieldsOf(previous?.value)
  const [type, ip] = [typeOf(spec), addressOf(spec)]
  const at = `${path}.clusterIPs[0]`
  if (type === 'ExternalName') {
    const message = 'may not be set for ExternalName services'
    return isEmpty(ip) ? [] : [forbiddenAt(`${path}.clusterIPs`, message)]
  }
  const found: FieldProblem[] = []
  if (isEmpty(spec['ports']) && ip !== 'None') found.push(requiredAt(`${path}.ports`))
  if (ip === 'None' && type !== 'ClusterIP') {
    found.push(invalidAt(at, ip, `may not be set to 'None' for ${String(type)} services`))
  } else if (!isEmpty(ip) && ip !== 'None') found.push(...address(ip, at, spec))
  const was = before['type'] === 'ExternalName' ? undefined : addressOf(before)
  if (!isEmpty(was) && !isEmpty(ip) && was !== ip) {
    found.push(invalidAt(at, [ip], 'may not change once set'))
  }
  return found
}

const servicePorts: Check = (value, path) => {
  const spec = fieldsOf(value)
  const ports = itemsOf(spec['ports'])
  const seen = new Set<string>()
  return ports.flatMap((one, at) => {
    const { port: number, protocol = 'TCP' } = one
    const pair = `${String(protocol)} ${String(number)}`
    const isNew = !seen.has(pair)
    seen.add(pair)
    const item = `${path}.ports[${at}]`
    return [
      ...requiredIf(() => ports.length > 1)(one['name'], `${item}.name`, one),
      ...forbiddenUnless(
        () => typeOf(spec) !== 'ClusterIP',
        "may not be used when `type` is 'ClusterIP'",
      )(one['nodePort'], `${item}.nodePort`, one),
      ...(isNew ? [] : [duplicateAt(item, { Protocol: protocol, Port: number })]),
    ]
  })
}

/** A kube-apiserver names the field by its name in Go. */
const sourceRanges: Check = (value, path) =>
  forbiddenUnless(isOfType('LoadBalancer'), "may only be used when `type` is 'LoadBalancer'")(
    fieldsOf(value)['loadBalancerSourceRanges'],
    `${path}.LoadBalancerSourceRanges`,
    fieldsOf(value),
  )

const backend: Checks = {
  'service?.name': [required(), named(label)],
  'service?.port?.number': port,
  'service?.port?.name': portName,
}

const host: Check = (value, path) => {
  if (isEmpty(value)) return []
  const text = String(value)
  if (isIP(text) > 0) return [invalidAt(path, value, 'must be a DNS name, not an IP address')]
  const problem = subdomain(text.replace(/^\*\./, ''))
  return problem === undefined ? [] : [invalidAt(path, text, problem)]
}

const ingressSpec: Checks = {
  'defaultBackend?': backend,
  ingressClassName: named(subdomain),
  'rules[].host': host,
  'rules[].http?.paths': required(),
  'rules[].http.paths[].pathType': [
    required('pathType must be specified'),
    oneOf('Exact', 'ImplementationSpecific', 'Prefix'),
  ],
  'rules[].http.paths[].path': invalidIf(
    (path, { pathType }) =>
      pathType !== 'ImplementationSpecific' &&
      !isEmpty(pathType) &&
      !(typeof path === 'string' && path.startsWith('/')),
    'must be an absolute path',
  ),
  'rules[].http.paths[].backend': (value, path) => {
    const { resource, service } = fieldsOf(value)
    const message = 'resource or service backend is required'
    return isEmpty(service) && isEmpty(resource) ? [invalidAt(path, '', message)] : []
  },
  'rules[].http.paths[].backend?': backend,
  'tls[].hosts[]': host,
  'tls[].secretName': named(subdomain),
}

const ingressRules: Check = (value, path) => {
  const { defaultBackend, rules } = fieldsOf(value)
  const message = 'either `defaultBackend` or `rules` must be specified'
  return isEmpty(defaultBackend) && isEmpty(rules) ? [invalidAt(path, value ?? null, message)] : []
}

const noSlash: Check = invalidIf((value) => String(value).includes('/'), "may not contain '/'")

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

const autoscalerSpec: Checks = {
  'scaleTargetRef.kind': [required(), noSlash],
  'scaleTargetRef.name': [required(), noSlash],
  minReplicas: atLeast(1),
  maxReplicas: all(
    [required('must be set and greater than 0'), atLeast(1)],
    (most = 0, path, { minReplicas = 1 }) =>
      Number(most) < Number(minReplicas)
        ? [invalidAt(path, most, 'must be greater than or equal to `minReplicas`')]
        : [],
  ),
  metrics: forbiddenIf((metrics, { minReplicas }) => {
    const types = itemsOf(metrics).map(({ type }) => type)
    return minReplicas === 0 && !types.includes('External') && !types.includes('Object')
  }, 'must specify at least one Object or External metric to support scaling to zero replicas'),
  'metrics[].type': [required(), oneOf(...metricTypes)],
  'metrics[]': (value, path) => {
    const { type } = fieldsOf(value)
    const field = String(type).replace(/^./, (first) => first.toLowerCase())
    const message = 'must populate information for the given metric source'
    const isLacking = metricTypes.includes(String(type)) && isEmpty(fieldsOf(value)[field])
    return isLacking ? [requiredAt(`${path}.${field}`, message)] : []
  },
  'scaleTargetRef.apiVersion': (value, path, _, previous) =>
    isEmpty(value) && previous === undefined
      ? [invalidAt(path, '', 'apiVersion must specify API group')]
      : [],
}

const bothBounds: Check = (value, path) => {
  const { maxUnavailable, minAvailable } = fieldsOf(value)
  const message = 'minAvailable and maxUnavailable cannot be both set'
  const given = [minAvailable, maxUnavailable].filter((one) => one !== undefined && one !== null)
  return given.length === 2 ? [invalidAt(path, value, message)] : []
}

const isOfResources = ({ nonResourceURLs }: Fields): boolean => isEmpty(nonResourceURLs)
const atLeastOne = 'resource rules must supply at least one'

const policyRule: Checks = {
  verbs: required('verbs must contain at least one value'),
  apiGroups: requiredIf(isOfResources, `${atLeastOne} api group`),
  resources: requiredIf(isOfResources, `${atLeastOne} resource`),
}

/** As `oneOf`, for a value that may not be empty. */
const oneOfAll =
  (...kinds: readonly string[]): Check =>
  (value, path, parent) =>
    oneOf(...kinds)(isEmpty(value) ? ' ' : value, path, parent).map((problem) => ({
      ...problem,
      message: problem.message.replace('" "', '""'),
    }))

const bindingOf = (...kinds: readonly string[]): Checks => ({
  'roleRef.kind': oneOfAll(...kinds),
  'roleRef.name': required(),
  'subjects[].kind': oneOfAll('ServiceAccount', 'User', 'Group'),
  'subjects[].name': required(),
  roleRef: (value, path, _, previous) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...fieldsOf(value) }
    const isKept = previous === undefined || equalJson(previous.value, roleRef)
    return isKept || isEmpty(fieldsOf(value)['kind'])
      ? []
      : [invalidAt(path, roleRef, 'cannot change roleRef')]
  },
})

/** The checks of built-in kinds, by resource. Source: the validation of a Kubernetes 1.36 server. */
const checksByResource: Readonly<Record<string, Checks>> = {
  ...workloadChecks,
  pods: podChecks,
  services: { spec: all(serviceFields, serviceAddress, servicePorts, sourceRanges) },
  configmaps: { data: dataKeys, binaryData: dataKeys },
  secrets: { data: dataKeys },
  persistentvolumeclaims: { spec: claimSpec },
  'statefulsets.apps': {
    ...workloadChecks['statefulsets.apps'],
    'spec.volumeClaimTemplates[].spec': claimSpec,
  },
  'ingresses.networking.k8s.io': { spec: all(ingressRules, ingressSpec) },
  'horizontalpodautoscalers.autoscaling': { spec: autoscalerSpec },
  'poddisruptionbudgets.policy': {
    'spec.selector': labelSelector,
    'spec.minAvailable': intOrPercent(true),
    'spec.maxUnavailable': intOrPercent(true),
    'spec.unhealthyPodEvictionPolicy': oneOf('AlwaysAllow', 'IfHealthyBudget'),
    spec: bothBounds,
  },
  'roles.rbac.authorization.k8s.io': {
    'rules[]': policyRule,
    'rules[].nonResourceURLs': (value, path) =>
      isEmpty(value)
        ? []
        : [invalidAt(path, value, 'namespaced rules cannot apply to non-resource URLs')],
  },
  'clusterroles.rbac.authorization.k8s.io': {
    'rules[]': policyRule,
    'aggregationRule.clusterRoleSelectors[]': labelSelector,
  },
  'rolebindings.rbac.authorization.k8s.io': bindingOf('Role', 'ClusterRole'),
  'clusterrolebindings.rbac.authorization.k8s.io': bindingOf('ClusterRole'),
  'leases.coordination.k8s.io': {
    'spec.leaseDurationSeconds': invalidIf(
      (value) => typeof value === 'number' && value <= 0,
      'must be greater than 0',
    ),
    'spec.leaseTransitions': atLeast(0),
  },
}

/** Checks that compare several members of an object. */
const objectChecks: Readonly<Record<string, readonly ObjectCheck[]>> = {
  configmaps: [duplicateData, immutableData],
  secrets: [secretType, immutableData],
  persistentvolumeclaims: [claimChange],
}

/** The rules of a built-in kind; `undefined` for kinds without checks. */
export function builtInRules(groupResource: string): ObjectRules | undefined {
  const checks = checksByResource[groupResource]
  if (checks === undefined) return undefined
  return {
    settle: groupResource === 'secrets' ? withEncodedData : (object) => object,
    problems: (object, before, part) => {
      if (part === 'status') return []
      const previous = before && { value: before }
      return [
        ...problemsOf(object, checks, '', previous),
        ...(objectChecks[groupResource] ?? []).flatMap((check) => check(object, previous)),
      ]
    },
  }
}

/** Secrets are stored without `stringData`: its values become `data`. */
function withEncodedData(secret: Unstructured): Unstructured {
  const { stringData, data, ...rest } = secret
  if (!isJsonObject(stringData)) return secret
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ])
  return { ...rest, data: { ...fieldsOf(data), ...Object.fromEntries(encoded) } }
}
