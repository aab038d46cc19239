import type { FieldNode } from 'graphql'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { WalkEdge, WalkNode } from '../../query/relation/graph-walk.ts'
import { encodeObjectId } from '../model/object-id.ts'
import { type ReadGraph, readGraph } from '../operation/graph-reader.ts'
import { graphKinds, graphRequest } from '../operation/graph-request.ts'
import type { KindAt, KindPart } from '../operation/kind-part.ts'
import type { ServedSchema } from '../operation/served-schema.ts'
import type { GraphArguments } from '../schema/read-context.ts'
import type { FieldArguments } from './field-arguments.ts'
import { NotCoveredError } from './not-covered.ts'
import { plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** `Query.graph` in a plan. */
interface GraphWriter {
  further(served: ServedSchema, given: Readonly<Record<string, unknown>>): readonly KindAt[]
  write(run: PlanRun): string
}

/** A graph that is being written: each object's `id` is made once, for its node and all of its edges. */
interface WrittenGraph {
  readonly graph: ReadGraph
  readonly ids: readonly string[]
  readonly run: PlanRun
}

/** What a node is written from. */
interface WrittenNode {
  readonly node: WalkNode<KindPart>
  readonly id: string
}

interface WrittenEdge {
  readonly edge: WalkEdge
  readonly ids: readonly string[]
}

/** Compiles `Query.graph`: written straight from the stores' keys and UIDs, without decoding an object. */
export function graphWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): GraphWriter {
  const { place } = compiler
  const write = plainWriter<WrittenGraph>('Graph', nodes, compiler, (name, same) =>
    memberWriter(name, same, compiler),
  )
  return {
    further: (served, given) => graphKinds(served, given as unknown as GraphArguments),
    write(run) {
      const { served, parts, budget } = run
      budget.report?.at(place)
      const request = graphRequest(served, run.argumentsOf(args) as unknown as GraphArguments)
      const graph = readGraph({ served, parts, budget }, request)
      if (graph.failures.length > 0) throw new NotCoveredError('a failure beside the answer')
      return write({ graph, ids: graph.nodes.map(idOf), run })
    },
  }
}

function memberWriter(
  name: string,
  same: readonly FieldNode[],
  compiler: PlanCompiler,
): ((written: WrittenGraph) => string) | undefined {
  switch (name) {
    case 'nodes': {
      const one = plainWriter<WrittenNode>('GraphNode', same, compiler, nodeMember)
      return ({ graph, ids, run }) =>
        run.list(graph.nodes, (node, at) => paid(run, one({ node, id: ids[at] ?? '' })))
    }
    case 'edges': {
      const one = plainWriter<WrittenEdge>('GraphEdge', same, compiler, edgeMember)
      return ({ graph, ids, run }) => run.list(graph.edges, (edge) => paid(run, one({ edge, ids })))
    }
    case 'truncated':
      return ({ graph }) => String(graph.isCut)
    case 'kinds':
      return ({ graph }) => JSON.stringify(graph.kinds)
    case 'notFollowed':
      return ({ graph }) => JSON.stringify(graph.notFollowed)
    default:
      return undefined
  }
}

type NodeMember = (written: WrittenNode) => string

function nodeMember(name: string): NodeMember | undefined {
  switch (name) {
    case 'id':
      // base64url needs no escapes.
      return ({ id }) => `"${id}"`
    case 'clusterName':
      return ({ node }) => JSON.stringify(node.part.cluster)
    case 'apiVersion':
      return ({ node }) => JSON.stringify(node.part.kind.apiVersion)
    case 'kind':
      return ({ node }) => JSON.stringify(node.part.kind.resource.kind)
    case 'namespace':
      return ({ node }) => JSON.stringify(placeOf(node).namespace || null)
    case 'name':
      return ({ node }) => JSON.stringify(placeOf(node).name)
    case 'depth':
      return ({ node }) => String(node.depth)
    default:
      return undefined
  }
}

function edgeMember(name: string): ((written: WrittenEdge) => string) | undefined {
  switch (name) {
    case 'from':
      return ({ edge, ids }) => `"${ids[edge.from] ?? ''}"`
    case 'to':
      return ({ edge, ids }) => `"${ids[edge.to] ?? ''}"`
    case 'relation':
      return ({ edge }) => JSON.stringify(edge.relation)
    default:
      return undefined
  }
}

function idOf({ part: { cluster, kind, view }, id }: WalkNode<KindPart>): string {
  const { group, kind: kindName } = kind.resource
  const uid = view.uidOf(id)
  const object = uid === '' ? splitObjectKey(view.keyOf(id)) : { uid }
  return encodeObjectId({ cluster, group, kind: kindName, object })
}

function placeOf({ part: { view }, id }: WalkNode<KindPart>): ReturnType<typeof splitObjectKey> {
  return splitObjectKey(view.keyOf(id))
}

/** Paid for as it is written, so that no more than a member is written too many. */
function paid(run: PlanRun, text: string): string {
  run.budget.spend('bytes', text.length)
  return text
}
