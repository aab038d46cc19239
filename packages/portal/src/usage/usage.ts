import { useLiveCollection } from '@informerql/client/react'
import { useMemo, useState } from 'react'
import {
  FollowNamespaceUsageDocument,
  type FollowNamespaceUsageSubscription,
  FollowNodeUsageDocument,
  type FollowNodeUsageSubscription,
  FollowPodUsageDocument,
  type FollowPodUsageSubscription,
  FollowWorkloadUsageDocument,
  type FollowWorkloadUsageSubscription,
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
import { type AnswerError, useAnswer, useGateway } from '../gateway/gateway.ts'
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

type UsageQuery = PodUsageQuery | NodeUsageQuery | NamespaceUsageQuery | WorkloadUsageQuery
type UsageSubscription =
  | FollowPodUsageSubscription
  | FollowNodeUsageSubscription
  | FollowNamespaceUsageSubscription
  | FollowWorkloadUsageSubscription

/** How the use of objects of a kind is asked for, and how it is followed. */
interface UsageDocuments {
  readonly query: TypedDocumentString<UsageQuery, { ids: string[] }>
  readonly live: TypedDocumentString<UsageSubscription, { ids: string[] }>
}

const ofWorkloads: UsageDocuments = {
  query: WorkloadUsageDocument,
  live: FollowWorkloadUsageDocument,
}

/** Those of kinds that are no workloads. */
const documents: Readonly<Record<string, UsageDocuments>> = {
  Pod: { query: PodUsageDocument, live: FollowPodUsageDocument },
  Node: { query: NodeUsageDocument, live: FollowNodeUsageDocument },
  Namespace: { query: NamespaceUsageDocument, live: FollowNamespaceUsageDocument },
}

/** What objects of a kind use, by their `id`s, live; and in a sentence why it is not known. */
export function useUsage(
  kind: string,
  ids: readonly string[],
): {
  readonly byId: ReadonlyMap<string, ObjectUsage>
  readonly why: string | undefined
} {
  const { query, live } = documents[kind] ?? ofWorkloads
  const variables = { ids: [...ids] }
  const enabled = ids.length > 0
  const { rows, status } = useLiveCollection<UsageSubscription, { ids: string[] }, Answered>({
    client: useGateway().socket,
    query: live,
    variables,
    enabled,
  })
  // Frames do not say why they have no amounts.
  const isUnknown = status === 'failed' || (status === 'live' && rows.some(isWithoutUse))
  const { data, errors, isPending } = useAnswer(query, variables, { enabled: enabled && isUnknown })
  const asked = useMemo(
    () =>
      data?.objects?.flatMap((object): readonly Answered[] => (object === null ? [] : [object])),
    [data],
  )
  const now = status === 'failed' ? asked : status === 'loading' ? undefined : rows
  // Those of other objects stay until the first of these are here, and so does why they are not known: a note that came and
  // went while the user scrolls would move the table.
  const [shown, setShown] = useState<readonly Answered[]>([])
  if (now !== undefined && now !== shown) setShown(now)
  const why = isUnknown ? whyUnknown(errors, kind) : undefined
  const [shownWhy, setShownWhy] = useState<string>()
  if (status !== 'loading' && !isPending && why !== shownWhy) setShownWhy(why)
  return { byId: usagesOf(shown), why: shownWhy }
}

/** What asks for the use of objects of a kind. */
export function usageDocument(kind: string): UsageDocuments['query'] {
  return (documents[kind] ?? ofWorkloads).query
}

const known = new WeakMap<readonly Answered[], ReadonlyMap<string, ObjectUsage>>()

/** The same map for the same answer. */
function usagesOf(objects: readonly Answered[]): ReadonlyMap<string, ObjectUsage> {
  let byId = known.get(objects)
  if (byId === undefined) {
    byId = new Map(objects.map((object) => [object.id, objectUsage(object)]))
    known.set(objects, byId)
  }
  return byId
}

/** Whether the use of an object, or of its pods, is not known. */
function isWithoutUse(object: Answered): boolean {
  if ('usage' in object) return object.usage === null
  const { cpu, pods } = objectUsage(object)
  return cpu.used === undefined && pods !== 0
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
