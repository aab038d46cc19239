import type { FieldNode } from 'graphql'
import { type ReadGraph, readGraph } from '../reads/graph/graph-read.ts'
import { graphKinds, graphRequest } from '../reads/graph/graph-request.ts'
import type { GraphArguments } from '../schema/read-arguments.ts'
import type { FieldArguments } from './field-arguments.ts'
import { graphEdgesWriter } from './graph-edges-writer.ts'
import { graphIdOf, graphNodeWriter } from './graph-node-writer.ts'
import { type PlainWriter, plainWriter } from './plain-writer.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import { neededKinds } from './plan-needs.ts'
import type { RootWriter } from './writers.ts'

/**
 * Compiles `Query.graph`. Nodes and edges come from the stores' keys and UIDs, without decoding an object. Throws
 * {@link NotCoveredError}.
 */
export function graphWriter(
  args: FieldArguments,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
): RootWriter {
  const { place } = compiler
  // A graph may contain objects of other clusters than the default one.
  const { compiled: write, needs } = compiler.apart(() =>
    plainWriter<ReadGraph>('Graph', nodes, compiler, (name, same) =>
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
      run.budget.report?.at(place)
      const asked = run.argumentsOf(args) as unknown as GraphArguments
      const graph = readGraph(run, graphRequest(run.served, asked))
      run.errors.beside(graph.failures, nodes)
      return write(run, graph)
    },
  }
}

function memberWriter(
  name: string,
  same: readonly FieldNode[],
  compiler: PlanCompiler,
): PlainWriter<ReadGraph> | undefined {
  switch (name) {
    case 'nodes': {
      const one = graphNodeWriter(same, compiler)
      return (run, graph) => run.list(graph.nodes, (node) => one(run, node))
    }
    case 'edges': {
      const write = graphEdgesWriter(same, compiler)
      return (run, graph) => {
        // Looks up each object's `id` once for all of its edges.
        const ids = graph.nodes.map((node) => graphIdOf(run, node))
        return write(run, graph.edges, ids)
      }
    }
    case 'truncated':
      return (_run, graph) => String(graph.isCut)
    case 'kinds':
      return (_run, graph) => JSON.stringify(graph.kinds)
    case 'notFollowed':
      return (_run, graph) => JSON.stringify(graph.notFollowed)
    default:
      return undefined
  }
}
