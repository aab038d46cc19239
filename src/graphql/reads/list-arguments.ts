/*
 * The arguments of lists, in one table (`listArguments`). Each row says what the argument selects, for lists, relations
 * and subscriptions alike, and how lists without a cache take or refuse it. The type of the table comes from the SDL, so
 * an argument without a row does not compile.
 */

import { objectKey } from '../../kubernetes/object.ts'
import { unusableValue } from '../../query/condition/argument-error.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasValue,
} from '../../query/condition/condition.ts'
import { compileLabelSelector } from '../../query/condition/list-condition.ts'
import { compileWhere } from '../../query/condition/where.ts'
import type { ListIdentity } from '../../query/page/cursor.ts'
import type { Kind } from '../model/kind.ts'
import { decodeObjectId, ObjectIdError, type ObjectIdentity } from '../model/object-id.ts'
import { type ClusterKind, clusterNamed } from '../prepare/kind-view.ts'
import type { KindEventsArguments, KindListArguments } from '../schema/gateway-types.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** The arguments of a list of a kind: a root field or a relation. `related` is for `events` only. */
export interface ListFieldArguments
  extends KindListArguments, Pick<KindEventsArguments, 'related'> {}

interface ArgumentOf {
  readonly served: ServedSchema
  readonly kind: Kind
  readonly cluster: string | null | undefined
}

interface DirectFilter {
  readonly namespace?: string
  readonly labelSelector?: string
}

/** How lists, connections and subscriptions use one argument. */
interface ListArgument<V> {
  /**
   * The objects that a value selects. Absent for arguments that order or cut the list. Pure: a plan calls it once for
   * arguments without variables, so the same value always selects by the same condition.
   */
  readonly selects?: (value: V, of: ArgumentOf) => Condition
  /** How the API server selects the same, for kinds without a cache. `refused`: it cannot. */
  readonly direct: ((value: V) => DirectFilter) | 'refused' | 'place'
}

const listArguments = {
  cluster: { direct: 'place' },
  clusters: { direct: 'refused' },
  clusterSelector: { direct: 'refused' },
  namespace: {
    selects: (namespace) => hasValue('namespace', [namespace]),
    direct: (namespace) => ({ namespace }),
  },
  namespaces: { selects: (names) => hasValue('namespace', names), direct: 'refused' },
  labelSelector: {
    selects: (selector) => compileLabelSelector(selector),
    direct: (labelSelector) => ({ labelSelector }),
  },
  where: {
    selects: (where, { served: { relations }, kind }) =>
      compileWhere(where, kind.indexes, relations.whereFields(kind).related),
    direct: 'refused',
  },
  ids: {
    selects: (ids, { served, kind, cluster }) =>
      idsCondition(ids, { cluster: clusterNamed(served, cluster), kind }),
    direct: 'refused',
  },
  /** Changes the relation `events`, not its filter. */
  related: { direct: 'refused' },
  orderBy: { direct: 'refused' },
  first: { direct: 'place' },
  after: { direct: 'place' },
  offset: { direct: 'refused' },
  last: { direct: 'refused' },
  before: { direct: 'refused' },
} satisfies {
  readonly [A in keyof Required<ListFieldArguments>]: ListArgument<
    NonNullable<ListFieldArguments[A]>
  >
}

const names = Object.keys(listArguments) as (keyof ListFieldArguments)[]
const argumentNamed = listArguments as Readonly<Record<string, ListArgument<unknown>>>

export interface ListFilter {
  readonly condition: Condition
  /** The values that bind cursors and resume tokens, besides the list and its order. */
  readonly identity: Omit<ListIdentity, 'list'>
}

/**
 * The objects that the arguments of a list, a connection or a subscription select; all conditions must hold. Throws
 * `ArgumentError`, which names the invalid argument.
 */
export function filterOf(served: ServedSchema, kind: Kind, args: ListFieldArguments): ListFilter {
  const of = { served, kind, cluster: args.cluster }
  const conditions: Condition[] = []
  const identity: Record<string, unknown> = {}
  for (const name of names) {
    const selects = argumentNamed[name]?.selects
    const value = args[name] ?? null
    if (selects === undefined || value === null) continue
    conditions.push(selects(value, of))
    identity[name] = value
  }
  return { condition: conditions.length === 0 ? everything : allOf(conditions), identity }
}

/** The filter for a list of the API server, or the first given argument that such a list refuses. */
export function directFilterOf(
  args: ListFieldArguments,
): DirectFilter | { readonly refused: keyof ListFieldArguments } {
  let filter: DirectFilter = {}
  for (const name of names) {
    const direct = argumentNamed[name]?.direct
    const value = args[name] ?? null
    if (direct === 'place' || direct === undefined || value === null) continue
    if (direct === 'refused') return { refused: name }
    filter = { ...filter, ...direct(value) }
  }
  return filter
}

/** The objects with these `id`s. An id of another kind or cluster matches none. Throws `ArgumentError`. */
function idsCondition(ids: readonly string[], at: ClusterKind): Condition {
  const { group, kind } = at.kind.resource
  const uids: string[] = []
  const keys: string[] = []
  for (const [position, id] of ids.entries()) {
    const identity = identityIn(`ids[${position}]`, id)
    if (identity.cluster !== at.cluster) continue
    if (identity.group !== group || identity.kind !== kind) continue
    if ('uid' in identity.object) uids.push(identity.object.uid)
    else keys.push(objectKey(identity.object))
  }
  return anyOf([hasValue('uid', uids), hasKey(keys)])
}

/** Decodes an `id`. Throws `ArgumentError`, which names the argument. */
export function identityIn(argument: string, id: string): ObjectIdentity {
  try {
    return decodeObjectId(id)
  } catch (error) {
    if (!(error instanceof ObjectIdError)) throw error
    throw unusableValue(argument, id, error.message, error.hint)
  }
}
