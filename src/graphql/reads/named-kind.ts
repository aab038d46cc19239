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
import type { KindArguments, OrderKey, UntypedArguments } from '../schema/read-arguments.ts'
import type { OperationLimits, ServedSchema } from '../served/served-schema.ts'

/** Without introspection, errors suggest no names: they would reveal the schema. */
type ErrorNames = Pick<OperationLimits, 'introspection'>

/**
 * The kind that arguments name, by its kind or the plural name of its resource. Without a `group`, one group alone must
 * have it. Throws `ArgumentError` for `kind` or `group`.
 */
export function kindNamed(served: ServedSchema, args: KindArguments, names: ErrorNames): Kind {
  const { group = null, kind: name } = args
  const known = group === null ? undefined : served.kindOf(group, name)
  if (known !== undefined) return known
  const ofGroup = kindsOf(served, group)
  const exact = ofGroup.filter(({ resource }) => resource.kind === name)
  const plural = name.toLowerCase()
  const found =
    exact.length > 0 ? exact : ofGroup.filter(({ resource }) => resource.resource === plural)
  const [kind, ...others] = found
  if (kind === undefined) throw noSuchKind(served, args, names)
  if (others.length === 0) return kind
  const groups = found.map(({ resource }) => JSON.stringify(resource.group))
  throw new ArgumentError('group', `several groups have the kind ${JSON.stringify(name)}`, {
    value: group,
    hint: names.introspection ? `name one of ${groups.join(', ')}` : 'name the group',
  })
}

function kindsOf({ kinds }: ServedSchema, group: string | null): readonly Kind[] {
  const all = [...kinds.values()]
  return group === null ? all : all.filter(({ resource }) => resource.group === group)
}

function noSuchKind(
  served: ServedSchema,
  { group = null, kind: name }: KindArguments,
  { introspection }: ErrorNames,
): ArgumentError {
  const all = kindsOf(served, null)
  const ofGroup = kindsOf(served, group)
  const elsewhere = all.find(({ resource }) => resource.kind === name)
  const way = (nearest: string | undefined): string => {
    if (introspection && elsewhere !== undefined) {
      return `it is of the group ${JSON.stringify(elsewhere.resource.group)}`
    }
    if (introspection && nearest !== undefined) return `there is ${JSON.stringify(nearest)}`
    return 'write group and kind as the API does: "apps" and "Deployment"'
  }
  if (group !== null && ofGroup.length === 0) {
    const groups = new Set(all.map(({ resource }) => resource.group))
    const problem = `there is no group ${JSON.stringify(group)}`
    const hint = way(nearestName(group, groups))
    return new ArgumentError('group', problem, { value: group, hint })
  }
  const nearest = nearestName(
    name,
    ofGroup.map(({ resource }) => resource.kind),
  )
  const of = group === null ? '' : ` of the group ${JSON.stringify(group)}`
  const problem = `there is no kind ${JSON.stringify(name)}${of}`
  return new ArgumentError('kind', problem, { value: name, hint: way(nearest) })
}

/** Arguments with their `where` and `orderBy` typed. */
type TypedArguments<A> = Omit<A, 'where' | 'orderBy'> & {
  readonly where?: Where | null
  readonly orderBy?: readonly OrderKey[] | null
}

/**
 * The arguments of a list whose kind they name, with `where` and `orderBy` coerced as the kind's own list coerces them.
 * Throws `ArgumentError`, which names the place: `where.phase.eq`.
 */
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
  const typed = (value: unknown, type: string, argument: string): unknown =>
    coerced(value, schema.getType(type), argument, names)
  return {
    ...args,
    where: where === null ? null : (typed(where, `${typeName}Where`, 'where') as Where),
    orderBy:
      orderBy?.map((key, at) => typed(key, `${typeName}Order`, `orderBy[${at}]`) as OrderKey) ??
      null,
  }
}

/** Coerces a value. A profile may leave out the type: then the reader of the filter checks the value. */
function coerced(value: unknown, type: unknown, argument: string, names: ErrorNames): unknown {
  if (!isInputType(type)) return value
  const result = coerceInputValue(value, type)
  if (result !== undefined) return result
  throw wrongValue(value, type, argument, names)
}

function wrongValue(
  value: unknown,
  type: GraphQLInputType,
  argument: string,
  names: ErrorNames,
): ArgumentError {
  const unknown = unknownField(value, type, argument, names)
  if (unknown !== undefined) return unknown
  let error: ArgumentError | undefined
  validateInputValue(
    value,
    type,
    ({ message }, path) => {
      const place = path.reduce<string>((at, key) => at + stepTo(key), argument)
      error ??= new ArgumentError(place, message, { value: valueAt(value, path) })
    },
    true,
  )
  return error ?? new ArgumentError(argument, `is no ${String(type)}`, { value })
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
    if (field === undefined) return noSuchField(here, name, Object.keys(fields), names)
    const found = unknownField(inner, field.type, here, names)
    if (found !== undefined) return found
  }
  return undefined
}

/** A hint lists so many names even if one of them is near. */
const namesInHint = 12

function noSuchField(
  argument: string,
  name: string,
  known: readonly string[],
  { introspection }: ErrorNames,
): ArgumentError {
  const nearest = known.length > namesInHint ? nearestName(name, known) : undefined
  const hint = nearest === undefined ? `there are ${known.join(', ')}` : `there is ${nearest}`
  return new ArgumentError(argument, `there is no ${JSON.stringify(name)}`, {
    value: name,
    ...(introspection ? { hint } : {}),
  })
}

function stepTo(key: string | number): string {
  return typeof key === 'number' ? `[${key}]` : `.${key}`
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string | number, unknown>>)[key],
    value,
  )
}
