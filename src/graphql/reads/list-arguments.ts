/*
 * The arguments of lists, in one table (`listArguments`). Each row says what the argument selects, for lists, relations
 * and subscriptions alike, and how lists without a cache take or refuse it. The type of the table comes from the SDL, so
 * an argument without a row does not compile.
 *
 * The schema does not know the kind of a list whose arguments name it (`objectList`), so `where` and `orderBy` are JSON there.
 * `namedList` coerces them as the kind's own list does. An error names the place and the nearest name.
 */

import { objectKey } from '../../kubernetes/object.ts'
import { unusableValue, ArgumentError } from '../../query/condition/argument-error.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasValue,
} from '../../query/condition/condition.ts'
import { compileLabelSelector } from '../../query/condition/list-condition.ts'
import { compileWhere, type Where } from '../../query/condition/where.ts'
import type { ListIdentity } from '../../query/page/cursor.ts'
import type { Kind } from '../model/kind.ts'
import { decodeObjectId, ObjectIdError, type ObjectIdentity } from '../model/object-id.ts'
import { type ClusterKind, defaultCluster } from '../prepare/kind-view.ts'
import type {
  KindEventsArguments,
  KindListArguments,
  NamespacesArguments,
  ObjectListFilterArguments,
  ObjectListOrderArguments,
  OrderKey,
} from '../schema/gateway-types.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import {
  coerceInputValue,
  type GraphQLInputType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  validateInputValue,
} from 'graphql'
import { isRecord } from '../../lib/json.ts'
import { nearestName } from '../../lib/options.ts'
import { type ErrorNames, kindNamed, type KindArguments } from '../served/named-kinds.ts'

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
    // A list over clusters has a condition for each, and this one is not its own.
    selects: (ids, { served, kind, cluster }) =>
      idsCondition(ids, { cluster: cluster ?? defaultCluster(served), kind }),
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

const argumentNames = Object.keys(listArguments) as (keyof ListFieldArguments)[]
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
  for (const name of argumentNames) {
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
  for (const name of argumentNames) {
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

/** The namespaces that `namespace` and `namespaces` mean together; `undefined`: all. */
export function namespacesIn({
  namespace,
  namespaces,
}: NamespacesArguments): readonly string[] | undefined {
  if (namespace === undefined || namespace === null) return namespaces ?? undefined
  if (namespaces === undefined || namespaces === null) return [namespace]
  return namespaces.filter((one) => one === namespace)
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

/** The arguments of a list whose kind the schema does not know. GraphQL does not check them by the types of the kind. */
type UntypedArguments = Omit<ObjectListFilterArguments & ObjectListOrderArguments, 'kind'>

type TypedArguments<A> = Omit<A, 'where' | 'orderBy'> & {
  readonly where?: Where | null
  readonly orderBy?: readonly OrderKey[] | null
}

/** The kind that arguments name, and the arguments as the kind's list takes them. Throws `ArgumentError`. */
export function namedList<A extends UntypedArguments & KindArguments>(
  served: ServedSchema,
  args: A,
  names: ErrorNames,
): { readonly kind: Kind; readonly typed: TypedArguments<A> } {
  const kind = kindNamed(served, args, names)
  return { kind, typed: typedArguments(served, kind, args, names) }
}

/** Coerces `where` and `orderBy`. Throws `ArgumentError`, which names the place: `where.phase.eq`. */
export function typedArguments<A extends UntypedArguments>(
  { schema }: ServedSchema,
  { typeName, resource }: Kind,
  args: A,
  names: ErrorNames,
): TypedArguments<A> {
  const { where = null, orderBy = null } = args
  for (const argument of resource.namespaced ? [] : (['namespace', 'namespaces'] as const)) {
    const value = args[argument] ?? null
    if (value === null) continue
    const problem = `objects of ${resource.kind} do not live in namespaces`
    throw new ArgumentError(argument, problem, { value, hint: 'leave it out' })
  }
  const typed = (value: unknown, typeOf: string, argument: string): unknown => {
    const type = schema.getType(typeOf)
    // A profile may leave out the type: then the reader of the filter checks the value.
    if (!isInputType(type)) return value
    const result = coerceInputValue(value, type)
    if (result !== undefined) return result
    let error = unknownField(value, type, argument, names)
    if (error !== undefined) throw error
    validateInputValue(
      value,
      type,
      ({ message }, path) => {
        const place = path.reduce<string>((at, key) => at + stepTo(key), argument)
        const wrong = path.reduce<unknown>(
          (inner, key) => (inner as Readonly<Record<string | number, unknown>>)[key],
          value,
        )
        error ??= new ArgumentError(place, message, { value: wrong })
      },
      true,
    )
    throw error ?? new ArgumentError(argument, `is no ${String(type)}`, { value })
  }
  return {
    ...args,
    where: where === null ? null : (typed(where, `${typeName}Where`, 'where') as Where),
    orderBy:
      orderBy?.map((key, at) => typed(key, `${typeName}Order`, `orderBy[${at}]`) as OrderKey) ??
      null,
  }
}

/** The error of the first field that an input type lacks. */
function unknownField(
  value: unknown,
  type: GraphQLInputType,
  place: string,
  names: ErrorNames,
): ArgumentError | undefined {
  if (isNonNullType(type)) return unknownField(value, type.ofType, place, names)
  if (isListType(type)) {
    if (!Array.isArray(value)) return unknownField(value, type.ofType, place, names)
    for (const [at, one] of value.entries()) {
      const found = unknownField(one, type.ofType, place + stepTo(at), names)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isInputObjectType(type) || !isRecord(value)) return undefined
  const fields = type.getFields()
  for (const [name, inner] of Object.entries(value)) {
    const here = place + stepTo(name)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const known = Object.keys(fields)
      const nearest = known.length > namesInHint ? nearestName(name, known) : undefined
      const hint = nearest === undefined ? `there are ${known.join(', ')}` : `there is ${nearest}`
      return new ArgumentError(here, `there is no ${JSON.stringify(name)}`, {
        value: name,
        ...(names.introspection ? { hint } : {}),
      })
    }
    const found = unknownField(inner, field.type, here, names)
    if (found !== undefined) return found
  }
  return undefined
}

/** A hint lists so many names even if one of them is near. */
const namesInHint = 12

function stepTo(key: string | number): string {
  return typeof key === 'number' ? `[${key}]` : `.${key}`
}
