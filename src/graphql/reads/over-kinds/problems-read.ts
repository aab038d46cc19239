/*
 * `problems`, in a query and in a subscription. Each kind that it looks at is a part, in each cluster. The problems of a
 * cluster are folded from its parts (`query/problems`). The problems that the arguments ask for are ordered and cut to a
 * page, and each becomes a value with the members of `Problem`.
 */

import { hash } from 'node:crypto'
import type { WantedIndexes } from '../../../cache/cached-resource.ts'
import { splitApiVersion } from '../../../kubernetes/api-resource.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import { decodeFact, type ProblemFact } from '../../../kubernetes/problems/problem-fact.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { foldProblems } from '../../../query/problems/problem-fold.ts'
import { type ListedProblem, problemPage } from '../../../query/problems/problem-page.ts'
import { placeKey, problemIndex, type ProblemPlace } from '../../../query/problems/problem-part.ts'
import { eventKeysOf, eventsAboutIndex } from '../../../query/relation/events-relation.ts'
import { unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import {
  type KindView,
  clustersNamed,
  isOverClusters,
  isReachable,
} from '../../prepare/kind-view.ts'
import { objectRefsOf, type ObjectRef } from '../../schema/object-ref.ts'
import type {
  ProblemChangesBeforeArguments,
  ProblemCount,
  ProblemEvent,
  ProblemObjectsArguments,
  ProblemsArguments,
  ProblemValue,
} from '../../schema/gateway-types.ts'
import { knownKinds, namedKinds, problemKindsOf } from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { namespacesIn } from '../list-arguments.ts'
import { refOf } from '../object-read.ts'
import { ownerReferencesOf } from '../relation-read.ts'
import { Places } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { changesBefore } from '../past/problem-changes.ts'
import { expiringSecrets } from './expiring-secrets.ts'
import { rowMembers } from './kinds-connection.ts'
import { behindProblem } from './problem-behind.ts'
import { remediesOf } from './problem-remedies.ts'

/** A `ProblemPart` of one execution. */
export interface LookedAtPart extends KindView {
  readonly type: string
}

export type Problem = ListedProblem<LookedAtPart>

type Place = ProblemPlace<LookedAtPart>

export const problemIndexes: WantedIndexes = { needed: [problemIndex] }

/**
 * The problems of the default kinds and of the named ones. The error of a named kind that cannot be read is among the
 * failures. One error of each code stands for all kinds of a cluster. Throws `ArgumentError` and `QueryTooCostlyError`.
 */
export function readProblems(run: ReadRun, args: ProblemsArguments): object {
  const { served, budget, limits } = run
  const { types = null, severity = null, orderBy, first, after } = args
  const clusters = clustersNamed(served, args)
  const isOver = isOverClusters(args)
  const named = namedKinds(served, types, limits)
  const namespaces = namespacesIn(args)
  const isNamed = (kind: Kind): boolean => named.includes(kind)
  const places = new Places<LookedAtPart>(run, {
    isNamed,
    fails: ({ kind }, { code }) => isNamed(kind) || (isOver && code !== 'FORBIDDEN'),
    failsOnce: true,
  })
  const nowMs = Date.now()
  const asked = clusters.flatMap((cluster) => {
    const begin = places.parts.length
    for (const kind of new Set([...problemKindsOf(served, cluster), ...named])) {
      places.add(
        { cluster, kind, indexes: problemIndexes, isOptional: isOver },
        (part) => ({ ...part, type: kind.typeName }),
        () => (kind.resource.namespaced ? namespaces : undefined),
      )
    }
    const found = problemsOf(run, cluster, places.parts.slice(begin), args, nowMs)
    const lost = lostCluster(served, cluster, args)
    return lost === undefined ? found : [lost, ...found]
  })
  const page = problemPage({
    problems: asked,
    orderBy,
    first,
    after,
    identity: {
      list: `${isOver ? '*' : clusters.join()}/problems`,
      clusters: args.clusters,
      clusterSelector: args.clusterSelector,
      namespaces: namespaces ?? null,
      types,
      severity,
    },
    maxPageSize: limits.maxPageSize,
    budget,
  })
  const read = places.read()
  return {
    ...read,
    ...rowMembers(run, page, (problem) => problemValue(run, problem, page.rows)),
    lookedAt: read.types,
    counts: () => problemCounts(asked.map((problem) => countedAs(served, problem))),
  }
}

/**
 * The problems of a cluster that the arguments ask for: by severity, and by the types of the topmost owner or the
 * objects.
 */
export function problemsOf(
  run: ReadRun,
  cluster: string,
  parts: readonly LookedAtPart[],
  args: ProblemsArguments,
  nowMs: number,
): readonly Problem[] {
  const { served, budget, limits } = run
  const namespaces = namespacesIn(args)
  const severities = args.severity ?? undefined
  const types = args.types ? new Set<string | undefined>(args.types) : undefined
  const isOfType = (place: Place): boolean => types?.has(typeNameOf(served, place)) === true
  const within = namespaces && new Set(namespaces)
  return foldProblems<LookedAtPart>({
    parts,
    namespaces: within,
    told: expiringSecrets(run, parts, nowMs, within, run.isDirect && !isOverClusters(args)),
    nowMs,
    afterMs: limits.problemAfterMs,
    readOwners: (part, id) => ownerReferencesOf(run, part, id),
    budget,
  })
    .filter(
      ({ severity, root, objects }) =>
        severities?.includes(severity) !== false &&
        (types === undefined || isOfType(root) || objects.some(isOfType)),
    )
    .map((problem) => ({ ...problem, cluster }))
}

const lostReasons = {
  CONNECTED: ['ClusterUnreachable', 'its API server does not answer'],
  UNREACHABLE: ['ClusterUnreachable', 'its API server does not answer'],
  UNAUTHORIZED: [
    'ClusterUnauthorized',
    'its API server does not accept the credentials of the gateway',
  ],
  MISCONFIGURED: ['ClusterMisconfigured', 'what the gateway is told of it cannot be used'],
} as const

/** The problem of a cluster that cannot be read, if the arguments ask for it: it is of no type. */
export function lostCluster(
  served: Pick<ServedSchema, 'members' | 'clusters' | 'problemRulesOff'>,
  cluster: string,
  { types, severity }: ProblemsArguments,
): Problem | undefined {
  const member = served.members.get(cluster)
  if (member === undefined || isReachable(served, cluster)) return undefined
  if (served.problemRulesOff.has('unreachableClusters') || types) return undefined
  if (severity?.includes('CRITICAL') === false) return undefined
  const [reason, message] = lostReasons[member.state]
  const to = { kind: 'Cluster', name: cluster }
  const root = { form: 'reference', to, namespace: '' } as const
  return {
    cluster,
    isOfCluster: true,
    root,
    rootKey: placeKey(root),
    cause: 'cluster',
    replicas: undefined,
    reason,
    severity: 'CRITICAL',
    message,
    sinceMs: member.state === 'CONNECTED' ? undefined : member.since.getTime(),
    objects: [root],
    key: placeKey(root),
  }
}

/** The kinds that `problems` loads, with the indexes that it reads. Ignores unknown names. */
export function problemNeeds(
  served: ServedSchema,
  { types }: { readonly types?: unknown },
  cluster: string,
): readonly RelatedNeed[] {
  return [...new Set([...problemKindsOf(served, cluster), ...knownKinds(served, types)])]
    .filter(({ uncached }) => !uncached)
    .map((kind) => ({ kind, indexes: problemIndexes }))
}

/** The kind of Events with the index that `lastEvent` reads. */
export function lastEventNeeds({ kindOf }: ServedSchema): readonly RelatedNeed[] {
  const kind = kindOf('', 'Event')
  if (kind === undefined || kind.uncached) return []
  return [{ kind, indexes: { needed: [problemIndex, eventsAboutIndex] } }]
}

function typeNameOf({ kindOf }: ServedSchema, place: Place): string | undefined {
  if (place.form === 'object') return place.part.type
  const { apiVersion = '', kind } = place.to
  return kindOf(splitApiVersion(apiVersion).group, kind)?.typeName
}

function kindNameOf(place: Place): string {
  return place.form === 'object' ? place.part.kind.resource.kind : place.to.kind
}

/** The number of objects of a problem that `objects` gives unless the arguments say otherwise. */
export const defaultProblemObjects = 10

/** The number of changes that `changesBefore` gives if `first` is null. */
const defaultChangesBefore = 5

/** Comparing the keys of an object takes as long as this many tests. */
const testsPerSorted = 4

/** `page`: the problems whose changes are read together with those of this one. */
export function problemValue(
  run: ReadRun,
  problem: Problem,
  page: readonly Problem[] = [problem],
): ProblemValue {
  const { cluster, root, severity, reason, message = null, sinceMs, objects, replicas } = problem
  return {
    cluster,
    severity,
    reason,
    message,
    kind: kindNameOf(root),
    type: typeNameOf(run.served, root) ?? null,
    since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
    count: objects.length,
    ready: replicas?.ready ?? null,
    wanted: replicas?.wanted ?? null,
    id: () => problemId(problem),
    object: () => placeRef(run, cluster, root),
    objects({ first }: ProblemObjectsArguments): readonly ObjectRef[] {
      const { limits, budget } = run
      const { size } = pageSizeOf({ first: first ?? defaultProblemObjects }, limits.maxPageSize)
      budget.spend('tests', testsPerSorted * objects.length)
      return objects
        .map((place) => ({ place, key: `${kindNameOf(place)} ${keyOf(place)}` }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, size)
        .map(({ place }) => placeRef(run, cluster, place))
    },
    behind({ first }: ProblemObjectsArguments): readonly ObjectRef[] {
      const asked = { first: first ?? defaultProblemObjects }
      const { size } = pageSizeOf(asked, run.limits.maxPageSize)
      return problem.isOfCluster === true ? [] : behindProblem(run, problem, size)
    },
    lastEvent: () => lastEventOf(run, problem),
    changesBefore: ({ first }: ProblemChangesBeforeArguments) =>
      changesBefore(run, problem, page, first ?? defaultChangesBefore),
    ...remediesOf(run, problem),
  }
}

/** An opaque id. It stays the same while the problem lasts, on every replica. */
export function problemId({ cluster, key }: Problem): string {
  return hash('sha256', `${cluster} ${key}`, 'base64url').slice(0, 22)
}

function keyOf(place: Place): string {
  if (place.form === 'object') return place.part.view.keyOf(place.id)
  const { name, namespace = place.namespace } = place.to
  return objectKey({ namespace, name })
}

function placeRef(run: ReadRun, cluster: string, place: Place): ObjectRef {
  if (place.form === 'object') return refOf(place)
  const origin = { cluster, namespace: place.namespace === '' ? undefined : place.namespace }
  const [ref] = objectRefsOf([place.to], origin, run.served.kindOf)
  if (ref === undefined) throw new TypeError('a reference without a kind or a name')
  return ref
}

/** The most objects whose Events `lastEvent` compares. */
const maxEventObjects = 20

/** The newest Warning Event that the viewer may see about the topmost owner or one of the objects. */
function lastEventOf(run: ReadRun, problem: Problem): ProblemEvent | null {
  const { cluster, root, objects, isOfCluster } = problem
  if (isOfCluster === true) return null
  const [need] = lastEventNeeds(run.served)
  if (need === undefined) return null
  const events = run.late(() => unlessRefused(() => run.parts.part({ cluster, ...need })))
  if (events === undefined) return null
  const about = events.view.index(eventsAboutIndex)
  const facts = events.view.index(problemIndex)
  let newest: ProblemFact | undefined
  for (const place of [root, ...objects.slice(0, maxEventObjects)]) {
    const uids = place.form === 'object' ? eventKeysOf(place.part.view, place.id) : [place.to.uid]
    for (const uid of uids) {
      for (const id of (uid === undefined ? undefined : about.posting(uid)) ?? []) {
        run.budget.spend('examined', 1)
        const [value] = facts.valuesOf(id)
        const fact = value === undefined ? undefined : decodeFact(value)
        if (fact === undefined || !isInScope(events.scope, events.view.keyOf(id))) continue
        if ((fact.at ?? '') > (newest?.at ?? '')) newest = fact
      }
    }
  }
  if (newest?.role?.form !== 'report') return null
  const { reason, message = null, at = null, role } = newest
  return { reason, message, count: role.count, lastSeen: at }
}

export function countedAs(
  served: ServedSchema,
  { cluster, severity, root }: Pick<Problem, 'cluster' | 'severity' | 'root'>,
): ProblemCount {
  const type = typeNameOf(served, root) ?? null
  return { cluster, severity, type, kind: kindNameOf(root), count: 1 }
}

/** The numbers of problems by cluster, severity and kind, added up: the most frequent first. */
export function problemCounts(counted: Iterable<ProblemCount>): readonly ProblemCount[] {
  const counts = new Map<string, ProblemCount>()
  for (const one of counted) {
    const { cluster, severity, type, kind, count } = one
    const key = `${severity} ${type ?? ''} ${kind} ${cluster}`
    counts.set(key, { ...one, count: count + (counts.get(key)?.count ?? 0) })
  }
  return Array.from(counts)
    .toSorted(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .map(([, count]) => count)
}
