import {
  type Completions,
  completionsOf,
  type CompletedPart,
} from '../../../query/page/completions.ts'
import { unfinishedText } from '../../../query/page/search-text.ts'
import { workloadPlace } from '../../model/workload-order.ts'
import type { KindView } from '../../prepare/kind-view.ts'
import type { CompleteArguments } from '../../schema/read-arguments.ts'
import { namesOf } from '../../served/named-kinds.ts'
import type { RelatedNeed } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { ReadRun } from '../read-run.ts'
import { type SearchedKinds, searchedKinds, searchedNeeds } from './searched-kinds.ts'

/** The ways to complete a search text. Valid within the tick. */
export interface CompletionRead extends SearchedKinds, Completions {
  /** Where the word begins that they complete. */
  readonly from: number
}

/**
 * Completes the last word of a text from what {@link searchedKinds} finds by the words before. Throws as it does, and as
 * `completionsOf` does.
 */
export function readCompletions(run: ReadRun, args: CompleteArguments): CompletionRead {
  const { budget, served } = run
  const { before, last: word, from } = unfinishedText(args.text)
  const searched = searchedKinds(run, before, args, noIndexes)
  const { parts, namespaces } = searched
  const found = completionsOf({
    parts: parts.map((part) => completedPart(served, part)),
    word,
    terms: args.terms ?? null,
    namespaces,
    first: args.first,
    budget,
  })
  return { ...searched, ...found, from }
}

/** The kinds that a completion loads. Ignores unknown names. */
export function completionNeeds(
  served: ServedSchema,
  args: Readonly<Record<string, unknown>>,
  cluster: string,
): readonly RelatedNeed[] {
  return searchedNeeds(served, args, cluster, noIndexes, (text) => unfinishedText(text).before)
}

/** Names, namespaces and labels are in every store. */
const noIndexes = (): readonly string[] => []

function completedPart(served: ServedSchema, { kind, view, scope }: KindView): CompletedPart {
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
}
