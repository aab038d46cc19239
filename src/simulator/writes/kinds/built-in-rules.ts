import { isIP } from 'node:net'
import type { Unstructured } from '../../../kubernetes/object.ts'
import { equalJson } from '../../api/json.ts'
import type { ObjectRules } from '../../api/served-resource.ts'
import { type FieldProblem, forbiddenAt, invalidAt, requiredAt } from '../../api/field-problem.ts'
import { label, subdomain } from '../object-name.ts'
import {
  atLeast,
  type Check,
  type Checks,
  type Fields,
  fieldsOf,
  intOrPercent,
  isEmpty,
  itemsOf,
  labelSelector,
  named,
  oneOf,
  port,
  portName,
  problemsOf,
  quantityOf,
  required,
  textOf,
} from './field-checks.ts'
import { podProblems } from './pod-checks.ts'
import { serviceProblems } from './service-checks.ts'
import {
  cronJobProblems,
  daemonSetProblems,
  deploymentProblems,
  jobProblems,
  replicaSetProblems,
  statefulSetProblems,
} from './workload-checks.ts'

/** The problems of an object, and of its change. */
type Problems = (object: Unstructured, before: Unstructured | undefined) => readonly FieldProblem[]

const inSpec =
  (
    problems: (spec: Fields, before: Fields | undefined, at: string) => readonly FieldProblem[],
  ): Problems =>
  (object, before) => {
    const was = before === undefined ? undefined : fieldsOf(before['spec'])
    return problems(fieldsOf(object['spec']), was, 'spec')
  }

const checked =
  (checks: Checks): Problems =>
  (object) =>
    problemsOf(object, checks)

const all =
  (...parts: readonly Problems[]): Problems =>
  (object, before) =>
    parts.flatMap((problems) => problems(object, before))

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
const immutableData: Problems = (object, before) => {
  if (before?.['immutable'] !== true) return []
  const message = 'field is immutable when `immutable` is set'
  return ['data', 'binaryData', 'immutable']
    .filter((field) => !equalJson(before[field] ?? null, object[field] ?? null))
    .map((field) => forbiddenAt(field, message))
}

const secretData: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}

const secretType: Problems = (secret, before) => {
  const { data, stringData, type = 'Opaque' } = secret
  const given = { ...fieldsOf(data), ...fieldsOf(stringData) }
  const lacking = (keys: readonly string[]): FieldProblem[] =>
    keys.filter((key) => !(key in given)).map((key) => requiredAt(`data[${key}]`))
  const found = lacking(secretData[String(type)] ?? [])
  const either = ['username', 'password']
  if (type === 'kubernetes.io/basic-auth' && !either.some((key) => key in given)) {
    found.push(...lacking(either))
  }
  const account = 'kubernetes.io/service-account.name'
  const isToken = type === 'kubernetes.io/service-account-token'
  if (isToken && isEmpty(secret.metadata.annotations?.[account])) {
    found.push(requiredAt(`metadata.annotations[${account}]`))
  }
  if (before !== undefined && (before['type'] ?? 'Opaque') !== type) {
    found.push(invalidAt('type', type, 'field is immutable'))
  }
  return found
}

const duplicateData: Problems = ({ binaryData, data }) =>
  Object.keys(fieldsOf(data))
    .filter((key) => key in fieldsOf(binaryData))
    .map((key) => invalidAt(`data[${key}]`, key, 'duplicate of key present in binaryData'))

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

const claimChange =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

const claimProblems: Problems = ({ spec }, before) => {
  const found = problemsOf(spec, claimSpec, 'spec')
  const isBound = fieldsOf(before?.['status'])['phase'] === 'Bound'
  const kept = (one: unknown): object => {
    const { storageClassName: _, volumeAttributesClassName: __, resources, ...rest } = fieldsOf(one)
    return isBound ? rest : { ...rest, resources }
  }
  // A claim without a class may get one later.
  const { storageClassName: was } = fieldsOf(before?.['spec'])
  const isReclassed = !isEmpty(was) && was !== fieldsOf(spec)['storageClassName']
  if (before !== undefined && (isReclassed || !equalJson(kept(before['spec']), kept(spec)))) {
    found.push(forbiddenAt('spec', claimChange))
  }
  return found
}

const claimTemplates: Problems = ({ spec }) =>
  itemsOf(fieldsOf(spec)['volumeClaimTemplates']).flatMap((one, at) =>
    problemsOf(fieldsOf(one)['spec'], claimSpec, `spec.volumeClaimTemplates[${at}].spec`),
  )

const backend: Check = (value, path) => {
  const { resource, service } = fieldsOf(value)
  const message = 'resource or service backend is required'
  return isEmpty(service) && isEmpty(resource) ? [invalidAt(path, '', message)] : []
}

const backendOf = (at: string): Checks => ({
  [`${at}?.service?.name`]: [required(), named(label)],
  [`${at}?.service?.port?.number`]: port,
  [`${at}?.service?.port?.name`]: portName,
})

const host: Check = (value, path) => {
  if (isEmpty(value)) return []
  const text = String(value)
  if (isIP(text) > 0) return [invalidAt(path, value, 'must be a DNS name, not an IP address')]
  return named(subdomain)(text.replace(/^\*\./, ''), path, {}).map((problem) => ({
    ...problem,
    message: problem.message.replace(
      /^Invalid value: "[^"]*"/,
      `Invalid value: ${JSON.stringify(text)}`,
    ),
  }))
}

const ingressChecks: Checks = {
  spec: (value, path) => {
    const { defaultBackend, rules } = fieldsOf(value)
    const message = 'either `defaultBackend` or `rules` must be specified'
    return isEmpty(defaultBackend) && isEmpty(rules)
      ? [invalidAt(path, value ?? null, message)]
      : []
  },
  ...backendOf('spec.defaultBackend'),
  'spec.ingressClassName': named(subdomain),
  'spec.rules[].host': host,
  'spec.rules[].http?.paths': required(),
  'spec.rules[].http.paths[].pathType': [
    required('pathType must be specified'),
    oneOf('Exact', 'ImplementationSpecific', 'Prefix'),
  ],
  'spec.rules[].http.paths[].path': (value, path, { pathType }) =>
    pathType === 'ImplementationSpecific' || isEmpty(pathType) || textOf(value).startsWith('/')
      ? []
      : [invalidAt(path, value ?? '', 'must be an absolute path')],
  'spec.rules[].http.paths[].backend': backend,
  ...backendOf('spec.rules[].http.paths[].backend'),
  'spec.tls[].hosts[]': host,
  'spec.tls[].secretName': named(subdomain),
}

const noSlash: Check = (value, path) =>
  String(value).includes('/') ? [invalidAt(path, value, "may not contain '/'")] : []

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

const autoscaler: Problems = (object, before) => {
  const spec = fieldsOf(object['spec'])
  const { maxReplicas = 0, metrics, minReplicas = 1 } = spec
  const [most, least] = [Number(maxReplicas), Number(minReplicas)]
  const found: FieldProblem[] = []
  if (most === 0) found.push(requiredAt('spec.maxReplicas', 'must be set and greater than 0'))
  else found.push(...atLeast(1)(most, 'spec.maxReplicas', spec))
  if (most < least) {
    const message = 'must be greater than or equal to `minReplicas`'
    found.push(invalidAt('spec.maxReplicas', most, message))
  }
  found.push(...atLeast(1)(least, 'spec.minReplicas', spec))
  const outside = itemsOf(metrics).map((one) => String(fieldsOf(one)['type']))
  if (least === 0 && !outside.includes('External') && !outside.includes('Object')) {
    const message =
      'must specify at least one Object or External metric to support scaling to zero replicas'
    found.push(forbiddenAt('spec.metrics', message))
  }
  const { apiVersion } = fieldsOf(spec['scaleTargetRef'])
  if (isEmpty(apiVersion) && before === undefined) {
    const message = 'apiVersion must specify API group'
    found.push(invalidAt('spec.scaleTargetRef.apiVersion', '', message))
  }
  return found
}

const autoscalerChecks: Checks = {
  'spec.scaleTargetRef.kind': [required(), noSlash],
  'spec.scaleTargetRef.name': [required(), noSlash],
  'spec.metrics[].type': [required(), oneOf(...metricTypes)],
  'spec.metrics[]': (value, path) => {
    const { type } = fieldsOf(value)
    const field = String(type).replace(/^./, (first) => first.toLowerCase())
    const message = 'must populate information for the given metric source'
    const isLacking = metricTypes.includes(String(type)) && isEmpty(fieldsOf(value)[field])
    return isLacking ? [requiredAt(`${path}.${field}`, message)] : []
  },
}

const budget: Problems = ({ spec }) => {
  const { maxUnavailable, minAvailable } = fieldsOf(spec)
  const message = 'minAvailable and maxUnavailable cannot be both set'
  const given = [minAvailable, maxUnavailable].filter((one) => one !== undefined && one !== null)
  return [
    ...problemsOf(fieldsOf(spec)['selector'], labelSelector, 'spec.selector'),
    ...(given.length === 2 ? [invalidAt('spec', spec, message)] : []),
  ]
}

const policyRule: Check = (value, path) => {
  const { apiGroups, nonResourceURLs, resources, verbs } = fieldsOf(value)
  const of = 'resource rules must supply at least one'
  const found: FieldProblem[] = []
  if (isEmpty(verbs)) {
    found.push(requiredAt(`${path}.verbs`, 'verbs must contain at least one value'))
  }
  if (!isEmpty(nonResourceURLs)) return found
  if (isEmpty(apiGroups)) found.push(requiredAt(`${path}.apiGroups`, `${of} api group`))
  if (isEmpty(resources)) found.push(requiredAt(`${path}.resources`, `${of} resource`))
  return found
}

const namespacedRule: Check = (value, path) => {
  const message = 'namespaced rules cannot apply to non-resource URLs'
  return isEmpty(value) ? [] : [invalidAt(path, value, message)]
}

const bindingOf =
  (...kinds: readonly string[]): Problems =>
  (binding, before) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...fieldsOf(binding['roleRef']) }
    const { kind = '' } = roleRef as Fields
    const was = before === undefined ? roleRef : fieldsOf(before['roleRef'])
    return [
      ...problemsOf(roleRef, { kind: oneOfAll(...kinds), name: required() }, 'roleRef'),
      ...problemsOf(binding, {
        'subjects[].kind': oneOfAll('ServiceAccount', 'User', 'Group'),
        'subjects[].name': required(),
      }),
      ...(before !== undefined && !equalJson(was, roleRef) && kind !== ''
        ? [invalidAt('roleRef', roleRef, 'cannot change roleRef')]
        : []),
    ]
  }

/** As `oneOf`, for a value that may not be empty. */
const oneOfAll =
  (...kinds: readonly string[]): Check =>
  (value, path, parent) =>
    oneOf(...kinds)(isEmpty(value) ? ' ' : value, path, parent).map((problem) => ({
      ...problem,
      message: problem.message.replace('" "', '""'),
    }))

/** The checks of built-in kinds, by resource. Source: the validation of a Kubernetes 1.36 server. */
const problemsByResource: Readonly<Record<string, Problems>> = {
  pods: podProblems,
  'deployments.apps': inSpec(deploymentProblems),
  'replicasets.apps': inSpec(replicaSetProblems),
  'statefulsets.apps': all(inSpec(statefulSetProblems), claimTemplates),
  'daemonsets.apps': inSpec(daemonSetProblems),
  'jobs.batch': inSpec(jobProblems),
  'cronjobs.batch': inSpec(cronJobProblems),
  services: inSpec(serviceProblems),
  configmaps: all(checked({ data: dataKeys, binaryData: dataKeys }), duplicateData, immutableData),
  secrets: all(checked({ data: dataKeys, stringData: dataKeys }), secretType, immutableData),
  persistentvolumeclaims: claimProblems,
  'ingresses.networking.k8s.io': checked(ingressChecks),
  'horizontalpodautoscalers.autoscaling': all(checked(autoscalerChecks), autoscaler),
  'poddisruptionbudgets.policy': all(
    checked({
      'spec.minAvailable': intOrPercent(true),
      'spec.maxUnavailable': intOrPercent(true),
      'spec.unhealthyPodEvictionPolicy': oneOf('AlwaysAllow', 'IfHealthyBudget'),
    }),
    budget,
  ),
  'roles.rbac.authorization.k8s.io': checked({
    'rules[]': policyRule,
    'rules[].nonResourceURLs': namespacedRule,
  }),
  'clusterroles.rbac.authorization.k8s.io': checked({
    'rules[]': policyRule,
    'aggregationRule.clusterRoleSelectors[]': (value, path) =>
      problemsOf(value, labelSelector, path),
  }),
  'rolebindings.rbac.authorization.k8s.io': bindingOf('Role', 'ClusterRole'),
  'clusterrolebindings.rbac.authorization.k8s.io': bindingOf('ClusterRole'),
  'leases.coordination.k8s.io': checked({
    'spec.leaseDurationSeconds': (value, path) =>
      typeof value === 'number' && value <= 0
        ? [invalidAt(path, value, 'must be greater than 0')]
        : [],
    'spec.leaseTransitions': atLeast(0),
  }),
}

/** The rules of a built-in kind; `undefined` for kinds without checks. */
export function builtInRules(groupResource: string): ObjectRules | undefined {
  const problems = problemsByResource[groupResource]
  if (problems === undefined) return undefined
  return {
    settle: (object) => object,
    problems: (object, before, part) => (part === 'status' ? [] : problems(object, before)),
  }
}
