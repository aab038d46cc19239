/*
 * The kinds that a request means: by type (`types`), by group and kind (`objectList`), or by any name that kubectl takes
 * (`search`, `kinds`). Also the kinds that it reads without naming them: common kinds and kinds in memory.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { nearestName } from '../../lib/options.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import type { ObjectListFilterArguments } from '../schema/gateway-types.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'

/** The arguments that name a kind. Without a group, one group alone must have it. */
export type KindArguments = Pick<ObjectListFilterArguments, 'group' | 'kind'>

/** Without introspection, errors suggest no names: they would reveal the schema. */
export type ErrorNames = Pick<OperationLimits, 'introspection'>

/** The kinds with these type names, each once. Throws `ClientError` for an unknown name, which `argumentAt` places. */
export function namedKinds(
  served: ServedSchema,
  names: readonly string[] | null | undefined,
  errorNames: ErrorNames,
  argumentAt: (position: number) => string = () => 'types',
): readonly Kind[] {
  const { kinds, unknownAt } = kindsOfNames(served, names ?? [])
  if (unknownAt === undefined) return kinds
  throw noSuchType(served, argumentAt(unknownAt), names?.[unknownAt] ?? '', errorNames)
}

interface KindsOfNames {
  readonly kinds: readonly Kind[]
  /** The position of the first name that no kind has. */
  readonly unknownAt: number | undefined
}

const kindsOf = new WeakMap<ServedSchema['kinds'], WeakMap<readonly unknown[], KindsOfNames>>()

/** Reads names once for all fields and clusters of an operation: these share the value of a variable. */
function kindsOfNames(
  { kinds }: Pick<ServedSchema, 'kinds'>,
  names: readonly unknown[],
): KindsOfNames {
  const known = getOrInsert(kindsOf, kinds, () => new WeakMap())
  return getOrInsert(known, names, () => {
    const ofNames = names.map((name) => kinds.get(String(name)))
    const unknownAt = ofNames.indexOf(undefined)
    return {
      kinds: [...new Set(ofNames.filter((kind) => kind !== undefined))],
      unknownAt: unknownAt === -1 ? undefined : unknownAt,
    }
  })
}

/** The error of a name that no type of a kind has. Says which type is meant, if the name is that of a kind or near one. */
export function noSuchType(
  served: ServedSchema,
  argument: string,
  name: string,
  { introspection }: ErrorNames,
): ClientError {
  const meant = introspection ? meantTypes(served, name) : []
  const hint =
    meant.length > 0
      ? `the type is ${meant.map((one) => JSON.stringify(one)).join(' or ')}`
      : 'use the names of types, such as "Pod"; gatewayClusters and the schema have them'
  const message = `${argument}: there is no type ${JSON.stringify(name)}`
  return new ClientError('BAD_USER_INPUT', message, { argument, value: name, hint })
}

function meantTypes(served: ServedSchema, name: string): readonly string[] {
  const called = kindsCalled(served, name).map(({ typeName }) => typeName)
  const nearest = called.length > 0 ? undefined : nearestName(name, served.kinds.keys())
  return nearest === undefined ? called.toSorted() : [nearest]
}

export function isServed(
  { kinds, clusters }: ServedSchema,
  cluster: string,
  type: string,
): boolean {
  const kind = kinds.get(type)
  return kind !== undefined && clusters.get(cluster)?.serves(kind.resource) === true
}

export function kindsServedBy({ kinds, clusters }: ServedSchema, cluster: string): readonly Kind[] {
  const cache = clusters.get(cluster)
  return [...kinds.values()].filter(({ resource }) => cache?.serves(resource) === true)
}

/** The common kinds that a cluster serves and the gateway caches. */
export function commonKindsOf({ commonKinds, clusters }: ServedSchema, cluster: string): Kind[] {
  const cache = clusters.get(cluster)
  return [...commonKinds].filter(
    ({ resource, uncached }) => !uncached && cache?.serves(resource) === true,
  )
}

/**
 * The kinds that `problems` looks at by default in a cluster: cached kinds that the cluster serves, or may serve if it
 * cannot be reached.
 */
export function problemKindsOf({ problemKinds, clusters }: ServedSchema, cluster: string): Kind[] {
  const cache = clusters.get(cluster)
  const isUnknown = cache?.connection.state === 'unreachable'
  return [...problemKinds].filter(
    ({ resource, uncached }) => !uncached && (isUnknown || cache?.serves(resource) === true),
  )
}

/** The kinds of a cluster that a request reads without naming them: common kinds and kinds in memory. */
export function unnamedKinds(served: ServedSchema, cluster: string): ReadonlySet<Kind> {
  const kinds = new Set(commonKindsOf(served, cluster))
  for (const { group, kind: name } of served.clusters.get(cluster)?.resources() ?? []) {
    const kind = served.kindOf(group, name)
    if (kind !== undefined) kinds.add(kind)
  }
  return kinds
}

/** The known kinds that an argument names, for preparation. The field itself reports unknown names. */
export function knownKinds(served: ServedSchema, names: unknown): readonly Kind[] {
  return Array.isArray(names) ? kindsOfNames(served, names).kinds : []
}

const byName = new WeakMap<ServedSchema['kinds'], ReadonlyMap<string, readonly Kind[]>>()

/** The kinds with a name: of the kind, of the type, or of the resource as kubectl takes it. */
export function kindsCalled({ kinds }: ServedSchema, name: string): readonly Kind[] {
  const known = getOrInsert(byName, kinds, () => {
    const named = [...kinds.values()].flatMap((kind) =>
      [...new Set(namesOf(kind))].map((one) => [one, kind] as const),
    )
    const groups = Map.groupBy(named, ([one]) => one)
    return new Map(Array.from(groups, ([one, of]) => [one, of.map(([, kind]) => kind)]))
  })
  return known.get(name.toLowerCase()) ?? []
}

/** The names of a kind in a search, in lower case. */
export function namesOf({ typeName, resource }: Kind): readonly string[] {
  const { kind, resource: plural, shortNames = [] } = resource
  const names = [kind, typeName, plural, groupResourceOf(resource), ...shortNames]
  return names.map((name) => name.toLowerCase())
}

/**
 * The kind that arguments name, by its kind or the plural name of its resource. Without a `group`, one group alone must
 * have it. Throws `ArgumentError` for `kind` or `group`.
 */
export function kindNamed(served: ServedSchema, args: KindArguments, names: ErrorNames): Kind {
  const { group = null, kind: name } = args
  const known = group === null ? undefined : served.kindOf(group, name)
  if (known !== undefined) return known
  const all = [...served.kinds.values()]
  const ofGroup = group === null ? all : all.filter(({ resource }) => resource.group === group)
  const exact = ofGroup.filter(({ resource }) => resource.kind === name)
  const plural = name.toLowerCase()
  const found =
    exact.length > 0 ? exact : ofGroup.filter(({ resource }) => resource.resource === plural)
  const [kind, ...others] = found
  if (kind !== undefined) {
    if (others.length === 0) return kind
    const groups = found.map(({ resource }) => JSON.stringify(resource.group))
    throw new ArgumentError('group', `several groups have the kind ${JSON.stringify(name)}`, {
      value: group,
      hint: names.introspection ? `name one of ${groups.join(', ')}` : 'name the group',
    })
  }
  const elsewhere = all.find(({ resource }) => resource.kind === name)?.resource.group
  const otherwise = 'write group and kind as the API does: "apps" and "Deployment"'
  const way =
    names.introspection && elsewhere !== undefined
      ? `it is of the group ${JSON.stringify(elsewhere)}`
      : undefined
  if (group !== null && ofGroup.length === 0) {
    const among = new Set(all.map(({ resource }) => resource.group))
    const problem = `there is no group ${JSON.stringify(group)}`
    throw notNamed('group', problem, { name: group, among, way, otherwise }, names)
  }
  const among = ofGroup.map(({ resource }) => resource.kind)
  const of = group === null ? '' : ` of the group ${JSON.stringify(group)}`
  const problem = `there is no kind ${JSON.stringify(name)}${of}`
  throw notNamed('kind', problem, { name, among, way, otherwise }, names)
}

/** The error of a name that no kind has. `prefix`: the text before names of kinds in the argument. */
export function noSuchKind(
  { kinds }: ServedSchema,
  argument: string,
  { name, prefix, otherwise }: Pick<Unnamed, 'name' | 'prefix' | 'otherwise'>,
  names: ErrorNames,
): ArgumentError {
  const among = [...kinds.values()].flatMap(({ typeName, resource }) => [
    resource.kind,
    typeName,
    resource.resource,
  ])
  const problem = `there is no kind ${JSON.stringify(name)}`
  return notNamed(argument, problem, { name, among, prefix, otherwise }, names)
}

interface Unnamed {
  readonly name: string
  readonly among: Iterable<string>
  readonly prefix?: string | undefined
  /** The hint in place of the nearest name. */
  readonly way?: string | undefined
  /** The hint if no name is near. */
  readonly otherwise: string
}

function notNamed(
  argument: string,
  problem: string,
  { name, among, prefix, way, otherwise }: Unnamed,
  { introspection }: ErrorNames,
): ArgumentError {
  const nearest = introspection ? nearestName(name, among) : undefined
  const written = prefix === undefined ? JSON.stringify(nearest) : `${prefix}${nearest}`
  return new ArgumentError(argument, problem, {
    value: `${prefix ?? ''}${name}`,
    hint: way ?? (nearest === undefined ? otherwise : `there is ${written}`),
  })
}
