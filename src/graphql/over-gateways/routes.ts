/*
 * Which gateways an operation is for. The clusters of each root field are read from the schema and the values of its
 * arguments: `cluster`, `clusters` and `clusterSelector` name them; without them, the ids of objects do; otherwise a field
 * that takes such names is about the default cluster. `gatewayClusters` is about all of them. A field that takes none of
 * these may have fields that do, as `viewer { namespaces(cluster:) }` has. All others are answered by any gateway. The
 * fleet says who holds a cluster.
 */

import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
  getNamedType,
  type GraphQLField,
  isObjectType,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql'
import { CodedError } from '../../lib/coded-error.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { readObjectId } from '../model/object-id.ts'
import { fieldCollector, selectionsOf } from '../plan/plan-compiler.ts'
import { type ClusterNames, clustersNamed } from '../prepare/kind-view.ts'
import { entityPlaces } from '../reads/object-read.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** The address of the gateway that holds a cluster. `undefined`: this one, which also answers for what none holds. */
export type Holder = string | undefined

/** A root field of an operation, with the clusters that it is about. */
export interface RoutedField {
  readonly key: string
  /** All nodes that select it. */
  readonly nodes: readonly FieldNode[]
  /** `undefined`: a field of introspection. */
  readonly field: GraphQLField<unknown, unknown> | undefined
  /** Its coerced arguments; none if they cannot be coerced. */
  readonly args: Readonly<Record<string, unknown>>
  /** The clusters that it is about, in the order of its arguments. `undefined`: none, so that any gateway answers. */
  readonly clusters: readonly string[] | undefined
  /** The clusters by their holders. */
  readonly holders: ReadonlyMap<Holder, readonly string[]>
}

/** The parts of a request that decide about its routes. Its document is valid, and its variables are coerced. */
export interface RoutedRequest {
  readonly served: ServedSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: VariableValues
  /** The clusters that it is restricted to. */
  readonly within?: readonly string[] | undefined
}

/** The root fields of an operation, after fragments and `@skip`, each with its clusters. */
export function routedFields(request: RoutedRequest): readonly RoutedField[] {
  const { served, document, operation, variables, within } = request
  const type = served.schema.getRootType(operation.operation)
  if (type === null || type === undefined) return []
  const collect = fieldCollector(document, variables)
  return [...collect([operation.selectionSet], [type.name])].map(([key, nodes]) => {
    const [node] = nodes
    const field = node && type.getFields()[node.name.value]
    if (node === undefined || field === undefined) {
      return { key, nodes, field: undefined, args: {}, clusters: undefined, holders: new Map() }
    }
    const args = argumentsOf(field, node, request)
    const clusters = clustersOf(field, args ?? {}, served)
    const named = clusters === 'within' ? clustersWithin(field, nodes, request) : clusters
    const about = within === undefined ? named : named?.filter((name) => within.includes(name))
    return { key, nodes, field, args: args ?? {}, clusters: about, holders: heldBy(served, about) }
  })
}

/** The clusters of each holder, in the given order. */
function heldBy(
  { members }: Pick<ServedSchema, 'members'>,
  clusters: readonly string[] | undefined,
): ReadonlyMap<Holder, readonly string[]> {
  const holders = new Map<Holder, string[]>()
  for (const cluster of clusters ?? []) {
    const holder = members.get(cluster)?.holder ?? undefined
    getOrInsert(holders, holder, () => []).push(cluster)
  }
  return holders
}

/** How a field says which clusters it is about. */
interface Naming {
  /** Whether it takes `cluster`, `clusters` or `clusterSelector`. */
  readonly takesNames: boolean
  /** The arguments that are ids of objects, unless they only filter a list. */
  readonly ids: readonly string[]
}

const namings = new WeakMap<GraphQLField<unknown, unknown>, Naming>()
const clusterArguments: ReadonlySet<string> = new Set<keyof ClusterNames>([
  'cluster',
  'clusters',
  'clusterSelector',
])
/** The forms of fields whose `ids` select objects of the list that the other arguments mean. */
const ofLists = /^(?:list|livePages|facet|objectList)/

function namingOf(field: GraphQLField<unknown, unknown>): Naming {
  return getOrInsert(namings, field, () => {
    const isOfList = ofLists.test(fieldSourceOf(field).form)
    const ids = field.args.filter(({ type }) => getNamedType(type).name === 'ID')
    return {
      takesNames: field.args.some(({ name }) => clusterArguments.has(name)),
      ids: isOfList ? [] : ids.map(({ name }) => name),
    }
  })
}

/** Whether a field has the state of clusters, which each gateway knows of all. */
export function isOfClusters(field: GraphQLField<unknown, unknown>): boolean {
  return getNamedType(field.type).name === 'GatewayCluster'
}

function clustersOf(
  field: GraphQLField<unknown, unknown>,
  args: Readonly<Record<string, unknown>>,
  served: ServedSchema,
): readonly string[] | undefined | 'within' {
  const { members } = served
  if (isOfClusters(field)) return [...members.keys()]
  const source = fieldSourceOf(field)
  const known = (names: readonly string[]): readonly string[] | undefined => {
    const clusters = [...new Set(names)].filter((name) => members.has(name))
    return clusters.length === 0 ? undefined : clusters
  }
  if (source.form === 'entities') {
    const places = entityPlaces(served, args['representations'] as readonly unknown[])
    return known(places.map(({ cluster }) => cluster))
  }
  const { takesNames, ids } = namingOf(field)
  const isNamed = [...clusterArguments].some((name) => (args[name] ?? null) !== null)
  const given = isNamed ? [] : ids.flatMap((name) => args[name] ?? [])
  // The gateway that is asked refuses arguments that name no clusters.
  if (given.length > 0)
    return known(given.flatMap((id) => readObjectId(id as string)?.cluster ?? []))
  if (takesNames) return unlessWrong(() => clustersNamed(served, args))
  return ids.length === 0 ? 'within' : undefined
}

/** The clusters that the arguments of its fields name. Objects and pages of them have clusters of their own. */
function clustersWithin(
  parent: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  request: RoutedRequest,
): readonly string[] | undefined {
  const type = getNamedType(parent.type)
  if (!isObjectType(type)) return undefined
  const clusters = new Set<string>()
  const collect = fieldCollector(request.document, request.variables)
  for (const [, [node]] of collect(selectionsOf(nodes), [type.name])) {
    const field = node && type.getFields()[node.name.value]
    if (node === undefined || field === undefined || !namingOf(field).takesNames) continue
    const args = argumentsOf(field, node, request)
    const named = args && clustersOf(field, args, request.served)
    if (Array.isArray(named)) for (const name of named as readonly string[]) clusters.add(name)
  }
  return clusters.size === 0 ? undefined : [...clusters]
}

function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variables }: RoutedRequest,
): Readonly<Record<string, unknown>> | undefined {
  try {
    return getArgumentValues(field, node, variables)
  } catch {
    return undefined
  }
}

function unlessWrong<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof CodedError) return undefined
    throw error
  }
}
