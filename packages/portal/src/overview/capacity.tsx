import { useLiveValue } from '@informerql/client/react'
import {
  AllocatableDocument,
  RequestedDocument,
  type SumsFragment,
  UsedDocument,
  WaitingForNodesDocument,
} from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { useStale } from '../gateway/line.ts'
import { useCounts } from '../gateway/counts.ts'
import { useViewer } from '../gateway/viewer.ts'
import { RowsSkeleton } from '../look/rows-skeleton.tsx'
import { clustersOf, hasSeveralClusters, type Scope, useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './capacity.module.css'
import { Section } from './section.tsx'

const said = words.overview.capacity
/** The fullest are shown. */
const mostLines = 8

/** What is requested, and used, of something that has this much of it. */
interface Room {
  readonly requested: number
  /** Absent where nothing measures it, or the user may not see it. */
  readonly used: number | undefined
  /** Absent where the user may not see the nodes. */
  readonly allocatable: number | undefined
}

/** A cluster, a node or a namespace. */
interface Line {
  readonly name: string
  readonly cpu: Room
  readonly memory: Room
}

/**
 * How full the scope is, by what pods on nodes request, with a mark at what they use: each of several clusters; one cluster and its fullest
 * nodes; of one cluster, the namespaces in scope, or those that the user may see. What waits for a node is said by itself.
 */
export function Capacity() {
  const { scope } = useScope()
  const { limitedTo } = useViewer()
  const parts = partsOf(scope, limitedTo !== undefined)
  const { socket: client } = useGateway()
  const clusters = clustersOf(scope)
  const namespaces = scope.namespaces?.slice() ?? null
  const pods = useLiveValue({
    client,
    query: RequestedDocument,
    variables: { ...clusters, namespaces, by: [parts.podsBy] },
  })
  const used = useLiveValue({
    client,
    query: UsedDocument,
    variables: { ...clusters, namespaces, by: [parts.podsBy] },
  })
  const waiting = useLiveValue({
    client,
    query: WaitingForNodesDocument,
    variables: { ...clusters, namespaces },
  })
  const nodes = useLiveValue({
    client,
    query: AllocatableDocument,
    variables: { ...clusters, by: [parts.nodesBy] },
  })
  useStale(pods.staleSince ?? nodes.staleSince)
  const name = useCounts().clusters[0]?.name
  const isOfAll = pods.value?.visible === 'ALL'
  const title = isOfAll || pods.value === undefined ? said.title : said.titleOfYours
  const isKnown =
    pods.value !== undefined && (nodes.value !== undefined || nodes.status === 'failed')
  if (!isKnown) {
    const error = pods.error ?? nodes.error
    return (
      <Section title={title}>
        {error === undefined ? (
          <RowsSkeleton rows={3} />
        ) : (
          <p className={styles['note']}>{error.message}</p>
        )}
      </Section>
    )
  }
  const lines = linesOf({ pods: pods.value, used: used.value, nodes: nodes.value }, parts.of, name)
  const count = parts.of === 'node' ? lines.length - 1 : lines.length
  const shown = parts.of === 'cluster' ? lines : lines.slice(0, mostLines + lines.length - count)
  const { totalCount = 0, sums = [] } = waiting.value ?? {}
  const [cpu, memory] = sums
  const notes = [
    parts.of === 'namespace' && nodes.value !== undefined ? said.ofCluster(name ?? '') : undefined,
    shown.length < lines.length ? said.fullest[parts.of](mostLines, count) : undefined,
    totalCount > 0 ? said.waiting(totalCount, cpu?.number ?? 0, memory?.number ?? 0) : undefined,
    isOfAll ? undefined : said.yours,
  ]
  return (
    <Section title={title}>
      <p className={styles['legend']} aria-hidden="true">
        <span className={styles['sample']} /> {said.requested}
        {used.value === undefined ? null : (
          <>
            <i className={styles['tick']} /> {said.used}
          </>
        )}
      </p>
      <ul>
        {shown.map((line, position) => (
          <CapacityLine key={`${position} ${line.name}`} line={line} />
        ))}
      </ul>
      {notes.map((note) =>
        note === undefined ? null : (
          <p key={note} className={styles['note']}>
            {note}
          </p>
        ),
      )}
    </Section>
  )
}

/** What the lines are, and the values of the indexes that tell them apart. */
function partsOf(
  scope: Scope,
  isLimited: boolean,
): {
  readonly of: 'cluster' | 'node' | 'namespace'
  readonly podsBy: string
  readonly nodesBy: string
} {
  if (hasSeveralClusters(scope)) return { of: 'cluster', podsBy: 'cluster', nodesBy: 'cluster' }
  return scope.namespaces === undefined && !isLimited
    ? { of: 'node', podsBy: 'nodeName', nodesBy: 'name' }
    : { of: 'namespace', podsBy: 'namespace', nodesBy: 'name' }
}

type Sums = SumsFragment['sums'] | undefined

interface Summed {
  readonly pods: SumsFragment
  readonly used: SumsFragment | undefined
  readonly nodes: SumsFragment | undefined
}

function linesOf(
  { pods, used, nodes }: Summed,
  of: 'cluster' | 'node' | 'namespace',
  cluster: string | undefined,
): readonly Line[] {
  const requested = sumsByValue(pods.facets)
  const usedOf = sumsByValue(used?.facets ?? [])
  if (of === 'namespace') {
    return [...requested]
      .map(([name, sums]) => lineOf(name, sums, nodes?.sums, usedOf.get(name)))
      .toSorted(byShare)
  }
  const places =
    nodes === undefined
      ? Array.from(requested.keys(), (name) => [name, undefined] as const)
      : [...sumsByValue(nodes.facets)]
  const lines = places
    .map(([name, sums]) => lineOf(name, requested.get(name), sums, usedOf.get(name)))
    .toSorted(byShare)
  if (of === 'cluster') return lines
  // Of the nodes that there are: a pod whose node is gone fills none of them.
  const isWhole = (nodes?.facets[0]?.distinctCount ?? 0) <= lines.length
  const total = isWhole
    ? { name: cluster ?? '', cpu: together(lines, 'cpu'), memory: together(lines, 'memory') }
    : lineOf(cluster ?? '', pods.sums, nodes?.sums, used?.sums)
  return [total, ...lines]
}

/** The rooms of all lines as one. */
function together(lines: readonly Line[], of: 'cpu' | 'memory'): Room {
  const sum = (part: (room: Room) => number | undefined): number =>
    lines.reduce((all, line) => all + (part(line[of]) ?? 0), 0)
  return {
    requested: sum(({ requested }) => requested),
    used: lines.some((line) => line[of].used !== undefined) ? sum(({ used }) => used) : undefined,
    allocatable: sum(({ allocatable }) => allocatable),
  }
}

function sumsByValue(facets: SumsFragment['facets']): ReadonlyMap<string, Sums> {
  return new Map(facets[0]?.values.map(({ value, sums }) => [String(value), sums]))
}

function lineOf(name: string, requested: Sums, allocatable: Sums, used: Sums): Line {
  const room = (index: number): Room => ({
    requested: requested?.[index]?.number ?? 0,
    used: used?.[index]?.number,
    allocatable: allocatable?.[index]?.number,
  })
  return { name, cpu: room(0), memory: room(1) }
}

function shareOf({ requested, allocatable = 0 }: Room): number {
  if (allocatable > 0) return requested / allocatable
  return requested > 0 ? Number.POSITIVE_INFINITY : 0
}

/** The fullest first. */
function byShare(one: Line, other: Line): number {
  const full = ({ cpu, memory }: Line): number => Math.max(shareOf(cpu), shareOf(memory))
  return (
    Number(full(other) > full(one)) - Number(full(other) < full(one)) ||
    other.cpu.requested - one.cpu.requested ||
    one.name.localeCompare(other.name)
  )
}

function CapacityLine({ line: { name, cpu, memory } }: { readonly line: Line }) {
  return (
    <li className={styles['line']}>
      <span className={styles['name']} title={name}>
        {name}
      </span>
      <Bar
        room={cpu}
        text={said.cpu(cpu.requested, cpu.allocatable, cpu.used)}
        label={said.cpuShort}
        amount={said.cores(cpu.requested)}
      />
      <Bar
        room={memory}
        text={said.memory(memory.requested, memory.allocatable, memory.used)}
        label={said.memoryShort}
        amount={said.bytes(memory.requested)}
      />
    </li>
  )
}

/** How much of it is requested, as a bar and in numbers, and a mark at what is used. Only the amount where it is not known of how much. */
function Bar({
  room: { allocatable = 0, ...room },
  text,
  label,
  amount,
}: {
  readonly room: Room
  readonly text: string
  readonly label: string
  readonly amount: string
}) {
  const share = shareOf({ ...room, allocatable })
  const isShare = allocatable > 0
  const level = !isShare ? undefined : share > 1 ? 'over' : share >= 0.9 ? 'full' : undefined
  return (
    <span className={styles['meter']} title={text}>
      <span className="visually-hidden">{text}</span>
      <span className={styles['label']} aria-hidden="true">
        <span>{label}</span>
        <span data-level={level}>{isShare ? `${Math.round(100 * share)} %` : amount}</span>
      </span>
      {isShare ? (
        <span className={styles['bar']} aria-hidden="true">
          <span data-level={level} style={{ width: `${Math.min(100, 100 * share)}%` }} />
          {room.used === undefined ? null : (
            <i style={{ left: `${Math.min(98, (100 * room.used) / allocatable)}%` }} />
          )}
        </span>
      ) : null}
    </span>
  )
}
