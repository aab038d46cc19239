/*
 * The arguments of a list that name its kind (`objectList`). The schema does not know the kind, so `where` and `orderBy`
 * are JSON there. They are coerced here as the kind's own list coerces them. An error names the place and the nearest
 * name.
 */

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
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { Where } from '../../query/condition/where.ts'
import type { Kind } from '../model/kind.ts'
import type {
  ObjectListFilterArguments,
  ObjectListOrderArguments,
  OrderKey,
} from '../schema/gateway-types.ts'
import { type ErrorNames, kindNamed, type KindArguments } from '../served/named-kinds.ts'
import type { ServedSchema } from '../served/served-schema.ts'

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
