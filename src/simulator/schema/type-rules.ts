/*
 * What the types of the API must satisfy beyond what their OpenAPI schema says, which names required fields and the
 * values of enumerations. `workload-rules.ts` has those of pods and of what makes pods.
 *
 * Source: the validation of a Kubernetes 1.36 server; `test/contract/validation/` has what is tried.
 */

import { isIP } from 'node:net'
import { type Fields, fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import { equalJson } from '../api/json.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import {
  all,
  atLeast,
  type Check,
  each,
  firstOf,
  forbiddenIf,
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
  labels,
  labelSelector,
  listOf,
  membersOf,
  named,
  oneOf,
  port,
  portName,
  portOrName,
  quantityOf,
  required,
  requiredIf,
  unique,
  type TypeRules,
  unchecked,
} from './field-checks.ts'
import { label, subdomain } from './metadata-rules.ts'
import { podRules, workloadRules } from './workload-rules.ts'

// ---- Services and Ingresses

const address: Check = invalidIf((value) => isIP(String(value)) === 0, 'must be a valid IP address')

const typeOf = ({ type = 'ClusterIP' }: Fields): unknown => type
const isExternalName = (service: Fields): boolean => typeOf(service) === 'ExternalName'

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
  const was = isExternalName(before) ? undefined : addressOf(before)
  if (!isEmpty(was) && !isEmpty(ip) && was !== ip) {
    found.push(invalidAt(at, [ip], 'may not change once set'))
  }
  return found
}

const servicePorts: Check = (value, path) => {
  const spec = fieldsOf(value)
  const ports = itemsOf(spec['ports'])
  const seen = new Set<string>()
  return ports.flatMap(({ name, nodePort, port: number, protocol = 'TCP' }, index) => {
    const at = `${path}.ports[${index}]`
    const found: FieldProblem[] = []
    if (ports.length > 1 && isEmpty(name)) found.push(requiredAt(`${at}.name`))
    if (!isEmpty(nodePort) && typeOf(spec) === 'ClusterIP') {
      found.push(forbiddenAt(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"))
    }
    const pair = `${String(protocol)} ${String(number)}`
    if (seen.has(pair)) found.push(duplicateAt(at, { Protocol: protocol, Port: number }))
    seen.add(pair)
    return found
  })
}

/** A kube-apiserver names the field by its name in Go. */
const sourceRanges: Check = (value, path) => {
  const { loadBalancerSourceRanges: given, type } = fieldsOf(value)
  if (isEmpty(given) || type === 'LoadBalancer') return []
  const message = "may only be used when `type` is 'LoadBalancer'"
  return [forbiddenAt(`${path}.LoadBalancerSourceRanges`, message)]
}

const host: Check = (value, path) => {
  if (isEmpty(value)) return []
  const text = String(value)
  if (isIP(text) > 0) return [invalidAt(path, value, 'must be a DNS name, not an IP address')]
  const problem = subdomain(text.replace(/^\*\./, ''))
  return problem === undefined ? [] : [invalidAt(path, text, problem)]
}

const networkRules: Readonly<Record<string, TypeRules>> = {
  ServiceSpec: {
    self: all(serviceAddress, servicePorts, sourceRanges),
    selector: labels,
    externalTrafficPolicy: invalidIf(
      (value, service) => !isEmpty(value) && typeOf(service) === 'ClusterIP',
      'may only be set for externally-accessible services',
    ),
    externalName: firstOf(requiredIf(isExternalName), (value, path, service) =>
      isExternalName(service) ? named(subdomain)(value, path, service) : [],
    ),
    healthCheckNodePort: invalidIf(
      (value, { type, externalTrafficPolicy }) =>
        !isEmpty(value) && !(type === 'LoadBalancer' && externalTrafficPolicy === 'Local'),
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ),
    externalIPs: each(address),
    ports: unique('name'),
  },
  ServicePort: {
    name: named(label),
    port: (value, path, parent) => port(value ?? 0, path, parent),
    // It defaults to the port.
    targetPort: (value, path, parent) =>
      portOrName(isEmpty(value) ? (parent['port'] ?? 0) : value, path, parent),
  },
  IngressSpec: {
    self: invalidIf(
      (spec) => isEmpty(membersOf(spec, 'defaultBackend', 'rules')),
      'either `defaultBackend` or `rules` must be specified',
    ),
    ingressClassName: named(subdomain),
  },
  IngressRule: { host },
  IngressTLS: { hosts: each(host), secretName: named(subdomain) },
  HTTPIngressPath: {
    path: invalidIf(
      (path, { pathType }) =>
        pathType !== 'ImplementationSpecific' &&
        !isEmpty(pathType) &&
        !(typeof path === 'string' && path.startsWith('/')),
      'must be an absolute path',
    ),
    backend: invalidIf(
      (backend) => isEmpty(membersOf(backend, 'resource', 'service')),
      'resource or service backend is required',
    ),
  },
  IngressServiceBackend: { name: named(label) },
  ServiceBackendPort: { number: port, name: portName },
}

// ---- Configuration and storage

const dataKeys: Check = (value, path) =>
  Object.keys(fieldsOf(value))
    .filter((key) => !/^(?!\.\.|\.$)[-._a-zA-Z0-9]+$/.test(key))
    .map((key) => {
      const message = "must consist of letters, digits, '-', '_' and '.', and not begin with '..'"
      return invalidAt(`${path}[${key}]`, key, message)
    })

/** Immutable data stays unchanged, and stays immutable. */
const immutableData: Check = (value, _path, _parent, previous) => {
  const [object, before] = [fieldsOf(value), fieldsOf(previous?.value)]
  if (before['immutable'] !== true) return []
  return ['data', 'binaryData', 'immutable']
    .filter((field) => !equalJson(before[field] ?? null, object[field] ?? null))
    .map((field) => forbiddenAt(field, 'field is immutable when `immutable` is set'))
}

const duplicateData: Check = (value) => {
  const { binaryData, data } = fieldsOf(value)
  return Object.keys(fieldsOf(data))
    .filter((key) => key in fieldsOf(binaryData))
    .map((key) => invalidAt(`data[${key}]`, key, 'duplicate of key present in binaryData'))
}

const secretData: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}

const secretType: Check = (value, _path, _parent, previous) => {
  const secret = fieldsOf(value)
  const { data, metadata, type = 'Opaque' } = secret
  const given = fieldsOf(data)
  const either = ['username', 'password']
  const lacksBoth =
    type === 'kubernetes.io/basic-auth' && !either.some((key) => Object.hasOwn(given, key))
  const found = (lacksBoth ? either : (secretData[String(type)] ?? []))
    .filter((key) => !Object.hasOwn(given, key))
    .map((key) => requiredAt(`data[${key}]`))
  const account = 'kubernetes.io/service-account.name'
  const isToken = type === 'kubernetes.io/service-account-token'
  if (isToken && isEmpty(fieldsOf(fieldsOf(metadata)['annotations'])[account])) {
    found.push(requiredAt(`metadata.annotations[${account}]`))
  }
  const { type: before = 'Opaque' } = fieldsOf(previous?.value)
  return [...found, ...immutable(type, 'type', secret, previous && { value: before })]
}

const claimChange: Check = (value, path, _, previous) => {
  if (previous === undefined) return []
  const { spec } = fieldsOf(value)
  const { spec: before, status } = fieldsOf(previous.value)
  const isBound = fieldsOf(status)['phase'] === 'Bound'
  const kept = (one: unknown): object => {
    const { storageClassName: _s, volumeAttributesClassName: _v, ...rest } = fieldsOf(one)
    return isBound ? { ...rest, resources: undefined } : rest
  }
  // A claim without a class may get one later.
  const { storageClassName: was } = fieldsOf(before)
  const isReclassed = !isEmpty(was) && was !== fieldsOf(spec)['storageClassName']
  if (!isReclassed && equalJson(kept(before), kept(spec))) return []
  const message =
    'is immutable except resources.requests and volumeAttributesClassName for bound claims'
  return [forbiddenAt(path === '' ? 'spec' : `${path}.spec`, message)]
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

const storageRules: Readonly<Record<string, TypeRules>> = {
  ConfigMap: { self: all(duplicateData, immutableData), data: dataKeys, binaryData: dataKeys },
  Secret: { self: all(secretType, immutableData), data: dataKeys },
  PersistentVolumeClaim: { self: claimChange },
  PersistentVolumeClaimSpec: {
    accessModes: {
      instead: firstOf(required, (value, path) =>
        listOf(value)
          .filter((one) => !accessModes.includes(String(one)))
          .map((one) => unsupportedAt(path, one, accessModes)),
      ),
    },
    resources: (value, path) => {
      const { storage } = fieldsOf(fieldsOf(value)['requests'])
      const at = `${path}[storage]`
      if (isEmpty(storage)) return [requiredAt(at)]
      return quantityOf(storage) > 0 ? [] : [invalidAt(at, storage, 'must be greater than zero')]
    },
    storageClassName: named(subdomain),
  },
}

// ---- Policies and access

const noSlash: Check = invalidIf((value) => String(value).includes('/'), "may not contain '/'")
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

/** As `oneOf`, for a value that may not be empty. */
const oneOfAll =
  (...kinds: readonly string[]): Check =>
  (value = '', path) =>
    kinds.includes(String(value)) ? [] : [unsupportedAt(path, value, kinds)]

const roleReference =
  (...kinds: readonly string[]): Check =>
  (value, path, parent, previous) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...fieldsOf(value) } as Fields
    const { kind } = roleRef
    const isKept = previous === undefined || equalJson(previous.value, roleRef)
    const found = oneOfAll(...kinds)(kind, `${path}.kind`, parent)
    return isKept || isEmpty(kind)
      ? found
      : [...found, invalidAt(path, roleRef, 'cannot change roleRef')]
  }

const ofResources = requiredIf(({ nonResourceURLs }) => isEmpty(nonResourceURLs))

const policyRules: Readonly<Record<string, TypeRules>> = {
  HorizontalPodAutoscalerSpec: {
    minReplicas: atLeast(1),
    maxReplicas: all(firstOf(required, atLeast(1)), (most = 0, path, { minReplicas = 1 }) =>
      Number(most) < Number(minReplicas)
        ? [invalidAt(path, most, 'must be greater than or equal to `minReplicas`')]
        : [],
    ),
    metrics: forbiddenIf((metrics, { minReplicas }) => {
      const types = itemsOf(metrics).map(({ type }) => type)
      return minReplicas === 0 && !types.includes('External') && !types.includes('Object')
    }, 'must specify an Object or External metric to support scaling to zero replicas'),
    scaleTargetRef: (value, path, _, previous) => {
      const isGiven = previous !== undefined || !isEmpty(fieldsOf(value)['apiVersion'])
      return isGiven ? [] : [invalidAt(`${path}.apiVersion`, '', 'must specify API group')]
    },
  },
  CrossVersionObjectReference: { kind: noSlash, name: noSlash },
  MetricSpec: {
    self: (value, path) => {
      const type = String(fieldsOf(value)['type'])
      const field = type.replace(/^./, (first) => first.toLowerCase())
      const isLacking = metricTypes.includes(type) && isEmpty(fieldsOf(value)[field])
      return isLacking ? [requiredAt(`${path}.${field}`, 'must populate the metric source')] : []
    },
    type: oneOf(...metricTypes),
  },
  PodDisruptionBudgetSpec: {
    self: invalidIf(
      (spec) => membersOf(spec, 'maxUnavailable', 'minAvailable').length > 1,
      'minAvailable and maxUnavailable cannot be both set',
    ),
    minAvailable: intOrPercent(true),
    maxUnavailable: intOrPercent(true),
  },
  Role: {
    rules: each((rule, path) => {
      const { nonResourceURLs: urls } = fieldsOf(rule)
      const message = 'namespaced rules cannot apply to non-resource URLs'
      return isEmpty(urls) ? [] : [invalidAt(`${path}.nonResourceURLs`, urls, message)]
    }),
  },
  PolicyRule: { apiGroups: ofResources, resources: ofResources },
  RoleBinding: { roleRef: roleReference('Role', 'ClusterRole') },
  ClusterRoleBinding: { roleRef: roleReference('ClusterRole') },
  RoleRef: { apiGroup: { instead: unchecked }, kind: { instead: unchecked } },
  Subject: { kind: { instead: oneOfAll('ServiceAccount', 'User', 'Group') } },
  LeaseSpec: {
    leaseDurationSeconds: invalidIf(
      (value) => typeof value === 'number' && value <= 0,
      'must be greater than 0',
    ),
  },
}

// ---- Definitions of custom resources

const isDnsLabel = (name: string): boolean => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
const resourceName: Check = named((name) => (isDnsLabel(name) ? undefined : dnsLabel))
const kindName: Check = named((name) => (isDnsLabel(name.toLowerCase()) ? undefined : dnsLabel))
const dnsLabel = 'must be a DNS-1035 label: lower case letters, digits and hyphens between them'

const definitionVersion: Check = (value, path) => {
  const { deprecated, deprecationWarning: warning, schema } = fieldsOf(value)
  const message = 'can only be set for deprecated versions'
  const isOdd = warning !== undefined && deprecated !== true
  const isOpen = isEmpty(fieldsOf(schema)['openAPIV3Schema'])
  return [
    ...(isOdd ? [invalidAt(`${path}.deprecationWarning`, warning, message)] : []),
    ...(isOpen ? [requiredAt(`${path}.schema.openAPIV3Schema`)] : []),
  ]
}

const definitionRules: Readonly<Record<string, TypeRules>> = {
  CustomResourceDefinitionSpec: {
    group: all(
      invalidIf(
        (group) => !String(group).includes('.'),
        'should be a domain with at least one dot',
      ),
      immutable,
    ),
    scope: oneOf('Cluster', 'Namespaced'),
    preserveUnknownFields: invalidIf(
      (value) => value === true,
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ),
    versions: {
      instead: all(
        invalidIf((versions) => {
          const names = itemsOf(versions).map(({ name }) => name)
          return new Set(names).size < names.length
        }, 'must contain unique version names'),
        invalidIf(
          (versions) => itemsOf(versions).filter(({ storage }) => storage === true).length !== 1,
          'must have exactly one version marked as storage version',
        ),
        each(definitionVersion),
      ),
    },
  },
  CustomResourceDefinitionNames: {
    plural: all(resourceName, immutable),
    singular: firstOf(required, resourceName),
    kind: kindName,
    listKind: firstOf(required, kindName),
  },
  CustomResourceConversion: {
    self: (value, path) => {
      const { strategy, webhook } = fieldsOf(value)
      const isLacking = strategy === 'Webhook' && webhook === undefined
      return isLacking ? [requiredAt(`${path}.webhookClientConfig`)] : []
    },
    strategy: oneOf('None', 'Webhook'),
  },
}

/** By the last part of the type's name: `Container` of `io.k8s.api.core.v1.Container`. */
export const typeRules: Readonly<Record<string, TypeRules>> = {
  // `metadata` has rules of its own, for all kinds.
  ObjectMeta: unchecked,
  LabelSelector: labelSelector,
  ...podRules,
  ...workloadRules,
  ...networkRules,
  ...storageRules,
  ...policyRules,
  ...definitionRules,
}
