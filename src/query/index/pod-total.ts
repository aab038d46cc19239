/*
 * The requests and limits of a whole pod, as the scheduler counts them: `PodRequests` and `PodLimits` of
 * k8s.io/component-helpers/resource v0.36 with `UseStatusResources`.
 *
 * - Containers run beside each other and beside the sidecars, which are the init containers that always restart.
 * - Each other init container runs alone, beside the sidecars before it. The most that any moment needs counts.
 * - Resources of the pod itself (KEP-2837) take the place of those of its containers.
 * - The overhead of the RuntimeClass comes on top; on top of a limit only if there is one.
 * - While a container is resized in place (KEP-1287), the most of its spec and its status counts.
 */

import type { IndexFunction } from '../../informer/store/store-view.ts'
import { type Fields, fieldsOf, specOf, statusOf } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { decimalKey, decimalOfKey, quantityText, sumOf } from '../../kubernetes/decimal.ts'
import { indexKeyOf } from './index-key.ts'
import type { Path } from './path.ts'

interface ContainerResource {
  readonly list: 'requests' | 'limits'
  /** `cpu`, `memory`, `nvidia.com/gpu`. */
  readonly name: string
}

/** Reads `spec.containers[*].resources.requests.cpu`; `undefined` for a path of another form. */
export function containerResourceAt({ steps }: Path): ContainerResource | undefined {
  const names = steps.map((step) => (step.form === 'field' ? step.name : step.form))
  const [spec, containers, each, resources, list, name] = names
  const isIn = spec === 'spec' && containers === 'containers' && each === 'each'
  if (!isIn || resources !== 'resources' || name === undefined || names.length !== 6)
    return undefined
  return list === 'requests' || list === 'limits' ? { list, name } : undefined
}

/** The index of one resource. No value if no part of the pod has the resource. */
export function podTotalOf(resource: ContainerResource): IndexFunction {
  const { list, name } = resource
  return (object) => {
    const pod = object as Unstructured
    const spec = specOf(pod)
    const status = statusOf(pod)
    let isInfeasible = false
    for (const { type, reason } of fieldsIn(status['conditions'])) {
      if (type !== 'PodResizePending') continue
      isInfeasible = reason === 'Infeasible'
      break
    }
    const resize: Resize = { resource, isInfeasible }
    let total: string | undefined
    for (const container of fieldsIn(spec['containers'])) {
      const state = namedIn(status['containerStatuses'], container['name'])
      total = added(total, effective(container, state, resize))
    }
    let sidecars: string | undefined
    let initial: string | undefined
    for (const container of fieldsIn(spec['initContainers'])) {
      if (container['restartPolicy'] === 'Always') {
        const state = namedIn(status['initContainerStatuses'], container['name'])
        const own = effective(container, state, resize)
        total = added(total, own)
        sidecars = added(sidecars, own)
        initial = larger(initial, sidecars)
      } else {
        initial = larger(initial, added(valueIn(container['resources'], resource), sidecars))
      }
    }
    total = larger(total, initial)
    // `IsSupportedPodLevelResource`.
    const isOfPods = name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
    if (isOfPods && valueIn(spec['resources'], resource) !== undefined) {
      total = effective(spec, status, resize) ?? zero
    }
    const overhead = indexKeyOf('quantity', fieldsOf(spec['overhead'])[name])
    const isLimited = total !== undefined && total !== zero
    if (list === 'requests' || isLimited) total = added(total, overhead)
    return total === undefined ? none : [total]
  }
}

/** What a whole pod requests, or its limits; null where no part of the pod says. Quantities are as Kubernetes writes them. */
export interface PodAmounts {
  readonly cpu: string | null
  readonly memory: string | null
}

/** Counts the CPU and the memory of a pod as {@link podTotalOf} does. */
export function podAmountsOf(list: ContainerResource['list'], pod: Unstructured): PodAmounts {
  const amount = (name: 'cpu' | 'memory'): string | null => {
    const [total] = totals[list][name](pod)
    return total === undefined ? null : quantityText(decimalOfKey(total), name === 'memory')
  }
  return { cpu: amount('cpu'), memory: amount('memory') }
}

const totalsOf = (list: ContainerResource['list']) => ({
  cpu: podTotalOf({ list, name: 'cpu' }),
  memory: podTotalOf({ list, name: 'memory' }),
})

const totals = { requests: totalsOf('requests'), limits: totalsOf('limits') }

const none: readonly string[] = []
const zero = decimalKey(sumOf([]))

interface Resize {
  readonly resource: ContainerResource
  /** Whether the node cannot grant the wanted resources. */
  readonly isInfeasible: boolean
}

/** What a container or a pod counts: the most of what it wants, what it was granted and what it has. */
function effective(
  { resources }: Fields,
  { resources: actual, allocatedResources }: Fields,
  { resource, isInfeasible: isRefused }: Resize,
): string | undefined {
  const wanted = valueIn(resources, resource)
  if (actual === undefined || actual === null) return wanted
  const granted =
    resource.list === 'requests'
      ? indexKeyOf('quantity', fieldsOf(allocatedResources)[resource.name])
      : undefined
  const held = larger(valueIn(actual, resource), granted)
  return isRefused ? held : larger(wanted, held)
}

function valueIn(resources: unknown, { list, name }: ContainerResource): string | undefined {
  return indexKeyOf('quantity', fieldsOf(fieldsOf(resources)[list])[name])
}

const noFields: Fields = {}

function namedIn(list: unknown, name: unknown): Fields {
  for (const one of fieldsIn(list)) if (one['name'] === name) return one
  return noFields
}

function* fieldsIn(list: unknown): Generator<Fields, void> {
  if (Array.isArray(list)) for (const item of list as unknown[]) yield fieldsOf(item)
}

/** Keys of quantities sort as the quantities do. */
function larger(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one > other ? one : other
}

function added(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return decimalKey(sumOf([decimalOfKey(one), decimalOfKey(other)]))
}
