/*
 * What objects used until now. With a Prometheus it answers, and what the gateway has measured itself stands in where it does
 * not. Each object needs the right that `usage` needs: that to list or get its measurement. Several objects are one sum, which needs the
 * right to all of them.
 */

import { maxAskedObjects, type UsageQuestion } from '../../cache/prometheus.ts'
import { ringSlots, Series } from '../../cache/usage-series.ts'
import { unusableValue } from '../../query/condition/argument-error.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { ClientError } from '../errors/client-error.ts'
import { usageKindOf } from '../model/kind.ts'
import type { ClusterKind, FoundObject } from '../prepare/kind-view.ts'
import type { KindUsageHistoryArguments, UsageHistory } from '../schema/gateway-types.ts'
import { forbiddenUsage, measurementsFor } from './usage-read.ts'
import type { ReadRun } from './read-run.ts'

const defaultMinutes = 60
const maxMinutes = 1_440
/** A time and three values. */
const valuesOfPoint = 4

/** `args`: the arguments, with the cluster and the kind of the objects. `beside`: receives an error that stands beside the answer. */
export function usageHistory(
  run: ReadRun,
  objects: readonly FoundObject[],
  { minutes, cluster, kind }: KindUsageHistoryArguments & ClusterKind,
  beside: (error: ClientError) => void,
): UsageHistory | null {
  const lastMs = minutesOf(minutes) * 60_000
  run.budget.spend('fields', ringSlots * valuesOfPoint)
  const measured = usageKindOf(kind)
  const cache = run.served.clusters.get(cluster)
  if (measured === undefined || cache === undefined) return null
  const at = { cluster, kind: measured }
  const createdMs = Object.fromEntries(
    objects.map(({ part, id }) => [part.view.keyOf(id), createdAt(part.view.object(id))]),
  )
  const resource = measured.resource.resource === 'nodes' ? 'nodes' : 'pods'
  if (cache.prometheus !== undefined && objects.length > 0) {
    const asked = { resource, objects: createdMs, lastMs } as const
    const known = ofPrometheus(run, at, asked)
    if (known === undefined) return null
    if (known === null) {
      beside(forbiddenUsage(at))
      return null
    }
    if (known instanceof Series) return historyOf(known, 'PROMETHEUS', undefined)
    beside(known)
  }
  const { usage: rings } = cache
  const series = new Series(lastMs, rings.slotMs, Date.now())
  let isWhole = true
  for (const [key, fromMs] of Object.entries(createdMs)) {
    run.budget.spend('rows', 1)
    run.budget.spend('examined', series.timesMs.length)
    const found = measurementsFor(run, at, key)
    if (found === undefined) return null
    if (found instanceof ClientError) {
      beside(found)
      return null
    }
    const hasRing = rings.addTo(series, { cluster, resource, key, fromMs })
    if (!hasRing && rings.isFull && found.view.idOf(key) !== undefined) isWhole = false
  }
  if (!isWhole) beside(noRoom(at))
  return historyOf(series, 'MEASURED', rings.sinceMs(cluster, resource))
}

/** `null`: the viewer may not see it. An error: the gateway's own measurements answer. `undefined`: it is to be read. */
function ofPrometheus(
  run: ReadRun,
  at: ClusterKind,
  asked: UsageQuestion,
): Series | ClientError | null | undefined {
  const count = Object.keys(asked.objects).length
  if (count > maxAskedObjects) {
    const message = `Prometheus is asked for the use of at most ${maxAskedObjects} objects together`
    return new ClientError('QUERY_TOO_COSTLY', message, { value: maxAskedObjects })
  }
  run.budget.spend('examined', count)
  try {
    return run.direct.usage(at, asked, run.budget)
  } catch (error) {
    if (error instanceof ClientError && error.code === 'METRICS_UNREACHABLE') return error
    throw error
  }
}

function historyOf(
  { timesMs, stepMs, cpu, memory, counts }: Series,
  source: UsageHistory['source'],
  sinceMs: number | undefined,
): UsageHistory {
  return {
    times: timesMs.map((ms) => new Date(ms).toISOString()),
    stepSeconds: stepMs / 1_000,
    cpu,
    memory,
    counts,
    since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
    source,
  }
}

function minutesOf(minutes: number | null | undefined): number {
  const given = minutes ?? defaultMinutes
  if (given >= 1 && given <= maxMinutes) return given
  throw unusableValue('minutes', given, `is not between 1 and ${maxMinutes}`)
}

function createdAt({ metadata: { creationTimestamp } }: KubernetesObject): number {
  const createdMs = Date.parse(creationTimestamp ?? '')
  return Number.isNaN(createdMs) ? 0 : createdMs
}

function noRoom({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = 'the gateway keeps the use of as many objects as it may, and not of all of these'
  const hint = 'its operator can raise cache.maxUsageHistoryBytes'
  return new ClientError('CACHE_FULL', message, { cluster, type: typeName, hint })
}
