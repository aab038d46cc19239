/*
 * Why no Node takes a pod. A pod that the scheduler cannot place says what it asks of a Node (`placementOf`): labels, tolerated
 * taints, resources. Each Node says what it has (`nodeMark`), as a value in the index of problems. `unmetBy` compares both and
 * names the terms that no Node meets: they are the same for all pods that ask for them, so they are one cause. Whatever depends
 * on other pods (free capacity, affinity to pods, spread) is no such term.
 */

import { type Fields, fieldsOf, itemsOf, specOf, statusOf, textOf } from '../fields.ts'
import { conditionsOf } from '../health/health.ts'
import { quantityOf } from '../decimal.ts'

/** A requirement for the labels of a Node, as `matchExpressions` has it. */
export interface NodeRequirement {
  readonly key: string
  readonly operator: string
  readonly values: readonly string[]
}

/** What a pod that cannot be scheduled asks for. */
export interface PodPlacement {
  /** A Node must meet all of one of them. Empty: any Node will do. */
  readonly terms: readonly (readonly NodeRequirement[])[]
  readonly tolerations: readonly Fields[]
  /** As quantities, by resource: of the largest container, or of all of them. */
  readonly requests: Readonly<Record<string, number>>
  /** The names of the claims without a volume that it waits for. */
  readonly claims: readonly string[]
}

/** What a Node has, for pods to be placed on it. */
export interface PlacingNode {
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly Fields[]
  readonly allocatable: Readonly<Record<string, number>>
}

/** The terms that no Node meets. */
export interface UnmetTerms {
  /** The same for all pods that ask for them. */
  readonly key: string
  readonly message: string
}

/** What a pod asks of a Node. */
export function placementOf(pod: Fields): PodPlacement {
  const spec = specOf(pod)
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = fieldsOf(
    fieldsOf(spec['affinity'])['nodeAffinity'],
  )
  const selected = Object.entries(fieldsOf(spec['nodeSelector']))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ key, operator: 'In', values: [String(value)] }))
  const branches = itemsOf(fieldsOf(required)['nodeSelectorTerms']).map((term) =>
    itemsOf(term['matchExpressions']).map(({ key, operator, values }): NodeRequirement => ({
      key: String(key),
      operator: String(operator),
      values: Array.isArray(values) ? values.map(String) : [],
    })),
  )
  const terms = branches.length > 0 ? branches.map((one) => [...selected, ...one]) : [selected]
  const requests: Record<string, number> = {}
  for (const { resources } of itemsOf(spec['containers'])) {
    for (const [name, value] of Object.entries(fieldsOf(fieldsOf(resources)['requests']))) {
      requests[name] = (requests[name] ?? 0) + quantityOf(value)
    }
  }
  const { message = '' } = conditionsOf(pod).get('PodScheduled') ?? {}
  const waits = /persistentvolumeclaim/i.test(message)
  const claims = itemsOf(spec['volumes']).flatMap(
    (volume) => textOf(fieldsOf(volume['persistentVolumeClaim'])['claimName']) ?? [],
  )
  return {
    terms: terms.some((term) => term.length === 0) ? [] : terms,
    tolerations: itemsOf(spec['tolerations']),
    requests,
    claims: waits ? claims : [],
  }
}

/** The first character of the value of a Node. It is in no range of facts. */
export const nodeMark = 'n'

/** The value of a Node in the index of problems. */
export function encodeNode(node: Fields): string {
  const { allocatable } = statusOf(node)
  const { labels } = fieldsOf(node['metadata'])
  const taints = itemsOf(specOf(node)['taints']).map(({ key, value, effect }) => ({
    key,
    value,
    effect,
  }))
  const amounts = Object.entries(fieldsOf(allocatable)).map(([name, value]) => [
    name,
    quantityOf(value),
  ])
  return nodeMark + JSON.stringify([labels ?? {}, taints, Object.fromEntries(amounts)])
}

export function decodeNode(value: string): PlacingNode {
  const [labels, taints, allocatable]: unknown[] = JSON.parse(value.slice(1))
  return { labels, taints, allocatable } as PlacingNode
}

/**
 * The terms of a pod that none of the Nodes meets: labels, else taints of the Nodes with these labels, else a request above what
 * the largest of these Nodes has. `undefined` if a Node could take the pod, or there are no Nodes.
 */
export function unmetBy(
  nodes: readonly PlacingNode[],
  { terms, tolerations, requests }: PodPlacement,
): UnmetTerms | undefined {
  if (nodes.length === 0) return undefined
  const chosen = nodes.filter(
    ({ labels }) =>
      terms.length === 0 || terms.some((term) => term.every((one) => meets(labels, one))),
  )
  if (chosen.length === 0) {
    const [only] = terms.length === 1 ? terms : []
    const alone = only?.filter((one) => !nodes.some(({ labels }) => meets(labels, one)))
    const unmet = alone === undefined || alone.length === 0 ? terms : [alone]
    const text = unmet.map((term) => term.map(textOfRequirement).join(' and ')).join(', or ')
    return { key: `labels ${text}`, message: `no Node has ${text}` }
  }
  const tolerated = chosen.filter(({ taints }) => untolerated(taints, tolerations).length === 0)
  if (tolerated.length === 0) {
    const all = chosen.flatMap(({ taints }) => untolerated(taints, tolerations))
    const text = [...new Set(all)].toSorted().join(', ')
    const which = chosen.length === nodes.length ? 'every Node' : 'every Node with these labels'
    return { key: `taints ${text}`, message: `${which} has a taint that is not tolerated: ${text}` }
  }
  for (const [name, wanted] of Object.entries(requests)) {
    const most = Math.max(...tolerated.map(({ allocatable }) => allocatable[name] ?? 0))
    // A Node that has not reported what it has may have anything.
    if (wanted <= most || tolerated.some(({ allocatable }) => isEmpty(allocatable))) continue
    const message =
      most === 0
        ? `no Node has the resource ${name}`
        : `no Node has ${amountOf(name, wanted)} ${name}: the largest has ${amountOf(name, most)}`
    return { key: `requests ${most === 0 ? name : `${name} ${wanted}`}`, message }
  }
  return undefined
}

function isEmpty(record: Readonly<Record<string, number>>): boolean {
  return Object.keys(record).length === 0
}

/** Bytes as Mi, other amounts as they are. */
function amountOf(name: string, amount: number): string {
  const isBytes = name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')
  return isBytes ? `${Math.round(amount / 1_048_576)}Mi` : `${amount}`
}

function meets(
  labels: Readonly<Record<string, string>>,
  { key, operator, values }: NodeRequirement,
): boolean {
  const own = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return own !== undefined && values.includes(own)
    case 'NotIn':
      return own === undefined || !values.includes(own)
    case 'Exists':
      return own !== undefined
    case 'DoesNotExist':
      return own === undefined
    case 'Gt':
      return Number(own) > Number(values[0])
    case 'Lt':
      return Number(own) < Number(values[0])
    default:
      return true
  }
}

function textOfRequirement({ key, operator, values }: NodeRequirement): string {
  const [only] = values
  switch (operator) {
    case 'In':
      return values.length === 1 ? `${key}=${only}` : `${key} in (${values.join(', ')})`
    case 'NotIn':
      return values.length === 1 ? `${key}!=${only}` : `${key} not in (${values.join(', ')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `no ${key}`
    default:
      return `${key} ${operator === 'Gt' ? '>' : '<'} ${only}`
  }
}

/** The taints that keep pods away and are not tolerated, as text: `dedicated=db:NoSchedule`. */
function untolerated(taints: readonly Fields[], tolerations: readonly Fields[]): readonly string[] {
  return taints.flatMap(({ key, value, effect }) => {
    if (effect === 'PreferNoSchedule') return []
    const isTolerated = tolerations.some(
      (one) =>
        (one['effect'] === undefined || one['effect'] === '' || one['effect'] === effect) &&
        (one['operator'] === 'Exists'
          ? one['key'] === undefined || one['key'] === '' || one['key'] === key
          : one['key'] === key && (one['value'] ?? '') === (value ?? '')),
    )
    if (isTolerated) return []
    const given = textOf(value)
    return [`${String(key)}${given === undefined ? '' : `=${given}`}:${String(effect)}`]
  })
}
