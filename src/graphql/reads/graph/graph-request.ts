/*
 * The arguments of `graph`: the roots, the bounds, and the relations to follow (`graphRequest`). Before the run,
 * `graphKinds` finds the kinds that the walk can reach, step by step up to the depth, so that they are loaded with the
 * indexes that their links read.
 */

import { ArgumentError } from '../../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../../query/condition/work-budget.ts'
import type { Kind } from '../../model/kind.ts'
import type { ObjectIdentity } from '../../model/object-id.ts'
import type { GraphArguments } from '../../schema/gateway-types.ts'
import type { WantedIndexes } from '../../../cache/cached-resource.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { type GraphLink, graphLinksOf } from './graph-links.ts'
import { identityIn } from '../list-arguments.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import { commonKindsOf } from '../../served/named-kinds.ts'
import type { ServedSchema } from '../../served/served-schema.ts'

/** The default and the largest size of a graph. */
export const graphBounds = {
  depth: 3,
  maxDepth: 16,
  nodes: 500,
  maxNodes: 5_000,
} as const

export interface GraphPicks {
  has(link: GraphLink): boolean
  /** Whether the graph follows `owners` or `owned`, which every object has, from a kind. */
  hasCommon(field: 'owners' | 'owned', kind: Kind): boolean
}

export interface GraphRequest {
  readonly roots: readonly ObjectIdentity[]
  readonly depth: number
  readonly maxNodes: number
  /** `undefined`: the relations between the common kinds and those in memory. */
  readonly picks: GraphPicks | undefined
  /** Whether only owners, owned and referenced objects count, and not what references an object. */
  readonly isDirected?: true
}

/** Whether a request follows a link. */
export function follows({ picks, isDirected }: GraphRequest, link: GraphLink): boolean {
  if (picks !== undefined) return picks.has(link)
  if (!link.isDefault) return false
  return isDirected !== true || !link.backwards || link.ownership !== undefined
}

/** The request of what is around an object, over some steps. Throws `ArgumentError`. */
export function requestAround(id: string, depth: number | null): GraphRequest {
  return {
    roots: [identityIn('around', id)],
    depth: bounded('depth', depth ?? graphBounds.depth, 0, graphBounds.maxDepth),
    maxNodes: graphBounds.nodes,
    picks: undefined,
    isDirected: true,
  }
}

/** Looking at a link or at a kind, for the preparation of a graph, takes as long as so many tests. */
const testsPerLook = 2

interface KnownRequest {
  readonly by: ServedSchema
  readonly is: GraphRequest
  /** What the preparation has cost. */
  tests: number
}

/** Requests by their arguments: the preparation and the read of a graph get the same arguments. */
const read = new WeakMap<GraphArguments, KnownRequest>()

/** Pays for the preparation of a graph. Throws `QueryTooCostlyError`. */
export function payPreparation(args: GraphArguments, budget: WorkBudget): void {
  budget.spend('tests', read.get(args)?.tests ?? 0)
}

/** Reads the arguments of `graph`. Throws `ArgumentError`, which names the invalid one. */
export function graphRequest(served: ServedSchema, args: GraphArguments): GraphRequest {
  const known = read.get(args)
  if (known?.by === served) return known.is
  const depth = bounded('depth', args.depth ?? graphBounds.depth, 0, graphBounds.maxDepth)
  const maxNodes = bounded('maxNodes', args.maxNodes ?? graphBounds.nodes, 1, graphBounds.maxNodes)
  if (args.roots.length > maxNodes) {
    throw new ArgumentError('roots', `has ${args.roots.length} ids, more than maxNodes`, {
      value: args.roots.length,
      hint: 'begin at fewer objects, or raise `maxNodes`',
    })
  }
  const is = {
    roots: args.roots.map((id, at) => identityIn(`roots[${at}]`, id)),
    depth,
    maxNodes,
    picks: picksOf(served, args.relations),
  }
  read.set(args, { by: served, is, tests: 0 })
  return is
}

/**
 * The kinds that a graph needs, with their indexes: the kinds of its roots, and kinds that its relations can reach.
 * Without named relations, only common kinds and kinds in memory count. Invalid arguments need none: the field reports
 * them. `budget` bounds the search of one operation; the read of the graph pays the same.
 */
export function graphKinds(
  served: ServedSchema,
  args: GraphArguments,
  budget: WorkBudget,
): readonly ClusterKind[] {
  let request: GraphRequest
  try {
    request = graphRequest(served, args)
  } catch {
    return []
  }
  const roots = new Map<string, Set<Kind>>()
  for (const { cluster, group, kind: name } of request.roots) {
    const kind = served.kindOf(group, name)
    if (kind === undefined || kind.uncached || !served.clusters.has(cluster)) continue
    const kinds = getOrInsert(roots, cluster, () => new Set())
    kinds.add(kind)
  }
  let looks = 0
  const found = Array.from(roots, ([cluster, kinds]) => {
    const reached = reachable(served, cluster, kinds, request)
    looks += reached.looks
    return Array.from(reached.kinds, ([kind, indexes]) => ({ cluster, kind, indexes }))
  }).flat()
  const known = read.get(args)
  if (known !== undefined) known.tests = looks * testsPerLook
  payPreparation(args, budget)
  return found
}

interface Wanted {
  readonly needed: Set<string>
  readonly useful: Set<string>
}

interface Reached {
  readonly kinds: ReadonlyMap<Kind, Wanted>
  /** How many links and kinds were looked at. */
  readonly looks: number
}

/** The kinds that relations can reach from some kinds, with the indexes that they need. */
function reachable(
  served: ServedSchema,
  cluster: string,
  roots: ReadonlySet<Kind>,
  request: GraphRequest,
): Reached {
  const { picks, depth } = request
  const { byType } = graphLinksOf(served.relations)
  const cache = served.clusters.get(cluster)
  const readable = new Map<Kind, boolean>()
  const isReadable = (kind: Kind): boolean => {
    return getOrInsert(readable, kind, () => {
      const { resource, uncached } = kind
      const isServed = cache?.serves(resource) === true
      const isRead = (): boolean =>
        served.commonKinds.has(kind) || cache?.synced(resource) !== undefined
      return !uncached && isServed && (picks !== undefined || isRead())
    })
  }
  const all = new Map<Kind, Wanted>()
  const want = (kind: Kind, { needed = [], useful = [] }: WantedIndexes = {}): boolean => {
    const wanted = all.get(kind) ?? { needed: new Set(), useful: new Set() }
    for (const name of needed) wanted.needed.add(name)
    for (const name of useful) wanted.useful.add(name)
    const isNew = !all.has(kind)
    all.set(kind, wanted)
    return isNew
  }
  for (const kind of roots) want(kind)
  let looks = 0
  let last: Iterable<Kind> = roots
  for (let step = 0; step < depth; step++) {
    const next = new Set<Kind>()
    for (const kind of last) {
      const links = byType.get(kind.typeName) ?? []
      looks += links.length
      for (const link of links) {
        if (!follows(request, link)) continue
        const { start, reads } = link
        if (!reads.every((need) => roots.has(need.kind) || isReadable(need.kind))) continue
        want(kind, start.indexes)
        for (const need of reads) if (want(need.kind, need.indexes)) next.add(need.kind)
      }
      const owned = picks?.hasCommon('owned', kind) ? served.relations.ownedKinds(kind) : []
      const others = followsOwnership(picks, kind) ? commonKindsOf(served, cluster) : []
      looks += owned.length + others.length
      for (const one of [...owned, ...others]) if (isReadable(one) && want(one)) next.add(one)
    }
    last = next
  }
  return { kinds: all, looks }
}

/** Whether a graph follows `owners` or `owned` from a kind. Both may lead to every kind. */
export function followsOwnership(picks: GraphRequest['picks'], kind: Kind): boolean {
  return picks === undefined || picks.hasCommon('owners', kind) || picks.hasCommon('owned', kind)
}

function bounded(argument: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value
  throw new ArgumentError(argument, `must be from ${least} to ${most}, not ${value}`, {
    value,
    hint: 'ask for a part, and go on from the objects at its edge',
  })
}

function picksOf(
  { kinds, relations }: ServedSchema,
  names: readonly string[] | null | undefined,
): GraphPicks | undefined {
  if (names === null || names === undefined) return undefined
  const picked = new Set(names)
  const { fields } = graphLinksOf(relations)
  for (const [at, name] of names.entries()) {
    if (fields.has(name)) continue
    const [, type, isCommon] = /^(?:(.*)\.)?(owners|owned)$/.exec(name) ?? []
    if (isCommon !== undefined && (type === undefined || kinds.has(type))) continue
    throw new ArgumentError(`relations[${at}]`, `there is no relation ${JSON.stringify(name)}`, {
      value: name,
      hint: 'use the names of fields that lead to objects: "Pod.node", or "pods" for those of every type',
    })
  }
  return {
    has: ({ field, name }) => picked.has(field) || picked.has(name),
    hasCommon: (field, { typeName }) => picked.has(field) || picked.has(`${typeName}.${field}`),
  }
}
