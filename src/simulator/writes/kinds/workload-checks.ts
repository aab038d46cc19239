import { type Fields, fieldsOf, itemsOf } from '../../../kubernetes/fields.ts'
import { labelSelectorOf, matchesLabels } from '../../../kubernetes/label-selector.ts'
import { equalJson, valueAt } from '../../api/json.ts'
import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../../api/status-refusal.ts'
import {
  all,
  amountOf,
  atLeast,
  type Check,
  type Checks,
  forbiddenUnless,
  immutable,
  intOrPercent,
  invalidIf,
  isEmpty,
  labelSelector,
  oneOf,
  problemsOf,
  required,
} from '../../schema/field-checks.ts'
import { podTemplate } from './pod-checks.ts'

/** The differences between the workloads of `apps`. */
interface WorkloadRules {
  /** The name of the kind in the message about an empty selector. */
  readonly kind: string
  /** The name of the kind in the message about a deadline of its pods. */
  readonly called: string
  readonly needsSelector?: boolean
  /** A further message about an invalid selector, if any. */
  readonly badSelector?: string
  readonly checks: Checks
  /** Checks of the spec as a whole. */
  readonly own?: Check
}

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

/** The template with a volume for each volume claim, as in the pods of a StatefulSet. */
function withClaims({ template, volumeClaimTemplates }: Fields): unknown {
  const claims = itemsOf(volumeClaimTemplates).map((one) => {
    const name = valueAt(one, 'metadata.name')
    return { name, persistentVolumeClaim: { claimName: name } }
  })
  if (claims.length === 0) return template
  const spec = fieldsOf(valueAt(template, 'spec'))
  const names = new Set(claims.map(({ name }) => name))
  const others = itemsOf(spec['volumes']).filter(({ name }) => !names.has(name))
  return { ...fieldsOf(template), spec: { ...spec, volumes: [...claims, ...others] } }
}

const selectorProblems = (spec: Fields, at: string, rules: WorkloadRules): FieldProblem[] => {
  const { selector } = spec
  const path = `${at}.selector`
  const found = problemsOf(selector, labelSelector, path)
  const isValid = found.length === 0
  if (isEmpty(selector)) {
    if (rules.needsSelector === true) found.push(requiredAt(path))
  } else if (selectsNothing(selector)) {
    return [...found, invalidAt(path, selector, `empty selector is invalid for ${rules.kind}`)]
  } else if (!isValid && rules.badSelector !== undefined) {
    found.push(invalidAt(path, selector, rules.badSelector))
  }
  return isValid ? [...found, ...matchProblems(spec, at)] : found
}

function workload(rules: WorkloadRules): Check {
  const message = `activeDeadlineSeconds in ${rules.called} is not Supported`
  return all(
    rules.checks,
    (spec, at) => selectorProblems(fieldsOf(spec), at, rules),
    (spec, at, parent) => podTemplate(withClaims(fieldsOf(spec)), `${at}.template`, parent),
    {
      'template.spec.restartPolicy': oneOf('Always'),
      'template.spec.activeDeadlineSeconds': forbiddenUnless(() => false, message),
    },
    ...(rules.own === undefined ? [] : [rules.own]),
  )
}

const counted: Checks = { replicas: atLeast(0), minReadySeconds: atLeast(0) }

/** The types of a strategy. A problem shows the strategy as a whole. */
const strategyOf =
  (...types: readonly string[]): Check =>
  (value, path) => {
    const { type = 'RollingUpdate' } = fieldsOf(value)
    return types.includes(String(type)) ? [] : [unsupportedAt(path, value, types)]
  }

const deployment: Check = workload({
  kind: 'deployment',
  called: 'ReplicaSet',
  needsSelector: true,
  badSelector: 'invalid label selector',
  checks: {
    ...counted,
    selector: immutable,
    revisionHistoryLimit: atLeast(0),
    progressDeadlineSeconds: all(atLeast(0), (value = 600, path, { minReadySeconds = 0 }) =>
      Number(value) > Number(minReadySeconds)
        ? []
        : [invalidAt(path, value, 'must be greater than minReadySeconds')],
    ),
    strategy: strategyOf('Recreate', 'RollingUpdate'),
    'strategy.rollingUpdate': forbiddenUnless(
      ({ type }) => type !== 'Recreate',
      "may not be specified when strategy `type` is 'Recreate'",
    ),
    'strategy.rollingUpdate.maxSurge': intOrPercent(),
    'strategy.rollingUpdate.maxUnavailable': all(
      intOrPercent(true),
      (value = '25%', path, { maxSurge = '25%' }) =>
        amountOf(maxSurge) === 0 && amountOf(value) === 0
          ? [invalidAt(path, value, 'may not be 0 when `maxSurge` is 0')]
          : [],
    ),
  },
})

const replicaSet: Check = workload({
  kind: 'deployment',
  called: 'ReplicaSet',
  needsSelector: true,
  badSelector: 'invalid label selector',
  checks: { ...counted, selector: immutable },
})

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
  const message =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
  return [forbiddenAt(path, message)]
}

const statefulSet: Check = workload({
  kind: 'statefulset',
  called: 'StatefulSet',
  needsSelector: true,
  badSelector: '',
  checks: {
    ...counted,
    podManagementPolicy: invalidIf(
      (value = 'OrderedReady') => value !== 'OrderedReady' && value !== 'Parallel',
      "must be 'OrderedReady' or 'Parallel'",
    ),
    'ordinals.start': atLeast(0),
    updateStrategy: (value, path) =>
      strategyOf('RollingUpdate', 'OnDelete')(value, path, {}).map(() =>
        invalidAt(path, value, "must be 'RollingUpdate' or 'OnDelete'"),
      ),
    'updateStrategy.rollingUpdate': invalidIf(
      (value, { type }) => type === 'OnDelete' && !isEmpty(value),
      "only allowed for updateStrategy 'RollingUpdate'",
    ),
    'updateStrategy.rollingUpdate.partition': atLeast(0),
    'persistentVolumeClaimRetentionPolicy.whenDeleted': oneOf('Retain', 'Delete'),
    'persistentVolumeClaimRetentionPolicy.whenScaled': oneOf('Retain', 'Delete'),
  },
  own: statefulSetChange,
})

const daemonSet: Check = workload({
  kind: 'daemonset',
  called: 'DaemonSet',
  checks: {
    selector: immutable,
    minReadySeconds: atLeast(0),
    revisionHistoryLimit: atLeast(0),
    updateStrategy: strategyOf('RollingUpdate', 'OnDelete'),
    'updateStrategy.rollingUpdate.maxSurge': all(
      intOrPercent(true),
      (value = 0, path, { maxUnavailable = 1 }) =>
        amountOf(value) !== 0 && amountOf(maxUnavailable) !== 0
          ? [invalidAt(path, value, 'may not be set when maxUnavailable is non-zero')]
          : [],
    ),
    'updateStrategy.rollingUpdate.maxUnavailable': all(
      intOrPercent(true),
      (value = 1, path, { maxSurge = 0 }) =>
        amountOf(maxSurge) === 0 && amountOf(value) === 0
          ? [requiredAt(path, 'cannot be 0 when maxSurge is 0')]
          : [],
    ),
  },
})

const jobFields: Checks = {
  parallelism: atLeast(0),
  completions: atLeast(0),
  backoffLimit: atLeast(0),
  activeDeadlineSeconds: atLeast(0),
  ttlSecondsAfterFinished: atLeast(0),
  completionMode: oneOf('NonIndexed', 'Indexed'),
  podReplacementPolicy: oneOf('Failed', 'TerminatingOrFailed'),
  selector: labelSelector,
  template: podTemplate,
  // The pods of a job may not restart forever.
  'template.spec.restartPolicy': (value, path) =>
    value === 'OnFailure' || value === 'Never'
      ? []
      : [requiredAt(path, 'valid values: "OnFailure", "Never"')],
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
  const checks = Object.fromEntries(kept.map((field) => [field, immutable]))
  return [...found, ...problemsOf(spec, checks, at, previous)]
}

/** The lowest and highest number of each field of a schedule. */
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const

/** The problem of the numbers of a schedule; `undefined` if they are valid. Skips steps and names. */
function scheduleProblem(schedule: string): string | undefined {
  if (/TZ=/.test(schedule)) {
    return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  }
  if (schedule.startsWith('@')) return undefined
  const fields = schedule.split(/\s+/).filter(Boolean)
  if (fields.length !== 5) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  }
  for (const [at, [least, most]] of ranges.entries()) {
    for (const range of (fields[at] ?? '').split(',')) {
      const [start = '', end = start] = (range.split('/')[0] ?? '').split('-')
      if (Number(start) < least) {
        return `beginning of range (${start}) below minimum (${least}): ${range}`
      }
      if (Number(end) > most) return `end of range (${end}) above maximum (${most}): ${range}`
    }
  }
  return undefined
}

function timeZoneProblem(timeZone: unknown): string | undefined {
  if (timeZone === undefined || timeZone === null) return undefined
  const zone = typeof timeZone === 'string' ? timeZone : JSON.stringify(timeZone)
  if (zone === '') return 'timeZone must be nil or non-empty string'
  try {
    Intl.DateTimeFormat('en', { timeZone: zone })
    return undefined
  } catch {
    return `unknown time zone ${zone}`
  }
}

const invalidBy =
  (problemOf: (value: unknown) => string | undefined): Check =>
  (value, path) => {
    const problem = problemOf(value)
    return problem === undefined ? [] : [invalidAt(path, value, problem)]
  }

const cronJob: Checks = {
  schedule: [required(), invalidBy((value) => scheduleProblem(String(value)))],
  timeZone: invalidBy(timeZoneProblem),
  concurrencyPolicy: oneOf('Allow', 'Forbid', 'Replace'),
  startingDeadlineSeconds: atLeast(0),
  successfulJobsHistoryLimit: atLeast(0),
  failedJobsHistoryLimit: atLeast(0),
  'jobTemplate.spec.selector': invalidIf(
    (value) => !isEmpty(value),
    '`selector` will be auto-generated',
  ),
  'jobTemplate.spec': jobFields,
}

/** The checks of the kinds that run pods, by resource. */
export const workloadChecks: Readonly<Record<string, Checks>> = {
  'deployments.apps': { spec: deployment },
  'replicasets.apps': { spec: replicaSet },
  'statefulsets.apps': { spec: statefulSet },
  'daemonsets.apps': { spec: daemonSet },
  'jobs.batch': { spec: all(jobFields, jobChange) },
  'cronjobs.batch': { spec: cronJob },
}
