/*
 * The rules of pods, of their templates, and of the kinds of `apps` and `batch` that make pods: a part of `type-rules.ts`.
 */

import { type Fields, fieldsOf, itemsOf } from '../../kubernetes/fields.ts'
import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import { equalJson, valueAt } from '../api/json.ts'
import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import {
  all,
  amountOf,
  between,
  type Check,
  firstOf,
  forbiddenUnless,
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
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
  quantityOf,
  required,
  unique,
  userId,
  type TypeRules,
  unchecked,
} from './field-checks.ts'
import { label, subdomain } from './metadata-rules.ts'

// ---- Pods

const oneHandler: Check = (value, path) => {
  const [first, ...more] = membersOf(value, 'exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep')
  if (first === undefined) return [requiredAt(path, 'must specify a handler type')]
  return more.map((name) =>
    forbiddenAt(`${path}.${name}`, 'may not specify more than 1 handler type'),
  )
}

/** For probes that need to succeed only once. */
const succeedsOnce: Check = (probe, path) => {
  const { successThreshold: times } = fieldsOf(probe)
  const isMore = typeof times === 'number' && times > 1
  return isMore ? [invalidAt(`${path}.successThreshold`, times, 'must be 1')] : []
}

const environmentName: Check = named((name) =>
  /^[ -<>-~]+$/.test(name)
    ? undefined
    : "must consist of printable ASCII characters other than '='",
)

const environmentSource: Check = (value, path, parent) => {
  if (value === undefined || value === null) return []
  const given = Object.keys(fieldsOf(value)).length
  if (given === 1 && isEmpty(parent['value'])) return []
  const message =
    given === 1 ? 'may not be specified with `value`' : 'must specify one source, and no other'
  return [invalidAt(path, '', message)]
}

/** A problem names the list, not the item. */
const environmentOrigins: Check = (list, path) =>
  itemsOf(list)
    .filter(({ configMapRef, secretRef }) => configMapRef === undefined && secretRef === undefined)
    .map(() => invalidAt(path, '', 'must specify one of: `configMapRef` or `secretRef`'))

/** The name of a referenced ConfigMap or Secret. The problem of an absent name is that of an invalid one. */
const referenceName: Check = (value, path) => {
  const problem = subdomain(typeof value === 'string' ? value : '')
  return problem === undefined ? [] : [invalidAt(path, value ?? '', problem)]
}

const mountPaths: Check = (value, path, parent) =>
  unique('mountPath')(value, path, parent).map(({ field }) =>
    invalidAt(field, valueAt(value, field.slice(path.length)), 'must be unique'),
  )

/** Container resources without a domain. */
const standardResource = /^(cpu|memory|ephemeral-storage|hugepages-.+)$/

const containerResources: Check = (value, path) => {
  const limits = fieldsOf(fieldsOf(value)['limits'])
  const requests = fieldsOf(fieldsOf(value)['requests'])
  const found: FieldProblem[] = []
  for (const [part, given] of Object.entries({ limits, requests })) {
    for (const [name, quantity] of Object.entries(given)) {
      const at = `${path}.${part}[${name}]`
      if (!name.includes('/') && !standardResource.test(name)) {
        found.push(invalidAt(at, name, 'must be a standard resource for containers'))
      } else if (quantityOf(quantity) < 0) {
        found.push(invalidAt(at, quantity, 'must be greater than or equal to 0'))
      }
    }
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const limit = limits[name]
    if (limit === undefined && name.includes('/')) {
      found.push(requiredAt(`${path}.limits`, 'must be set for non overcommitable resources'))
    } else if (limit !== undefined && quantityOf(quantity) > quantityOf(limit)) {
      const message = `must be less than or equal to ${name} limit of ${JSON.stringify(limit)}`
      found.push(invalidAt(`${path}.requests`, quantity, message))
    }
  }
  return found
}

const privileges: Check = invalidIf((context) => {
  const { allowPrivilegeEscalation, privileged } = fieldsOf(context)
  return privileged === true && allowPrivilegeEscalation === false
}, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')

const oneVolumeType: Check = (value, path) =>
  Object.keys(fieldsOf(value))
    .filter((name) => name !== 'name')
    .slice(1)
    .map((type) => forbiddenAt(`${path}.${type}`, 'may not specify more than 1 volume type'))

/** Mounts name volumes of the pod, and init containers have other names than containers. */
const acrossContainers: Check = (value, path, parent) => {
  const spec = fieldsOf(value)
  const volumes = new Set(itemsOf(spec['volumes']).map(({ name }) => name))
  const mounts = ['containers', 'initContainers'].flatMap((list) =>
    itemsOf(spec[list]).flatMap(({ volumeMounts }, at) =>
      itemsOf(volumeMounts).flatMap(({ name }, mount): FieldProblem[] => {
        const field = `${path}.${list}[${at}].volumeMounts[${mount}].name`
        const message = `Not found: ${JSON.stringify(name ?? '')}`
        return volumes.has(name) ? [] : [{ reason: 'FieldValueNotFound', message, field }]
      }),
    ),
  )
  const taken = itemsOf(spec['containers']).map(({ name }) => name)
  const names = unique('name', taken)(spec['initContainers'], `${path}.initContainers`, parent)
  return [...mounts, ...names]
}

const podChange: Check = (value, path, _, previous) => {
  if (previous === undefined) return []
  const [before, after] = [fieldsOf(previous.value), fieldsOf(value)]
  for (const list of ['containers', 'initContainers']) {
    if (listOf(before[list]).length !== listOf(after[list]).length) {
      return [forbiddenAt(`${path}.${list}`, 'pod updates may not add or remove containers')]
    }
  }
  const tolerations = listOf(after['tolerations'])
  const keepsTolerations = listOf(before['tolerations']).every((one) =>
    tolerations.some((other) => equalJson(one, other)),
  )
  if (keepsTolerations && equalJson(unchangeable(before), unchangeable(after))) return []
  const message =
    'pod updates may change images, `activeDeadlineSeconds` and additional `tolerations` only'
  return [forbiddenAt(path, message)]
}

function unchangeable({ activeDeadlineSeconds: _a, tolerations: _t, ...spec }: Fields): object {
  const withoutImages = (list: string): object[] =>
    itemsOf(spec[list]).map((one) => ({ ...one, image: '' }))
  return {
    ...spec,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  }
}

export const podRules: Readonly<Record<string, TypeRules>> = {
  Pod: { spec: podChange },
  // A kube-apiserver names the labels of a template without their `metadata`.
  PodTemplateSpec: {
    self: (template, path) => labels(valueAt(template, 'metadata.labels'), `${path}.labels`),
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
    priority: { instead: unchecked },
    terminationGracePeriodSeconds: { instead: unchecked },
    nodeSelector: labels,
    volumes: unique('name'),
  },
  PodSecurityContext: { runAsUser: userId, runAsGroup: userId, fsGroup: userId },
  SecurityContext: { self: privileges, runAsUser: userId, runAsGroup: userId },
  Toleration: {
    tolerationSeconds: { instead: unchecked },
    key: labelKey,
    operator: (operator, path, { value }) =>
      operator === 'Exists' && !isEmpty(value)
        ? [invalidAt(path, value, "value must be empty when `operator` is 'Exists'")]
        : [],
    effect: invalidIf(
      (effect, { tolerationSeconds }) => !isEmpty(tolerationSeconds) && effect !== 'NoExecute',
      "effect must be 'NoExecute' when `tolerationSeconds` is set",
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
    hostPort: (value, path, parent) => (value === 0 ? [] : port(value, path, parent)),
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
  HTTPHeader: { value: { instead: unchecked } },
  Sysctl: { value: { instead: unchecked } },
}

// ---- Workloads

function selectsNothing(selector: unknown): boolean {
  const { matchExpressions, matchLabels } = fieldsOf(selector)
  return Object.keys(fieldsOf(matchLabels)).length === 0 && isEmpty(matchExpressions)
}

/** Reports a template whose labels the selector does not match. */
function matchProblems({ selector, template }: Fields, at: string): FieldProblem[] {
  const found = valueAt(template, 'metadata.labels') as Record<string, string> | undefined
  const isMatch =
    !selectsNothing(selector) &&
    matchesLabels(labelSelectorOf(selector as Parameters<typeof labelSelectorOf>[0]), found)
  const message = '`selector` does not match template `labels`'
  return isMatch ? [] : [invalidAt(`${at}.template.metadata.labels`, found ?? null, message)]
}

/** What the specs of the workloads of `apps` have in common. `tellsSelector`: whether an invalid selector is a problem as a whole, too. */
const workload =
  (tellsSelector: boolean): Check =>
  (value, path) => {
    const spec = fieldsOf(value)
    const { selector } = spec
    const { restartPolicy = 'Always', activeDeadlineSeconds } = fieldsOf(
      valueAt(spec, 'template.spec'),
    )
    const pods = `${path}.template.spec`
    const found: FieldProblem[] = []
    if (restartPolicy !== 'Always') {
      found.push(unsupportedAt(`${pods}.restartPolicy`, restartPolicy, ['Always']))
    }
    if (!isEmpty(activeDeadlineSeconds)) {
      found.push(forbiddenAt(`${pods}.activeDeadlineSeconds`, 'is for Jobs alone'))
    }
    const at = `${path}.selector`
    if (!isEmpty(selector) && selectsNothing(selector)) {
      return [...found, invalidAt(at, selector, 'empty selector is invalid')]
    }
    if (labelSelector(selector, at).length === 0) return [...found, ...matchProblems(spec, path)]
    return tellsSelector ? [...found, invalidAt(at, selector, 'invalid label selector')] : found
  }

/** A problem of the type of a strategy shows the strategy as a whole. */
const strategyOf =
  (...types: readonly string[]): Check =>
  (value, path) => {
    const { type = 'RollingUpdate' } = fieldsOf(value)
    return types.includes(String(type)) ? [] : [unsupportedAt(path, value, types)]
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

const statefulSetChange: Check = (spec, path, _, previous) => {
  if (previous === undefined) return []
  const [before, after] = [fieldsOf(previous.value), fieldsOf(spec)]
  const names = Object.keys({ ...before, ...after }).filter((name) => !changeable.includes(name))
  if (names.every((name) => equalJson(before[name], after[name]))) return []
  return [forbiddenAt(path, `updates may change ${changeable.join(', ')} only`)]
}

/** The pods of a job may not restart forever. */
const jobTemplate: Check = (template, path) => {
  const policy = valueAt(template, 'spec.restartPolicy')
  if (policy === 'OnFailure' || policy === 'Never') return []
  return [requiredAt(`${path}.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')]
}

const mode = (job: Fields): unknown => job['completionMode'] ?? 'NonIndexed'

const jobChange: Check = (value, at, _, previous) => {
  const spec = fieldsOf(value)
  const { manualSelector, selector } = spec
  const before = fieldsOf(previous?.value)
  const found: FieldProblem[] = []
  if (!isEmpty(selector) && !equalJson(before['selector'], selector)) {
    if (manualSelector !== true) {
      found.push(invalidAt(`${at}.selector`, selector, '`selector` not auto-generated'))
    }
    found.push(...matchProblems(spec, at))
  }
  const kept = [
    ...(mode(before) === mode(spec) ? [] : ['completionMode']),
    'selector',
    'template',
    ...(mode(before) === 'Indexed' ? [] : ['completions']),
  ]
  const isChanged = (field: string): boolean =>
    previous !== undefined && !equalJson(before[field] ?? null, spec[field] ?? null)
  for (const field of kept.filter(isChanged)) {
    found.push(invalidAt(`${at}.${field}`, spec[field] ?? null, 'field is immutable'))
  }
  return found
}

/** The lowest and highest number of each field of a schedule. */
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const

const anyType = { type: { instead: unchecked } }

export const workloadRules: Readonly<Record<string, TypeRules>> = {
  DeploymentSpec: {
    self: workload(true),
    selector: immutable,
    progressDeadlineSeconds: (value = 600, path, { minReadySeconds = 0 }) =>
      Number(value) > Number(minReadySeconds)
        ? []
        : [invalidAt(path, value, 'must be greater than minReadySeconds')],
    strategy: strategyOf('Recreate', 'RollingUpdate'),
  },
  DeploymentStrategy: {
    ...anyType,
    rollingUpdate: forbiddenUnless(
      ({ type }) => type !== 'Recreate',
      "may not be specified when strategy `type` is 'Recreate'",
    ),
  },
  RollingUpdateDeployment: {
    maxSurge: intOrPercent(),
    maxUnavailable: all(intOrPercent(true), (value = '25%', path, { maxSurge = '25%' }) =>
      amountOf(maxSurge) === 0 && amountOf(value) === 0
        ? [invalidAt(path, value, 'may not be 0 when `maxSurge` is 0')]
        : [],
    ),
  },
  ReplicaSetSpec: { self: workload(true), selector: immutable },
  StatefulSetSpec: {
    self: all(workload(true), statefulSetChange),
    // A kube-apiserver does not look at it here.
    revisionHistoryLimit: { instead: unchecked },
    podManagementPolicy: {
      instead: invalidIf(
        (value = 'OrderedReady') => value !== 'OrderedReady' && value !== 'Parallel',
        "must be 'OrderedReady' or 'Parallel'",
      ),
    },
    updateStrategy: (value, path, parent) =>
      strategyOf('RollingUpdate', 'OnDelete')(value, path, parent).map(() =>
        invalidAt(path, value, "must be 'RollingUpdate' or 'OnDelete'"),
      ),
  },
  StatefulSetUpdateStrategy: {
    ...anyType,
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
  DaemonSetUpdateStrategy: anyType,
  RollingUpdateDaemonSet: {
    maxSurge: all(intOrPercent(true), (value = 0, path, { maxUnavailable = 1 }) =>
      amountOf(value) !== 0 && amountOf(maxUnavailable) !== 0
        ? [invalidAt(path, value, 'may not be set when maxUnavailable is non-zero')]
        : [],
    ),
    maxUnavailable: all(intOrPercent(true), (value = 1, path, { maxSurge = 0 }) =>
      amountOf(maxSurge) === 0 && amountOf(value) === 0
        ? [requiredAt(path, 'cannot be 0 when maxSurge is 0')]
        : [],
    ),
  },
  Job: { spec: jobChange },
  JobSpec: {
    template: jobTemplate,
  },
  CronJobSpec: {
    // Skips steps and names.
    schedule: invalidIf((value) => {
      const fields = String(value).split(/\s+/).filter(Boolean)
      const fits = ([least, most]: readonly [number, number], at: number): boolean =>
        (fields[at] ?? '').split(',').every((range) => {
          const [start = '', end = start] = (range.split('/')[0] ?? '').split('-')
          return !(Number(start) < least) && !(Number(end) > most)
        })
      if (/TZ=/.test(String(value))) return true
      return !String(value).startsWith('@') && !(fields.length === 5 && ranges.every(fits))
    }, 'must have 5 fields within their ranges, and no TZ or CRON_TZ'),
    timeZone: invalidIf((zone) => {
      try {
        Intl.DateTimeFormat('en', zone === null ? {} : { timeZone: zone as string })
        return false
      } catch {
        return true
      }
    }, 'must be a known time zone'),
    jobTemplate: (template, path) => {
      const selector = valueAt(template, 'spec.selector')
      const message = '`selector` will be auto-generated'
      return isEmpty(selector) ? [] : [invalidAt(`${path}.spec.selector`, selector, message)]
    },
  },
}
