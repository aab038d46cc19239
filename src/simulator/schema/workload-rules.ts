/*
 * The rules of pods, of their templates, and of the kinds of `apps` and `batch` that make pods: a part of the table of
 * `built-in-rules.ts`. What depends on several fields comes before the table that uses it.
 */

import { quantityOf } from '../../kubernetes/decimal.ts'
import { type Fields, fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import { equalJson, valueAt } from '../api/json.ts'
import {
  forbiddenAt,
  type Found,
  invalidAt,
  problemsIn,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import {
  all,
  amountOf,
  between,
  type Check,
  firstOf,
  forbiddenIf,
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
  label,
  labelKey,
  labels,
  labelSelector,
  listOf,
  membersOf,
  named,
  oneOf,
  port,
  portName,
  portOrName,
  required,
  subdomain,
  unique,
  userId,
} from './field-checks.ts'

/** Takes the place of what the schema says of a field. */
interface Instead {
  readonly instead: Check | undefined
}

/**
 * The rules of one type of the API. Checks stand by field; `self` checks a value of the type as a whole. A type that is
 * one check is not looked into any further.
 */
export type TypeRules = Check | Readonly<Record<string, Check | Instead>>

export const unchecked: Instead = { instead: undefined }

// ---- Pods

const oneHandler: Check = ({ value, path }) => {
  const [first, ...more] = membersOf(value, 'exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep')
  if (first === undefined) return requiredAt(path, 'must specify a handler type')
  return more.map((name) => forbiddenAt(`${path}.${name}`, 'more than 1 handler type'))
}

/** For probes that need to succeed only once. */
const succeedsOnce: Check = ({ value, path }) => {
  const { successThreshold: times } = fieldsOf(value)
  return Number(times) > 1 && invalidAt(`${path}.successThreshold`, times, 'must be 1')
}

const environmentName: Check = named((name) =>
  /^[ -<>-~]+$/.test(name) ? undefined : "must be printable ASCII characters other than '='",
)

const environmentSource: Check = ({ value, path, parent }) => {
  const isOne = Object.keys(fieldsOf(value)).length === 1 && isEmpty(parent['value'])
  const isAbsent = value === undefined || value === null
  return !isAbsent && !isOne && invalidAt(path, '', 'must be one source, without `value`')
}

/** A problem names the list, not the item. */
const environmentOrigins: Check = ({ value, path }) =>
  itemsOf(value).map(
    (item) =>
      isEmpty(membersOf(item, 'configMapRef', 'secretRef')) &&
      invalidAt(path, '', 'must specify one of: `configMapRef` or `secretRef`'),
  )

/** The name of a referenced ConfigMap or Secret. The problem of an absent name is that of an invalid one. */
const referenceName: Check = ({ value, path }) => {
  const problem = subdomain(typeof value === 'string' ? value : '')
  return problem !== undefined && invalidAt(path, value ?? '', problem)
}

const mountPaths: Check = (at) =>
  problemsIn(unique('mountPath')(at)).map(({ field }) => invalidAt(field, '', 'must be unique'))

/** Container resources without a domain. */
const standardResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/

const containerResources: Check = ({ value, path }) => {
  const limits = fieldsOf(fieldsOf(value)['limits'])
  const requests = fieldsOf(fieldsOf(value)['requests'])
  const quantities = Object.entries({ limits, requests }).map(([part, given]) =>
    Object.entries(given).map(([name, quantity]) => {
      const at = `${path}.${part}[${name}]`
      if (!name.includes('/') && !standardResource.test(name)) {
        return invalidAt(at, name, 'must be a standard resource for containers')
      }
      return quantityOf(quantity) < 0 && invalidAt(at, quantity, 'must be at least 0')
    }),
  )
  const pairs = Object.entries(requests).map(([name, quantity]) => {
    const limit = limits[name]
    if (limit === undefined) return name.includes('/') && requiredAt(`${path}.limits`)
    const isMore = quantityOf(quantity) > quantityOf(limit)
    return isMore && invalidAt(`${path}.requests`, quantity, `must not exceed the ${name} limit`)
  })
  return [quantities, pairs]
}

const oneVolumeType: Check = ({ value, path }) =>
  Object.keys(fieldsOf(value))
    .filter((name) => name !== 'name')
    .slice(1)
    .map((type) => forbiddenAt(`${path}.${type}`, 'may not specify more than 1 volume type'))

const containerLists = ['containers', 'initContainers']

/** Mounts name volumes of the pod, and init containers have other names than containers. */
const acrossContainers: Check = ({ value, path, parent }) => {
  const spec = fieldsOf(value)
  const volumes = new Set(itemsOf(spec['volumes']).map(({ name }) => name))
  const mounts = containerLists.map((list) =>
    itemsOf(spec[list]).map(({ volumeMounts }, at) =>
      itemsOf(volumeMounts).map(({ name }, mount): Found => {
        const field = `${path}.${list}[${at}].volumeMounts[${mount}].name`
        const message = `Not found: ${JSON.stringify(name ?? '')}`
        return !volumes.has(name) && { reason: 'FieldValueNotFound', message, field }
      }),
    ),
  )
  const taken = itemsOf(spec['containers']).map(({ name }) => name)
  const init = { value: spec['initContainers'], path: `${path}.initContainers`, parent }
  return [mounts, unique('name', taken)(init)]
}

const podChange: Check = ({ value, path, previous }) => {
  if (previous === undefined) return false
  const [before, after] = [fieldsOf(previous.value), fieldsOf(value)]
  const changed = containerLists.find(
    (list) => listOf(before[list]).length !== listOf(after[list]).length,
  )
  if (changed !== undefined) return forbiddenAt(`${path}.${changed}`, 'may not change in number')
  const keepsTolerations = listOf(before['tolerations']).every((one) =>
    listOf(after['tolerations']).some((other) => equalJson(one, other)),
  )
  const isKept = keepsTolerations && equalJson(unchangeable(before), unchangeable(after))
  const message = 'may change images, `activeDeadlineSeconds` and additional `tolerations` only'
  return !isKept && forbiddenAt(path, message)
}

function unchangeable({ activeDeadlineSeconds: _a, tolerations: _t, ...spec }: Fields): object {
  const lists = containerLists.map((list) => [
    list,
    itemsOf(spec[list]).map((one) => ({ ...one, image: '' })),
  ])
  return { ...spec, ...Object.fromEntries(lists) }
}

const podRules: Readonly<Record<string, TypeRules>> = {
  Pod: { spec: podChange },
  // A kube-apiserver names the labels of a template without their `metadata`.
  PodTemplateSpec: {
    self: ({ value, path, parent }) =>
      labels({ value: valueAt(value, 'metadata.labels'), path: `${path}.labels`, parent }),
  },
  PodSpec: {
    self: acrossContainers,
    containers: unique('name'),
    activeDeadlineSeconds: between(1, 2 ** 31 - 1),
    hostname: named(label),
    subdomain: named(label),
    serviceAccountName: named(subdomain),
    nodeName: named(subdomain),
    // These may be below 0.
    priority: unchecked,
    terminationGracePeriodSeconds: unchecked,
    nodeSelector: labels,
    volumes: unique('name'),
  },
  PodSecurityContext: { runAsUser: userId, runAsGroup: userId, fsGroup: userId },
  SecurityContext: {
    self: invalidIf((context) => {
      const { allowPrivilegeEscalation, privileged } = fieldsOf(context)
      return privileged === true && allowPrivilegeEscalation === false
    }, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
    runAsUser: userId,
    runAsGroup: userId,
  },
  Toleration: {
    tolerationSeconds: unchecked,
    key: labelKey,
    operator: invalidIf(
      (operator, { value }) => operator === 'Exists' && !isEmpty(value),
      "`value` must be empty when `operator` is 'Exists'",
    ),
    effect: invalidIf(
      (effect, { tolerationSeconds }) => !isEmpty(tolerationSeconds) && effect !== 'NoExecute',
      "must be 'NoExecute' when `tolerationSeconds` is set",
    ),
  },
  Volume: { self: oneVolumeType, name: named(label) },
  ConfigMapVolumeSource: { name: required },
  SecretVolumeSource: { secretName: required },
  Container: {
    name: named(label),
    image: firstOf(
      required,
      invalidIf((image) => /^\s|\s$/.test(String(image)), 'must not begin or end with white space'),
    ),
    ports: unique('name'),
    envFrom: environmentOrigins,
    volumeMounts: mountPaths,
    livenessProbe: succeedsOnce,
    startupProbe: succeedsOnce,
  },
  ContainerPort: {
    containerPort: firstOf(required, port),
    hostPort: (at) => at.value !== 0 && port(at),
    name: portName,
  },
  EnvVar: { name: environmentName, valueFrom: environmentSource },
  EnvFromSource: { prefix: environmentName },
  ConfigMapEnvSource: { name: required },
  SecretEnvSource: { name: required },
  ConfigMapKeySelector: { name: referenceName },
  SecretKeySelector: { name: referenceName },
  ResourceRequirements: { self: containerResources },
  Probe: { self: oneHandler },
  LifecycleHandler: { self: oneHandler },
  ExecAction: { command: required },
  HTTPGetAction: { port: portOrName },
  TCPSocketAction: { port: portOrName },
  GRPCAction: { port },
  // The schema requires these, and the server takes an empty text.
  HTTPHeader: { value: unchecked },
  Sysctl: { value: unchecked },
}

// ---- Workloads

function selectsNothing(selector: unknown): boolean {
  const { matchExpressions, matchLabels } = fieldsOf(selector)
  return Object.keys(fieldsOf(matchLabels)).length === 0 && isEmpty(matchExpressions)
}

/** Reports a template whose labels the selector does not match. */
function matchProblem({ selector, template }: Fields, at: string): Found {
  const found = valueAt(template, 'metadata.labels') as Record<string, string> | undefined
  const isMatch =
    !selectsNothing(selector) &&
    matchesLabels(labelSelectorOf(selector as Parameters<typeof labelSelectorOf>[0]), found)
  const field = `${at}.template.metadata.labels`
  return !isMatch && invalidAt(field, found ?? null, '`selector` does not match them')
}

/** What the specs of the workloads of `apps` have in common. `tellsSelector`: whether an invalid selector is a problem as a whole, too. */
const workload =
  (tellsSelector: boolean): Check =>
  ({ value, path, parent }) => {
    const spec = fieldsOf(value)
    const { selector } = spec
    const { restartPolicy = 'Always', activeDeadlineSeconds } = fieldsOf(
      valueAt(spec, 'template.spec'),
    )
    const pods = `${path}.template.spec`
    const at = `${path}.selector`
    const isWrong = problemsIn(labelSelector({ value: selector, path: at, parent })).length > 0
    const isNothing = !isEmpty(selector) && selectsNothing(selector)
    return [
      restartPolicy !== 'Always' &&
        unsupportedAt(`${pods}.restartPolicy`, restartPolicy, ['Always']),
      !isEmpty(activeDeadlineSeconds) &&
        forbiddenAt(`${pods}.activeDeadlineSeconds`, 'is for Jobs alone'),
      (isNothing || (isWrong && tellsSelector)) &&
        invalidAt(at, selector, 'invalid label selector'),
      !isNothing && !isWrong && matchProblem(spec, path),
    ]
  }

/** A problem of the type of a strategy shows the strategy as a whole. */
const strategyOf =
  (...types: readonly string[]): Check =>
  ({ value, path }) => {
    const { type = 'RollingUpdate' } = fieldsOf(value)
    return !types.includes(String(type)) && unsupportedAt(path, value, types)
  }

/** The fields of a StatefulSet that an update may change. */
const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

const statefulSetChange: Check = ({ value, path, previous }) => {
  const [before, after] = [fieldsOf(previous?.value), fieldsOf(value)]
  const names = Object.keys({ ...before, ...after }).filter((name) => !changeable.includes(name))
  const isKept = names.every((name) => equalJson(before[name], after[name]))
  const message = `updates may change ${changeable.join(', ')} only`
  return previous !== undefined && !isKept && forbiddenAt(path, message)
}

const mode = (job: Fields): unknown => job['completionMode'] ?? 'NonIndexed'

const jobChange: Check = ({ value, path, previous }) => {
  const spec = fieldsOf(value)
  const { manualSelector, selector } = spec
  const before = fieldsOf(previous?.value)
  const isSelecting = !isEmpty(selector) && !equalJson(before['selector'], selector)
  const kept = [
    ...(mode(before) === mode(spec) ? [] : ['completionMode']),
    'selector',
    'template',
    ...(mode(before) === 'Indexed' ? [] : ['completions']),
  ]
  return [
    isSelecting &&
      manualSelector !== true &&
      invalidAt(`${path}.selector`, selector, '`selector` not auto-generated'),
    isSelecting && matchProblem(spec, path),
    kept.map((name) =>
      immutable({
        value: spec[name],
        path: `${path}.${name}`,
        parent: spec,
        previous: previous && { value: before[name] },
      }),
    ),
  ]
}

/** The lowest and highest number of each field of a schedule. */
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const

/** Skips steps and names. */
function isSchedule(value: unknown): boolean {
  const fields = String(value).split(/\s+/).filter(Boolean)
  const fits = ([least, most]: readonly [number, number], at: number): boolean =>
    (fields[at] ?? '').split(',').every((range) => {
      const [start = '', end = start] = (range.split('/')[0] ?? '').split('-')
      return !(Number(start) < least) && !(Number(end) > most)
    })
  if (/TZ=/.test(String(value))) return false
  return String(value).startsWith('@') || (fields.length === 5 && ranges.every(fits))
}

function isTimeZone(zone: unknown): boolean {
  try {
    return Boolean(Intl.DateTimeFormat('en', zone === null ? {} : { timeZone: zone as string }))
  } catch {
    return false
  }
}

export const workloadRules: Readonly<Record<string, TypeRules>> = {
  ...podRules,
  DeploymentSpec: {
    self: workload(true),
    selector: immutable,
    progressDeadlineSeconds: invalidIf(
      (value = 600, { minReadySeconds = 0 }) => !(Number(value) > Number(minReadySeconds)),
      'must be greater than minReadySeconds',
    ),
    strategy: strategyOf('Recreate', 'RollingUpdate'),
  },
  DeploymentStrategy: {
    type: unchecked,
    rollingUpdate: forbiddenIf(
      ({ type }) => type === 'Recreate',
      "may not be specified when strategy `type` is 'Recreate'",
    ),
  },
  RollingUpdateDeployment: {
    maxSurge: intOrPercent(),
    maxUnavailable: all(
      intOrPercent(true),
      invalidIf(
        (value = '25%', { maxSurge = '25%' }) => amountOf(maxSurge) === 0 && amountOf(value) === 0,
        'may not be 0 when `maxSurge` is 0',
      ),
    ),
  },
  ReplicaSetSpec: { self: workload(true), selector: immutable },
  StatefulSetSpec: {
    self: all(workload(true), statefulSetChange),
    // A kube-apiserver does not look at it here.
    revisionHistoryLimit: unchecked,
    podManagementPolicy: {
      instead: invalidIf(
        (value = 'OrderedReady') => value !== 'OrderedReady' && value !== 'Parallel',
        "must be 'OrderedReady' or 'Parallel'",
      ),
    },
    updateStrategy: invalidIf((value) => {
      const { type = 'RollingUpdate' } = fieldsOf(value)
      return type !== 'RollingUpdate' && type !== 'OnDelete'
    }, "must be 'RollingUpdate' or 'OnDelete'"),
  },
  StatefulSetUpdateStrategy: {
    type: unchecked,
    rollingUpdate: invalidIf(
      (value, { type }) => type === 'OnDelete' && !isEmpty(value),
      "only allowed for updateStrategy 'RollingUpdate'",
    ),
  },
  StatefulSetPersistentVolumeClaimRetentionPolicy: {
    whenDeleted: oneOf('Retain', 'Delete'),
    whenScaled: oneOf('Retain', 'Delete'),
  },
  DaemonSetSpec: {
    self: workload(false),
    selector: { instead: all(labelSelector, immutable) },
    updateStrategy: strategyOf('RollingUpdate', 'OnDelete'),
  },
  DaemonSetUpdateStrategy: { type: unchecked },
  RollingUpdateDaemonSet: {
    maxSurge: all(
      intOrPercent(true),
      invalidIf(
        (value, { maxUnavailable = 1 }) => amountOf(value) !== 0 && amountOf(maxUnavailable) !== 0,
        'may not be set when maxUnavailable is non-zero',
      ),
    ),
    maxUnavailable: all(intOrPercent(true), ({ value = 1, path, parent: { maxSurge } }) => {
      const isNone = amountOf(maxSurge) === 0 && amountOf(value) === 0
      return isNone && requiredAt(path, 'cannot be 0 when maxSurge is 0')
    }),
  },
  Job: { spec: jobChange },
  JobSpec: {
    // The pods of a job may not restart forever.
    template: ({ value, path }) => {
      const policy = String(valueAt(value, 'spec.restartPolicy'))
      return !['OnFailure', 'Never'].includes(policy) && requiredAt(`${path}.spec.restartPolicy`)
    },
  },
  CronJobSpec: {
    schedule: invalidIf((value) => !isSchedule(value), 'must be 5 fields in their ranges, no TZ'),
    timeZone: invalidIf((zone) => !isTimeZone(zone), 'must be a known time zone'),
    jobTemplate: ({ value, path }) => {
      const selector = valueAt(value, 'spec.selector')
      const message = '`selector` will be auto-generated'
      return !isEmpty(selector) && invalidAt(`${path}.spec.selector`, selector, message)
    },
  },
}
