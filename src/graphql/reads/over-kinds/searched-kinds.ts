import { ArgumentError } from '../../../query/condition/argument-error.ts'
import { type SearchWords, searchWords } from '../../../query/page/search-text.ts'
import { unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { ClusterKind, KindView } from '../../prepare/kind-view.ts'
import type { SearchedPlaces } from '../../schema/read-arguments.ts'
import { clustersNamed, isOverClusters, isReachable } from '../../served/cluster-argument.ts'
import {
  commonKindsOf,
  kindsCalled,
  knownKinds,
  namedKinds,
  noSuchKind,
  unnamedKinds,
} from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { placePart, Places, type PlacesRead, readUnnamed, typesNotRead } from '../places.ts'
import type { ReadRun } from '../read-run.ts'

/** The kinds and namespaces that a search or a completion looks into. */
export interface SearchedKinds extends PlacesRead<KindView> {
  readonly clusters: readonly string[]
  /** `null`: any. */
  readonly namespaces: readonly string[] | null
  /** The type names of the named kinds, sorted; `null` if none are named. */
  readonly named: readonly string[] | null
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
  const search = new Places(served, { isNamed: () => named !== null })
  for (const cluster of clusters) {
    const isLost = isOver && !isReachable(served, cluster)
    if (isLost) search.lose(cluster)
    for (const kind of named ?? [...unnamedKinds(served, cluster)].filter(isSearchedUnnamed)) {
      const at = { cluster, kind, isOptional: isOver }
      const indexed = { ...at, indexes: { needed: indexesOf(kind) } }
      if (isLost) {
        const held = unlessRefused(() => placePart(run, at, within))
        if (held !== undefined) search.parts.push(held)
      } else {
        search.add(at, () =>
          named === null ? indexedUnnamed(run, indexed, within) : placePart(run, indexed, within),
        )
      }
    }
  }
  return {
    ...search.read(() =>
      named === null ? typesNotRead(served, clusters, search.parts, isSearchedUnnamed) : [],
    ),
    clusters,
    namespaces,
    named: named === null ? null : [...named].map(({ typeName }) => typeName).toSorted(),
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
  const inTypes = types === null ? null : namedKinds(served, types, (at) => `types[${at}]`)
  const inText =
    words.kinds.length === 0
      ? null
      : words.kinds.flatMap((name) => {
          const kinds = kindsCalled(served, name)
          const otherwise =
            'write the kind, the type or the resource: kind:Pod, kind:pods or kind:po'
          if (kinds.length === 0) {
            throw noSuchKind(served, 'text', { name, prefix: 'kind:', otherwise }, limits)
          }
          return kinds
        })
  const named = common(inTypes, inText)
  return named === null ? null : [...new Set(named)]
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
