import { namespacesOf } from '../../query/condition/condition.ts'
import { listMergedPage, type MergedPage, type MergedPart } from '../../query/page/merged-page.ts'
import { listHash } from '../../query/page/cursor.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { accessFingerprint, joinedFingerprint } from '../prepare/access-fingerprint.ts'
import type { ClusterKind, KindView } from '../prepare/kind-view.ts'
import type { FacetArguments, SumArguments } from '../schema/read-arguments.ts'
import type { ClusterGap, Facet, IndexSum } from '../schema/read-context.ts'
import { clustersNamed, isReachable } from '../served/cluster-argument.ts'
import { type CountedList, facetsBy, sumsIn, testsPerToken } from './connection-read.ts'
import {
  failuresOfParts,
  gapOfError,
  gapsOfParts,
  notServedGap,
  unreachableCluster,
} from './cluster-gaps.ts'
import { filterOf } from './list-arguments.ts'
import { type ListRequest, testsPerPage } from './list-read.ts'
import type { ReadRun } from './read-run.ts'
import { encodeResumeToken, positionOfLists, positionPrefix } from './resume-token.ts'
import { staleSince } from './staleness.ts'
import { requireUsages } from './usage-read.ts'

/** A kind in one cluster, as a part of a list over clusters. */
export type FleetPart = KindView & MergedPart

/** A page of the lists of a kind in several clusters. */
export interface FleetPage {
  readonly kind: Kind
  readonly request: ListRequest
  readonly page: MergedPage<FleetPart>
  readonly parts: readonly FleetPart[]
  /** Further kinds that decide which objects are on the page. */
  readonly reads: readonly Kind[]
  /** What is missing on the page, or out of date. */
  readonly gaps: readonly ClusterGap[]
  /** The errors behind the gaps. */
  readonly failures: readonly ClientError[]
}

/**
 * A page of the list of a kind in the clusters that its arguments name. What cannot be read of a cluster is a gap, and
 * the page has the others. Throws as `listMergedPage` does, and `ClientError` for wrong arguments.
 */
export function readFleetList(run: ReadRun, kind: Kind, request: ListRequest): FleetPage {
  const { args, identity, terms, filterKinds } = request
  if (kind.uncached) throw notOverClusters(kind)
  const { parts, ...found } = fleetParts(run, kind, request)
  const { budget, limits } = run
  const { first, after, last, before, offset, clusters, clusterSelector } = args
  const page = listMergedPage({
    parts,
    terms,
    budget,
    maxPageSize: limits.maxPageSize,
    identity: { list: `*/${kind.listField}`, ...identity, clusters, clusterSelector },
    first,
    after,
    last,
    before,
    offset,
  })
  return { kind, request, page, parts, reads: filterKinds, ...found }
}

/** Since when the first of the caches that a page is read from may be out of date; `null` while all are in step. */
export function fleetStaleSince({ served }: ReadRun, { parts, reads }: FleetPage): string | null {
  const further = parts.flatMap(({ cluster }) => reads.map((kind) => ({ cluster, kind })))
  return staleSince(served, [...parts, ...further])
}

/**
 * A token for a subscription to the lists that resumes at the current versions of the stores. Where something is
 * missing, it leads to a new snapshot.
 */
export function fleetResumeToken(
  { served, budget }: ReadRun,
  { kind, parts, gaps, request }: FleetPage,
): string {
  budget.spend('tests', testsPerToken * parts.length)
  const lists = parts.map(({ cluster }) => {
    const { identity } = filterOf(served, kind, { ...request.args, cluster })
    return listHash({ list: `${cluster}/${kind.listField}`, ...identity }, budget)
  })
  const positions = parts.map(
    ({ view }, number) => [positionPrefix(number) + kind.typeName, view.resourceVersion] as const,
  )
  return encodeResumeToken({
    ...positionOfLists({
      lists,
      incarnations: parts.map(({ incarnation }) => incarnation),
      access: joinedFingerprint(parts.map((part) => accessFingerprint([part]))),
    }),
    positions: gaps.length === 0 ? Object.fromEntries(positions) : {},
    isAhead: false,
  })
}

/** Counts the objects on all pages of all clusters. Throws as `facetsOf` does. */
export function fleetFacets(run: ReadRun, read: FleetPage, args: FacetArguments): readonly Facet[] {
  return facetsBy(run, countedFleet(read), args)
}

/** Adds up indexes over the objects on all pages of all clusters. Throws as `facetsOf` does. */
export function fleetSums(run: ReadRun, read: FleetPage, args: SumArguments): readonly IndexSum[] {
  return sumsIn(run, countedFleet(read), args)
}

/** The lists of a page over clusters. */
export function countedFleet({
  kind,
  page,
  parts,
}: Pick<FleetPage, 'kind' | 'page' | 'parts'>): CountedList {
  return {
    kind,
    parts: parts.map((part) => ({ part, within: namespacesOf(part.condition) })),
    spread: (indexIn, top, sums) =>
      page.spread(
        ({ view }) => indexIn(view),
        top,
        ({ view }) => sums.map((sumIn) => sumIn(view)),
      ),
    sum: (indexIn) => page.sum(({ view }) => indexIn(view)),
    clusters(sums) {
      const ofIndexes = sums.map((indexIn) => page.sums(({ view }) => indexIn(view)))
      return page.counts().map(({ part: { cluster }, count }, at) => ({
        cluster,
        count,
        sums: ofIndexes.flatMap((ofParts) => ofParts[at] ?? []),
      }))
    },
  }
}

/** The parts of a list over clusters, and what is missing. */
function fleetParts(
  run: ReadRun,
  kind: Kind,
  { args, condition, measured }: ListRequest,
): Pick<FleetPage, 'parts' | 'gaps' | 'failures'> {
  const { served, budget } = run
  const parts: FleetPart[] = []
  const gaps: ClusterGap[] = []
  const failures: ClientError[] = []
  for (const cluster of clustersNamed(served, args)) {
    const at = { cluster, kind, isOptional: true }
    budget.spend('tests', testsPerPage)
    // An `id` belongs to one cluster.
    const own =
      (args.ids ?? null) === null
        ? condition
        : filterOf(served, kind, { ...args, cluster }).condition
    try {
      const part = fleetPart(run, at, () => namespacesOf(own))
      if (part === undefined) gaps.push(notServedGap(at))
      else {
        if (measured.length > 0) requireUsages(run, part, measured, namespacesOf(own))
        const related = run.related(cluster)
        parts.push({ ...part, name: cluster, condition: own, related })
      }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      gaps.push(gapOfError(served, at, error))
      failures.push(error)
    }
  }
  return {
    parts,
    gaps: [...gaps, ...gapsOfParts(served, parts)],
    failures: [...failures, ...failuresOfParts(served, parts)],
  }
}

/**
 * The part of a kind in a cluster. Of an optional one, `undefined` if the cluster does not serve the kind; a cluster that
 * cannot be reached does not delay the answer: only what is in memory of it and known to be allowed is read. The budget
 * pays for the namespaces, in each part anew. Throws `ClientError`.
 */
export function fleetPart(
  run: ReadRun,
  at: ClusterKind,
  within: () => readonly string[] | undefined,
): KindView | undefined {
  const { served, parts, budget } = run
  const { cluster, kind, isOptional = false } = at
  const cache = served.clusters.get(cluster)
  const isKnown = cache?.connection.state === 'connected'
  if (isOptional && isKnown && !cache.serves(kind.resource)) return undefined
  const namespaces = within()
  budget.spend('tests', namespaces?.length ?? 0)
  const reading = { within: () => namespaces }
  if (!isOptional || isReachable(served, cluster)) return parts.part(at, reading)
  try {
    return parts.part(at, { ...reading, prepares: false })
  } catch (error) {
    const isUnknown = error instanceof ClientError && error.code === 'NOT_SYNCED'
    throw isUnknown ? unreachableCluster(served, at, false) : error
  }
}

function notOverClusters({ typeName }: Kind): ClientError {
  const message = `${typeName} is read live, from one cluster at a time`
  const hint = 'name one `cluster`, in several fields for several clusters'
  return new ClientError('UNSUPPORTED', message, { argument: 'clusters', type: typeName, hint })
}
