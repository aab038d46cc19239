/*
 * `Query.graph`: objects and the relations between them. The walk (`query/relation/graph-walk.ts`) asks for the steps from
 * the objects of each kind that it reaches. `GraphReader` makes the steps from the links of the schema, and records the kinds
 * and relations that it could not follow. Nodes and edges come from the stores' keys and UIDs, without decoding an object.
 */

import type { ObjectId, StoreView } from '../../../informer/store/store-view.ts'
import { objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { JsonText } from '../../../lib/json.ts'
import { type Condition, hasValue } from '../../../query/condition/condition.ts'
import {
  type Lead,
  type WalkEdges,
  walkGraph,
  type WalkNode,
  type WalkStep,
} from '../../../query/relation/graph-walk.ts'
import { siblingsOf } from '../../../query/relation/relation.ts'
import type { Kind } from '../../model/kind.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import { type GraphLink, graphLinksOf } from './graph-links.ts'
import type { GraphArguments, GraphNodeValue } from '../../schema/gateway-types.ts'
import {
  follows,
  followsOwnership,
  type GraphRequest,
  graphRequest,
  payPreparation,
  requestAround,
} from './graph-request.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import { unnamedKinds } from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import { StoredObject } from '../direct/direct-reads.ts'
import { identifiedIn, kindOfIdentity, OfObject, referenced, refOf } from '../object-read.ts'
import { type PlacesRead, PlacesReport, typesNotRead, unnamedPart } from '../places.ts'
import type { ReadRun } from '../read-run.ts'

/** A graph as the value of its type, valid within the tick: the members have the names of the fields. */
interface Graph extends PlacesRead<KindView> {
  /**
   * Relations of reached kinds that were not followed, because a kind or index that they read is unavailable; sorted.
   */
  readonly notFollowed: readonly string[]
  readonly truncated: boolean
  readonly nodes: () => readonly GraphNode[]
  readonly edges: () => readonly object[]
}

/** Reads a graph. Throws the `ClientError` of a root kind that cannot be read, and `QueryTooCostlyError`. */
export function readGraph(run: ReadRun, args: GraphArguments): Graph {
  const { budget } = run
  const request = graphRequest(run.served, args)
  const { depth, maxNodes } = request
  payPreparation(args, budget)
  const reader = new GraphReader(run, request)
  const roots = reader.roots()
  const stepsOf = (part: KindView): readonly WalkStep<KindView>[] => reader.stepsOf(part)
  // The argument that shortens the walk.
  const costly =
    request.picks === undefined
      ? { argument: 'relations', hint: 'name the relations that you need, or lower `depth`' }
      : { argument: 'depth', hint: 'lower `depth`, or name fewer relations' }
  const { nodes, edges, isCut } = budget.because(costly, () =>
    walkGraph({ roots, depth, maxNodes, budget, stepsOf }),
  )
  const values = nodes.map((node) => new GraphNode(run, node))
  return {
    ...reader.account(),
    truncated: isCut,
    nodes() {
      budget.spend('fields', fieldsPerNode * values.length)
      return values
    },
    edges() {
      budget.spend('fields', fieldsPerEdge * edges.from.length)
      return edgeValues(edges, values)
    },
  }
}

/**
 * An object, its owners, what it owns and what it references, over some steps, the nearest first; at most as many as a graph
 * has by default. Throws `ArgumentError`, and as {@link readGraph} does.
 */
export function graphAround(
  run: ReadRun,
  id: string,
  depth: number | null,
): readonly WalkNode<KindView>[] {
  const request = requestAround(id, depth)
  const reader = new GraphReader(run, request)
  const stepsOf = (part: KindView): readonly WalkStep<KindView>[] => reader.stepsOf(part)
  const { budget } = run
  const costly = { argument: 'depth', hint: 'lower `depth`' }
  return budget.because(costly, () =>
    walkGraph({ ...request, roots: reader.roots(), budget, stepsOf }),
  ).nodes
}

/** A node has seven fields from its key and UID. */
const fieldsPerNode = 7
/** An edge is made of texts that are known. */
const fieldsPerEdge = 1
/** Looking at a link or at a kind from the objects of a kind takes as long as so many tests. */
const testsPerLink = 4

/** The members of a node that depend on nothing but the version of its object. */
export const keptOfNode: ReadonlySet<string> = new Set([
  'id',
  'clusterName',
  'apiVersion',
  'kind',
  'namespace',
  'name',
])

class GraphNode extends OfObject implements GraphNodeValue {
  readonly depth: number
  readonly #run: ReadRun
  #text: JsonText | undefined

  constructor(run: ReadRun, node: WalkNode<KindView>) {
    super(node)
    this.#run = run
    this.depth = node.depth
  }

  /** Made once for the node and all its edges. */
  get id(): JsonText {
    return (this.#text ??= new JsonText(this.#run.idText(this.about.part, this.about.id)))
  }

  get clusterName(): string {
    return this.about.part.cluster
  }

  get apiVersion(): string {
    return this.about.part.kind.apiVersion
  }

  get kind(): string {
    return this.about.part.kind.resource.kind
  }

  get namespace(): string | null {
    return splitObjectKey(this.about.part.view.keyOf(this.about.id)).namespace || null
  }

  get name(): string {
    return splitObjectKey(this.about.part.view.keyOf(this.about.id)).name
  }

  /** The viewer may see a reached object, yet may lack the access to look it up. */
  object(): StoredObject | undefined {
    const found = referenced(this.#run, refOf(this.about))
    return found && new StoredObject(found)
  }
}

/**
 * A thousand edges share some hundred objects and a dozen relations, so each text is made once. Each role of it is a
 * separate object, which keeps its text behind the name of the field.
 */
function edgeValues(
  { from, to, relation: names }: WalkEdges,
  nodes: readonly GraphNode[],
): readonly object[] {
  const froms: JsonText[] = []
  const tos: JsonText[] = []
  const relations = new Map<string, JsonText>()
  const idOf = (position: number): JsonText => new JsonText(nodes[position]?.id.text ?? 'null')
  return names.map((name, at) => {
    const start = from[at] ?? 0
    const end = to[at] ?? 0
    const relation = getOrInsert(relations, name, () => new JsonText(JSON.stringify(name)))
    return { from: (froms[start] ??= idOf(start)), to: (tos[end] ??= idOf(end)), relation }
  })
}

class GraphReader {
  readonly #run: ReadRun
  readonly #request: GraphRequest
  /** Its parts are the roots and what relations lead to. */
  readonly #report: PlacesReport<KindView>
  readonly #notFollowed = new Set<string>()
  /** The clusters where `owners` or `owned` was followed, which may lead to every kind. */
  readonly #ownershipIn = new Set<string>()
  /** The common kinds and those in memory, by cluster. */
  readonly #inMemory = new Map<string, readonly KindView[]>()
  /** The same by kind, filled on demand: relations lead to few kinds. */
  readonly #cached = new Map<string, Map<Kind, KindView | undefined>>()

  constructor(run: ReadRun, request: GraphRequest) {
    this.#run = run
    this.#request = request
    this.#report = new PlacesReport(run.served)
  }

  /** The roots that exist and that the viewer may see. Those that were made anew are errors beside the graph. */
  roots(): readonly { readonly part: KindView; readonly id: ObjectId }[] {
    const { served, parts, budget } = this.#run
    return this.#request.roots.flatMap((identity, position) => {
      const { object } = identity
      const at = kindOfIdentity(served, identity)
      const key = 'uid' in object ? undefined : objectKey(object)
      const part = at && parts.forLookup(at, key === undefined ? undefined : [key])
      if (part === undefined) return []
      this.#report.parts.push(part)
      const id = identifiedIn(served, part, budget, [`roots[${position}]`, identity])
      if (id instanceof ClientError) this.#report.failures.push(id)
      return id === undefined || id instanceof ClientError ? [] : [{ part, id }]
    })
  }

  stepsOf(part: KindView): readonly WalkStep<KindView>[] {
    const { served } = this.#run
    const links = graphLinksOf(served.relations).byType.get(part.kind.typeName) ?? []
    this.#run.budget.spend('tests', testsPerLink * links.length)
    const followed: { readonly link: GraphLink; readonly to: KindView }[] = []
    const steps: WalkStep<KindView>[] = []
    for (const link of links) {
      if (!follows(this.#request, link)) continue
      const read = this.#partsOf(part, link)
      const to = read?.get(link.to.typeName)
      if (read === undefined || to === undefined) {
        this.#notFollowed.add(link.name)
        continue
      }
      this.#report.parts.push(to)
      followed.push({ link, to })
      steps.push(this.#step(part, link, read, to))
    }
    return [...steps, ...this.#ownershipSteps(part, followed)]
  }

  /**
   * The steps of `owners` and `owned`, which every object has: among common kinds, kinds in memory and, if the request
   * names `owned`, kinds that the SDL relates to this kind. They reach owners that no followed relation leads to. An edge
   * leads from the object to its owner.
   */
  #ownershipSteps(
    part: KindView,
    followed: readonly { readonly link: GraphLink; readonly to: KindView }[],
  ): readonly WalkStep<KindView>[] {
    const { kind, view } = part
    const { picks } = this.#request
    if (!followsOwnership(picks, kind)) return []
    this.#ownershipIn.add(part.cluster)
    if (picks?.hasCommon('owned', kind)) this.#loadOwned(part)
    const others = this.#allOf(part.cluster)
    this.#run.budget.spend('tests', testsPerLink * others.length)
    const steps: WalkStep<KindView>[] = []
    const isPicked = (field: 'owners' | 'owned'): boolean => picks?.hasCommon(field, kind) ?? true
    const reached = (ownership: 'up' | 'down'): readonly KindView[] =>
      followed.filter(({ link }) => link.ownership === ownership).map(({ to }) => to)
    if (isPicked('owners') && view.index('ownerUid').objectCount > 0) {
      const above = reached('up')
      steps.push({
        relation: `${kind.typeName}.owners`,
        backwards: false,
        leads: (id) => ownersOf(part, id, above, others),
      })
    }
    if (!isPicked('owned')) return steps
    const below = new Set(reached('down').map((to) => to.view))
    for (const to of others) {
      const index = to.view.index('ownerUid')
      const isOwned = index.objectCount > 0
      // Always names a kind with hidden objects: the answer must not reveal whether these have owners.
      if (below.has(to.view) || (!isOwned && to.scope.form === 'all')) continue
      this.#report.parts.push(to)
      if (!isOwned) continue
      steps.push({
        relation: `${to.kind.typeName}.owners`,
        backwards: true,
        to,
        index,
        value: (id) => view.uidOf(id),
      })
    }
    return steps
  }

  account(): PlacesRead<KindView> & Pick<Graph, 'notFollowed'> {
    const read = this.#report.read(() => this.#others(read.types))
    return { ...read, notFollowed: [...this.#notFollowed].toSorted() }
  }

  /** The kinds that ownership could not be followed to. Events have no owners. */
  #others(types: readonly string[]): readonly string[] {
    const read = Array.from(this.#ownershipIn, (cluster) => this.#allOf(cluster)).flat()
    return typesNotRead(
      this.#run.served,
      this.#ownershipIn,
      read,
      ({ resource, typeName }) => resource.kind !== 'Event' && !types.includes(typeName),
    )
  }

  #step(
    { view }: KindView,
    link: GraphLink,
    read: ReadonlyMap<string, KindView>,
    to: KindView,
  ): WalkStep<KindView> {
    const { budget } = this.#run
    const part = (type: string): KindView => {
      const found = read.get(type)
      if (found === undefined) throw new TypeError(`${type} is not among the parts`)
      return found
    }
    const follow = (id: ObjectId): Condition => link.follow({ view, id, budget, part })
    let last: { isSibling(id: ObjectId): boolean; readonly condition: Condition } | undefined
    const followSibling = (id: ObjectId): Condition => {
      if (last?.isSibling(id) === true) return last.condition
      last = { isSibling: siblingsOf(view, id), condition: follow(id) }
      return last.condition
    }
    return {
      relation: link.edge,
      backwards: link.backwards,
      to,
      condition: link.ofSiblings ? followSibling : follow,
    }
  }

  /** The parts that a relation reads, by type; `undefined` if it cannot be followed. */
  #partsOf(
    { cluster, view }: KindView,
    { start, reads }: GraphLink,
  ): ReadonlyMap<string, KindView> | undefined {
    if (!isIndexed(view, start)) return undefined
    const read = new Map<string, KindView>()
    for (const need of reads) {
      const part = this.#partOf(cluster, need)
      if (part === undefined) {
        this.#report.leaveOut(need.kind)
        return undefined
      }
      read.set(need.kind.typeName, part)
    }
    return read
  }

  #allOf(cluster: string): readonly KindView[] {
    const { served } = this.#run
    return getOrInsert(this.#inMemory, cluster, () => {
      const kinds = [...unnamedKinds(served, cluster)]
      return kinds.flatMap((kind) => this.#unnamedPart(cluster, kind) ?? [])
    })
  }

  /** Notes the kinds that objects of a kind may own, so that the next run finds them in memory. */
  #loadOwned({ cluster, kind }: KindView): void {
    const { served, parts } = this.#run
    const cache = served.clusters.get(cluster)
    for (const owned of served.relations.ownedKinds(kind)) {
      if (owned.uncached || cache?.serves(owned.resource) !== true) continue
      unlessRefused(() => parts.part({ cluster, kind: owned }))
    }
  }

  #unnamedPart(cluster: string, kind: Kind): KindView | undefined {
    const cached = getOrInsert(this.#cached, cluster, () => new Map())
    if (!cached.has(kind)) cached.set(kind, unnamedPart(this.#run, { cluster, kind }))
    return cached.get(kind)
  }

  #partOf(cluster: string, need: RelatedNeed): KindView | undefined {
    const { served, parts } = this.#run
    if (this.#request.picks === undefined) {
      const part = this.#unnamedPart(cluster, need.kind)
      return part !== undefined && isIndexed(part.view, need) ? part : undefined
    }
    if (served.clusters.get(cluster)?.serves(need.kind.resource) !== true) return undefined
    return this.#report.attempt(() => parts.part({ cluster, ...need }))
  }
}

/** Whether the store has all indexes that the kind needs. */
function isIndexed(view: StoreView, { indexes }: RelatedNeed): boolean {
  for (const name of indexes.needed ?? []) if (!view.hasIndex(name)) return false
  return true
}

function* ownersOf(
  { view }: KindView,
  id: ObjectId,
  known: readonly KindView[],
  others: readonly KindView[],
): IterableIterator<Lead<KindView>> {
  for (const uid of view.index('ownerUid').valuesOf(id)) {
    const has = (one: KindView): boolean => one.view.idOfUid(uid) !== undefined
    if (known.some(has)) continue
    const to = others.find(has)
    if (to !== undefined) yield { to, condition: hasValue('uid', [uid]) }
  }
}
