import { everything, hasValue } from '../../../query/condition/condition.ts'
import { labelName } from '../../../query/page/search-match.ts'
import { type SearchHit, searchPage } from '../../../query/page/search-page.ts'
import { type SearchWords, searchWords } from '../../../query/page/search-text.ts'
import type { Kind } from '../../model/kind.ts'
import { workloadPlace } from '../../model/workload-order.ts'
import type { FoundObject } from '../../prepare/kind-view.ts'
import type { SearchArguments } from '../../schema/read-arguments.ts'
import type { SearchResultSource } from '../../schema/read-context.ts'
import { isOverClusters } from '../../served/cluster-argument.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { Connection } from '../connection.ts'
import { refOf } from '../object-read.ts'
import { partOfType } from './kinds-page.ts'
import type { ReadRun } from '../read-run.ts'
import { searchedKinds, searchedNeeds } from './searched-kinds.ts'

/** Searches what {@link searchedKinds} finds. Throws as it does, and as `searchPage` does. */
export function readSearch(
  run: ReadRun,
  args: SearchArguments,
): Connection<SearchHit, SearchResultSource> {
  const { budget, limits } = run
  const words = searchWords(args.text)
  const searched = searchedKinds(run, words, args, searchableIndexes)
  const { parts, clusters, named, namespaces } = searched
  const byPlace = new Map(parts.map((part) => [`${part.cluster}/${part.kind.typeName}`, part]))
  const { texts, labels } = words
  const page = searchPage({
    parts: parts.map(({ kind, cluster, view, scope }) => ({
      type: kind.typeName,
      cluster,
      place: workloadPlace(kind),
      view,
      indexes: searchableIndexes(kind),
      condition: namespaces === null ? everything : hasValue('namespace', namespaces),
      scope,
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
  return new Connection(run, { ...searched, page, counts: () => page.counts() }, (hit) => {
    const part = partOfType(byPlace, `${hit.part.cluster}/${hit.part.type}`)
    const found = { part, id: hit.id }
    return { object: refOf(found), ...(page.matchOf(hit) ?? matchOfWords(found, words)) }
  })
}

/** The kinds that a search loads, with the indexes that it reads. Ignores unknown names. */
export function searchNeeds(
  served: ServedSchema,
  args: Readonly<Record<string, unknown>>,
  cluster: string,
): readonly RelatedNeed[] {
  return searchedNeeds(served, args, cluster, searchableIndexes)
}

/** The names of the indexes that a search reads. */
function searchableIndexes({ indexes }: Kind): readonly string[] {
  return indexes.flatMap(({ name, searchable }) => (searchable === true ? [name] : []))
}

/** Why words without texts find an object: by its first label that they name, its namespace, or its kind. */
function matchOfWords(
  { part: { kind, view }, id }: FoundObject,
  { labels, namespaces }: SearchWords,
): Omit<SearchResultSource, 'object'> {
  const own = view.labelsOf(id)
  const named = labels.find(({ key }) => own[key] !== undefined)
  if (named !== undefined) return { matched: labelName(named.key), value: own[named.key] ?? '' }
  const [namespace] = view.index('namespace').valuesOf(id)
  return namespaces !== null && namespace !== undefined
    ? { matched: 'namespace', value: namespace }
    : { matched: 'kind', value: kind.resource.kind }
}
