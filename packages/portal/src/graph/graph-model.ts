import { type HealthStatus, severityOf } from '../look/health.tsx'
import type { ObjectGraphQuery } from '../gateway/documents.ts'

/** An object of the picture. */
export interface ObjectNode {
  readonly form: 'object'
  readonly id: string
  readonly kind: string
  readonly apiVersion: string
  readonly namespace: string | null
  readonly name: string
  readonly depth: number
  /** Absent where the object cannot be read. */
  readonly health: HealthStatus | undefined
  readonly reason: string | null
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
  /** The columns that it spans, at least 1. */
  readonly span: number
}

export interface Picture {
  readonly nodes: readonly PictureNode[]
  readonly edges: readonly PictureEdge[]
  /** The steps from the roots that are drawn. */
  readonly steps: number
}

/** More siblings than this are drawn as one node. */
const maxSiblings = 12
/** The steps that a picture has at first, if it then has no more objects than this. */
const usualSteps = 2
const usualNodes = 80

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
 * The picture of a graph: its edges from left to right, what many have in common folded, and no edge that others imply.
 * Without `steps`, as many as are easy to overlook.
 */
export function pictureOf(
  graph: Graph,
  unfolded: ReadonlySet<string>,
  steps: number = easySteps(graph),
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
  const kept = withoutImplied(edges, spansOf(nodes))
  return { ...folded([...nodes.values()], kept, unfolded), steps }
}

function easySteps({ nodes }: Graph): number {
  return nodes.filter(({ depth }) => depth <= usualSteps).length <= usualNodes ? usualSteps : 1
}

type Span = (from: string, to: string) => number

/** The number of columns between two objects, counting those that have any. */
function spansOf(nodes: ReadonlyMap<string, ObjectNode>): Span {
  const columnOf = (id: string): number | undefined => columns[nodes.get(id)?.kind ?? '']
  const present = [...new Set([...nodes.keys()].map(columnOf))]
    .filter((column) => column !== undefined)
    .toSorted((a, b) => a - b)
  return (from, to) => {
    const [left, right] = [columnOf(from), columnOf(to)]
    if (left === undefined || right === undefined) return 1
    return Math.max(1, present.indexOf(right) - present.indexOf(left))
  }
}

function nodeOf({ object, ...node }: Graph['nodes'][number]): ObjectNode {
  const { kind, apiVersion, name, depth, id, namespace } = node
  const health = object?.health
  return {
    form: 'object',
    id,
    kind,
    apiVersion,
    namespace,
    name,
    depth,
    health: health?.status,
    reason: health?.reason ?? null,
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

type Edges = ReadonlyMap<string, Omit<PictureEdge, 'id' | 'span'>>

/**
 * Leaves out each edge that a longer way between the same objects implies: a Deployment uses its pods' ConfigMap by its
 * pods.
 */
function withoutImplied(edges: Edges, span: Span): readonly PictureEdge[] {
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
  const all = Array.from(edges, ([id, edge]) => ({ id, ...edge, span: span(edge.from, edge.to) }))
  return all.filter((edge) => !isImplied(edge))
}

function folded(
  nodes: readonly ObjectNode[],
  edges: readonly PictureEdge[],
  unfolded: ReadonlySet<string>,
): Omit<Picture, 'steps'> {
  const sources = new Map<string, string[]>()
  for (const { from, to } of edges) sources.set(to, [...(sources.get(to) ?? []), from])
  const groups = new Map<string, ObjectNode[]>()
  for (const node of nodes) {
    if (node.depth === 0) continue
    const parents = (sources.get(node.id) ?? []).toSorted().join()
    const key = JSON.stringify([node.apiVersion, node.kind, node.health ?? null, parents])
    groups.set(key, [...(groups.get(key) ?? []), node])
  }
  const foldOf = new Map<string, FoldedNode>()
  for (const [key, members] of groups) {
    const [first] = members
    if (first === undefined || members.length <= maxSiblings || unfolded.has(key)) continue
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
