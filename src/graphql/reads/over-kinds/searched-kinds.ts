import { groupResourceOf } from '../../../kubernetes/api-resource.ts'
import { nearestName } from '../../../lib/options.ts'
import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { type SearchWords, searchWords } from '../../../query/page/search-text.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind, KindView } from '../../prepare/kind-view.ts'
import type { SearchedPlaces } from '../../schema/read-arguments.ts'
import type { ClusterGap } from '../../schema/read-context.ts'
import { clustersNamed, isOverClusters, isReachable } from '../../served/cluster-argument.ts'
import { commonKindsOf, knownKinds, unnamedKinds } from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { OperationLimits, ServedSchema } from '../../served/served-schema.ts'
import {
  closedGaps,
  gapOfError,
  gapsOfParts,
  lostCluster,
  lostGap,
  notServedGap,
} from '../cluster-gaps.ts'
import { fleetPart } from '../list-read.ts'
import { readUnnamed, typesNotRead, withFailed } from './polymorphic-page.ts'
import type { ReadRun } from '../read-run.ts'
import { staleSince } from '../staleness.ts'

/** The kinds and namespaces that a search or a completion looks into. */
export interface SearchedKinds {
  readonly parts: readonly KindView[]
  readonly clusters: readonly string[]
  /** `null`: any. */
  readonly namespaces: readonly string[] | null
  /** The type names of the named kinds, sorted; `null` if none are named. */
  readonly named: readonly string[] | null
  /** The type names of the kinds that were read, sorted. */
  readonly types: readonly string[]
  /** The type names of the kinds that were not read: of the named ones or, without names, of all but Events. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** What is missing of clusters, or out of date. */
  readonly incomplete: readonly ClusterGap[]
  /** Since when the caches that were read may be out of date, by RFC 3339; `null` while all are in step. */
  readonly staleSince: () => string | null
  /** Whether no kind was left out. */
  readonly complete: () => boolean
  /** The errors of named kinds that could not be read. */
  readonly failures: readonly ClientError[]
}

/** The indexes that are read of a kind. */
type IndexesOf = (kind: Kind) => readonly string[]

/**
 * The kinds that the arguments and the words name or, without names, the common ones and those in memory. Throws
 * `ArgumentError`, also for a name that no kind has. The error of a named kind that cannot be read is among the failures.
 */
export function searchedKinds(
  run: ReadRun,
  words: SearchWords,
  places: SearchedPlaces,
  indexesOf: IndexesOf,
): SearchedKinds {
  const { served } = run
  const clusters = clustersNamed(served, places)
  const isOver = isOverClusters(places)
  const namespaces = common(places.namespaces ?? null, words.namespaces)
  const named = namedBy(run, words, places)
  const within = (): readonly string[] | undefined => namespaces ?? undefined
  const parts: KindView[] = []
  const missing: ClusterGap[] = []
  const failures: ClientError[] = []
  const refused: string[] = []
  const lost = isOver ? clusters.filter((cluster) => !isReachable(served, cluster)) : []
  for (const cluster of clusters) {
    const isLost = lost.includes(cluster)
    for (const kind of named ?? [...unnamedKinds(served, cluster)].filter(isSearchedUnnamed)) {
      const at = { cluster, kind, isOptional: isOver }
      const indexes = { needed: indexesOf(kind) }
      try {
        const part = isLost
          ? unlessRefused(() => fleetPart(run, at, within))
          : named === null
            ? indexedUnnamed(run, { ...at, indexes }, within)
            : fleetPart(run, { ...at, indexes }, within)
        if (part !== undefined) parts.push(part)
        else if (named !== null && !isLost) missing.push(notServedGap(at))
      } catch (error) {
        if (!(error instanceof ClientError)) throw error
        const isAsked = named !== null
        if (isAsked) failures.push(error)
        if (isAsked || error.code !== 'FORBIDDEN') missing.push(gapOfError(served, at, error))
        else refused.push(cluster)
      }
    }
  }
  failures.push(...lost.map((cluster) => lostCluster(served, cluster)))
  const held = parts.filter(({ cluster }) => !lost.includes(cluster))
  const types = new Set(parts.map(({ kind }) => kind.typeName))
  const notLookedAt = (): readonly string[] =>
    withFailed(
      named === null ? typesNotRead(served, clusters, parts, isSearchedUnnamed) : [],
      failures,
    )
  return {
    parts,
    clusters,
    namespaces,
    named: named === null ? null : [...named].map(({ typeName }) => typeName).toSorted(),
    types: [...types].toSorted(),
    notLookedAt,
    complete: () => notLookedAt().length === 0,
    staleSince: () => staleSince(served, parts),
    incomplete: [
      ...missing,
      ...closedGaps(refused, parts, missing),
      ...lost.map((cluster) => lostGap(served, cluster)),
      ...gapsOfParts(served, held),
    ],
    failures,
  }
}

/** The kinds that a search or a completion loads. Ignores unknown names, which the field itself reports. */
export function searchedNeeds(
  served: ServedSchema,
  { types, text }: { readonly types?: unknown; readonly text?: unknown },
  cluster: string,
  indexesOf: IndexesOf,
  wordsOf: (text: string) => SearchWords = searchWords,
): readonly RelatedNeed[] {
  const inText = kindsInText(served, String(text), wordsOf)
  const inTypes = types === null || types === undefined ? null : knownKinds(served, types)
  return (common(inTypes, inText) ?? commonKindsOf(served, cluster))
    .filter(({ uncached }) => !uncached)
    .map((kind) => ({ kind, indexes: { needed: indexesOf(kind) } }))
}

function kindsInText(
  served: ServedSchema,
  text: string,
  wordsOf: (text: string) => SearchWords,
): readonly Kind[] | null {
  try {
    const { kinds } = wordsOf(text)
    return kinds.length === 0 ? null : kinds.flatMap((name) => kindsCalled(served, name))
  } catch (error) {
    if (error instanceof ArgumentError) return []
    throw error
  }
}

/** What both allow; `null` allows everything. */
function common<T>(one: readonly T[] | null, other: readonly T[] | null): readonly T[] | null {
  if (one === null || other === null) return one ?? other
  return one.filter((value) => other.includes(value))
}

function namedBy(
  { served, limits }: ReadRun,
  words: SearchWords,
  { types = null }: SearchedPlaces,
): readonly Kind[] | null {
  const inTypes = types?.map((name, at) => typeNamed(served, name, at)) ?? null
  const inText =
    words.kinds.length === 0
      ? null
      : words.kinds.flatMap((name) => {
          const kinds = kindsCalled(served, name)
          if (kinds.length === 0) throw noSuchKind(served, name, limits)
          return kinds
        })
  const named = common(inTypes, inText)
  return named === null ? null : [...new Set(named)]
}

/** The kinds with a name: of the kind, of the type, or of the resource as kubectl takes it. */
export function kindsCalled({ kinds }: ServedSchema, name: string): readonly Kind[] {
  const wanted = name.toLowerCase()
  return [...kinds.values()].filter((kind) => namesOf(kind).includes(wanted))
}

/** What a kind may be called in a search, in lower case. */
export function namesOf({ typeName, resource }: Kind): readonly string[] {
  const { kind, resource: plural, shortNames = [] } = resource
  const names = [kind, typeName, plural, groupResourceOf(resource), ...shortNames]
  return names.map((name) => name.toLowerCase())
}

function noSuchKind(
  { kinds }: ServedSchema,
  name: string,
  { introspection }: OperationLimits,
): ArgumentError {
  const known = [...kinds.values()].flatMap(({ typeName, resource }) => [
    resource.kind,
    typeName,
    resource.resource,
  ])
  const nearest = introspection ? nearestName(name, known) : undefined
  return new ArgumentError('text', `there is no kind ${JSON.stringify(name)}`, {
    value: `kind:${name}`,
    hint:
      nearest === undefined
        ? 'write the kind, the type or the resource: kind:Pod, kind:pods or kind:po'
        : `there is kind:${nearest}`,
  })
}

function typeNamed({ kinds }: ServedSchema, name: string, at: number): Kind {
  const kind = kinds.get(name)
  if (kind !== undefined) return kind
  throw new ArgumentError(`types[${at}]`, `there is no type ${JSON.stringify(name)}`, {
    value: name,
    hint: 'use the names of types, such as "Pod"; gatewayClusters and the schema have them',
  })
}

/** The part of a kind that nothing names, with its indexes. As {@link readUnnamed}. */
function indexedUnnamed(
  run: ReadRun,
  { indexes, ...at }: ClusterKind & { readonly indexes: { readonly needed: readonly string[] } },
  within: () => readonly string[] | undefined,
): KindView | undefined {
  run.budget.spend('tests', within()?.length ?? 0)
  const part = readUnnamed(run, at, { within })
  if (part === undefined || indexes.needed.every((index) => part.view.hasIndex(index))) return part
  // Asks for missing indexes, so that another round waits for them.
  return run.parts.part({ ...at, indexes }, { within })
}

/** Whether a search without names may look into a kind. Events would crowd out the objects whose names they carry. */
function isSearchedUnnamed({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}
