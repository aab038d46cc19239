/*
 * The columns that `kubectl get pods` shows. Several of them need the same summary of the containers: how many are ready, how
 * often they have restarted, and the status of the pod.
 */

import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../fields.ts'
import { ageColumn, type Cell, type Column, column, nameColumn, wide } from './column.ts'

/** The containers of a pod, as its columns show them. */
interface ContainerSummary {
  readonly ready: number
  readonly total: number
  readonly restarts: number
  readonly lastRestart: string | undefined
  readonly status: string
}

class Restarts {
  count = 0
  last: string | undefined

  add(container: Fields): void {
    this.count += countOf(container['restartCount'])
    const terminated = fieldsOf(fieldsOf(container['lastState'])['terminated'])
    const ended = textOf(terminated['finishedAt'])
    if (ended === undefined) return
    if (this.last === undefined || Date.parse(this.last) < Date.parse(ended)) this.last = ended
  }
}

function summaryOf(object: Fields): ContainerSummary {
  const spec = fieldsOf(object['spec'])
  const status = fieldsOf(object['status'])
  const initSpecs = itemsOf(spec['initContainers'])
  const sidecars = new Set(
    initSpecs.flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name] : [])),
  )
  const phase = textOf(status['phase']) ?? ''
  const conditions = itemsOf(status['conditions'])
  const isGated = conditions.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  let shown = isGated ? 'SchedulingGated' : (textOf(status['reason']) ?? phase)
  let ready = 0
  const initRestarts = new Restarts()
  const restarts = new Restarts()
  let initializing: string | undefined
  for (const [at, container] of itemsOf(status['initContainerStatuses']).entries()) {
    initRestarts.add(container)
    const isSidecar = sidecars.has(container['name'])
    if (isSidecar) restarts.add(container)
    if (isSidecar && container['started'] === true && !hasEndedWell(container)) {
      if (container['ready'] === true) ready += 1
      continue
    }
    if (hasEndedWell(container)) continue
    initializing = `Init:${initReason(container) ?? `${at}/${initSpecs.length}`}`
    break
  }
  if (initializing !== undefined) shown = initializing
  const isInitialized = statusOf(conditions, 'Initialized') === 'True'
  const counted = initializing === undefined || isInitialized ? restarts : initRestarts
  if (counted === restarts) {
    const containers = itemsOf(status['containerStatuses']).toReversed()
    let isRunning = false
    let failure: string | undefined
    for (const container of containers) {
      restarts.add(container)
      const { waiting, terminated, running } = fieldsOf(container['state'])
      const waits = textOf(fieldsOf(waiting)['reason'])
      if (waits !== undefined) shown = waits
      else if (isPresent(terminated)) {
        shown = endReason(fieldsOf(terminated))
        if (countOf(fieldsOf(terminated)['exitCode']) !== 0) failure = shown
      } else if (container['ready'] === true && isPresent(running)) {
        isRunning = true
        ready += 1
      }
    }
    if (shown === 'Completed') {
      if (isRunning && statusOf(conditions, 'Ready') === 'True') shown = 'Running'
      else if (failure !== undefined) shown = failure
      else if (isRunning) shown = 'NotReady'
    }
  }
  if (isPresent(fieldsOf(object['metadata'])['deletionTimestamp'])) {
    if (status['reason'] === 'NodeLost') shown = 'Unknown'
    else if (phase !== 'Failed' && phase !== 'Succeeded') shown = 'Terminating'
  }
  const total = itemsOf(spec['containers']).length + sidecars.size
  return { ready, total, restarts: counted.count, lastRestart: counted.last, status: shown }
}

/**
 * The number in kubectl's column RESTARTS. While a pod initializes, it counts its init containers; later, its sidecars
 * and containers. An index of pods computes it for each pod. Most pods have no init containers, so their restarts are
 * summed without the rest of the summary.
 */
export function restartsOf(pod: Fields): number {
  const status = fieldsOf(pod['status'])
  if (itemsOf(status['initContainerStatuses']).length > 0) return summaryOf(pod).restarts
  let sum = 0
  for (const { restartCount } of itemsOf(status['containerStatuses'])) sum += countOf(restartCount)
  return sum
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function statusOf(conditions: readonly Fields[], type: string): unknown {
  return conditions.find((one) => one['type'] === type)?.['status']
}

function hasEndedWell(container: Fields): boolean {
  const { terminated } = fieldsOf(container['state'])
  return isPresent(terminated) && countOf(fieldsOf(terminated)['exitCode']) === 0
}

/** Why an init container has failed; `undefined` while it runs. */
function initReason(container: Fields): string | undefined {
  const { waiting, terminated } = fieldsOf(container['state'])
  if (isPresent(terminated)) return endReason(fieldsOf(terminated))
  const reason = textOf(fieldsOf(waiting)['reason'])
  return reason === 'PodInitializing' ? undefined : reason
}

function endReason({ reason, signal, exitCode }: Fields): string {
  if (textOf(reason) !== undefined) return String(reason)
  return countOf(signal) === 0 ? `ExitCode:${countOf(exitCode)}` : `Signal:${countOf(signal)}`
}

function readinessGates(object: Fields): string {
  const gates = itemsOf(fieldsOf(object['spec'])['readinessGates'])
  const conditions = itemsOf(fieldsOf(object['status'])['conditions'])
  const met = gates.filter(
    ({ conditionType }) => statusOf(conditions, String(conditionType)) === 'True',
  )
  return gates.length === 0 ? '<none>' : `${met.length}/${gates.length}`
}

let last: { readonly object: Fields; readonly summary: ContainerSummary } | undefined

/** Several columns of a pod need the same summary. */
function cachedSummary(object: Fields): ContainerSummary {
  if (last?.object !== object) last = { object, summary: summaryOf(object) }
  return last.summary
}

function restartsCell(object: Fields): Cell {
  const { restarts, lastRestart } = cachedSummary(object)
  return { value: String(restarts), since: restarts === 0 ? undefined : lastRestart }
}

const orNone = (value: unknown): string => textOf(value) ?? '<none>'

export const podColumns: readonly Column[] = [
  nameColumn(),
  column('Ready', (object) => {
    const { ready, total } = cachedSummary(object)
    return `${ready}/${total}`
  }),
  column('Status', (object) => cachedSummary(object).status),
  column('Restarts', () => null, { cell: restartsCell }),
  ageColumn,
  wide(column('IP', ({ status }) => orNone(itemsOf(fieldsOf(status)['podIPs'])[0]?.['ip']))),
  wide(column('Node', ({ spec }) => orNone(fieldsOf(spec)['nodeName']))),
  wide(column('Nominated Node', ({ status }) => orNone(fieldsOf(status)['nominatedNodeName']))),
  wide(column('Readiness Gates', readinessGates)),
]
