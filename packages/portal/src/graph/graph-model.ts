import { type HealthStatus, severityOf } from '../look/health.tsx'
import type { ObjectGraphQuery } from '../gateway/documents.ts'

/** An object of the picture. */
export interface ObjectNode {
  readonly form: 'object'
  readonly id: string
  /** What a link to it holds; its `id` where the object cannot be read. */
  readonly address: string
  readonly kind: string
  readonly apiVersion: string
  readonly namespace: string | null
  readonly name: string
  readonly depth: number
  /** Absent where the object cannot be read. */
  readonly health: HealthStatus | undefined
  readonly reason: string | null
  /** How many objects are left out that only lead here: of what many share, until it is opened. */
  readonly behind: number
}

/** Several objects of one kind and health with the same neighbours, drawn as one node until they are unfolded. */
export interface FoldedNode {
  readonly form: 'fold'
  readonly id: string
  readonly kind: string
  readonly health: HealthStatus | undefined
  readonly members: readonly ObjectNode[]
}

export type PictureNode = ObjectNode | FoldedNode

/** A line of the picture, from left to right: from what leads to something, to what it uses. */
export interface PictureEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  /** The relations, as the API names them: `Pod.configMaps`. */
  readonly relations: readonly string[]
}

export interface Picture {
  readonly nodes: readonly PictureNode[]
  readonly edges: readonly PictureEdge[]
  /** The steps from the roots that are drawn. */
  readonly steps: number
}

/** More objects than this are not easy to overlook: then siblings are drawn as one node. */
const mostNodes = 25
/** More siblings than this are drawn as one node, step by step while there are too many nodes; in the end, all of one kind and health. */
const foldings = [
  { most: Number.POSITIVE_INFINITY, isByParents: true },
  { most: 6, isByParents: true },
  { most: 1, isByParents: true },
] as const
const byKind = { most: 1, isByParents: false } as const
type Folding = (typeof foldings)[number] | typeof byKind
/** The steps that a picture has at first. */
const usualSteps = 2

/** Kinds that many objects share: the picture goes through one of them only if the user opens it, and several are one node. */
const shared: ReadonlySet<string> = new Set([
  'ConfigMap',
  'Namespace',
  'Node',
  'PriorityClass',
  'Secret',
  'ServiceAccount',
  'StorageClass',
])

/**
 * The columns of a picture: from the ways in, over workloads and pods, to what they use. An edge points from a lower to a
 * higher one. Kinds that are not here stand where their edges put them.
 */
const columns: Readonly<Record<string, number>> = {
  Gateway: 0,
  Ingress: 1,
  HTTPRoute: 1,
  Service: 2,
  EndpointSlice: 2.5,
  HorizontalPodAutoscaler: 2,
  PodDisruptionBudget: 2,
  NetworkPolicy: 2,
  CronJob: 3,
  Deployment: 3,
  StatefulSet: 3,
  DaemonSet: 3,
  Job: 4,
  ReplicaSet: 4,
  ControllerRevision: 4,
  Pod: 5,
  ConfigMap: 6,
  Secret: 6,
  ServiceAccount: 6,
  PersistentVolumeClaim: 6,
  Node: 7,
  PersistentVolume: 7,
  StorageClass: 8,
}

/** Fields that lead from an object to what owns it. */
const toOwner = /\.(controller|owners?|ownerChain|rootOwner)$/

type Graph = NonNullable<ObjectGraphQuery['graph']>

/**
 * The picture of a graph: it starts at its roots, at the left, and each edge leads away from them. What many have in common is folded, what is
 * shared is not gone through unless it is `unfolded`, and no edge is drawn that others imply.
 */
export function pictureOf(
  graph: Graph,
  unfolded: ReadonlySet<string>,
  steps: number = usualSteps,
): Picture {
  const near = graph.nodes.filter(({ depth }) => depth <= steps)
  const nodes = new Map(near.map((node) => [node.id, nodeOf(node)]))
  const edges = new Map<string, { from: string; to: string; relations: string[] }>()
  for (const { from, to, relation } of graph.edges) {
    if (!nodes.has(from) || !nodes.has(to)) continue
    const [left, right] = oriented(nodes, { from, to, relation })
    if (left === right) continue
    const id = `${left}>${right}`
    const known = edges.get(id)
    if (known === undefined) edges.set(id, { from: left, to: right, relations: [relation] })
    else if (!known.relations.includes(relation)) known.relations.push(relation)
  }
  const { kept, reached } = awayFromRoots(nodes, withoutImplied(edges), unfolded)
  // What the user unfolds does not fold the rest.
  const opened = new Set([...unfolded].filter((id) => nodes.has(id)))
  const folding =
    foldings.find((one) => folded(reached, kept, opened, one).nodes.length <= mostNodes) ?? byKind
  return { ...folded(reached, kept, unfolded, folding), steps }
}

/** The edges that lead away from the roots, what they reach, and how much is left behind what is shared. */
function awayFromRoots(
  nodes: ReadonlyMap<string, ObjectNode>,
  edges: readonly PictureEdge[],
  unfolded: ReadonlySet<string>,
): { readonly kept: readonly PictureEdge[]; readonly reached: readonly ObjectNode[] } {
  const beside = new Map<string, Set<string>>()
  const join = (one: string, other: string): void => {
    beside.set(one, (beside.get(one) ?? new Set()).add(other))
  }
  for (const { from, to } of edges) {
    join(from, to)
    join(to, from)
  }
  const roots = [...nodes.values()].filter(({ depth }) => depth === 0)
  const distances = new Map(roots.map(({ id }) => [id, 0]))
  // The map grows while it is gone through: the nearest first.
  for (const [id, distance] of distances) {
    const node = nodes.get(id)
    const isEnd = node !== undefined && node.depth > 0 && shared.has(node.kind) && !unfolded.has(id)
    if (isEnd) continue
    for (const other of beside.get(id) ?? []) {
      if (!distances.has(other)) distances.set(other, distance + 1)
    }
  }
  const reached = [...distances.keys()].flatMap((id) => {
    const node = nodes.get(id)
    const hidden = [...(beside.get(id) ?? [])].filter((other) => !distances.has(other))
    return node === undefined ? [] : [{ ...node, behind: hidden.length }]
  })
  const kept = edges.flatMap((edge) => {
    const [near, far] = [distances.get(edge.from), distances.get(edge.to)]
    if (near === undefined || far === undefined) return []
    return [near <= far ? edge : { ...edge, from: edge.to, to: edge.from }]
  })
  return { kept, reached }
}

function nodeOf({ object, ...node }: Graph['nodes'][number]): ObjectNode {
  const { kind, apiVersion, name, depth, id, namespace } = node
  const health = object?.health
  return {
    form: 'object',
    id,
    address: object?.nameId ?? id,
    kind,
    apiVersion,
    namespace,
    name,
    depth,
    health: health?.status,
    reason: health?.reason ?? null,
    behind: 0,
  }
}

function oriented(
  nodes: ReadonlyMap<string, ObjectNode>,
  { from, to, relation }: Graph['edges'][number],
): readonly [left: string, right: string] {
  const left = columns[nodes.get(from)?.kind ?? '']
  const right = columns[nodes.get(to)?.kind ?? '']
  const isBackwards =
    left !== undefined && right !== undefined && left !== right
      ? left > right
      : toOwner.test(relation)
  return isBackwards ? [to, from] : [from, to]
}

type Edges = ReadonlyMap<string, Omit<PictureEdge, 'id'>>

/**
 * Leaves out each edge that a longer way between the same objects implies: a Deployment uses its pods' ConfigMap by its
 * pods.
 */
function withoutImplied(edges: Edges): readonly PictureEdge[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges.values()) {
    const targets = next.get(from)
    if (targets === undefined) next.set(from, [to])
    else targets.push(to)
  }
  const isImplied = ({ from, to }: PictureEdge): boolean => {
    const seen = new Set([from])
    const waiting = (next.get(from) ?? []).filter((first) => first !== to)
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (at === to) return true
      if (seen.has(at)) continue
      seen.add(at)
      waiting.push(...(next.get(at) ?? []))
    }
    return false
  }
  const all = Array.from(edges, ([id, edge]) => ({ id, ...edge }))
  return all.filter((edge) => !isImplied(edge))
}

function folded(
  nodes: readonly ObjectNode[],
  edges: readonly PictureEdge[],
  unfolded: ReadonlySet<string>,
  { most, isByParents }: Folding,
): Omit<Picture, 'steps'> {
  const sources = new Map<string, string[]>()
  for (const { from, to } of edges) sources.set(to, [...(sources.get(to) ?? []), from])
  const groups = new Map<string, ObjectNode[]>()
  for (const node of nodes) {
    if (node.depth === 0) continue
    const parents = isByParents ? (sources.get(node.id) ?? []).toSorted().join() : ''
    const isShared = node.behind > 0
    const key = JSON.stringify([node.apiVersion, node.kind, node.health ?? null, isShared, parents])
    // What is opened stands by itself.
    if (unfolded.has(node.id)) continue
    groups.set(key, [...(groups.get(key) ?? []), node])
  }
  const foldOf = new Map<string, FoldedNode>()
  for (const [key, members] of groups) {
    const [first] = members
    if (first === undefined || unfolded.has(key)) continue
    if (members.length <= (first.behind > 0 ? 1 : most)) continue
    const fold: FoldedNode = {
      form: 'fold',
      id: key,
      kind: first.kind,
      health: first.health,
      members,
    }
    for (const { id } of members) foldOf.set(id, fold)
  }
  const drawn = new Map<string, PictureEdge>()
  for (const edge of edges) {
    const from = foldOf.get(edge.from)?.id ?? edge.from
    const to = foldOf.get(edge.to)?.id ?? edge.to
    if (from !== to) drawn.set(`${from}>${to}`, { ...edge, id: `${from}>${to}`, from, to })
  }
  const alone = nodes.filter(({ id }) => !foldOf.has(id))
  return {
    nodes: [...alone, ...new Set(foldOf.values())].toSorted(worstFirst),
    edges: [...drawn.values()],
  }
}

/** The order in a column: the worst health first, then by kind and name. */
function worstFirst(a: PictureNode, b: PictureNode): number {
  return (
    severityOf(a.health) - severityOf(b.health) ||
    a.kind.localeCompare(b.kind) ||
    titleOf(a).localeCompare(titleOf(b))
  )
}

function titleOf(node: PictureNode): string {
  return node.form === 'object' ? node.name : ''
}

/** A relation in words: `Pod.configMaps` is `config maps`. */
export function relationWords(relation: string): string {
  const field = relation.slice(relation.indexOf('.') + 1).replace(/\(.*/s, '')
  return field.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
}
