import type { FieldNode } from 'graphql'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { WalkEdge, WalkNode } from '../../query/relation/graph-walk.ts'
import { encodeObjectId } from '../model/object-id.ts'
import { type ReadGraph, readGraph } from '../operation/graph-reader.ts'
import { graphKinds, graphRequest } from '../operation/graph-request.ts'
import { refOfNode } from '../operation/graph-source.ts'
import type { KindPart } from '../operation/kind-part.ts'
import type { GraphArguments } from '../schema/read-context.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { selectionsOf } from './collected-fields.ts'
import type { FieldArguments } from './field-arguments.ts'
import { referenced } from './found-object.ts'
import { NotCoveredError } from './not-covered.ts'
import { plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { neededKinds } from './plan-needs.ts'
import type { PlanRun } from './plan-run.ts'
import type { RootWriter } from './writers.ts'

/** A graph that is being written: each object's `id` is made once, for its node and all of its edges. */
interface WrittenGraph {
  readonly graph: ReadGraph
  readonly ids: readonly string[]
  readonly run: PlanRun
}

/** What a node is written from. */
interface WrittenNode {
  readonly run: PlanRun
  readonly node: WalkNode<KindPart>
  readonly id: string
}

interface WrittenEdge {
  readonly edge: WalkEdge
  readonly ids: readonly string[]
}

/**
 * Compiles `Query.graph`: written straight from the stores' keys and UIDs, without decoding an object. Throws
 * {@link NotCoveredError}.
 */
export function graphWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  const { place } = compiler
  // The objects of a graph may be in other clusters than the default one.
  const { compiled: write, needs } = compiler.apart(() =>
    plainWriter<WrittenGraph>('Graph', nodes, compiler, (name, same) =>
      memberWriter(name, same, compiler),
    ),
  )
  return {
    args,
    needs: compiler.takeNeeds(),
    further(served, given, variables) {
      const kinds = graphKinds(served, given as unknown as GraphArguments)
      const clusters = new Set(kinds.map(({ cluster }) => cluster))
      return [
        ...kinds,
        ...[...clusters].flatMap((cluster) => neededKinds(needs, cluster, variables)),
      ]
    },
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
      const one = plainWriter<WrittenNode>('GraphNode', same, compiler, (member, of) =>
        nodeMember(member, of, compiler),
      )
      return ({ graph, ids, run }) =>
        run.list(graph.nodes, (node, at) => run.paid(one({ run, node, id: ids[at] ?? '' })))
    }
    case 'edges': {
      const one = plainWriter<WrittenEdge>('GraphEdge', same, compiler, edgeMember)
      return ({ graph, ids, run }) => run.list(graph.edges, (edge) => run.paid(one({ edge, ids })))
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

function nodeMember(
  name: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): NodeMember | undefined {
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
    case 'object': {
      const write = anyRowWriter(selectionsOf(nodes), compiler)
      const { place } = compiler
      return ({ run, node }) => {
        run.budget.report?.at(place)
        // What is reached may be seen, but not everything that may be seen may be looked up.
        const found = referenced(run, refOfNode(node))
        if (found === undefined) return 'null'
        run.budget.spend('rows', 1)
        return write(run, found.part, found.id)
      }
    }
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
