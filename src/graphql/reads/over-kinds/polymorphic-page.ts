import type { Condition } from '../../../query/condition/condition.ts'
import { listPage, type Page } from '../../../query/page/page.ts'
import { ClientError, unlessRefused } from '../../errors/client-error.ts'
import type { Kind } from '../../model/kind.ts'
import type { CachedParts, ClusterKind, KindView, ListReading } from '../../prepare/kind-view.ts'
import type { PageArguments } from '../../schema/read-arguments.ts'
import { kindsServedBy } from '../../served/named-kinds.ts'
import type { SchemaRelation } from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { ListedPart } from '../read-page.ts'
import type { ReadRun } from '../read-run.ts'

/** A kind, with the condition that its objects must meet. */
export type PlacedPart = KindView & { readonly condition: Condition }

/** The places that may hold the objects of a page. */
export interface PolymorphicPlaces {
  readonly parts: readonly PlacedPart[]
  /** The type names of kinds that may hold more but are not read: not loaded, or not allowed. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** The errors of kinds that could not be read. */
  readonly failures: readonly ClientError[]
}

/** A page of objects of several kinds. */
export interface PolymorphicPage extends PolymorphicPlaces {
  readonly page: Page<ListedPart>
  /** The type names of the kinds read, sorted. */
  readonly types: readonly string[]
}

/** The tests that each kind costs, besides those of its condition. */
const testsPerKind = 20

/**
 * A page of the objects of some kinds, each with its own condition. `list` names the list, so that its cursors are valid
 * for this list only. Throws as `listPage` does.
 */
export function polymorphicPage(
  { budget, limits: { maxPageSize } }: ReadRun,
  list: string,
  { parts, notLookedAt, failures }: PolymorphicPlaces,
  { first, after, last, before }: PageArguments,
): PolymorphicPage {
  budget.spend('tests', testsPerKind * (1 + parts.length))
  const named = parts.map((part) => ({ ...part, name: part.kind.typeName }))
  const bounds = { first, after, last, before, maxPageSize }
  return {
    parts,
    page: listPage({ parts: named, budget, identity: { list }, ...bounds }),
    types: named.map(({ name }) => name).toSorted(),
    notLookedAt: () => withFailed(notLookedAt(), failures),
    failures,
  }
}

/** The names of types that were not looked into, with those of the kinds that failed. Sorted. */
export function withFailed(
  names: Iterable<string>,
  failures: readonly ClientError[],
): readonly string[] {
  const failed = failures.flatMap(({ type }) => type ?? [])
  return [...new Set([...names, ...failed])].toSorted()
}

/** The type names of the kinds that some of the clusters serve and that were not read there. */
export function typesNotRead(
  served: ServedSchema,
  clusters: readonly string[],
  parts: readonly ClusterKind[],
  isWanted: (kind: Kind) => boolean = () => true,
): readonly string[] {
  const read = Map.groupBy(parts, ({ cluster }) => cluster)
  return clusters.flatMap((cluster) => {
    const kinds = new Set(read.get(cluster)?.map(({ kind }) => kind))
    return kindsServedBy(served, cluster)
      .filter((kind) => isWanted(kind) && !kinds.has(kind))
      .map(({ typeName }) => typeName)
  })
}

/**
 * The part of a kind that the request does not name: of a common kind, which is then loaded, or of one in memory.
 * `undefined` if it cannot be read.
 */
export function unnamedPart(
  run: ReadRun,
  at: ClusterKind,
  reading?: ListReading,
): KindView | undefined {
  return unlessRefused(() => readUnnamed(run, at, reading))
}

/** As {@link unnamedPart}. Throws `ClientError` for a common kind that cannot be read. */
export function readUnnamed(
  { served, parts }: ReadRun,
  at: ClusterKind,
  reading?: ListReading,
): KindView | undefined {
  const isLoaded = served.commonKinds.has(at.kind) && !at.kind.uncached
  return isLoaded ? parts.part(at, reading) : parts.cachedPart(at, reading)
}

/** The part of a type. Throws `TypeError` for a type that was not read. */
export function partOfType<P>(parts: ReadonlyMap<string, P>, type: string): P {
  const part = parts.get(type)
  if (part === undefined) throw new TypeError(`${type} is not among the parts`)
  return part
}

/** The kinds found so far: those that can be read, and the errors of the others. */
export class FoundParts<P> {
  readonly parts: P[] = []
  readonly failures: ClientError[] = []

  add(read: () => P | undefined): void {
    try {
      const part = read()
      if (part !== undefined) this.parts.push(part)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      this.failures.push(error)
    }
  }
}

/** A part that a relation reads, with the indexes that it needs there. Throws `ClientError`. */
export function partOnTheWay(
  { needs, name }: SchemaRelation,
  type: string,
  parts: CachedParts,
  cluster: string,
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need })
}
