import { useLiveValue } from '@informerql/client/react'
import {
  AllocatableDocument,
  RequestedDocument,
  type SumsFragment,
  UsedDocument,
} from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { useStale } from '../gateway/line.ts'
import { useCounts } from '../gateway/counts.ts'
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
  readonly allocatable: number
}

/** A cluster, a node or a namespace. */
interface Line {
  readonly name: string
  readonly cpu: Room
  readonly memory: Room
}

/**
 * How full the scope is, by what pods request, with a mark at what they use: each of several clusters; one cluster and its fullest nodes; of one
 * cluster, the namespaces in scope.
 */
export function Capacity() {
  const { scope } = useScope()
  const parts = partsOf(scope)
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
  const nodes = useLiveValue({
    client,
    query: AllocatableDocument,
    variables: { ...clusters, by: [parts.nodesBy] },
  })
  useStale(pods.staleSince ?? nodes.staleSince)
  const name = useCounts().clusters[0]?.name
  const isKnown = pods.value !== undefined && nodes.value !== undefined
  const shown = isKnown
    ? linesOf({ pods: pods.value, used: used.value, nodes: nodes.value }, parts.of, name)
    : undefined
  const error = pods.error ?? nodes.error
  return (
    <Section title={said.title}>
      {shown !== undefined ? (
        <>
          <ul>
            {shown.map((line, position) => (
              <CapacityLine key={`${position} ${line.name}`} line={line} />
            ))}
          </ul>
          {pods.value?.visible === 'ALL' ? null : <p className={styles['note']}>{said.yours}</p>}
        </>
      ) : error === undefined ? (
        <RowsSkeleton rows={3} />
      ) : (
        <p className={styles['note']}>{error.message}</p>
      )}
    </Section>
  )
}

/** What the lines are, and the values of the indexes that tell them apart. */
function partsOf(scope: Scope): {
  readonly of: 'cluster' | 'node' | 'namespace'
  readonly podsBy: string
  readonly nodesBy: string
} {
  if (hasSeveralClusters(scope)) return { of: 'cluster', podsBy: 'cluster', nodesBy: 'cluster' }
  return scope.namespaces === undefined
    ? { of: 'node', podsBy: 'nodeName', nodesBy: 'name' }
    : { of: 'namespace', podsBy: 'namespace', nodesBy: 'name' }
}

type Sums = SumsFragment['sums'] | undefined

interface Summed {
  readonly pods: SumsFragment
  readonly used: SumsFragment | undefined
  readonly nodes: SumsFragment
}

function linesOf(
  { pods, used, nodes }: Summed,
  of: 'cluster' | 'node' | 'namespace',
  cluster: string | undefined,
): readonly Line[] {
  const requested = sumsByValue(pods.facets)
  const usedOf = sumsByValue(used?.facets ?? [])
  const total = lineOf(cluster ?? '', pods.sums, nodes.sums, used?.sums)
  if (of === 'namespace') {
    const lines = [...requested].map(([name, sums]) =>
      lineOf(name, sums, nodes.sums, usedOf.get(name)),
    )
    return lines.toSorted(byShare).slice(0, mostLines)
  }
  const lines = [...sumsByValue(nodes.facets)]
    .map(([name, sums]) => lineOf(name, requested.get(name), sums, usedOf.get(name)))
    .toSorted(byShare)
  return of === 'cluster' ? lines : [total, ...lines.slice(0, mostLines)]
}

function sumsByValue(facets: SumsFragment['facets']): ReadonlyMap<string, Sums> {
  return new Map(facets[0]?.values.map(({ value, sums }) => [String(value), sums]))
}

function lineOf(name: string, requested: Sums, allocatable: Sums, used: Sums): Line {
  const room = (index: number): Room => ({
    requested: requested?.[index]?.number ?? 0,
    used: used?.[index]?.number,
    allocatable: allocatable?.[index]?.number ?? 0,
  })
  return { name, cpu: room(0), memory: room(1) }
}

function shareOf({ requested, allocatable }: Room): number {
  if (allocatable > 0) return requested / allocatable
  return requested > 0 ? Number.POSITIVE_INFINITY : 0
}

/** The fullest first. */
function byShare(one: Line, other: Line): number {
  const full = ({ cpu, memory }: Line): number => Math.max(shareOf(cpu), shareOf(memory))
  return full(other) - full(one) || one.name.localeCompare(other.name)
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
      />
      <Bar
        room={memory}
        text={said.memory(memory.requested, memory.allocatable, memory.used)}
        label={said.memoryShort}
      />
    </li>
  )
}

/** How much of it is requested, as a bar and in numbers, and a mark at what is used. */
function Bar({
  room,
  text,
  label,
}: {
  readonly room: Room
  readonly text: string
  readonly label: string
}) {
  const share = shareOf(room)
  const percent = Number.isFinite(share) ? Math.round(100 * share) : undefined
  const level = share > 1 ? 'over' : share >= 0.9 ? 'full' : undefined
  return (
    <span className={styles['meter']} title={text}>
      <span className="visually-hidden">{text}</span>
      <span className={styles['label']} aria-hidden="true">
        <span>{label}</span>
        <span data-level={level}>{percent === undefined ? '–' : `${percent} %`}</span>
      </span>
      <span className={styles['bar']} aria-hidden="true">
        <span data-level={level} style={{ width: `${Math.min(100, percent ?? 100)}%` }} />
        {room.used !== undefined && room.allocatable > 0 && (
          <i style={{ left: `${Math.min(98, (100 * room.used) / room.allocatable)}%` }} />
        )}
      </span>
    </span>
  )
}
