import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { namespacesOf } from '../../../query/condition/condition.ts'
import { compileOrder, type OrderTerm } from '../../../query/page/list-order.ts'
import { listPage } from '../../../query/page/page.ts'
import { ClientError, isLostCluster } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import { commonIndexes } from '../../model/sdl-indexes.ts'
import type { ClusterKind } from '../../prepare/kind-view.ts'
import type { KubernetesObjectsArguments } from '../../schema/read-arguments.ts'
import type { ClusterGap } from '../../schema/read-context.ts'
import { clustersNamed, clustersPrepared } from '../../served/cluster-argument.ts'
import { kindsCalled, noSuchKind, unnamedKinds } from '../../served/named-kinds.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import { isServed } from '../condition-needs.ts'
import { filterOf, type ListFilter } from '../list-arguments.ts'
import { testsPerPage } from '../list-read.ts'
import {
  failuresOfParts,
  lostCluster,
  lostGap,
  placePart,
  Places,
  typesNotRead,
} from '../places.ts'
import type { ListedPart } from '../connection-read.ts'
import type { ReadRun } from '../read-run.ts'
import { type KindsConnection, kindsConnection } from './kinds-page.ts'

/** A list has a part for each kind in each cluster. */
const maxParts = 2_000

/**
 * A page of the objects of the kinds that the arguments name, in the clusters that they name. What cannot be read is a
 * gap. Throws as `listPage` does, and `ArgumentError` and `ClientError` for wrong arguments.
 */
export function readAnyKinds(run: ReadRun, args: KubernetesObjectsArguments): KindsConnection {
  const { served, budget, limits } = run
  const named = kindsNamedBy(served, args.kinds, limits)
  const isNamed = (kind: Kind): boolean => named.isNamed(kind)
  const clusters = clustersNamed(served, args)
  const indexes = lazyIndexesIn(args)
  const filterIn = filtersOf(served, args)
  const places = new Places<ListedPart>(served, {
    isNamed,
    fails: ({ kind }, { code }) => isNamed(kind) || isLostCluster(code),
  })
  for (const at of placesIn(served, named, clusters)) {
    const { cluster, kind } = at
    budget.spend('tests', testsPerPage)
    const { condition } = filterIn(kind)
    places.add(at, () => {
      if (kind.uncached) throw notListed(at)
      const within = (): readonly string[] | undefined => namespacesOf(condition)
      const part = placePart(run, { ...at, indexes, isOptional: true }, within)
      // Sorts before every longer name of a cluster.
      return part && { ...part, name: `${cluster}\0${kind.typeName}`, condition }
    })
  }
  const { parts, failures } = places
  // Without a connection, the gateway does not know which kinds a cluster has.
  const unknown = named.isOpen ? clusters.filter((one) => isUnknown(served, one)) : []
  const { first, after, last, before, offset, namespaces = null, ...identity } = args
  const page = listPage({
    parts,
    terms: compileOrder(orderOf(args), commonIndexes),
    budget,
    maxPageSize: limits.maxPageSize,
    identity: { list: '*/*', namespaces, ...identity },
    first,
    after,
    last,
    before,
    offset,
  })
  const outdated = failuresOfParts(served, parts)
  failures.push(...outdated, ...unknown.map((one) => lostCluster(served, one)))
  const read = places.read(() => [
    ...(named.isOpen ? typesNotRead(served, clusters, parts) : []),
    ...outdated.flatMap(({ type }) => type ?? []),
  ])
  const lost = (): readonly ClusterGap[] => unknown.map((one) => lostGap(served, one))
  const incomplete = (): readonly ClusterGap[] => [...read.incomplete(), ...lost()]
  return kindsConnection(run, { ...read, page, incomplete })
}

function isUnknown({ clusters }: ServedSchema, name: string): boolean {
  return clusters.get(name)?.connection.state !== 'connected'
}

/** The list of one kind in one cluster, among those of a list over kinds. */
interface AnyKindsPart extends ListFilter {
  readonly at: ClusterKind
}

/**
 * The lists that a subscription over kinds follows, and the order of its pages. Of kinds that only a pattern covers, it
 * follows those that the clusters serve. Throws `ArgumentError` and `ClientError`.
 */
export function anyKindsToFollow(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
  limits: Pick<OperationLimits, 'introspection'>,
): {
  readonly kind: Kind
  readonly parts: readonly AnyKindsPart[]
  readonly terms: readonly OrderTerm[]
} {
  const named = kindsNamedBy(served, args.kinds, limits)
  const filterIn = filtersOf(served, args)
  const parts = placesIn(served, named, clustersNamed(served, args))
    .filter(
      ({ cluster, kind }) =>
        named.isNamed(kind) || (!kind.uncached && isServed(served, cluster, kind.typeName)),
    )
    .map((at) => ({ at, ...filterIn(at.kind) }))
  const [kind] = [...named.kinds, ...parts.map(({ at }) => at.kind), ...served.commonKinds]
  const uncached = parts.find(({ at }) => at.kind.uncached)
  if (uncached !== undefined) throw notListed(uncached.at)
  if (kind === undefined) throw namesNoKind(args.kinds)
  return { kind, parts, terms: compileOrder(orderOf(args), commonIndexes) }
}

function namesNoKind(kinds: readonly string[]): ArgumentError {
  const hint = 'name a kind, such as "Deployment"'
  return new ArgumentError('kinds', 'names no kind', { value: kinds, hint })
}

/** The kinds that a list over kinds prepares, with their indexes. Ignores wrong arguments, which the field reports. */
export function anyKindsPlaces(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
): readonly ClusterKind[] {
  const named = kindsNamedBy(served, args.kinds, { introspection: false })
  const indexes = lazyIndexesIn(args)
  return placesIn(served, named, clustersPrepared(served, args))
    .filter(({ cluster, kind }) => !kind.uncached && isServed(served, cluster, kind.typeName))
    .map((at) => ({ ...at, indexes, isOptional: true }))
}

const otherwise =
  'write the kind, its type or its resource: "Deployment", "deployments.apps"; or a group: "*.example.com"'

interface NamedKinds {
  /** By patterns or names. */
  readonly kinds: ReadonlySet<Kind>
  /** Whether `*` stands for the kinds that are common or in memory. */
  readonly isOpen: boolean
  /** Whether a name, not a pattern, leads to a kind. */
  isNamed(kind: Kind): boolean
}

/**
 * The kinds that names and patterns mean. A name is that of a kind, a type or a resource, with or without its group;
 * `*.example.com` stands for all kinds of the group and its subgroups. Throws `ArgumentError` for one that means none.
 */
function kindsNamedBy(
  served: ServedSchema,
  names: readonly string[],
  limits: Pick<OperationLimits, 'introspection'>,
): NamedKinds {
  const exact = new Set<Kind>()
  const all = new Set<Kind>()
  let isOpen = false
  const seen = new Set<string>()
  for (const [at, name] of names.entries()) {
    const spelled = name.startsWith('*') ? name : name.toLowerCase()
    if (seen.has(spelled)) continue
    seen.add(spelled)
    if (name === '*') isOpen = true
    else {
      const group = name.startsWith('*.') ? name.slice(2) : undefined
      const found =
        group === undefined
          ? kindsCalled(served, name)
          : [...served.kinds.values()].filter(({ resource }) => isWithin(resource.group, group))
      if (found.length === 0) throw noSuchKind(served, `kinds[${at}]`, { name, otherwise }, limits)
      for (const kind of found) {
        all.add(kind)
        if (group === undefined) exact.add(kind)
      }
    }
  }
  return { kinds: all, isOpen, isNamed: (kind) => exact.has(kind) }
}

function isWithin(group: string, wanted: string): boolean {
  return group === wanted || group.endsWith(`.${wanted}`)
}

/** Each kind in each cluster, by the names of the clusters and types. Throws `ArgumentError` for too many. */
function placesIn(
  served: ServedSchema,
  { kinds, isOpen }: NamedKinds,
  clusters: readonly string[],
): readonly ClusterKind[] {
  const places = clusters.flatMap((cluster) => {
    const open = isOpen ? [...unnamedKinds(served, cluster)].filter(isListedUnnamed) : []
    return [...new Set([...kinds, ...open])]
      .toSorted((a, b) => (a.typeName < b.typeName ? -1 : 1))
      .map((kind) => ({ cluster, kind }))
  })
  if (places.length <= maxParts) return places
  const problem = `make ${places.length} lists of one kind in one cluster, and at most ${maxParts} are read`
  const hint = 'name fewer kinds or clusters'
  throw new ArgumentError('kinds', problem, { value: places.length, hint })
}

/** Events would crowd out the objects that they are about. */
function isListedUnnamed({ resource, uncached }: Kind): boolean {
  return resource.kind !== 'Event' && !uncached
}

/** The common indexes that are built on first use. */
const lazy = commonIndexes.flatMap((index) => (index.lazy === true ? index.name : []))

function lazyIndexesIn({
  where,
  orderBy,
}: KubernetesObjectsArguments): { readonly needed: readonly string[] } | undefined {
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

/** The order by indexes: the youngest are those that were created last. */
function orderOf({ orderBy }: KubernetesObjectsArguments): KubernetesObjectsArguments['orderBy'] {
  return orderBy?.map((key) => {
    const { age } = key
    if (age === undefined) return key
    return { creationTimestamp: age === 'ASC' ? 'DESC' : 'ASC' }
  })
}

/** The condition of the objects of each kind, and what binds cursors and tokens to the list. Compiles each kind once. */
function filtersOf(
  served: ServedSchema,
  args: KubernetesObjectsArguments,
): (kind: Kind) => ListFilter {
  const ofKinds = new Map<Kind, ListFilter>()
  return (kind) => {
    let filter = ofKinds.get(kind)
    if (filter === undefined) {
      ofKinds.set(kind, (filter = filterOf(served, kind, args)))
    }
    return filter
  }
}

function notListed({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live, and is in no list of several kinds`
  const hint = 'read it by its own list'
  return new ClientError('UNSUPPORTED', message, { cluster, type: typeName, hint })
}
