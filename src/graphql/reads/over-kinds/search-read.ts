/*
 * `search` and `complete`. Both read the words of a text and find the kinds that their arguments and the words name, or
 * else common kinds and kinds in memory. `search` looks into the parts for objects, by the words. `complete` looks for
 * terms that begin with the last word, among the objects that the other words find.
 */

import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { everything, hasValue } from '../../../query/condition/condition.ts'
import { completionsOf } from '../../../query/page/completions.ts'
import { searchPage, labelName } from '../../../query/page/search-page.ts'
import { type SearchWords, searchWords, unfinishedText } from '../../../query/page/search-text.ts'
import type { Kind } from '../../model/kind.ts'
import { workloadPlace } from '../../model/workload-order.ts'
import {
  type KindView,
  type ClusterNames,
  clustersNamed,
  isOverClusters,
  isReachable,
} from '../../prepare/kind-view.ts'
import type {
  CompleteArguments,
  SearchArguments,
  SearchResult,
} from '../../schema/gateway-types.ts'
import {
  commonKindsOf,
  kindsCalled,
  knownKinds,
  namedKinds,
  namesOf,
  noSuchKind,
  unnamedKinds,
} from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { refOf } from '../object-read.ts'
import { Places, type PlacesRead, typesNotRead } from '../places.ts'
import type { ReadRun } from '../read-run.ts'
import { countsByType, rowMembers } from './kinds-connection.ts'

/** The value of `search`. Throws as {@link searchedKinds} does, and as `searchPage` does. */
export function readSearch(run: ReadRun, args: SearchArguments): object {
  const { budget, limits } = run
  const words = searchWords(args.text)
  const { places, clusters, named, namespaces } = searchedKinds(run, words, args, searchableIndexes)
  const { texts, labels } = words
  const page = searchPage({
    parts: places.parts.map((part) => ({
      type: part.kind.typeName,
      cluster: part.cluster,
      place: workloadPlace(part.kind),
      view: part.view,
      indexes: searchableIndexes(part.kind),
      condition: namespaces === null ? everything : hasValue('namespace', namespaces),
      scope: part.scope,
      of: part,
    })),
    words,
    identity: {
      list: isOverClusters(args) ? '*/search' : `${clusters.join()}/search`,
      clusters: args.clusters,
      clusterSelector: args.clusterSelector,
      texts,
      labels,
      types: named,
      namespaces,
    },
    budget,
    first: args.first,
    after: args.after,
    maxPageSize: limits.maxPageSize,
  })
  /** Why words without texts find an object: its first label that they name, its namespace, or its kind. */
  const matchOfWords = ({ kind, view }: KindView, id: number): Omit<SearchResult, 'object'> => {
    const own = view.labelsOf(id)
    const label = labels.find(({ key }) => own[key] !== undefined)
    if (label !== undefined) return { matched: labelName(label.key), value: own[label.key] ?? '' }
    const [namespace] = view.index('namespace').valuesOf(id)
    return words.namespaces !== null && namespace !== undefined
      ? { matched: 'namespace', value: namespace }
      : { matched: 'kind', value: kind.resource.kind }
  }
  const rows = rowMembers(run, page, ({ part: { of: part }, id, foundIn }): SearchResult => {
    return { object: refOf({ part, id }), ...(foundIn.matchOf(id) ?? matchOfWords(part, id)) }
  })
  return { ...places, ...rows, counts: () => countsByType(page.counts(), ({ type }) => type) }
}

/**
 * The value of `complete`: the ways to complete the last word of a text. `from`: where that word begins. Throws as {@link
 * searchedKinds} does, and as `completionsOf` does.
 */
export function readCompletions(run: ReadRun, args: CompleteArguments): object {
  const { budget, served } = run
  const { before, last: word, from } = unfinishedText(args.text)
  const { places, namespaces } = searchedKinds(run, before, args, noIndexes)
  const found = completionsOf({
    parts: places.parts.map(({ kind, view, scope }) => {
      const { resource, typeName } = kind
      const isAlone = ![...served.kinds.values()].some(
        (other) => other !== kind && other.resource.kind === resource.kind,
      )
      return {
        type: typeName,
        place: workloadPlace(kind),
        kind: resource.kind,
        kindWord: isAlone ? resource.kind : typeName,
        kindNames: namesOf(kind),
        view,
        scope,
      }
    }),
    word,
    terms: args.terms ?? null,
    namespaces,
    first: args.first,
    budget,
  })
  return { ...places, ...found, from }
}

type SearchedPlaces = ClusterNames & Pick<SearchArguments, 'types' | 'namespaces'>

type IndexesOf = (kind: Kind) => readonly string[]

const searchableIndexes: IndexesOf = ({ indexes }) =>
  indexes.flatMap(({ name, searchable }) => (searchable === true ? [name] : []))

/** Names, namespaces and labels, which completions read, are in every store. */
const noIndexes: IndexesOf = () => []

interface SearchedKinds {
  readonly places: PlacesRead<KindView>
  readonly clusters: readonly string[]
  /** `null`: any. */
  readonly namespaces: readonly string[] | null
  /** The type names of the named kinds, sorted; `null` if none are named. */
  readonly named: readonly string[] | null
}

/**
 * The kinds that the arguments and the words name or, without names, common kinds and kinds in memory. Throws
 * `ArgumentError`, also for a name that no kind has. The error of a named kind that cannot be read is among the failures.
 */
function searchedKinds(
  run: ReadRun,
  words: SearchWords,
  args: SearchedPlaces,
  indexesOf: IndexesOf,
): SearchedKinds {
  const { served, limits } = run
  const clusters = clustersNamed(served, args)
  const isOver = isOverClusters(args)
  const namespaces = common(args.namespaces ?? null, words.namespaces)
  const within = (): readonly string[] | undefined => namespaces ?? undefined
  const inTypes = args.types ? namedKinds(served, args.types, limits, (at) => `types[${at}]`) : null
  const otherwise = 'write the kind, the type or the resource: kind:Pod, kind:pods or kind:po'
  const inText = words.kinds.flatMap((name) => {
    const kinds = kindsCalled(served, name)
    if (kinds.length > 0) return kinds
    throw noSuchKind(served, 'text', { name, prefix: 'kind:', otherwise }, limits)
  })
  const named = common(inTypes, words.kinds.length === 0 ? null : inText)
  const places = new Places(run, { isNamed: () => named !== null })
  for (const cluster of clusters) {
    const isLost = isOver && !isReachable(served, cluster)
    if (isLost) places.lose(cluster)
    const kinds = named ?? [...unnamedKinds(served, cluster)].filter(isSearchedUnnamed)
    for (const kind of new Set(kinds)) {
      const at = { cluster, kind, isOptional: isOver, indexes: { needed: indexesOf(kind) } }
      places.add(at, (part) => part, within, named === null && !isLost)
    }
  }
  return {
    places: places.read(() =>
      named === null ? typesNotRead(served, clusters, places.parts, isSearchedUnnamed) : [],
    ),
    clusters,
    namespaces,
    named: named && [...new Set(named.map(({ typeName }) => typeName))].toSorted(),
  }
}

/** Whether a search without names may look into a kind. Events would crowd out the objects whose names they carry. */
function isSearchedUnnamed({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}

/** The values that both allow; `null` allows everything. */
function common<T>(one: readonly T[] | null, other: readonly T[] | null): readonly T[] | null {
  if (one === null || other === null) return one ?? other
  return one.filter((value) => other.includes(value))
}

type SearchNeeds = (
  served: ServedSchema,
  args: { readonly types?: unknown; readonly text?: unknown },
  cluster: string,
) => readonly RelatedNeed[]

/** The kinds that a search loads, with the indexes that it reads. Ignores unknown names, which the field reports. */
export const searchNeeds: SearchNeeds = needsOf(searchWords, searchableIndexes)

export const completionNeeds: SearchNeeds = needsOf(
  (text) => unfinishedText(text).before,
  noIndexes,
)

function needsOf(wordsOf: (text: string) => SearchWords, indexesOf: IndexesOf): SearchNeeds {
  return (served, { types, text }, cluster) => {
    let inText: readonly Kind[] | null = []
    try {
      const { kinds } = wordsOf(String(text))
      inText = kinds.length === 0 ? null : kinds.flatMap((name) => kindsCalled(served, name))
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error
    }
    const inTypes = types === null || types === undefined ? null : knownKinds(served, types)
    return (common(inTypes, inText) ?? commonKindsOf(served, cluster))
      .filter(({ uncached }) => !uncached)
      .map((kind) => ({ kind, indexes: { needed: indexesOf(kind) } }))
  }
}
