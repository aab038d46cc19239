import type { NeighbourFragment, NeighboursFragment, RelatedQuery } from '../gateway/documents.ts'
import { severityOf } from '../look/health.tsx'

/** An object beside another one. */
export type Neighbour = NeighbourFragment

/** The neighbours by one relation. */
export interface NeighbourGroup {
  /** The name of the relation: `Pod.node`. */
  readonly relation: string
  /** The kind of the first one. */
  readonly kind: string
  readonly objects: readonly Neighbour[]
}

/** What is around an object, the worst first in each group. */
export interface Neighbourhood {
  readonly owners: readonly NeighbourGroup[]
  readonly owned: readonly NeighbourGroup[]
  /** By relations of the object itself. */
  readonly refersTo: readonly NeighbourGroup[]
  /** By relations of others that lead to it. */
  readonly referredToBy: readonly NeighbourGroup[]
}

/** Sorts the answers about an object, one or several, into groups. */
export function neighbourhoodOf(
  id: string,
  {
    object,
    graphs,
    isUser,
  }: {
    readonly object: RelatedQuery['object']
    readonly graphs: readonly NeighboursFragment[]
    /** The `id`s of its users, which are shown by themselves. */
    readonly isUser: ReadonlySet<string>
  },
): Neighbourhood {
  const owners = object?.owners ?? []
  const owned = object?.owned?.nodes ?? []
  const byOwnership = new Set([...owners, ...owned].map((one) => one.id))
  const objects = new Map(
    graphs.flatMap(({ nodes }) =>
      nodes.flatMap((node) => (node.object === null ? [] : [[node.id, node.object] as const])),
    ),
  )
  const refersTo = new Map<string, Map<string, Neighbour>>()
  const referredToBy = new Map<string, Map<string, Neighbour>>()
  for (const { from, to, relation } of graphs.flatMap(({ edges }) => edges)) {
    const isOwn = from === id
    const other = objects.get(isOwn ? to : from)
    if (other === undefined || byOwnership.has(other.id) || other.id === id) continue
    if (!isOwn && isUser.has(other.id)) continue
    const groups = isOwn ? refersTo : referredToBy
    const group = groups.get(relation) ?? new Map<string, Neighbour>()
    groups.set(relation, group.set(other.id, other))
  }
  return {
    owners: byKind(owners),
    owned: byKind(owned),
    refersTo: groupsOf(refersTo),
    referredToBy: groupsOf(referredToBy),
  }
}

function byKind(objects: readonly Neighbour[]): readonly NeighbourGroup[] {
  return Map.groupBy(objects, ({ kind }) => kind)
    .entries()
    .map(([kind, ones]) => ({ relation: '', kind, objects: worstFirst(ones) }))
    .toArray()
}

function groupsOf(
  byRelation: ReadonlyMap<string, ReadonlyMap<string, Neighbour>>,
): readonly NeighbourGroup[] {
  return byRelation
    .entries()
    .map(([relation, members]) => {
      const objects = worstFirst([...members.values()])
      return { relation, kind: objects[0]?.kind ?? '', objects }
    })
    .toArray()
    .toSorted((a, b) => a.kind.localeCompare(b.kind))
}

/** By health, the worst first, then by name. */
export function worstFirst(objects: readonly Neighbour[]): readonly Neighbour[] {
  return objects.toSorted(
    (a, b) =>
      severityOf(a.health?.status) - severityOf(b.health?.status) ||
      a.name.localeCompare(b.name, undefined, { numeric: true }),
  )
}

/** The relations that the gateway can follow if it is asked to. */
export function followable(graph: NeighboursFragment): readonly string[] {
  return graph.notFollowed.filter((relation) => /^\w+\.\w+$/.test(relation))
}

/** The plural of a kind, as it stands in a heading: `NetworkPolicies`. */
export function pluralOf(kind: string): string {
  if (/(?:ss|x|ch)$/.test(kind)) return `${kind}es`
  if (kind.endsWith('s')) return kind
  return /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`
}
