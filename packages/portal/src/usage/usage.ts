import {
  NamespaceUsageDocument,
  type NamespaceUsageQuery,
  NodeUsageDocument,
  type NodeUsageQuery,
  PodUsageDocument,
  type PodUsageQuery,
  type TypedDocumentString,
  WorkloadUsageDocument,
  type WorkloadUsageQuery,
} from '../gateway/documents.ts'
import { type AnswerError, useAnswer } from '../gateway/gateway.ts'
import { usageWords } from './usage-words.ts'

/** How much of a resource: in cores, or in bytes. Absent: it is not known, or not given. */
export interface Amounts {
  readonly used: number | undefined
  readonly requested: number | undefined
  /** Of several pods: absent unless all of them have one. */
  readonly limit: number | undefined
  /** The limits of some pods, where others have none. */
  readonly someLimits: { readonly sum: number; readonly pods: number } | undefined
  /** What a node has for pods. */
  readonly allocatable: number | undefined
}

export type Resource = 'cpu' | 'memory'

/** What an object uses and requests: a pod itself, others by their pods. */
export interface ObjectUsage extends Readonly<Record<Resource, Amounts>> {
  /** The number of the pods that count; absent for a pod. */
  readonly pods: number | undefined
  /** Whether the sums over pods are of some of the pods of a node alone: the user may not list the others. */
  readonly isPart: boolean
  /** Whether that is so of what is used, too. */
  readonly isUsedPart: boolean
  /** What the containers of a pod use, by their names. */
  readonly containers: ReadonlyMap<string, Readonly<Record<Resource, number | undefined>>>
}

/** The kinds that use something, by group and name. */
const measured: ReadonlySet<string> = new Set([
  ' Pod',
  ' Node',
  ' Namespace',
  ' ReplicationController',
  'apps Deployment',
  'apps StatefulSet',
  'apps DaemonSet',
  'apps ReplicaSet',
  'batch Job',
  'batch CronJob',
])

/** Whether objects of a kind use CPU and memory, themselves or by their pods. */
export function isMeasured(group: string, kind: string): boolean {
  return measured.has(`${group} ${kind}`)
}

/** metrics-server measures no sooner. */
const everyMs = 15_000

type UsageQuery = PodUsageQuery | NodeUsageQuery | NamespaceUsageQuery | WorkloadUsageQuery
type UsageDocument = TypedDocumentString<UsageQuery, { ids: string[] }>

/** Those of kinds that are no workloads. */
const documents: Readonly<Record<string, UsageDocument>> = {
  Pod: PodUsageDocument,
  Node: NodeUsageDocument,
  Namespace: NamespaceUsageDocument,
}

/** What objects of a kind use, by their `id`s, read again while the page is visible; and in a sentence why it is not known. */
export function useUsage(
  kind: string,
  ids: readonly string[],
): {
  readonly byId: ReadonlyMap<string, ObjectUsage>
  readonly why: string | undefined
} {
  const { data, errors } = useAnswer(
    usageDocument(kind),
    { ids: [...ids] },
    { enabled: ids.length > 0, everyMs },
  )
  return { byId: usagesOf(data), why: whyUnknown(errors, kind) }
}

/** What asks for the use of objects of a kind. */
export function usageDocument(kind: string): UsageDocument {
  return documents[kind] ?? WorkloadUsageDocument
}

const known = new WeakMap<UsageQuery, ReadonlyMap<string, ObjectUsage>>()
const nothing: ReadonlyMap<string, ObjectUsage> = new Map()

/** The same map for the same answer. */
function usagesOf(data: UsageQuery | undefined): ReadonlyMap<string, ObjectUsage> {
  if (data === undefined) return nothing
  const before = known.get(data)
  if (before !== undefined) return before
  const byId = new Map(
    (data.objects ?? []).flatMap((object) =>
      object === null ? [] : [[object.id, objectUsage(object)] as const],
    ),
  )
  known.set(data, byId)
  return byId
}

type Answered = NonNullable<NonNullable<UsageQuery['objects']>[number]>

export function objectUsage(object: Answered): ObjectUsage {
  const usage = 'usage' in object ? object.usage : null
  const sums = 'pods' in object ? object.pods : null
  const own = 'requests' in object ? object : undefined
  const isNode = 'status' in object
  const allocatable = isNode ? object.status?.allocatable : undefined
  const isPart = isNode && sums !== null && sums.visible !== 'ALL'
  const amounts = (resource: Resource, position: number): Amounts => {
    const limits = sums?.requested?.[position + 2]
    const isOfAll = limits?.count === sums?.totalCount
    return {
      used: usage === null ? sumOf(sums?.used, position) : numberOf(usage[resource]),
      requested:
        own === undefined ? sumOf(sums?.requested, position) : numberOf(own.requests?.[resource]),
      limit:
        own === undefined
          ? isOfAll
            ? sumOf(sums?.requested, position + 2)
            : undefined
          : numberOf(own.limits?.[resource]),
      someLimits:
        limits === undefined || limits.count === 0 || isOfAll
          ? undefined
          : { sum: limits.number, pods: limits.count },
      allocatable: numberOf(allocatable?.[resource]),
    }
  }
  return {
    cpu: amounts('cpu', 0),
    memory: amounts('memory', 1),
    pods: sums?.totalCount,
    isPart,
    isUsedPart: isPart && usage === null,
    containers: new Map(
      own?.usage?.containers?.map(({ name, cpu, memory }) => [
        name,
        { cpu: numberOf(cpu), memory: numberOf(memory) },
      ]),
    ),
  }
}

/** What is known of all pods of an object: without the sums over some of those of a node. */
export function ofAllPods(use: ObjectUsage): ObjectUsage {
  const { isPart, isUsedPart } = use
  if (!isPart) return use
  const whole = ({ used, ...amounts }: Amounts): Amounts => ({
    ...amounts,
    used: isUsedPart ? undefined : used,
    requested: undefined,
    limit: undefined,
    someLimits: undefined,
  })
  return { ...use, cpu: whole(use.cpu), memory: whole(use.memory) }
}

/** A sum, if any object has a value. */
function sumOf(
  sums: readonly { readonly number: number; readonly count: number }[] | null | undefined,
  position: number,
): number | undefined {
  const sum = sums?.[position]
  return sum === undefined || sum.count === 0 ? undefined : sum.number
}

const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** A quantity of Kubernetes as a number. */
function numberOf(quantity: number | string | null | undefined): number | undefined {
  if (typeof quantity !== 'string') return quantity ?? undefined
  const [, digits = '', suffix = ''] = /^([\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(quantity) ?? []
  const factor = suffixes[suffix]
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor
}

/** Why the use of some objects is not known, said once for all of them. */
export function whyUnknown(errors: readonly AnswerError[], kind?: string): string | undefined {
  const codes = new Set(errors.map(({ extensions }) => extensions?.code))
  if (codes.size === 0) return undefined
  if (codes.has('NOT_FOUND')) return usageWords.unmeasured
  if (codes.has('FORBIDDEN')) return usageWords.forbidden(kind === 'Node' ? 'nodes' : 'these pods')
  return codes.has('CLUSTER_UNREACHABLE') ? usageWords.unreachable : errors[0]?.message
}
