import { hash } from 'node:crypto'
import type { WantedIndexes } from '../../../cache/cached-resource.ts'
import { splitApiVersion } from '../../../kubernetes/api-resource.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import { decodeFact, type ProblemFact } from '../../../kubernetes/problems/problem-fact.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import { foldProblems } from '../../../query/problems/problem-fold.ts'
import { type ListedProblem, problemPage } from '../../../query/problems/problem-page.ts'
import {
  problemIndex,
  type ProblemPart,
  type ProblemPlace,
} from '../../../query/problems/problem-part.ts'
import { eventKeysOf, eventsAboutIndex } from '../../../query/relation/events-relation.ts'
import { unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import { objectRefsOf } from '../../schema/object-ref.ts'
import type { ProblemObjectsArguments, ProblemsArguments } from '../../schema/read-arguments.ts'
import type {
  ObjectRef,
  ProblemCount,
  ProblemEvent,
  ProblemSource,
} from '../../schema/read-context.ts'
import { clustersNamed, isOverClusters } from '../../served/cluster-argument.ts'
import { knownKinds, namedKinds, problemKindsOf } from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { Connection } from '../connection.ts'
import { refOf } from '../object-read.ts'
import { ownerReferencesOf } from '../owner-read.ts'
import { failuresOfParts, placePart, Places } from '../places.ts'
import type { ReadRun } from '../read-run.ts'

/** A kind whose objects are looked at, in one cluster. */
export interface LookedAtPart extends ProblemPart, KindView {}

export type Problem = ListedProblem<LookedAtPart>

export const problemIndexes: WantedIndexes = { needed: [problemIndex] }

/**
 * The problems of the kinds that are looked at by default and of the named ones. Throws `ArgumentError`, `CursorError`,
 * `PageSizeError` and `QueryTooCostlyError`. The error of a named kind that cannot be read is among the failures.
 */
export function readProblems(
  run: ReadRun,
  args: ProblemsArguments,
): Connection<Problem, ProblemFields> {
  const { served, budget, limits } = run
  const { types = null, severity = null, orderBy, first, after } = args
  const clusters = clustersNamed(served, args)
  const isOver = isOverClusters(args)
  const named = namedKinds(served, types)
  const namespaces = namespacesIn(args)
  const places = lookedAtPlaces(run, { clusters, isOver, named, namespaces })
  const nowMs = Date.now()
  const problems = clusters.flatMap((cluster) =>
    foldProblems<LookedAtPart>({
      parts: places.parts.filter((part) => part.cluster === cluster),
      namespaces: namespaces && new Set(namespaces),
      nowMs,
      afterMs: limits.problemAfterMs,
      readOwners: (part, id) => ownerReferencesOf(run, part, id),
      budget,
    }).map((problem) => ({ ...problem, cluster })),
  )
  const asked = problems.filter(problemTest(served, args))
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
  const counts = (): readonly ProblemCount[] => {
    const counted = new ProblemCounts()
    for (const { severity: of, root } of asked) counted.add(countedAs(served, of, root), 1)
    return counted.all()
  }
  const read = { ...places.read(), page, counts }
  return new Connection(run, read, (problem) => new ProblemFields(run, problem))
}

/** Whether arguments ask for a problem: by its severity, and the types of its topmost owner or its objects. */
export function problemTest(
  served: ServedSchema,
  { types, severity }: Pick<ProblemsArguments, 'types' | 'severity'>,
): (problem: Problem) => boolean {
  const asked = types === undefined || types === null ? undefined : new Set(types)
  return (problem) =>
    (severity === undefined || severity === null || severity.includes(problem.severity)) &&
    (asked === undefined || isOfType(served, problem, asked))
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

export function namespacesIn({
  namespace,
  namespaces,
}: ProblemsArguments): readonly string[] | undefined {
  if (namespace === undefined || namespace === null) return namespaces ?? undefined
  if (namespaces === undefined || namespaces === null) return [namespace]
  return namespaces.filter((one) => one === namespace)
}

/** The kinds that are looked at. Of a cluster, one error of each code stands beside the answer. */
function lookedAtPlaces(
  run: ReadRun,
  {
    clusters,
    isOver,
    named,
    namespaces,
  }: {
    readonly clusters: readonly string[]
    readonly isOver: boolean
    readonly named: readonly Kind[]
    readonly namespaces: readonly string[] | undefined
  },
): Places<LookedAtPart> {
  const { served } = run
  const told = new Set<string>()
  const isNamed = (kind: Kind): boolean => named.includes(kind)
  const places = new Places<LookedAtPart>(served, {
    isNamed,
    fails({ cluster, kind }, { code }) {
      const isAsked = isNamed(kind) || (isOver && code !== 'FORBIDDEN')
      const isTold = told.has(`${cluster} ${code}`)
      if (isAsked) told.add(`${cluster} ${code}`)
      return isAsked && !isTold
    },
  })
  for (const cluster of clusters) {
    for (const kind of new Set([...problemKindsOf(served, cluster), ...named])) {
      const { namespaced } = kind.resource
      const at = { cluster, kind, indexes: problemIndexes, isOptional: isOver }
      places.add(at, () => {
        const part = placePart(run, at, () => (namespaced ? namespaces : undefined))
        return part && { ...part, type: kind.typeName }
      })
    }
    const inCluster = places.parts.filter((part) => part.cluster === cluster)
    if (isOver) places.failures.push(...failuresOfParts(served, inCluster.slice(0, 1)))
  }
  return places
}

/** Whether the topmost owner, or one of the objects, is of one of the types. */
function isOfType(
  served: ServedSchema,
  { root, objects }: Problem,
  types: ReadonlySet<string>,
): boolean {
  const isOne = (place: ProblemPlace<LookedAtPart>): boolean =>
    types.has(typeNameOf(served, place) ?? '')
  return isOne(root) || objects.some(isOne)
}

function typeNameOf(
  { kindOf }: ServedSchema,
  place: ProblemPlace<LookedAtPart>,
): string | undefined {
  if (place.form === 'object') return place.part.type
  const { apiVersion = '', kind } = place.to
  return kindOf(splitApiVersion(apiVersion).group, kind)?.typeName
}

function kindNameOf(place: ProblemPlace<LookedAtPart>): string {
  return place.form === 'object' ? place.part.kind.resource.kind : place.to.kind
}

/** The number of objects of a problem that `objects` gives unless the arguments say otherwise. */
export const defaultProblemObjects = 10

/** The objects whose Events `lastEvent` compares, at most. */
const maxEventObjects = 20

/** A problem as its fields read it. */
export class ProblemFields implements ProblemSource {
  readonly #run: ReadRun
  readonly #problem: Problem

  constructor(run: ReadRun, problem: Problem) {
    this.#run = run
    this.#problem = problem
  }

  get id(): string {
    return problemId(this.#problem)
  }

  get cluster(): string {
    return this.#problem.cluster
  }

  get object(): ObjectRef {
    return placeRef(this.#run, this.#problem.cluster, this.#problem.root)
  }

  get kind(): string {
    return kindNameOf(this.#problem.root)
  }

  get type(): string | null {
    return typeNameOf(this.#run.served, this.#problem.root) ?? null
  }

  get severity(): ProblemSource['severity'] {
    return this.#problem.severity
  }

  get reason(): string {
    return this.#problem.reason
  }

  get message(): string | null {
    return this.#problem.message ?? null
  }

  get since(): string | null {
    const { sinceMs } = this.#problem
    return sinceMs === undefined ? null : new Date(sinceMs).toISOString()
  }

  get count(): number {
    return this.#problem.objects.length
  }

  objects({ first }: ProblemObjectsArguments): readonly ObjectRef[] {
    const { limits, budget } = this.#run
    const { cluster, objects } = this.#problem
    const { size } = pageSizeOf({ first: first ?? defaultProblemObjects }, limits.maxPageSize)
    budget.spend('tests', testsPerSorted * objects.length)
    return orderedPlaces(objects)
      .slice(0, size)
      .map((place) => placeRef(this.#run, cluster, place))
  }

  lastEvent(): ProblemEvent | null {
    return lastEventOf(this.#run, this.#problem)
  }
}

/** Opaque, and the same as long as the problem lasts, on every replica. */
export function problemId({ cluster, key }: Problem): string {
  return hash('sha256', `${cluster} ${key}`, 'base64url').slice(0, 22)
}

/** Comparing the keys of an object takes as long as so many tests. */
const testsPerSorted = 4

function orderedPlaces(
  places: readonly ProblemPlace<LookedAtPart>[],
): readonly ProblemPlace<LookedAtPart>[] {
  const keyed = places.map((place) => ({ place, key: `${kindNameOf(place)} ${keyOf(place)}` }))
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ place }) => place)
}

function keyOf(place: ProblemPlace<LookedAtPart>): string {
  if (place.form === 'object') return place.part.view.keyOf(place.id)
  const { name, namespace = place.namespace } = place.to
  return objectKey({ namespace, name })
}

function placeRef(run: ReadRun, cluster: string, place: ProblemPlace<LookedAtPart>): ObjectRef {
  if (place.form === 'object') return refOf(place)
  const origin = { cluster, namespace: place.namespace === '' ? undefined : place.namespace }
  const [ref] = objectRefsOf([place.to], origin, run.served.kindOf)
  if (ref === undefined) throw new TypeError('a reference without a kind or a name')
  return ref
}

/** The newest Warning Event about the topmost owner or one of the objects, that the viewer may see. */
function lastEventOf(run: ReadRun, { cluster, root, objects }: Problem): ProblemEvent | null {
  const [need] = lastEventNeeds(run.served)
  if (need === undefined) return null
  const events = run.late(() => unlessRefused(() => run.parts.part({ cluster, ...need })))
  if (events === undefined) return null
  const about = events.view.index(eventsAboutIndex)
  const facts = events.view.index(problemIndex)
  let newest: ProblemFact | undefined
  for (const place of [root, ...objects.slice(0, maxEventObjects)]) {
    for (const key of eventKeys(place)) {
      for (const id of about.posting(key) ?? []) {
        run.budget.spend('examined', 1)
        const fact = warningOf(facts.valuesOf(id))
        if (fact === undefined || !isInScope(events.scope, events.view.keyOf(id))) continue
        if ((fact.at ?? '') > (newest?.at ?? '')) newest = fact
      }
    }
  }
  if (newest?.role?.form !== 'report') return null
  const { reason, message = null, at = null, role } = newest
  return { reason, message, count: role.count, lastSeen: at }
}

function eventKeys(place: ProblemPlace<LookedAtPart>): readonly string[] {
  if (place.form === 'object') return eventKeysOf(place.part.view, place.id)
  const { uid } = place.to
  return uid === undefined ? [] : [uid]
}

function warningOf([value]: readonly string[]): ProblemFact | undefined {
  return value === undefined ? undefined : decodeFact(value)
}

/** What a problem is counted as. */
export type CountedAs = Omit<ProblemCount, 'count'>

export function countedAs(
  served: ServedSchema,
  severity: ProblemCount['severity'],
  root: ProblemPlace<LookedAtPart>,
): CountedAs {
  return { severity, type: typeNameOf(served, root) ?? null, kind: kindNameOf(root) }
}

/** The number of problems by severity and kind. */
export class ProblemCounts {
  readonly #counts = new Map<string, ProblemCount>()

  /** Counts `more` problems, or less than none. */
  add({ severity, type, kind }: CountedAs, more: number): void {
    const key = `${severity} ${type ?? ''} ${kind}`
    const count = (this.#counts.get(key)?.count ?? 0) + more
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, { severity, type, kind, count })
  }

  /** The most frequent first. */
  all(): readonly ProblemCount[] {
    return Array.from(this.#counts)
      .toSorted(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
      .map(([, count]) => count)
  }
}
