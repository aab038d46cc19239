import { labelSelectorOf, matchesLabels } from '../../../kubernetes/label-selector.ts'
import { equalJson, valueAt } from '../../api/json.ts'
import {
  type FieldProblem,
  forbiddenAt,
  invalidAt,
  requiredAt,
  unsupportedAt,
} from '../../api/field-problem.ts'
import {
  amountOf,
  atLeast,
  type Check,
  type Checks,
  type Fields,
  fieldsOf,
  intOrPercent,
  isEmpty,
  itemsOf,
  labelSelector,
  oneOf,
  problemsOf,
  required,
  textOf,
} from './field-checks.ts'
import { templateProblems } from './pod-checks.ts'

/** The problems of a workload's spec, and of its change. */
type SpecProblems = (
  spec: Fields,
  before: Fields | undefined,
  at: string,
) => readonly FieldProblem[]

/** The differences between the workloads of `apps`. */
interface WorkloadRules {
  /** The name of the kind in the message about an empty selector. */
  readonly kind: string
  /** The name of the kind in the message about a deadline of its pods. */
  readonly called: string
  readonly checks: Checks
  /** A further message about an invalid selector, if any. */
  readonly badSelector?: string
  readonly needsSelector: boolean
  readonly own: SpecProblems
}

const immutable = (
  field: string,
  before: Fields,
  after: Fields,
  at: string,
): readonly FieldProblem[] =>
  equalJson(before[field] ?? null, after[field] ?? null)
    ? []
    : [invalidAt(`${at}.${field}`, after[field] ?? null, 'field is immutable')]

function selectsNothing(selector: unknown): boolean {
  const { matchExpressions, matchLabels } = fieldsOf(selector)
  return Object.keys(fieldsOf(matchLabels)).length === 0 && isEmpty(matchExpressions)
}

function selects(selector: unknown, template: unknown): boolean {
  if (selectsNothing(selector)) return false
  const labels = valueAt(template, 'metadata.labels') as Record<string, string> | undefined
  return matchesLabels(labelSelectorOf(selector as Parameters<typeof labelSelectorOf>[0]), labels)
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
  const others = itemsOf(spec['volumes']).filter((one) => !names.has(fieldsOf(one)['name']))
  return { ...fieldsOf(template), spec: { ...spec, volumes: [...claims, ...others] } }
}

const mismatch = (template: unknown, at: string): FieldProblem =>
  invalidAt(
    `${at}.template.metadata.labels`,
    valueAt(template, 'metadata.labels') ?? null,
    '`selector` does not match template `labels`',
  )

const workload =
  ({ kind, called, checks, badSelector, needsSelector, own }: WorkloadRules): SpecProblems =>
  (spec, before, at) => {
    const { selector, template } = spec
    const pods = fieldsOf(valueAt(template, 'spec'))
    const inSelector = problemsOf(selector, labelSelector, `${at}.selector`)
    const found = [...problemsOf(spec, checks, at), ...inSelector]
    const isBlank = !isEmpty(selector) && selectsNothing(selector)
    if (isEmpty(selector)) {
      if (needsSelector) found.push(requiredAt(`${at}.selector`))
    } else if (isBlank) {
      found.push(invalidAt(`${at}.selector`, selector, `empty selector is invalid for ${kind}`))
    } else if (inSelector.length > 0 && badSelector !== undefined) {
      found.push(invalidAt(`${at}.selector`, selector, badSelector))
    }
    if (inSelector.length === 0 && !isBlank && !selects(selector, template)) {
      found.push(mismatch(template, at))
    }
    found.push(...templateProblems(withClaims(spec), `${at}.template`))
    const policy = pods['restartPolicy']
    if (!isEmpty(policy) && policy !== 'Always') {
      found.push(unsupportedAt(`${at}.template.spec.restartPolicy`, policy, ['Always']))
    }
    if (!isEmpty(pods['activeDeadlineSeconds'])) {
      const message = `activeDeadlineSeconds in ${called} is not Supported`
      found.push(forbiddenAt(`${at}.template.spec.activeDeadlineSeconds`, message))
    }
    return [...found, ...own(spec, before, at)]
  }

const counted: Checks = { replicas: atLeast(0), minReadySeconds: atLeast(0) }
const invalidSelector = 'invalid label selector'

const keepsSelector: SpecProblems = (spec, before, at) =>
  before === undefined ? [] : immutable('selector', before, spec, at)

const deploymentStrategy: SpecProblems = (spec, before, at) => {
  const { minReadySeconds = 0, progressDeadlineSeconds = 600, strategy } = spec
  const { rollingUpdate, type = 'RollingUpdate' } = fieldsOf(strategy)
  const path = `${at}.strategy`
  const found = [...keepsSelector(spec, before, at)]
  if (type !== 'RollingUpdate' && type !== 'Recreate') {
    found.push(unsupportedAt(path, strategy, ['Recreate', 'RollingUpdate']))
  } else if (type === 'Recreate' && !isEmpty(rollingUpdate)) {
    const message = "may not be specified when strategy `type` is 'Recreate'"
    found.push(forbiddenAt(`${path}.rollingUpdate`, message))
  }
  const { maxSurge = '25%', maxUnavailable = '25%' } = fieldsOf(rollingUpdate)
  if (amountOf(maxSurge) === 0 && amountOf(maxUnavailable) === 0) {
    const message = 'may not be 0 when `maxSurge` is 0'
    found.push(invalidAt(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, message))
  }
  if (Number(progressDeadlineSeconds) <= Number(minReadySeconds)) {
    const message = 'must be greater than minReadySeconds'
    found.push(invalidAt(`${at}.progressDeadlineSeconds`, progressDeadlineSeconds, message))
  }
  return found
}

export const deploymentProblems: SpecProblems = workload({
  kind: 'deployment',
  called: 'ReplicaSet',
  checks: {
    ...counted,
    revisionHistoryLimit: atLeast(0),
    progressDeadlineSeconds: atLeast(0),
    'strategy.rollingUpdate.maxSurge': intOrPercent(),
    'strategy.rollingUpdate.maxUnavailable': intOrPercent(true),
  },
  badSelector: invalidSelector,
  needsSelector: true,
  own: deploymentStrategy,
})

export const replicaSetProblems: SpecProblems = workload({
  kind: 'deployment',
  called: 'ReplicaSet',
  checks: counted,
  badSelector: invalidSelector,
  needsSelector: true,
  own: keepsSelector,
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

const statefulSetChange: SpecProblems = (spec, before, at) => {
  const { podManagementPolicy = 'OrderedReady', updateStrategy } = spec
  const { rollingUpdate, type = 'RollingUpdate' } = fieldsOf(updateStrategy)
  const path = `${at}.updateStrategy`
  const found: FieldProblem[] = []
  if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    const message = "must be 'OrderedReady' or 'Parallel'"
    found.push(invalidAt(`${at}.podManagementPolicy`, podManagementPolicy, message))
  }
  if (type !== 'RollingUpdate' && type !== 'OnDelete') {
    found.push(invalidAt(path, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'"))
  } else if (type === 'OnDelete' && !isEmpty(rollingUpdate)) {
    const message = "only allowed for updateStrategy 'RollingUpdate'"
    found.push(invalidAt(`${path}.rollingUpdate`, rollingUpdate, message))
  }
  const names = Object.keys({ ...before, ...spec }).filter((name) => !changeable.includes(name))
  if (before !== undefined && names.some((name) => !equalJson(before[name], spec[name]))) {
    const message =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
      "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    found.push(forbiddenAt(at, message))
  }
  return found
}

export const statefulSetProblems: SpecProblems = workload({
  kind: 'statefulset',
  called: 'StatefulSet',
  checks: {
    ...counted,
    'ordinals.start': atLeast(0),
    'updateStrategy.rollingUpdate.partition': atLeast(0),
    'persistentVolumeClaimRetentionPolicy.whenDeleted': oneOf('Retain', 'Delete'),
    'persistentVolumeClaimRetentionPolicy.whenScaled': oneOf('Retain', 'Delete'),
  },
  badSelector: '',
  needsSelector: true,
  own: statefulSetChange,
})

const daemonSetStrategy: SpecProblems = (spec, before, at) => {
  const { updateStrategy } = spec
  const { rollingUpdate, type = 'RollingUpdate' } = fieldsOf(updateStrategy)
  const { maxSurge = 0, maxUnavailable = 1 } = fieldsOf(rollingUpdate)
  const path = `${at}.updateStrategy`
  const found = [...keepsSelector(spec, before, at)]
  if (type !== 'RollingUpdate' && type !== 'OnDelete') {
    found.push(unsupportedAt(path, updateStrategy, ['RollingUpdate', 'OnDelete']))
  }
  if (amountOf(maxSurge) !== 0 && amountOf(maxUnavailable) !== 0) {
    const message = 'may not be set when maxUnavailable is non-zero'
    found.push(invalidAt(`${path}.rollingUpdate.maxSurge`, maxSurge, message))
  }
  if (amountOf(maxSurge) === 0 && amountOf(maxUnavailable) === 0) {
    const message = 'cannot be 0 when maxSurge is 0'
    found.push(requiredAt(`${path}.rollingUpdate.maxUnavailable`, message))
  }
  return found
}

export const daemonSetProblems: SpecProblems = workload({
  kind: 'daemonset',
  called: 'DaemonSet',
  checks: {
    minReadySeconds: atLeast(0),
    revisionHistoryLimit: atLeast(0),
    'updateStrategy.rollingUpdate.maxSurge': intOrPercent(true),
    'updateStrategy.rollingUpdate.maxUnavailable': intOrPercent(true),
  },
  needsSelector: false,
  own: daemonSetStrategy,
})

const jobChecks: Checks = {
  parallelism: atLeast(0),
  completions: atLeast(0),
  backoffLimit: atLeast(0),
  activeDeadlineSeconds: atLeast(0),
  ttlSecondsAfterFinished: atLeast(0),
  completionMode: oneOf('NonIndexed', 'Indexed'),
  podReplacementPolicy: oneOf('Failed', 'TerminatingOrFailed'),
}

/** The pods of a job may not restart forever. */
const endingPolicy: Check = (value, path) =>
  value === 'OnFailure' || value === 'Never'
    ? []
    : [requiredAt(path, 'valid values: "OnFailure", "Never"')]

function jobSpecProblems(spec: Fields, at: string): FieldProblem[] {
  return [
    ...problemsOf(spec, jobChecks, at),
    ...problemsOf(spec['selector'], labelSelector, `${at}.selector`),
    ...templateProblems(spec['template'], `${at}.template`),
    ...problemsOf(spec, { 'template.spec.restartPolicy': endingPolicy }, at),
  ]
}

const mode = (job: Fields): unknown => job['completionMode'] ?? 'NonIndexed'

export const jobProblems: SpecProblems = (spec, before, at) => {
  const { manualSelector, selector, template } = spec
  const found = jobSpecProblems(spec, at)
  const isNew = before === undefined || !equalJson(before['selector'], selector)
  if (isNew && !isEmpty(selector)) {
    if (manualSelector !== true) {
      found.push(invalidAt(`${at}.selector`, selector, '`selector` not auto-generated'))
    }
    if (!selects(selector, template)) found.push(mismatch(template, at))
  }
  if (before === undefined) return found
  if (mode(before) !== mode(spec)) found.push(...immutable('completionMode', before, spec, at))
  const isIndexed = mode(before) === 'Indexed'
  return [
    ...found,
    ...['selector', 'template', ...(isIndexed ? [] : ['completions'])].flatMap((field) =>
      immutable(field, before, spec, at),
    ),
  ]
}

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const

/** Checks the numbers of a schedule. Skips steps and names. */
const schedule: Check = (value, path) => {
  const text = String(value)
  if (/TZ=/.test(text)) {
    const message = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
    return [invalidAt(path, value, message)]
  }
  if (text.startsWith('@')) return []
  const fields = text.split(/\s+/).filter(Boolean)
  if (fields.length !== 5) {
    const message = `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
    return [invalidAt(path, value, message)]
  }
  for (const [at, [least, most]] of ranges.entries()) {
    for (const range of (fields[at] ?? '').split(',')) {
      const [start = '', end = start] = (range.split('/')[0] ?? '').split('-')
      if (Number(start) < least) {
        const message = `beginning of range (${start}) below minimum (${least}): ${range}`
        return [invalidAt(path, value, message)]
      }
      if (Number(end) > most) {
        const message = `end of range (${end}) above maximum (${most}): ${range}`
        return [invalidAt(path, value, message)]
      }
    }
  }
  return []
}

const timeZone: Check = (value, path) => {
  if (value === undefined || value === null) return []
  if (value === '') return [invalidAt(path, value, 'timeZone must be nil or non-empty string')]
  const zone = textOf(value)
  try {
    Intl.DateTimeFormat('en', { timeZone: zone })
    return []
  } catch {
    return [invalidAt(path, value, `unknown time zone ${zone}`)]
  }
}

const cronJobChecks: Checks = {
  schedule: [required(), schedule],
  timeZone,
  concurrencyPolicy: oneOf('Allow', 'Forbid', 'Replace'),
  startingDeadlineSeconds: atLeast(0),
  successfulJobsHistoryLimit: atLeast(0),
  failedJobsHistoryLimit: atLeast(0),
  'jobTemplate.spec.selector': (value, path) =>
    isEmpty(value) ? [] : [invalidAt(path, value, '`selector` will be auto-generated')],
}

export const cronJobProblems: SpecProblems = (spec, _, at) => [
  ...problemsOf(spec, cronJobChecks, at),
  ...jobSpecProblems(fieldsOf(valueAt(spec, 'jobTemplate.spec')), `${at}.jobTemplate.spec`),
]
