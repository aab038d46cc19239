import { ArgumentError } from '../../query/condition/argument-error.ts'
import { allOf, everything, hasValue, scopeCondition } from '../../query/condition/condition.ts'
import type { PageOf } from '../../query/page/page.ts'
import { type SearchHit, searchPage } from '../../query/page/search-page.ts'
import type { Kind } from '../model/kind.ts'
import type { SearchArguments } from '../schema/read-arguments.ts'
import type { SearchCount, SearchResultSource } from '../schema/read-context.ts'
import type { ClientError } from '../errors/client-error.ts'
import { clusterNamed } from '../served/cluster-argument.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { commonKindsOf, kindsServedBy, knownKinds, unnamedKinds } from '../served/named-kinds.ts'
import { refOf } from './object-read.ts'
import { FoundParts, partOfType, unnamedPart, withFailed } from './polymorphic-page.ts'
import type { ReadRun } from './read-run.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** The longest text that a search accepts. */
const maxTextLength = 256

/** A page of a search. Valid within the tick. */
export interface SearchRead {
  readonly page: PageOf<SearchHit>
  /** What was searched. */
  readonly parts: readonly KindView[]
  readonly resultOf: (hit: SearchHit) => SearchResultSource
  readonly counts: () => readonly SearchCount[]
  /** The type names of the kinds that were read, sorted. */
  readonly types: readonly string[]
  /** The type names of the kinds that were not read: of the named ones or, without names, of all but Events. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** The errors of named kinds that could not be read. */
  readonly failures: readonly ClientError[]
}

/**
 * Searches the named kinds or, without names, the common ones and those in memory. Throws `ArgumentError`,
 * `CursorError`, `PageSizeError` and `QueryTooCostlyError`. The error of a named kind that cannot be read is among the
 * failures.
 */
export function readSearch(run: ReadRun, args: SearchArguments): SearchRead {
  const { served, budget, limits } = run
  const { types = null, namespaces = null, first, after } = args
  const text = args.text.trim()
  if (text === '' || text.length > maxTextLength) {
    throw new ArgumentError('text', `must have from 1 to ${maxTextLength} characters`, {
      value: args.text,
      hint: 'search for a part of a name or of a label',
    })
  }
  const cluster = clusterNamed(served, args.cluster)
  const { parts, failures } = searchedParts(run, { cluster, types, namespaces })
  const byType = new Map(parts.map((part) => [part.kind.typeName, part]))
  const page = searchPage({
    parts: parts.map(({ kind, view, scope }) => ({
      type: kind.typeName,
      view,
      indexes: searchableIndexes(kind),
      condition: allOf([
        namespaces === null ? everything : hasValue('namespace', namespaces),
        scopeCondition(scope),
      ]),
    })),
    identity: { list: `${cluster}/search`, text: text.toLowerCase(), types, namespaces },
    budget,
    first,
    after,
    maxPageSize: limits.maxPageSize,
  })
  return {
    page,
    parts,
    resultOf(hit) {
      const part = partOfType(byType, hit.part.type)
      const { matched, value } = page.matchOf(hit)
      return { object: refOf({ part, id: hit.id }), matched, value }
    },
    counts: () => page.counts(),
    types: [...byType.keys()].toSorted(),
    notLookedAt() {
      const others =
        types === null
          ? kindsServedBy(served, cluster).filter(
              (kind) => isSearchedUnnamed(kind) && !byType.has(kind.typeName),
            )
          : []
      return withFailed(
        others.map(({ typeName }) => typeName),
        failures,
      )
    },
    failures,
  }
}

/** The kinds that a search loads, with the indexes that it reads. Ignores unknown names. */
export function searchNeeds(
  served: ServedSchema,
  { types }: { readonly types?: unknown },
  cluster: string,
): readonly RelatedNeed[] {
  const isNamed = types !== null && types !== undefined
  return (isNamed ? knownKinds(served, types) : commonKindsOf(served, cluster))
    .filter(({ uncached }) => !uncached)
    .map((kind) => ({ kind, indexes: { needed: searchableIndexes(kind) } }))
}

/** The names of the indexes that a search reads. */
function searchableIndexes({ indexes }: Kind): readonly string[] {
  return indexes.flatMap(({ name, searchable }) => (searchable === true ? [name] : []))
}

interface SearchedPlace {
  readonly cluster: string
  readonly types: readonly string[] | null
  readonly namespaces: readonly string[] | null
}

function searchedParts(
  run: ReadRun,
  { cluster, types: names, namespaces }: SearchedPlace,
): { readonly parts: readonly KindView[]; readonly failures: readonly ClientError[] } {
  const { served, parts } = run
  const reading = { within: () => namespaces ?? undefined }
  if (names === null) {
    const found = [...unnamedKinds(served, cluster)].filter(isSearchedUnnamed).flatMap((kind) => {
      const part = unnamedPart(run, { cluster, kind }, reading)
      if (part === undefined) return []
      const needed = searchableIndexes(kind)
      const isIndexed = needed.every((index) => part.view.hasIndex(index))
      // Asks for missing indexes, so that another round waits for them.
      return isIndexed ? part : parts.part({ cluster, kind, indexes: { needed } }, reading)
    })
    return { parts: found, failures: [] }
  }
  const found = new FoundParts<KindView>()
  for (const kind of new Set(names.map((name, at) => kindNamed(served, name, at)))) {
    const indexes = { needed: searchableIndexes(kind) }
    found.add(() => parts.part({ cluster, kind, indexes }, reading))
  }
  return found
}

/** Whether a search without names may look into a kind. Events would crowd out the objects whose names they carry. */
function isSearchedUnnamed({ resource }: Kind): boolean {
  return resource.kind !== 'Event'
}

function kindNamed({ kinds }: ServedSchema, name: string, at: number): Kind {
  const kind = kinds.get(name)
  if (kind !== undefined) return kind
  throw new ArgumentError(`types[${at}]`, `there is no type ${JSON.stringify(name)}`, {
    value: name,
    hint: 'use the names of types, such as "Pod"; gatewayClusters and the schema have them',
  })
}
