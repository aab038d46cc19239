/*
 * Lists of several kinds. A field over several kinds finds its places (`Places`: kinds in clusters, and what could not be
 * read), and gives each part a condition. `kindsConnection` reads one page of all parts. The value of a connection has the
 * fields of its type as members, each computed when a field asks for it, within the tick that read the page. For a list of one
 * kind, `plan/plan.ts` writes the rows from their bare ids (`ReadPage`).
 *
 * Below it: `kubernetesObjects`, in a query and in a subscription. The list of each kind in each cluster, as the arguments
 * name them, is a part of one list. The indexes that all kinds have order it.
 */

import { type Condition, namespacesOf } from '../../../query/condition/condition.ts'
import type { ObjectId } from '../../../informer/store/store-view.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import type { ListIdentity } from '../../../query/page/cursor.ts'
import { type OrderTerm, compileOrder } from '../../../query/page/list-order.ts'
import { listPage, type ListPageBounds, type PageOf } from '../../../query/page/page.ts'
import {
  type KindView,
  type ClusterKind,
  clustersNamed,
  clustersPrepared,
  isReachable,
} from '../../prepare/kind-view.ts'
import type { TypeCount, KubernetesObjectsArguments } from '../../schema/gateway-types.ts'
import { pageInfoOf, paidRows } from '../list-read.ts'
import { StoredObject } from '../direct/direct-reads.ts'
import { type PlacesRead, Places, typesNotRead } from '../places.ts'
import { withContents } from '../namespace-health.ts'
import type { ReadRun } from '../read-run.ts'
import { measuredKinds } from '../usage-read.ts'
import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { ClientError, isLostCluster } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import { commonIndexes } from '../../model/declared-indexes.ts'
import {
  type ErrorNames,
  isServed,
  kindsCalled,
  noSuchKind,
  unnamedKinds,
} from '../../served/named-kinds.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { filterOf, type ListFilter } from '../list-arguments.ts'

/** A kind in a cluster, with the condition that its objects must meet. */
export type PlacedPart = KindView & { readonly condition: Condition }

/**
 * The members of a connection about the rows of its page. Each `nodes` and each `edges` of a document pays for its rows.
 * A cursor is made only if it is selected. `valueOf`: the value of a row at its position.
 */
export function rowMembers<R>(
  { budget }: ReadRun,
  page: PageOf<R>,
  valueOf: (row: R, at: number) => object,
): object {
  return {
    nodes: () => paidRows(budget, page).map(valueOf),
    edges: () =>
      paidRows(budget, page).map((row, at) => ({
        cursor: () => page.cursorAt(at),
        node: valueOf(row, at),
      })),
    pageInfo: () => pageInfoOf(page),
    totalCount: () => page.totalCount(),
  }
}

interface KindsPage<P> {
  readonly identity: ListIdentity
  readonly bounds: ListPageBounds
  readonly terms?: readonly OrderTerm[]
  /** The value of an object. Default: the object itself. Not named `valueOf`: every object has one. */
  readonly toValue?: ((found: { readonly part: P; readonly id: ObjectId }) => object) | undefined
}

const testsPerKind = 20

/** A page of the objects of some kinds, as the value of a connection. Throws as `listPage` does. */
export function kindsConnection<P extends PlacedPart>(
  run: ReadRun,
  places: PlacesRead<P>,
  { identity, bounds, terms = [], toValue = (found) => new StoredObject(found) }: KindsPage<P>,
): object {
  const { budget, limits } = run
  budget.spend('tests', testsPerKind * (1 + places.parts.length))
  const page = listPage({
    // Sorts before every longer name of a cluster.
    parts: places.parts.map((part) => ({
      ...part,
      name: `${part.cluster}\0${part.kind.typeName}`,
    })),
    terms,
    budget,
    identity,
    maxPageSize: limits.maxPageSize,
    ...bounds,
  })
  const rows = rowMembers(run, page, (id: ObjectId, at) => toValue({ part: page.partAt(at), id }))
  const counts = (): readonly TypeCount[] =>
    countsByType(page.counts(), ({ kind }) => kind.typeName)
  return { ...places, ...rows, counts }
}

/** The number of objects of each type on all pages, most first, without types that have none. */
export function countsByType<P>(
  counts: readonly { readonly part: P; readonly count: number }[],
  typeOf: (part: P) => string,
): readonly TypeCount[] {
  const found = new Map<string, number>()
  for (const { part, count } of counts) {
    if (count > 0) found.set(typeOf(part), (found.get(typeOf(part)) ?? 0) + count)
  }
  return Array.from(found, ([type, count]) => ({ type, count })).toSorted(
    (a, b) => b.count - a.count || (a.type < b.type ? -1 : 1),
  )
}

/** A part is a kind in a cluster. */
const maxParts = 2_000

/**
 * A page of the objects of all parts. An unreadable part is a gap. Throws as `listPage` does, and `ArgumentError` and
 * `ClientError` for wrong arguments.
 */
export function readAnyKinds(run: ReadRun, args: KubernetesObjectsArguments): object {
  const { served, limits } = run
  const {
    isNamed,
    isOpen,
    places: asked,
    clusters,
  } = kindsAsked(served, args, limits, clustersNamed)
  const filterIn = filtersOf(served, args)
  const terms = orderOf(args)
  const places = new Places<PlacedPart>(run, {
    isNamed,
    fails: ({ kind }, { code }) => isNamed(kind) || isLostCluster(code),
  })
  for (const at of asked) {
    const { condition } = filterIn(at.kind)
    const isDerived = measuredKinds(served, at.kind, condition, terms).includes(at.kind)
    places.add(
      at,
      (part) => ({ ...(isDerived ? withContents(run, part) : part), condition }),
      () => {
        if (at.kind.uncached) throw notListed(at)
        return namespacesOf(condition)
      },
    )
  }
  for (const cluster of isOpen ? clusters : []) {
    // Without a connection, the gateway does not know which kinds a cluster has.
    if (served.clusters.get(cluster)?.connection.state !== 'connected') places.lose(cluster)
  }
  const read = places.read(() => [
    ...(isOpen ? typesNotRead(served, clusters, places.parts) : []),
    ...places.parts.flatMap(({ cluster, kind }) =>
      isReachable(served, cluster) ? [] : kind.typeName,
    ),
  ])
  const { first, after, last, before, offset, namespaces = null, ...identity } = args
  return kindsConnection(run, read, {
    identity: { list: '*/*', namespaces, ...identity },
    bounds: { first, after, last, before, offset },
    terms,
  })
}

/** The list of one kind in one cluster, as a part of a list over kinds. */
interface AnyKindsPart extends ListFilter {
  readonly at: ClusterKind
}

/**
 * The lists that a subscription over kinds follows, and the order of its pages. A pattern covers only kinds that the
 * clusters serve. Throws `ArgumentError` and `ClientError`.
 */
export function anyKindsToFollow(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
  limits: ErrorNames,
): {
  readonly kind: Kind
  readonly parts: readonly AnyKindsPart[]
  readonly terms: readonly OrderTerm[]
} {
  const { isNamed, kinds, places } = kindsAsked(served, args, limits, clustersNamed)
  const filterIn = filtersOf(served, args)
  const parts = places
    .filter(
      ({ cluster, kind }) =>
        isNamed(kind) || (!kind.uncached && isServed(served, cluster, kind.typeName)),
    )
    .map(({ cluster, kind }) => ({ at: { cluster, kind }, ...filterIn(kind) }))
  const [kind] = [...kinds, ...parts.map(({ at }) => at.kind), ...served.commonKinds]
  const uncached = parts.find(({ at }) => at.kind.uncached)
  if (uncached !== undefined) throw notListed(uncached.at)
  if (kind === undefined) {
    const hint = 'name a kind, such as "Deployment"'
    throw new ArgumentError('kinds', 'names no kind', { value: args.kinds, hint })
  }
  return { kind, parts, terms: orderOf(args) }
}

/** The kinds that a list over kinds prepares, with their indexes. Ignores wrong arguments, which the field reports. */
export function anyKindsPlaces(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
): readonly ClusterKind[] {
  const { places } = kindsAsked(served, args, { introspection: false }, clustersPrepared)
  return places.filter(
    ({ cluster, kind }) => !kind.uncached && isServed(served, cluster, kind.typeName),
  )
}

interface AskedKinds {
  /** The kinds that patterns or names mean. */
  readonly kinds: ReadonlySet<Kind>
  /** Whether the arguments have `*`, which stands for common kinds and kinds in memory. */
  readonly isOpen: boolean
  /** Whether a name, and not only a pattern, means the kind. */
  readonly isNamed: (kind: Kind) => boolean
  readonly clusters: readonly string[]
  /** Each kind in each cluster, by the names of the clusters and types, with the indexes that the arguments read. */
  readonly places: readonly ClusterKind[]
}

/**
 * The kinds that names and patterns mean, in the clusters that the arguments name. A name is the name of a kind, a type
 * or a resource, with or without its group; `*.example.com` stands for all kinds of the group and its subgroups. Throws
 * `ArgumentError` for an unknown name, and for too many places.
 */
function kindsAsked(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
  limits: ErrorNames,
  clustersOf: typeof clustersNamed,
): AskedKinds {
  const exact = new Set<Kind>()
  const kinds = new Set<Kind>()
  const seen = new Set<string>()
  for (const [at, name] of args.kinds.entries()) {
    const spelled = name.startsWith('*') ? name : name.toLowerCase()
    if (seen.has(spelled) || name === '*') continue
    seen.add(spelled)
    const group = name.startsWith('*.') ? name.slice(2) : undefined
    const found =
      group === undefined
        ? kindsCalled(served, name)
        : [...served.kinds.values()].filter(
            ({ resource }) => resource.group === group || resource.group.endsWith(`.${group}`),
          )
    if (found.length === 0) throw noSuchKind(served, `kinds[${at}]`, { name, otherwise }, limits)
    for (const kind of found) {
      kinds.add(kind)
      if (group === undefined) exact.add(kind)
    }
  }
  const isOpen = args.kinds.includes('*')
  const clusters = clustersOf(served, args)
  const indexes = lazyIndexesIn(args)
  const places = clusters.flatMap((cluster) => {
    const open = isOpen ? unnamedKinds(served, cluster) : []
    // Events would crowd out the objects that they are about.
    const listed = [...open].filter((kind) => kind.resource.kind !== 'Event' && !kind.uncached)
    return [...new Set([...kinds, ...listed])]
      .toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1))
      .map((kind) => ({ cluster, kind, indexes, isOptional: true }))
  })
  if (places.length > maxParts) {
    const problem = `make ${places.length} lists of one kind in one cluster, and at most ${maxParts} are read`
    const hint = 'name fewer kinds or clusters'
    throw new ArgumentError('kinds', problem, { value: places.length, hint })
  }
  return { kinds, isOpen, isNamed: (kind) => exact.has(kind), clusters, places }
}

const otherwise =
  'write the kind, its type or its resource: "Deployment", "deployments.apps"; or a group: "*.example.com"'

/** The common indexes that are built on first use. */
const lazy = commonIndexes.flatMap((index) => (index.lazy === true ? index.name : []))

function lazyIndexesIn({ where, orderBy }: KubernetesObjectsArguments): ClusterKind['indexes'] {
  const named = new Set<string>()
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      named.add(name)
      search(inner)
    }
  }
  search(where)
  search(orderBy)
  const needed = lazy.filter((name) => named.has(name))
  return needed.length === 0 ? undefined : { needed }
}

/** The order, by indexes. A rising age is a falling creation time. */
function orderOf({ orderBy }: KubernetesObjectsArguments): readonly OrderTerm[] {
  const byIndexes = orderBy?.map((key) => {
    const { age } = key
    if (age === undefined) return key
    return { creationTimestamp: age === 'ASC' ? 'DESC' : 'ASC' } as const
  })
  return compileOrder(byIndexes, commonIndexes)
}

/** The condition of the objects of each kind, and what binds cursors and tokens to the list. Compiles each kind once. */
function filtersOf(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
): (kind: Kind) => ListFilter {
  const ofKinds = new Map<Kind, ListFilter>()
  return (kind) => {
    return getOrInsert(ofKinds, kind, () => filterOf(served, kind, args))
  }
}

function notListed({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live, and is in no list of several kinds`
  const hint = 'read it by its own list'
  return new ClientError('UNSUPPORTED', message, { cluster, type: typeName, hint })
}
