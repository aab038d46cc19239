import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId } from '../../informer/store/store-view.ts'
import { idOfObjectRef } from '../schema/object-ref.ts'
import type { GraphSource, ObjectRef } from '../schema/read-context.ts'
import type { ReadGraph } from '../reads/graph-read.ts'
import type { KindView } from './kind-view.ts'

/** A graph as the resolvers of its types read it. */
export function graphSource(graph: ReadGraph): GraphSource {
  const { nodes, edges, isCut, kinds, notFollowed, failures } = graph
  const found = nodes.map((node) => ({ ref: refOfNode(node), depth: node.depth }))
  return {
    nodes: () => found,
    edges() {
      const ids = found.map(({ ref }) => idOfObjectRef(ref))
      const idOf = (position: number): string => ids[position] ?? ''
      return edges.map(({ from, to, relation }) => ({ from: idOf(from), to: idOf(to), relation }))
    },
    truncated: isCut,
    kinds,
    notFollowed,
    failures,
  }
}

/** Which object is meant: from its store, without decoding it. */
export function refOfNode({
  part,
  id,
}: {
  readonly part: KindView
  readonly id: ObjectId
}): ObjectRef {
  const { cluster, kind, view } = part
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  const uid = view.uidOf(id)
  return {
    cluster,
    group: kind.resource.group,
    apiVersion: kind.apiVersion,
    kind: kind.resource.kind,
    namespace: namespace === '' ? null : namespace,
    name,
    uid: uid === '' ? null : uid,
  }
}
