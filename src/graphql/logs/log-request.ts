/*
 * The arguments of `podLogs`: the pods (`askedObjects`, for the report of the operation), and the lines of each container
 * (`logRequest`). Either ids name the objects, or namespaces, labels or a filter limit a list of pods. The logs of all
 * pods are never meant.
 */

import { instantKey } from '../../query/index/index-key.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { ClientError } from '../errors/client-error.ts'
import { readObjectId } from '../model/object-id.ts'
import type { KindLogsArguments } from '../schema/gateway-types.ts'
import { clustersNamed } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { LogLimits } from './log-limits.ts'

/** An object whose logs were requested, or a pod whose log was opened. An absent member was not limited, or is unknown. */
export interface LoggedObject {
  readonly cluster: string
  /** The name of the GraphQL type. */
  readonly type: string
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly uid?: string | undefined
}

/** The objects that the report of an operation names, by {@link loggedKey} if they have a UID. */
export type LoggedObjects = Map<string, LoggedObject>

export function loggedKey(cluster: string, uid: string): string {
  return `${cluster}/${uid}`
}

/** The objects whose logs are requested: by their ids, or the pods of namespaces. Throws as `clustersNamed` does. */
export function askedObjects(served: ServedSchema, args: KindLogsArguments): LoggedObjects {
  const asked: LoggedObjects = new Map()
  const { ids, namespace, namespaces } = args
  for (const id of ids ?? []) {
    const identity = readObjectId(id)
    if (identity === undefined) continue
    const { cluster, group, kind, object } = identity
    const key = 'uid' in object ? loggedKey(cluster, object.uid) : id
    asked.set(key, { cluster, type: served.kindOf(group, kind)?.typeName ?? kind, ...object })
  }
  if (asked.size > 0) return asked
  for (const cluster of clustersNamed(served, args)) {
    for (const within of namespaces ?? [namespace ?? undefined]) {
      asked.set(`${cluster} ${within}`, { cluster, type: 'Pod', namespace: within })
    }
  }
  return asked
}

/** The checked request for each container. */
export interface LogRequest {
  readonly container: string | undefined
  readonly previous: boolean
  readonly tailLines: number | undefined
  /** RFC 3339. */
  readonly sinceTime: string | undefined
  readonly timestamps: boolean
  readonly contains: string | undefined
}

const defaultTailLines = 100
const maxContains = 1_000

/** Checks the arguments of `podLogs`. Throws `ClientError`. */
export function logRequest(args: KindLogsArguments, limits: LogLimits): LogRequest {
  const { container, previous, tailLines, since, timestamps, contains } = args
  requirePods(args)
  const { maxTailLines: most } = limits
  if (typeof tailLines === 'number' && (tailLines < 0 || tailLines > most)) {
    throw invalid('tailLines', tailLines, `a number from 0 to ${most} (logs.maxTailLines)`)
  }
  if (typeof contains === 'string' && (contains === '' || contains.length > maxContains)) {
    throw invalid('contains', contains.length, `a text of 1 to ${maxContains} characters`)
  }
  let sinceTime: string | undefined
  if (typeof since === 'string') {
    const isTime = instantKey(since) !== undefined
    const ms = isTime ? 0 : (parseDurationMs(since) ?? 0)
    const at = new Date(isTime ? since : Date.now() - ms)
    if ((!isTime && ms <= 0) || Number.isNaN(at.getTime())) {
      throw invalid(
        'since',
        since,
        'a time such as "2026-01-31T12:00:00Z", or a duration such as "15m"',
      )
    }
    sinceTime = at.toISOString()
  }
  return {
    container: container ?? undefined,
    previous: previous === true,
    tailLines: tailLines ?? (sinceTime === undefined ? defaultTailLines : undefined),
    sinceTime,
    timestamps: timestamps === true,
    contains: contains ?? undefined,
  }
}

/** Either ids, or a list of pods that is limited in some way. */
function requirePods(args: KindLogsArguments): void {
  const { ids, cluster, clusters, clusterSelector, ...others } = args
  const { namespace, namespaces, labelSelector, where } = others
  const limits = { namespace, namespaces, labelSelector, where }
  const given = Object.entries({ ...limits, cluster, clusters, clusterSelector }).filter(
    ([, value]) => value !== undefined && value !== null,
  )
  if (ids !== undefined && ids !== null) {
    const [other] = given
    if (other !== undefined) {
      throw new ClientError('BAD_USER_INPUT', `podLogs: ids and ${other[0]} cannot be combined`, {
        argument: other[0],
        hint: 'an id names its cluster and its object: leave the other arguments out',
      })
    }
    if (ids.length > 0) return
    throw invalid('ids', ids, 'at least one id')
  }
  if (given.some(([name]) => name in limits)) return
  throw new ClientError('BAD_USER_INPUT', 'podLogs: no pods are named', {
    argument: 'ids',
    hint: 'give the ids of pods or workloads, or a namespace, labelSelector or where',
  })
}

function invalid(argument: string, value: unknown, wanted: string): ClientError {
  const message = `${argument}: ${JSON.stringify(value)} is not ${wanted}`
  return new ClientError('BAD_USER_INPUT', message, { argument, value, hint: `give ${wanted}` })
}
