import { type Fields, fieldsOf, itemsOf } from '../../../kubernetes/fields.ts'
import { equalJson } from '../../api/json.ts'
import { type FieldProblem, forbiddenAt, invalidAt, requiredAt } from '../../api/status-refusal.ts'
import {
  all,
  atLeast,
  between,
  type Check,
  type Checks,
  invalidIf,
  isEmpty,
  labelKey,
  labels,
  listOf,
  named,
  oneOf,
  port,
  portName,
  portOrName,
  problemsOf,
  quantityOf,
  required,
  unique,
  userId,
} from '../../schema/field-checks.ts'
import { label, type NameRule, subdomain } from '../../schema/metadata-rules.ts'

/** The handlers of probes and hooks, and their required fields. */
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const
const handler: Checks = {
  'exec?.command': required(),
  'httpGet?.port': portOrName,
  'httpGet?.scheme': oneOf('HTTP', 'HTTPS'),
  'tcpSocket?.port': portOrName,
  'grpc?.port': port,
}

const handled =
  (checks: Checks = {}): Check =>
  (value, path) => {
    if (value === undefined || value === null) return []
    const [first, ...more] = handlers.filter((name) => fieldsOf(value)[name] !== undefined)
    if (first === undefined) return [requiredAt(path, 'must specify a handler type')]
    return [
      ...more.map((name) =>
        forbiddenAt(`${path}.${name}`, 'may not specify more than 1 handler type'),
      ),
      ...problemsOf(value, { ...handler, ...checks }, path),
    ]
  }

const probe: Checks = {
  initialDelaySeconds: atLeast(0),
  timeoutSeconds: atLeast(0),
  periodSeconds: atLeast(0),
  successThreshold: atLeast(0),
  failureThreshold: atLeast(0),
}
const probedOnce = handled({
  ...probe,
  successThreshold: [atLeast(0), invalidIf((value) => !isEmpty(value) && value !== 1, 'must be 1')],
})

const environmentName: NameRule = (name) =>
  /^[ -<>-~]+$/.test(name)
    ? undefined
    : "a valid environment variable name must consist only of printable ASCII characters other than '='"

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

const environmentSource: Check = (value, path, parent) => {
  if (value === undefined || value === null) return []
  const given = sources.filter((name) => fieldsOf(value)[name] !== undefined)
  const problem =
    given.length === 0
      ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
      : !isEmpty(parent['value'])
        ? 'may not be specified when `value` is not empty'
        : given.length > 1
          ? 'may not have more than one field specified at a time'
          : undefined
  return problem === undefined ? [] : [invalidAt(path, '', problem)]
}

const environmentOrigin: Check = (value, path) => {
  const { configMapRef, secretRef } = fieldsOf(value)
  if (configMapRef !== undefined || secretRef !== undefined) return []
  // The problem names the list, not the item.
  const list = path.replace(/\[\d+\]$/, '')
  return [invalidAt(list, '', 'must specify one of: `configMapRef` or `secretRef`')]
}

/** The key and the name of a referenced ConfigMap or Secret. The problem of an absent name is that of an invalid one. */
const keyReference: Checks = {
  key: required(),
  name: (value, path) => {
    const problem = subdomain(typeof value === 'string' ? value : '')
    return problem === undefined ? [] : [invalidAt(path, value ?? '', problem)]
  },
}

/** Container resources without a domain. */
const standardResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/

const resources: Check = (value, path) => {
  const limits = fieldsOf(fieldsOf(value)['limits']) as Readonly<Record<string, string>>
  const requests = fieldsOf(fieldsOf(value)['requests'])
  const own = Object.entries({ limits, requests }).flatMap(([part, given]) =>
    Object.entries(given).flatMap(([name, quantity]): FieldProblem[] => {
      const at = `${path}.${part}[${name}]`
      if (!name.includes('/') && !standardResource.test(name)) {
        return [
          invalidAt(at, name, 'must be a standard resource type or fully qualified'),
          invalidAt(at, name, 'must be a standard resource for containers'),
        ]
      }
      return atLeast(0)(quantityOf(quantity), at, given).map(() =>
        invalidAt(at, quantity, 'must be greater than or equal to 0'),
      )
    }),
  )
  const compared = Object.entries(requests).flatMap(([name, quantity]): FieldProblem[] => {
    const limit = limits[name]
    if (limit === undefined) {
      const message = 'Limit must be set for non overcommitable resources'
      return name.includes('/') ? [requiredAt(`${path}.limits`, message)] : []
    }
    if (quantityOf(quantity) <= quantityOf(limit)) return []
    const message = `must be less than or equal to ${name} limit of ${limit}`
    return [invalidAt(`${path}.requests`, quantity, message)]
  })
  return [...own, ...compared]
}

const container: Checks = {
  name: [required(), named(label)],
  image: [
    required(),
    invalidIf(
      (value) => String(value) !== String(value).trim(),
      'must not have leading or trailing whitespace',
    ),
  ],
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
  terminationMessagePolicy: oneOf('File', 'FallbackToLogsOnError'),
  'ports[].containerPort': [required(), port],
  'ports[].hostPort': (value, path, parent) => (value === 0 ? [] : port(value, path, parent)),
  'ports[].name': portName,
  'ports[].protocol': oneOf('SCTP', 'TCP', 'UDP'),
  ports: unique('name'),
  'env[].name': [required(), named(environmentName)],
  'env[].valueFrom': environmentSource,
  'env[].valueFrom?.secretKeyRef?': keyReference,
  'env[].valueFrom?.configMapKeyRef?': keyReference,
  'envFrom[]': environmentOrigin,
  'envFrom[].prefix': named(environmentName),
  'envFrom[].configMapRef?.name': required(),
  'envFrom[].secretRef?.name': required(),
  'volumeMounts[].name': required(),
  'volumeMounts[].mountPath': required(),
  volumeMounts: (value, path, parent) =>
    unique('mountPath')(value, path, parent).map(({ field, message }) => ({
      reason: 'FieldValueInvalid',
      message: `${message.replace('Duplicate', 'Invalid')}: must be unique`,
      field,
    })),
  resources,
  livenessProbe: probedOnce,
  startupProbe: probedOnce,
  readinessProbe: handled(probe),
  'lifecycle.postStart': handled(),
  'lifecycle.preStop': handled(),
  securityContext: (value, path) => {
    const { allowPrivilegeEscalation, privileged } = fieldsOf(value)
    const message = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
    const isOdd = privileged === true && allowPrivilegeEscalation === false
    return isOdd ? [invalidAt(path, value, message)] : []
  },
  'securityContext.runAsUser': userId,
  'securityContext.runAsGroup': userId,
}

const oneVolumeType: Check = (value, path) => {
  const { name: _, ...types } = fieldsOf(value)
  const [, ...more] = Object.keys(types)
  return more.map((type) =>
    forbiddenAt(`${path}.${type}`, 'may not specify more than 1 volume type'),
  )
}

/** Mounts name volumes of the pod, and init containers have other names than containers. */
const acrossContainers: Check = (spec, path) => {
  const { containers, volumes } = fieldsOf(spec)
  const names = new Set(itemsOf(volumes).map(({ name }) => name))
  const mounted: Check = (name, at) => {
    const message = `Not found: ${JSON.stringify(name ?? '')}`
    return names.has(name) ? [] : [{ reason: 'FieldValueNotFound', message, field: at }]
  }
  const taken = itemsOf(containers).map(({ name }) => name)
  return problemsOf(
    spec,
    {
      'containers[].volumeMounts[].name': mounted,
      'initContainers[].volumeMounts[].name': mounted,
      initContainers: unique('name', taken),
    },
    path,
  )
}

const podFields: Checks = {
  containers: [required(), unique('name')],
  'containers[]': container,
  'initContainers[]': container,
  restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
  dnsPolicy: oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
  activeDeadlineSeconds: between(1, 2 ** 31 - 1),
  hostname: named(label),
  subdomain: named(label),
  serviceAccountName: named(subdomain),
  nodeName: named(subdomain),
  nodeSelector: labels,
  'securityContext.runAsUser': userId,
  'securityContext.runAsGroup': userId,
  'securityContext.fsGroup': userId,
  'tolerations[].key': labelKey,
  'tolerations[].operator': [
    oneOf('Equal', 'Exists'),
    (operator, path, { value }) =>
      operator === 'Exists' && !isEmpty(value)
        ? [invalidAt(path, value, "value must be empty when `operator` is 'Exists'")]
        : [],
  ],
  'tolerations[].effect': [
    oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    invalidIf(
      (effect, { tolerationSeconds }) => !isEmpty(tolerationSeconds) && effect !== 'NoExecute',
      "effect must be 'NoExecute' when `tolerationSeconds` is set",
    ),
  ],
  'volumes[].name': [required(), named(label)],
  'volumes[]': oneVolumeType,
  volumes: unique('name'),
  'volumes[].configMap?.name': required(),
  'volumes[].secret?.secretName': required(),
  'volumes[].persistentVolumeClaim?.claimName': required(),
  'volumes[].hostPath?.path': required(),
}

const podSpec: Check = all(podFields, acrossContainers)

/** A pod template. A kube-apiserver names its labels without their `metadata`. */
export const podTemplate: Check = (template, path, parent) => {
  const { metadata, spec } = fieldsOf(template)
  return [
    ...labels(fieldsOf(metadata)['labels'], `${path}.labels`, parent),
    ...podSpec(spec, `${path}.spec`, parent),
  ]
}

const unchangeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const podChange: Check = (spec, path, _, previous) => {
  if (previous === undefined) return []
  const [before, after] = [fieldsOf(previous.value), fieldsOf(spec)]
  for (const list of ['containers', 'initContainers']) {
    if (listOf(before[list]).length !== listOf(after[list]).length) {
      return [forbiddenAt(`${path}.${list}`, 'pod updates may not add or remove containers')]
    }
  }
  const tolerations = listOf(after['tolerations'])
  const keepsTolerations = listOf(before['tolerations']).every((one) =>
    tolerations.some((other) => equalJson(one, other)),
  )
  const isKept =
    keepsTolerations && equalJson(unchangeableFields(before), unchangeableFields(after))
  return isKept ? [] : [forbiddenAt(path, unchangeable)]
}

const withoutImages = (containers: unknown): object[] =>
  itemsOf(containers).map((one) => ({ ...one, image: '' }))

/** The parts of a pod's spec that no update may change. */
function unchangeableFields(spec: Fields): object {
  const { activeDeadlineSeconds: _, tolerations: __, ...kept } = spec
  return {
    ...kept,
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
  }
}

export const podChecks: Checks = { spec: all(podSpec, podChange) }
