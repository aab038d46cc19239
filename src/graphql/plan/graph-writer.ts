import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { WalkEdge, WalkNode } from '../../query/relation/graph-walk.ts'
import { objectIdOf } from '../model/object-id.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { type ReadGraph, readGraph } from '../reads/graph/graph-read.ts'
import { graphKinds, graphRequest } from '../reads/graph/graph-request.ts'
import { referenced, refOf } from '../reads/object-read.ts'
import type { GraphArguments } from '../schema/read-arguments.ts'
import { anyRowWriter } from './any-row-writer.ts'
import { collectFields } from './collected-fields.ts'
import type { FragmentMemo } from './fragment-cache.ts'
import { fragmentedMembers, type PlainWriter, plainWriter } from './plain-writer.ts'
import { neededKinds, type PlanField, type RootWriter, type RowWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { listText, objectText } from './value-run.ts'
import { memberWriter } from './value-writer.ts'

/**
 * Compiles `Query.graph`. Nodes and edges come from the stores' keys and UIDs, without decoding an object. Throws
 * `NotCoveredError`.
 */
export function graphWriter(field: PlanField): RootWriter {
  const { args, compiler, nodes } = field
  // A graph may contain objects of other clusters than the default one.
  const { compiled: write, needs } = compiler.apart(() => plainWriter(field, partWriter))
  return {
    further(served, given, variables) {
      const kinds = graphKinds(served, given as unknown as GraphArguments)
      const clusters = new Set(kinds.map(({ cluster }) => cluster))
      return [
        ...kinds,
        ...[...clusters].flatMap((cluster) => neededKinds(needs, cluster, variables)),
      ]
    },
    write(run) {
      const asked = run.argumentsOf(args) as unknown as GraphArguments
      const graph = readGraph(run, graphRequest(run.served, asked))
      run.errors.beside(graph.failures, nodes)
      return write(run, graph)
    },
  }
}

function partWriter(field: PlanField): PlainWriter<ReadGraph> {
  switch (field.name) {
    case 'nodes': {
      const one = nodeWriter(field)
      return (run, graph) => listText(run, graph.nodes, (node) => one(run, node))
    }
    case 'edges': {
      const write = edgesWriter(field)
      return (run, graph) => {
        // Looks up each object's `id` once for all of its edges.
        const ids = graph.nodes.map(({ part, id }) => keptId(run, part, id))
        return write(run, graph.edges, ids)
      }
    }
    default:
      return memberWriter(field)
  }
}

/** Writes an object of a graph, or some of its members. */
type NodeWriter = (run: PlanRun, node: WalkNode<KindView>) => string

/** A text made from an object's kind, key and UID. */
type OwnText = (part: KindView, id: ObjectId) => string

/** Compiles the objects of graphs. Throws `NotCoveredError`. */
function nodeWriter({ objectType, selections, compiler }: PlanField): NodeWriter {
  const fields = collectFields(selections, new Set([objectType.name]), compiler.collect)
  const members = fragmentedMembers<NodeWriter>(objectType, fields, compiler, {
    isOwn: (name) => ownTexts[name] !== undefined,
    fragment(own) {
      const named = own.map(([key, [node]]) => ({ key, name: node?.name.value ?? '' }))
      const signature = named.map(({ key, name }) => `${JSON.stringify(key)}:${name}`).join()
      const texts = named.map(
        ({ key, name }) => [`${JSON.stringify(key)}:`, ownTexts[name]] as const,
      )
      const write = keptText(signature, own.length, (part, id) =>
        texts.map(([before, textOf]) => before + (textOf?.(part, id) ?? '')).join(),
      )
      return (run, { part, id }) => write(run, part, id)
    },
    hole: holeWriter,
  })
  return (run, node) => objectText(run, members, node)
}

/** Compiles a member that depends on more than the object. */
function holeWriter(field: PlanField): NodeWriter {
  if (field.name === 'depth') return (_run, { depth }) => String(depth)
  if (field.name !== 'object') throw field.notCovered()
  const write = anyRowWriter(field)
  return (run, node) => {
    // The viewer may see a reached object, yet may lack the access to look it up.
    const found = referenced(run, refOf(node))
    return found === undefined ? 'null' : write(run, found.part, found.id)
  }
}

/** A text that the fragment cache keeps for each version of an object. `fields`: the number of its fields. */
function keptText(signature: string, fields: number, make: OwnText): RowWriter {
  const memos = new WeakMap<StoreView, FragmentMemo>()
  return (run, part, id) => {
    const { view } = part
    let memo = memos.get(view)
    if (memo === undefined) {
      // The prefix keeps it apart from the signatures of own fields.
      memo = run.fragmentsOf(part).memo(`\0graph ${part.cluster}\n${signature}`, view)
      memos.set(view, memo)
    }
    const held = view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) {
      run.budget.spend('fields', fields)
      text = make(part, id)
      memo.set(id, held, text)
    }
    return text
  }
}

function idOf(part: KindView, id: ObjectId): string {
  const { view } = part
  // base64url needs no escapes.
  return `"${objectIdOf(part, { key: view.keyOf(id), uid: view.uidOf(id) })}"`
}

const keptId = keptText('id', 1, idOf)

const ownTexts: Readonly<Record<string, OwnText>> = {
  __typename: () => JSON.stringify('GraphNode'),
  id: idOf,
  clusterName: ({ cluster }) => JSON.stringify(cluster),
  apiVersion: ({ kind }) => JSON.stringify(kind.apiVersion),
  kind: ({ kind }) => JSON.stringify(kind.resource.kind),
  namespace: ({ view }, id) => JSON.stringify(splitObjectKey(view.keyOf(id)).namespace || null),
  name: ({ view }, id) => JSON.stringify(splitObjectKey(view.keyOf(id)).name),
}

/** Writes the edges of a graph. `ids`: the objects' ids as JSON, by position. */
type EdgesWriter = (run: PlanRun, edges: readonly WalkEdge[], ids: readonly string[]) => string

const edgeNames = ['from', 'to', 'relation', '__typename'] as const

/** A member of an edge, with the text before it. */
interface EdgeMember {
  readonly before: string
  readonly name: (typeof edgeNames)[number]
}

/** Compiles the edges of graphs. Throws `NotCoveredError`. */
function edgesWriter(field: PlanField): EdgesWriter {
  const { objectType, selections, compiler } = field
  const fields = collectFields(selections, new Set([objectType.name]), compiler.collect)
  const members = Array.from(fields, ([key, [node]], position): EdgeMember => {
    const name = edgeNames.find((one) => one === node?.name.value)
    if (name === undefined) throw field.notCovered()
    return { name, before: `${position === 0 ? '{' : ','}${JSON.stringify(key)}:` }
  })
  return (run, edges, ids) => {
    const texts = members.map((member) => memberTexts(member, ids))
    return listText(run, edges, (edge) => {
      // Without members, the opening brace is missing.
      let text = texts.length === 0 ? '{' : ''
      for (const textOf of texts) text += textOf(edge)
      return `${text}}`
    })
  }
}

/** A thousand edges share some hundred objects and a dozen relations: each text is joined with its prefix once. */
function memberTexts(
  { before, name }: EdgeMember,
  ids: readonly string[],
): (edge: WalkEdge) => string {
  switch (name) {
    case '__typename': {
      const text = `${before}"GraphEdge"`
      return () => text
    }
    case 'relation': {
      const texts = new Map<string, string>()
      return ({ relation }) => {
        let text = texts.get(relation)
        if (text === undefined) texts.set(relation, (text = before + JSON.stringify(relation)))
        return text
      }
    }
    case 'from':
    case 'to': {
      const texts: string[] = []
      return (edge) => {
        const position = edge[name]
        return (texts[position] ??= before + (ids[position] ?? ''))
      }
    }
  }
}
