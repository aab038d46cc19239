import type { Unstructured } from '../../../kubernetes/object.ts'
import { equalJson } from '../../api/json.ts'
import {
  duplicateAt,
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
} from '../../api/field-problem.ts'
import { label, type NameRule, subdomain } from '../object-name.ts'
import {
  atLeast,
  between,
  type Check,
  type Checks,
  fieldsOf,
  isEmpty,
  itemsOf,
  labelKey,
  labels,
  named,
  oneOf,
  port,
  portName,
  portOrName,
  problemsOf,
  quantityOf,
  required,
  textOf,
  unique,
  userId,
} from './field-checks.ts'

const deadline = between(1, 2 ** 31 - 1)

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
  (checks: Checks): Check =>
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
const once: Check = (value, path) =>
  isEmpty(value) || value === 1 ? [] : [invalidAt(path, value, 'must be 1')]
const probedOnce = handled({ ...probe, successThreshold: [atLeast(0), once] })

const environmentName: NameRule = {
  problem: (name) =>
    /^[ -<>-~]+$/.test(name)
      ? undefined
      : "a valid environment variable name must consist only of printable ASCII characters other than '='",
}
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

/** A required name. The problem of an absent name is that of an invalid one. */
const subdomainAt: Check = (value, path) => {
  const problem = subdomain.problem(textOf(value))
  return problem === undefined ? [] : [invalidAt(path, value ?? '', problem)]
}

const environmentOrigin: Check = (value, path) => {
  const { configMapRef, secretRef } = fieldsOf(value)
  const problem = 'must specify one of: `configMapRef` or `secretRef`'
  // The problem names the list, not the item.
  const list = path.replace(/\[\d+\]$/, '')
  return configMapRef === undefined && secretRef === undefined ? [invalidAt(list, '', problem)] : []
}

/** Container resources without a domain. */
const standardResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/

const resources: Check = (value, path) => {
  const { limits, requests } = fieldsOf(value)
  const bounds = fieldsOf(limits) as Readonly<Record<string, string>>
  const amounts = { limits: bounds, requests: fieldsOf(requests) }
  const own = Object.entries(amounts).flatMap(([part, given]) =>
    Object.entries(given).flatMap(([name, quantity]): FieldProblem[] => {
      const at = `${path}.${part}[${name}]`
      if (!name.includes('/') && !standardResource.test(name)) {
        return [
          invalidAt(at, name, 'must be a standard resource type or fully qualified'),
          invalidAt(at, name, 'must be a standard resource for containers'),
        ]
      }
      const isNegative = quantityOf(quantity) < 0
      return isNegative ? [invalidAt(at, quantity, 'must be greater than or equal to 0')] : []
    }),
  )
  const compared = Object.entries(amounts.requests).flatMap(([name, quantity]): FieldProblem[] => {
    const limit = bounds[name]
    if (limit === undefined) {
      const message = 'Limit must be set for non overcommitable resources'
      return name.includes('/') ? [requiredAt(`${path}.limits`, message)] : []
    }
    return quantityOf(quantity) > quantityOf(limit)
      ? [
          invalidAt(
            `${path}.requests`,
            quantity,
            `must be less than or equal to ${name} limit of ${limit}`,
          ),
        ]
      : []
  })
  return [...own, ...compared]
}

const mounts = (volumes: ReadonlySet<unknown>): Checks => ({
  'volumeMounts[].name': (value, path, parent) => [
    ...required()(value, path, parent),
    ...(volumes.has(value)
      ? []
      : [
          {
            reason: 'FieldValueNotFound' as const,
            message: `Not found: ${JSON.stringify(value ?? '')}`,
            field: path,
          },
        ]),
  ],
  'volumeMounts[].mountPath': required(),
  volumeMounts: (value, path) =>
    unique('mountPath')(value, path, {}).map(({ field, message }) => ({
      reason: 'FieldValueInvalid',
      message: `${message.replace('Duplicate', 'Invalid')}: must be unique`,
      field,
    })),
})

const container: Checks = {
  name: [required(), named(label)],
  image: [
    required(),
    (value, path) =>
      String(value) === String(value).trim()
        ? []
        : [invalidAt(path, value, 'must not have leading or trailing whitespace')],
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
  'env[].valueFrom?.secretKeyRef?.key': required(),
  'env[].valueFrom?.secretKeyRef?.name': subdomainAt,
  'env[].valueFrom?.configMapKeyRef?.key': required(),
  'env[].valueFrom?.configMapKeyRef?.name': subdomainAt,
  'envFrom[]': environmentOrigin,
  'envFrom[].prefix': named(environmentName),
  'envFrom[].configMapRef?.name': required(),
  'envFrom[].secretRef?.name': required(),
  resources,
  livenessProbe: probedOnce,
  startupProbe: probedOnce,
  readinessProbe: handled(probe),
  'lifecycle.postStart': handled({}),
  'lifecycle.preStop': handled({}),
  securityContext: (value, path) => {
    const { allowPrivilegeEscalation, privileged } = fieldsOf(value)
    const message = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'
    const isOdd = privileged === true && allowPrivilegeEscalation === false
    return isOdd ? [invalidAt(path, value, message)] : []
  },
  'securityContext.runAsUser': userId,
  'securityContext.runAsGroup': userId,
}

const volume: Check = (value, path) => {
  const { name: _, ...types } = fieldsOf(value)
  const [, ...more] = Object.keys(types)
  return more.map((type) =>
    forbiddenAt(`${path}.${type}`, 'may not specify more than 1 volume type'),
  )
}

const podSpec: Checks = {
  containers: [required(), unique('name')],
  restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
  dnsPolicy: oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'),
  activeDeadlineSeconds: deadline,
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
    (effect, path, { tolerationSeconds }) => {
      const message = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      const isOdd = !isEmpty(tolerationSeconds) && effect !== 'NoExecute'
      return isOdd ? [invalidAt(path, effect ?? '', message)] : []
    },
  ],
  'volumes[].name': [required(), named(label)],
  'volumes[]': volume,
  volumes: unique('name'),
  'volumes[].configMap?.name': required(),
  'volumes[].secret?.secretName': required(),
  'volumes[].persistentVolumeClaim?.claimName': required(),
  'volumes[].hostPath?.path': required(),
}

/** The problems of a pod's spec, or of a template's. */
export function podSpecProblems(spec: unknown, at: string): FieldProblem[] {
  const { containers, initContainers, volumes } = fieldsOf(spec)
  const names = new Set(itemsOf(volumes).map((one) => fieldsOf(one)['name']))
  const own = { ...container, ...mounts(names) }
  const taken = new Set(itemsOf(containers).map((one) => fieldsOf(one)['name']))
  return [
    ...problemsOf(spec, podSpec, at),
    ...itemsOf(containers).flatMap((one, index) =>
      problemsOf(one, own, `${at}.containers[${index}]`),
    ),
    ...itemsOf(initContainers).flatMap((one, index): FieldProblem[] => {
      const path = `${at}.initContainers[${index}]`
      const { name } = fieldsOf(one)
      const isTaken = !isEmpty(name) && taken.has(name)
      taken.add(name)
      const duplicates = isTaken ? [duplicateAt(`${path}.name`, name)] : []
      return [...problemsOf(one, own, path), ...duplicates]
    }),
  ]
}

/** The problems of a pod template, including its labels. */
export function templateProblems(template: unknown, at: string): FieldProblem[] {
  const { metadata, spec } = fieldsOf(template)
  return [
    ...labels(fieldsOf(metadata)['labels'], `${at}.labels`, {}),
    ...podSpecProblems(spec, `${at}.spec`),
  ]
}

const unchangeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

export function podProblems(pod: Unstructured, previous: Unstructured | undefined): FieldProblem[] {
  const found = podSpecProblems(pod['spec'], 'spec')
  if (previous === undefined) return found
  const [before, after] = [fieldsOf(previous['spec']), fieldsOf(pod['spec'])]
  for (const list of ['containers', 'initContainers']) {
    if (itemsOf(before[list]).length === itemsOf(after[list]).length) continue
    return [...found, forbiddenAt(`spec.${list}`, 'pod updates may not add or remove containers')]
  }
  const tolerations = itemsOf(after['tolerations'])
  const keepsTolerations = itemsOf(before['tolerations']).every((one) =>
    tolerations.some((other) => equalJson(one, other)),
  )
  const isKept =
    keepsTolerations && equalJson(unchangeableFields(before), unchangeableFields(after))
  return isKept ? found : [...found, forbiddenAt('spec', unchangeable)]
}

const withoutImage = (one: unknown): object => ({ ...fieldsOf(one), image: '' })

/** The parts of a pod's spec that no update may change. */
function unchangeableFields(spec: ReturnType<typeof fieldsOf>): object {
  const { activeDeadlineSeconds: _, tolerations: __, containers, initContainers, ...kept } = spec
  return {
    ...kept,
    containers: itemsOf(containers).map(withoutImage),
    initContainers: itemsOf(initContainers).map(withoutImage),
  }
}
