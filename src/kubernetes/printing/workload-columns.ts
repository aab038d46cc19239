import {
  countOf,
  type Fields,
  fieldsOf,
  itemsOf,
  numberOf,
  specOf,
  statusOf,
  textOf,
} from '../fields.ts'
import {
  ageColumn,
  type Cell,
  type Column,
  column,
  dateColumn,
  nameColumn,
  type PrintedKind,
  wide,
} from './column.ts'
import {
  humanDuration,
  joinedMembers,
  labelsText,
  selectorText,
  selectorTextOrNone,
} from './printed-text.ts'

const podSpecOf = (object: Fields): Fields => fieldsOf(fieldsOf(specOf(object)['template'])['spec'])

const count = (name: string, type: 'integer' | 'string', field: string): Column =>
  column(name, type, (object) => countOf(statusOf(object)[field]))

const desired = column('Desired', 'integer', (object) => countOf(specOf(object)['replicas']))

const ready = column('Ready', 'string', (object) => {
  const want = countOf(specOf(object)['replicas'])
  return `${countOf(statusOf(object)['readyReplicas'])}/${want}`
})

function containerColumns(podSpec: (object: Fields) => Fields = podSpecOf): readonly Column[] {
  const containers = (object: Fields): unknown => podSpec(object)['containers']
  return [
    column('Containers', 'string', (object) => joinedMembers(containers(object), 'name'), wide),
    column('Images', 'string', (object) => joinedMembers(containers(object), 'image'), wide),
  ]
}

const selector = column(
  'Selector',
  'string',
  (object) => selectorTextOrNone(specOf(object)['selector']),
  wide,
)

export const deploymentColumns: PrintedKind = {
  columns: [
    nameColumn(),
    ready,
    count('Up-to-date', 'string', 'updatedReplicas'),
    count('Available', 'string', 'availableReplicas'),
    ageColumn,
    ...containerColumns(),
    column('Selector', 'string', (object) => selectorText(specOf(object)['selector']), wide),
  ],
}

const replicaColumns: readonly Column[] = [
  nameColumn(),
  desired,
  count('Current', 'integer', 'replicas'),
  count('Ready', 'integer', 'readyReplicas'),
  ageColumn,
  ...containerColumns(),
]

export const replicaSetColumns: PrintedKind = {
  columns: [...replicaColumns, selector],
}

export const replicationControllerColumns: PrintedKind = {
  columns: [
    ...replicaColumns,
    column('Selector', 'string', (object) => labelsText(specOf(object)['selector']), wide),
  ],
}

export const statefulSetColumns: PrintedKind = {
  columns: [nameColumn(), ready, ageColumn, ...containerColumns()],
}

export const daemonSetColumns: PrintedKind = {
  columns: [
    nameColumn(),
    count('Desired', 'integer', 'desiredNumberScheduled'),
    count('Current', 'integer', 'currentNumberScheduled'),
    count('Ready', 'integer', 'numberReady'),
    count('Up-to-date', 'integer', 'updatedNumberScheduled'),
    count('Available', 'integer', 'numberAvailable'),
    column('Node Selector', 'string', (object) => labelsText(podSpecOf(object)['nodeSelector'])),
    ageColumn,
    ...containerColumns(),
    selector,
  ],
}

function completions(object: Fields): string {
  const { completions: want, parallelism } = specOf(object)
  const succeeded = countOf(statusOf(object)['succeeded'])
  if (numberOf(want) !== undefined) return `${succeeded}/${String(want)}`
  return countOf(parallelism) > 1 ? `${succeeded}/1 of ${countOf(parallelism)}` : `${succeeded}/1`
}

/** How long a job took, or how long it has been running. */
function duration(object: Fields): Cell {
  const { startTime, completionTime } = statusOf(object)
  const [start, end] = [textOf(startTime), textOf(completionTime)]
  if (start === undefined) return { value: '' }
  if (end === undefined) return { value: null, since: start }
  return { value: humanDuration(Date.parse(end) - Date.parse(start)) }
}

function jobStatus(object: Fields): string {
  const conditions = itemsOf(statusOf(object)['conditions'])
  const has = (type: string): boolean =>
    conditions.find((one) => one['type'] === type)?.['status'] === 'True'
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (textOf(fieldsOf(object['metadata'])['deletionTimestamp']) !== undefined) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has) ?? 'Running'
}

export const jobColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Status', 'string', jobStatus),
    column('Completions', 'string', completions),
    { name: 'Duration', type: 'string', format: '', priority: 0, cell: duration },
    ageColumn,
    ...containerColumns(),
    selector,
  ],
}

const jobSpecOf = (object: Fields): Fields =>
  fieldsOf(fieldsOf(specOf(object)['jobTemplate'])['spec'])

export const cronJobColumns: PrintedKind = {
  columns: [
    nameColumn(),
    column('Schedule', 'string', (object) => textOf(specOf(object)['schedule']) ?? ''),
    column('Timezone', 'string', (object) => textOf(specOf(object)['timeZone']) ?? '<none>'),
    column('Suspend', 'boolean', (object) => {
      const { suspend } = specOf(object)
      return typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : '<unset>'
    }),
    column('Active', 'integer', (object) => itemsOf(statusOf(object)['active']).length),
    dateColumn('Last Schedule', (object) => textOf(statusOf(object)['lastScheduleTime']), {
      absent: '<none>',
    }),
    ageColumn,
    ...containerColumns((object) => fieldsOf(fieldsOf(jobSpecOf(object)['template'])['spec'])),
    column(
      'Selector',
      'string',
      (object) => selectorTextOrNone(jobSpecOf(object)['selector']),
      wide,
    ),
  ],
}
