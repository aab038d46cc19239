/*
 * The resource usage of objects, as metrics.k8s.io measures it. The field `usage` looks up the measurement of its object.
 * Filters, orders and sums by usage read indexes that the cache keeps of the measurements. They reveal something about
 * all objects, so they require the right to list the measurements, not only the objects.
 */

import type { ObjectId } from '../../informer/store/store-view.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { type Condition, hasKey, indexesOf, relatedOf } from '../../query/condition/condition.ts'
import { isInScope, type Scope } from '../../query/condition/scope.ts'
import { decimalOfKey, quantityText } from '../../kubernetes/decimal.ts'
import { measuredIndexes, usageIndexes } from '../../query/index/usage-index.ts'
import type { OrderTerm } from '../../query/page/list-order.ts'
import { ClientError, isLostCluster } from '../errors/client-error.ts'
import { type Kind, usageKindOf } from '../model/kind.ts'
import { type ClusterKind, type KindView, isReachable } from '../prepare/kind-view.ts'
import type { ContainerUsage, ResourceUsage } from '../schema/gateway-types.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { isContentIndex } from './namespace-health.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'

/** The usage of an object, or why the answer does not have it. */
export type UsageOutcome = ResourceUsage | ClientError | undefined

/**
 * The usage of an object at its last measurement, at the price of a row; `undefined` if nothing has measured it, such as
 * a pod that has just started. An error stands beside the answer and is the same for all rows of a run.
 */
export function usageOf(run: ReadRun, part: KindView, id: ObjectId): UsageOutcome {
  const measured = usageKindOf(part.kind)
  if (measured === undefined) return undefined
  run.budget.spend('rows', 1)
  const key = part.view.keyOf(id)
  const found = measurementsFor(run, { cluster: part.cluster, kind: measured }, key)
  if (found === undefined || found instanceof ClientError) return found
  const { view } = found
  const measurement = view.idOf(key)
  if (measurement === undefined) return undefined
  const [cpu, memory] = measuredIndexes.map(({ name }) => {
    const value = view.index(name).endValue(measurement, false)
    return value === undefined ? null : quantityText(decimalOfKey(value), name === 'memory')
  })
  const { timestamp, window, containers } = view.object(measurement) as Unstructured
  return {
    cpu: cpu ?? null,
    memory: memory ?? null,
    at: textOf(timestamp) ?? null,
    window: textOf(window) ?? null,
    containers: !Array.isArray(containers)
      ? null
      : itemsOf(containers).map(({ name, usage }): ContainerUsage => {
          const { cpu: ownCpu, memory: ownMemory } = fieldsOf(usage)
          const own = { cpu: textOf(ownCpu) ?? null, memory: textOf(ownMemory) ?? null }
          return { name: textOf(name) ?? '', ...own }
        }),
  }
}

/**
 * The measurements, if the viewer may see that of an object: `undefined` while something is lacking. An error is the same for all
 * rows of a run.
 */
export function measurementsFor(
  run: ReadRun,
  at: ClusterKind,
  key: string,
): KindView | ClientError | undefined {
  const failed = (make: () => ClientError): ClientError =>
    failures.of(run, `${at.cluster}/${at.kind.typeName}`, make)
  if (!isMeasured(run.served, at)) return failed(() => notMeasured(at))
  run.followed?.({ reads: [at.kind], condition: hasKey([key]), isSaid: true })
  let found: KindView | undefined
  try {
    found = run.late(() => run.parts.forLookup(at, [key]))
  } catch (error) {
    if (error instanceof ClientError) return failed(() => error)
    throw error
  }
  if (found === undefined) return run.parts.isLacking ? undefined : failed(() => forbiddenUsage(at))
  return found
}

const failures = new OncePerRun<ClientError>()

const names: ReadonlySet<string> = new Set(usageIndexes.map(({ name }) => name))

/** Whether a kind's index of this name has measurements. */
export function isUsageIndex(kind: Kind, name: string): boolean {
  if (!names.has(name)) return false
  return kind.indexes.some((index) => index.name === name && index.measured !== undefined)
}

/** Whether the values of a kind's index are in other objects: in measurements, or in what is in a namespace. */
export function isElsewhere(kind: Kind, name: string): boolean {
  return isUsageIndex(kind, name) || isContentIndex(kind, name)
}

/** The kinds whose values in other objects decide which objects a list has, or their order: its own kind and related ones. */
export function measuredKinds(
  { kinds }: Pick<ServedSchema, 'kinds'>,
  kind: Kind,
  condition: Condition,
  terms: readonly OrderTerm[] = [],
): readonly Kind[] {
  const found = new Set<Kind>()
  const visit = (one: Condition, of: Kind): void => {
    for (const name of indexesOf(one)) if (isElsewhere(of, name)) found.add(of)
    for (const { relation, condition: inner } of relatedOf(one)) {
      const to = kinds.get(relation.to)
      if (to !== undefined) visit(inner, to)
    }
  }
  visit(condition, kind)
  if (terms.some(({ index }) => isElsewhere(kind, index))) found.add(kind)
  return [...found]
}

/**
 * Requires the right to list the measurements of all objects that a part shows: an order, a filter or a sum reveals them.
 * `within`: the namespaces that the list is limited to. Throws `ClientError`.
 */
export function requireUsage(
  { served, parts }: Pick<ReadRun, 'served' | 'parts'>,
  { cluster, kind, scope }: KindView,
  within?: readonly string[],
): void {
  const measured = usageKindOf(kind)
  if (measured === undefined) return
  const at = { cluster, kind: measured }
  if (!isMeasured(served, at)) throw notMeasured(at)
  const own = scope.form === 'namespaces' ? [...scope.namespaces] : undefined
  const namespaces = within?.filter((name) => isInScope(scope, `${name}/`)) ?? own
  const prepares = isReachable(served, cluster)
  let seen: Scope
  try {
    seen = parts.part(at, { within: () => namespaces, prepares }).scope
  } catch (error) {
    // Measurements that were never read of a cluster that is cut now reveal nothing: its objects have none.
    const isLost = !prepares || (error instanceof ClientError && isLostCluster(error.code))
    if (isLost && !isInMemory(served, at)) return
    throw error
  }
  const isWhole =
    seen.form === 'all' ||
    (namespaces?.every((name) => isInScope(seen, `${name}/`)) ?? seen.form === scope.form)
  if (!isWhole) throw forbiddenUsage(at)
}

function isInMemory({ clusters }: Pick<ServedSchema, 'clusters'>, at: ClusterKind): boolean {
  const { group, resource: name } = at.kind.resource
  const states = clusters.get(at.cluster)?.states() ?? []
  return states.some(
    ({ resource, objects }) =>
      objects !== null && resource.group === group && resource.resource === name,
  )
}

/** Like {@link requireUsage}, for the kinds that {@link measuredKinds} finds for a list. */
export function requireUsages(
  run: Pick<ReadRun, 'served' | 'parts'>,
  part: KindView,
  measured: readonly Kind[],
  within?: readonly string[],
): void {
  for (const kind of measured) {
    if (kind === part.kind) requireUsage(run, part, within)
    else requireUsage(run, run.parts.part({ cluster: part.cluster, kind }))
  }
}

/** The indexes that requests may name for a kind in a cluster. Indexes of usage count only if the cluster measures usage. */
export function indexesIn(
  served: Pick<ServedSchema, 'clusters'>,
  { cluster, kind }: ClusterKind,
): Kind['indexes'] {
  const measured = usageKindOf(kind)
  if (measured === undefined || isMeasured(served, { cluster, kind: measured })) return kind.indexes
  return kind.indexes.filter((index) => !usageIndexes.some(({ name }) => name === index.name))
}

function isMeasured({ clusters }: Pick<ServedSchema, 'clusters'>, at: ClusterKind): boolean {
  const cache = clusters.get(at.cluster)
  // The gateway knows what a cluster serves only after it has reached the cluster.
  return (
    cache === undefined || cache.connection.state !== 'connected' || cache.serves(at.kind.resource)
  )
}

function notMeasured({ cluster, kind }: ClusterKind): ClientError {
  const { group } = kind.resource
  return new ClientError('NOT_FOUND', `cluster ${cluster} does not serve ${group}`, {
    cluster,
    type: kind.typeName,
    hint: 'usage is read from metrics-server: install it in the cluster',
  })
}

export function forbiddenUsage({ cluster, kind }: ClusterKind): ClientError {
  const { resource, group } = kind.resource
  const message = `you may not list the usage of all these ${resource}`
  const orElse = kind.resource.namespaced ? ', or name a namespace where you have it' : ''
  const hint = `ask for list on ${resource}.${group}${orElse}`
  return new ClientError('FORBIDDEN', message, { cluster, type: kind.typeName, hint })
}
