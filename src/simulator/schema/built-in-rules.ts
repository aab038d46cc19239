/*
 * The rules of built-in kinds. An object is walked along the OpenAPI schema of its kind, as the captured server
 * publishes it: that tells the types of the fields, which of them are required, and which values an enumeration has. The
 * table below adds by type what no schema says; `workload-rules.ts` has the part of pods and of what makes pods.
 * `served-resource.ts` names the kinds that are checked.
 *
 * Source: the validation of a Kubernetes 1.36 server; `test/contract/validation/` has what is tried.
 */

import { isIP } from 'node:net'
import { quantityOf } from '../../kubernetes/decimal.ts'
import { type Fields, fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { definitionNameOf } from '../../kubernetes/open-api.ts'
import { isJsonObject } from '../../lib/json.ts'
import { type KindSchema, resolvedSchema, type Schema, type Schemas } from '../api/captured-api.ts'
import { equalJson, valueAt } from '../api/json.ts'
import type { ObjectRules } from '../api/served-resource.ts'
import {
  duplicateAt,
  forbiddenAt,
  type Found,
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
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
  label,
  labels,
  labelSelector,
  listOf,
  membersOf,
  named,
  oneOf,
  type Place,
  port,
  portName,
  portOrName,
  required,
  requiredIf,
  subdomain,
  unique,
} from './field-checks.ts'
import { type TypeRules, unchecked, workloadRules } from './workload-rules.ts'

export function builtInRules(groupResource: string, kind: KindSchema): ObjectRules {
  return {
    // Secrets are stored without `stringData`: its values become `data`.
    settle: (object) => {
      if (groupResource !== 'secrets') return object
      const { stringData, data, ...given } = object
      const rest = { ...given, type: given['type'] ?? 'Opaque' }
      if (!isJsonObject(stringData)) return data === undefined ? rest : { ...rest, data }
      const encoded = Object.entries(stringData).map(([key, value]) => [
        key,
        Buffer.from(String(value)).toString('base64'),
      ])
      return { ...rest, data: { ...fieldsOf(data), ...Object.fromEntries(encoded) } }
    },
    problems: (object, before, part) => {
      if (part === 'status') return []
      const isMounted = groupResource === 'statefulsets.apps'
      return kindProblems(isMounted ? withClaims(object) : object, kind, before)
    },
  }
}

/** The problems of an object of a kind, without those of its metadata and its status. */
export function kindProblems(
  object: Unstructured,
  { root = {}, schemas }: KindSchema,
  before: Unstructured | undefined,
): Found {
  const previous = before && { value: before }
  const place = { value: object, path: '', parent: {}, previous }
  return valueProblems(place, object.kind, { root, schemas })
}

/**
 * The problems of a value of a type, and of all that is in it. A member that is a struct in Go has the default `{}`: it
 * is never absent there, so its own members are looked at anyway.
 */
function valueProblems(at: Place, type: string, { root: schema = {}, schemas }: KindSchema): Found {
  const rules: TypeRules = (Object.hasOwn(typeRules, type) ? typeRules[type] : undefined) ?? {}
  if (typeof rules === 'function') return rules(at)
  const { self, ...own } = rules
  const parent = fieldsOf(at.value)
  const names = new Set([...Object.keys(schema.properties ?? {}), ...Object.keys(own)])
  const members = [...names].map((name): Found => {
    const member = schema.properties?.[name] ?? {}
    const path = at.path === '' ? name : `${at.path}.${name}`
    if (path === 'status') return false
    const value = parent[name]
    const previous = at.previous && { value: fieldsOf(at.previous.value)[name] }
    const place = { value, path, parent, previous }
    const rule = own[name]
    if (typeof rule === 'object') return rule.instead?.(place)
    const isStruct = isJsonObject(member.default) && Object.keys(member.default).length === 0
    const isRequired = schema.required?.includes(name) === true && !isStruct
    const bySchema: Check = () => schemaProblems(place, member, isRequired)
    const { items } = member
    let found: Found = false
    if (items !== undefined) found = each((item) => partProblems(item, items, schemas))(place)
    else if (isJsonObject(value) || isStruct) found = partProblems(place, member, schemas)
    return [firstOf(bySchema, rule ?? bySchema)(place), found]
  })
  return [typeof self === 'function' && self(at), members]
}

function partProblems(at: Place, given: Schema, schemas: Schemas): Found {
  const name = definitionNameOf(given) ?? ''
  const type = name.slice(name.lastIndexOf('.') + 1)
  return valueProblems(at, type, { root: resolvedSchema(given, schemas), schemas })
}

/**
 * The problems that the schema tells of, and a number below 0, which is wrong nearly everywhere. Whether a number may be
 * 0 is for the table to say.
 */
function schemaProblems(at: Place, member: Schema, isRequired: boolean): Found {
  const { enum: supported, items, type } = member
  const isNumber = type === 'integer' || definitionNameOf(member)?.endsWith('.IntOrString') === true
  if (isRequired && !isNumber && isEmpty(at.value)) return requiredAt(at.path)
  if (typeof at.value === 'number' && at.value < 0) return atLeast(0)(at)
  if (supported !== undefined) return oneOf(...supported)(at)
  return items?.enum !== undefined && each(oneOf(...items.enum))(at)
}

/** A StatefulSet whose template has a volume for each volume claim, as its pods do: mounts may name them. */
function withClaims(statefulSet: Unstructured): Unstructured {
  const { template, volumeClaimTemplates, ...spec } = fieldsOf(statefulSet['spec'])
  const claims = itemsOf(volumeClaimTemplates).map((one) => {
    const name = valueAt(one, 'metadata.name')
    return { name, persistentVolumeClaim: { claimName: name } }
  })
  if (claims.length === 0) return statefulSet
  const pods = fieldsOf(valueAt(template, 'spec'))
  const names = new Set(claims.map(({ name }) => name))
  const others = itemsOf(pods['volumes']).filter(({ name }) => !names.has(name))
  const mounted = { ...fieldsOf(template), spec: { ...pods, volumes: [...claims, ...others] } }
  return { ...statefulSet, spec: { ...spec, volumeClaimTemplates, template: mounted } }
}

// ---- Services and Ingresses

const address: Check = invalidIf((value) => isIP(String(value)) === 0, 'must be a valid IP address')

const typeOf = ({ type = 'ClusterIP' }: Fields): unknown => type
const isExternalName = (service: Fields): boolean => typeOf(service) === 'ExternalName'

const addressOf = (spec: Fields): unknown => listOf(spec['clusterIPs'])[0] ?? spec['clusterIP']

const serviceAddress: Check = ({ value, path, previous }) => {
  const spec = fieldsOf(value)
  const before = fieldsOf(previous?.value)
  const [type, ip] = [typeOf(spec), addressOf(spec)]
  const at = `${path}.clusterIPs[0]`
  if (type === 'ExternalName') {
    return !isEmpty(ip) && forbiddenAt(`${path}.clusterIPs`, 'is not for ExternalName services')
  }
  const was = isExternalName(before) ? undefined : addressOf(before)
  const isNone = ip === 'None'
  return [
    isEmpty(spec['ports']) && !isNone && requiredAt(`${path}.ports`),
    isNone && type !== 'ClusterIP' && invalidAt(at, ip, 'is for ClusterIP services alone'),
    !isEmpty(ip) && !isNone && address({ value: ip, path: at, parent: spec }),
    !isEmpty(was) && !isEmpty(ip) && was !== ip && invalidAt(at, [ip], 'may not change once set'),
  ]
}

const servicePorts: Check = ({ value, path }) => {
  const spec = fieldsOf(value)
  const ports = itemsOf(spec['ports'])
  const pairs = ports.map(
    ({ port: number, protocol = 'TCP' }) => `${String(protocol)} ${String(number)}`,
  )
  return ports.map(({ name, nodePort }, index) => {
    const at = `${path}.ports[${index}]`
    const isOpen = !isEmpty(nodePort) && typeOf(spec) === 'ClusterIP'
    return [
      ports.length > 1 && isEmpty(name) && requiredAt(`${at}.name`),
      isOpen && forbiddenAt(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"),
      pairs.indexOf(pairs[index] ?? '') < index && duplicateAt(at, pairs[index]),
    ]
  })
}

/** A kube-apiserver names the field by its name in Go. */
const sourceRanges: Check = ({ value, path }) => {
  const { loadBalancerSourceRanges: given, type } = fieldsOf(value)
  const isOdd = !isEmpty(given) && type !== 'LoadBalancer'
  return isOdd && forbiddenAt(`${path}.LoadBalancerSourceRanges`, 'is for LoadBalancers alone')
}

const host: Check = named((text) =>
  isIP(text) > 0 ? 'must be a DNS name, not an IP address' : subdomain(text.replace(/^\*\./, '')),
)

const networkRules: Readonly<Record<string, TypeRules>> = {
  ServiceSpec: {
    self: all(serviceAddress, servicePorts, sourceRanges),
    selector: labels,
    externalTrafficPolicy: invalidIf(
      (value, service) => !isEmpty(value) && typeOf(service) === 'ClusterIP',
      'may only be set for externally-accessible services',
    ),
    externalName: (at) => isExternalName(at.parent) && firstOf(required, named(subdomain))(at),
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
    port: (at) => port({ ...at, value: at.value ?? 0 }),
    // It defaults to the port.
    targetPort: (at) =>
      portOrName(isEmpty(at.value) ? { ...at, value: at.parent['port'] ?? 0 } : at),
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

const dataKeys: Check = ({ value, path }) =>
  Object.keys(fieldsOf(value))
    .filter((key) => !/^(?!\.\.|\.$)[-._a-zA-Z0-9]+$/.test(key))
    .map((key) => invalidAt(`${path}[${key}]`, key, "must be letters, digits, '-', '_' and '.'"))

/** Immutable data stays unchanged, and stays immutable. */
const immutableData: Check = ({ value, previous }) => {
  const [object, before] = [fieldsOf(value), fieldsOf(previous?.value)]
  if (before['immutable'] !== true) return false
  return ['data', 'binaryData', 'immutable']
    .filter((field) => !equalJson(before[field] ?? null, object[field] ?? null))
    .map((field) => forbiddenAt(field, 'field is immutable when `immutable` is set'))
}

const duplicateData: Check = ({ value }) => {
  const { binaryData, data } = fieldsOf(value)
  return Object.keys(fieldsOf(data))
    .filter((key) => key in fieldsOf(binaryData))
    .map((key) => invalidAt(`data[${key}]`, key, 'duplicate of key present in binaryData'))
}

/** The keys that a Secret of a type must have, or one of which. */
const secretData: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/basic-auth': ['username', 'password'],
}

const secretType: Check = ({ value, previous }) => {
  const parent = fieldsOf(value)
  const { data, metadata, type = 'Opaque' } = parent
  const keys = secretData[String(type)] ?? []
  const missing = keys.filter((key) => !Object.hasOwn(fieldsOf(data), key))
  const isEnough = type === 'kubernetes.io/basic-auth' && missing.length < keys.length
  const account = 'kubernetes.io/service-account.name'
  const isToken = type === 'kubernetes.io/service-account-token'
  const { type: before = 'Opaque' } = fieldsOf(previous?.value)
  return [
    isEnough ? [] : missing.map((key) => requiredAt(`data[${key}]`)),
    isToken &&
      isEmpty(fieldsOf(fieldsOf(metadata)['annotations'])[account]) &&
      requiredAt(`metadata.annotations[${account}]`),
    immutable({ value: type, path: 'type', parent, previous: previous && { value: before } }),
  ]
}

const claimChange: Check = ({ value, path, previous }) => {
  if (previous === undefined) return false
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
  const isKept = !isReclassed && equalJson(kept(before), kept(spec))
  const message = 'is immutable but for the requests and the attributes class of bound claims'
  return !isKept && forbiddenAt(path === '' ? 'spec' : `${path}.spec`, message)
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

const storageRules: Readonly<Record<string, TypeRules>> = {
  ConfigMap: { self: all(duplicateData, immutableData), data: dataKeys, binaryData: dataKeys },
  Secret: { self: all(secretType, immutableData), data: dataKeys },
  PersistentVolumeClaim: { self: claimChange },
  PersistentVolumeClaimSpec: {
    accessModes: {
      instead: firstOf(required, ({ value, path }) =>
        listOf(value)
          .filter((one) => !accessModes.includes(String(one)))
          .map((one) => unsupportedAt(path, one, accessModes)),
      ),
    },
    resources: ({ value, path }) => {
      const { storage } = fieldsOf(fieldsOf(value)['requests'])
      const at = `${path}[storage]`
      if (isEmpty(storage)) return requiredAt(at)
      return !(quantityOf(storage) > 0) && invalidAt(at, storage, 'must be greater than zero')
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
  ({ value = '', path }) =>
    !kinds.includes(String(value)) && unsupportedAt(path, value, kinds)

const roleReference =
  (...kinds: readonly string[]): Check =>
  ({ value, path, parent, previous }) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...fieldsOf(value) } as Fields
    const { kind } = roleRef
    const isKept = previous === undefined || isEmpty(kind) || equalJson(previous.value, roleRef)
    return [
      oneOfAll(...kinds)({ value: kind, path: `${path}.kind`, parent }),
      !isKept && invalidAt(path, roleRef, 'cannot change roleRef'),
    ]
  }

const ofResources = requiredIf(({ nonResourceURLs }) => isEmpty(nonResourceURLs))

const policyRules: Readonly<Record<string, TypeRules>> = {
  HorizontalPodAutoscalerSpec: {
    minReplicas: atLeast(1),
    maxReplicas: all(
      firstOf(required, atLeast(1)),
      invalidIf(
        (most = 0, { minReplicas = 1 }) => Number(most) < Number(minReplicas),
        'must be greater than or equal to `minReplicas`',
      ),
    ),
    metrics: ({ value, path, parent: { minReplicas } }) => {
      const types = itemsOf(value).map(({ type }) => type)
      const isOutside = types.includes('External') || types.includes('Object')
      const message = 'must be of an Object, or External, to support scaling to zero'
      return minReplicas === 0 && !isOutside && forbiddenAt(path, message)
    },
    scaleTargetRef: ({ value, path, previous }) =>
      previous === undefined &&
      isEmpty(fieldsOf(value)['apiVersion']) &&
      invalidAt(`${path}.apiVersion`, '', 'must specify API group'),
  },
  CrossVersionObjectReference: { kind: noSlash, name: noSlash },
  MetricSpec: {
    self: ({ value, path }) => {
      const type = String(fieldsOf(value)['type'])
      const field = type.replace(/^./, (first) => first.toLowerCase())
      const isLacking = metricTypes.includes(type) && isEmpty(fieldsOf(value)[field])
      return isLacking && requiredAt(`${path}.${field}`)
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
    rules: each(({ value, path }) => {
      const { nonResourceURLs: urls } = fieldsOf(value)
      return !isEmpty(urls) && invalidAt(`${path}.nonResourceURLs`, urls, 'are for ClusterRoles')
    }),
  },
  PolicyRule: { apiGroups: ofResources, resources: ofResources },
  RoleBinding: { roleRef: roleReference('Role', 'ClusterRole') },
  ClusterRoleBinding: { roleRef: roleReference('ClusterRole') },
  RoleRef: { apiGroup: unchecked, kind: unchecked },
  Subject: { kind: { instead: oneOfAll('ServiceAccount', 'User', 'Group') } },
  LeaseSpec: { leaseDurationSeconds: atLeast(1) },
}

// ---- Definitions of custom resources

const isDnsLabel = (name: string): boolean => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
const resourceName: Check = named((name) => (isDnsLabel(name) ? undefined : dnsLabel))
const kindName: Check = named((name) => (isDnsLabel(name.toLowerCase()) ? undefined : dnsLabel))
const dnsLabel = 'must be a DNS-1035 label: lower case letters, digits and hyphens between them'

const definitionVersions: Check = ({ value, path }) => {
  const versions = itemsOf(value)
  const stored = versions.filter(({ storage }) => storage === true)
  return [
    new Set(versions.map(({ name }) => name)).size < versions.length &&
      invalidAt(path, value, 'must contain unique version names'),
    stored.length !== 1 && invalidAt(path, value ?? '', 'must have exactly one storage version'),
    versions.map(({ deprecated, deprecationWarning: warning, schema }, index) => [
      warning !== undefined &&
        deprecated !== true &&
        invalidAt(`${path}[${index}].deprecationWarning`, warning, 'is for deprecated versions'),
      isEmpty(fieldsOf(schema)['openAPIV3Schema']) &&
        requiredAt(`${path}[${index}].schema.openAPIV3Schema`),
    ]),
  ]
}

const definitionRules: Readonly<Record<string, TypeRules>> = {
  CustomResourceDefinitionSpec: {
    group: all(
      invalidIf((group) => !String(group).includes('.'), 'should be a domain with a dot'),
      immutable,
    ),
    scope: oneOf('Cluster', 'Namespaced'),
    preserveUnknownFields: invalidIf(
      (value) => value === true,
      'cannot be true; set x-kubernetes-preserve-unknown-fields in spec.versions[*].schema instead',
    ),
    versions: { instead: definitionVersions },
  },
  CustomResourceDefinitionNames: {
    plural: all(resourceName, immutable),
    singular: firstOf(required, resourceName),
    kind: kindName,
    listKind: firstOf(required, kindName),
  },
  CustomResourceConversion: {
    self: ({ value, path }) => {
      const { strategy, webhook } = fieldsOf(value)
      const isLacking = strategy === 'Webhook' && webhook === undefined
      return isLacking && requiredAt(`${path}.webhookClientConfig`)
    },
    strategy: oneOf('None', 'Webhook'),
  },
}

/** By the last part of the type's name: `Container` of `io.k8s.api.core.v1.Container`. */
const typeRules: Readonly<Record<string, TypeRules>> = {
  // `metadata` has rules of its own, for all kinds.
  ObjectMeta: () => false,
  LabelSelector: labelSelector,
  ...workloadRules,
  ...networkRules,
  ...storageRules,
  ...policyRules,
  ...definitionRules,
}
