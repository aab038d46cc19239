/*
 * Which subscriptions a change of the schema ends. A subscription keeps the schema that it began with. It ends if the new
 * schema has lost one of its kinds or clusters, if a field that it selects is gone or has another type, or if its rows
 * would now lead to a kind that was not served before: as an owner, or in `usedBy` and `owned`. Every other subscription
 * goes on, and learns of clusters that come and go.
 */

import {
  type DocumentNode,
  type GraphQLSchema,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'

/** The parts of a subscription that a change of the schema may affect. */
export interface OpenSubscription {
  /** The schema at the start of the subscription, which it keeps reading. */
  readonly served: ServedSchema
  readonly document: DocumentNode
  /** The subscription outlives the clusters of optional kinds. */
  readonly kinds: readonly ClusterKind[]
  /** The kinds that the document names, by the given schema. */
  readonly supporting: (served: ServedSchema) => readonly ClusterKind[]
  fleetChanged(now: ServedSchema): void
  failed(error: ClientError): void
}

export class OpenSubscriptions {
  readonly #open = new Set<OpenSubscription>()
  readonly #unserved = new Map<OpenSubscription, Map<string, NamedKind>>()
  #now: ServedSchema | undefined
  #readings: Readings = new WeakMap()

  /** Adds a subscription. Ends it at once if the schema has changed since its start in a way that affects it. */
  add(subscription: OpenSubscription): void {
    this.#open.add(subscription)
    const now = this.#now
    if (now !== undefined && now !== subscription.served) this.#check(subscription, now)
  }

  remove(subscription: OpenSubscription): void {
    this.#open.delete(subscription)
    this.#unserved.delete(subscription)
  }

  /**
   * Makes `own`, a copy of the schema for a subscription to read, record the unserved kinds that objects refer to, for
   * example as owners. When the server starts to serve one of them, the subscription ends, because its rows were
   * incomplete.
   */
  record(subscription: OpenSubscription, own: { kindOf: ServedSchema['kindOf'] }): void {
    const { kindOf } = subscription.served
    own.kindOf = (group, kind) => {
      const found = kindOf(group, kind)
      if (found !== undefined || !this.#open.has(subscription)) return found
      const named = { group, kind }
      const problem = this.#now && nowServed(named, this.#now)
      // Lets the current read finish first.
      if (problem !== undefined) queueMicrotask(() => this.#end(subscription, problem))
      const unserved = getOrInsert(this.#unserved, subscription, () => new Map())
      if (unserved.size < maxUnserved) unserved.set(`${group}/${kind}`, named)
      return undefined
    }
  }

  follow(now: ServedSchema): void {
    this.#now = now
    this.#readings = new WeakMap()
    for (const subscription of this.#open) this.#check(subscription, now)
  }

  #check(subscription: OpenSubscription, now: ServedSchema): void {
    const { document, served } = subscription
    let problem = lostKind(subscription, now)
    if (served.schema !== now.schema) {
      // The first difference in a document's reads, computed once per document and schema.
      const ofDocument = getOrInsert(this.#readings, document, () => new Map())
      if (!ofDocument.has(served.schema)) {
        ofDocument.set(served.schema, difference(document, served.schema, now.schema))
      }
      const message = ofDocument.get(served.schema)
      if (message !== undefined) problem ??= { message }
    }
    problem ??= furtherSupport(subscription, now)
    for (const named of this.#unserved.get(subscription)?.values() ?? []) {
      problem ??= nowServed(named, now)
    }
    if (problem === undefined) subscription.fleetChanged(now)
    else this.#end(subscription, problem)
  }

  #end(subscription: OpenSubscription, problem: Problem): void {
    this.remove(subscription)
    const hint = 'read the schema again, then subscribe again'
    const message = `the schema has changed: ${problem.message}`
    subscription.failed(new ClientError('SCHEMA_CHANGED', message, { ...problem, hint }))
  }
}

interface NamedKind {
  readonly group: string
  readonly kind: string
}

/** The number of unserved kinds to record per subscription. Later changes of further kinds do not end it. */
const maxUnserved = 1_000

function nowServed({ group, kind }: NamedKind, now: ServedSchema): Problem | undefined {
  const found = now.kindOf(group, kind)
  if (found === undefined) return undefined
  return { message: `objects lead to ${found.typeName}, which is served now`, type: found.typeName }
}

interface Problem {
  readonly message: string
  readonly cluster?: string
  readonly type?: string
}

function lostKind({ kinds }: OpenSubscription, now: ServedSchema): Problem | undefined {
  for (const { cluster, kind, isOptional = false } of kinds) {
    const cache = now.clusters.get(cluster)
    if (cache === undefined && !isOptional)
      return { message: `cluster ${cluster} is no longer served`, cluster }
    const place = { cluster, type: kind.typeName }
    const next = now.kinds.get(kind.typeName)
    const { group, resource } = kind.resource
    const isSame = next?.resource.group === group && next.resource.resource === resource
    if (next === undefined || !isSame)
      return { message: `${kind.typeName} is no longer served`, ...place }
    if (next.resource.version !== kind.resource.version)
      return { message: `${kind.typeName} is ${apiVersionOf(next.resource)} now`, ...place }
    const isConnected = cache?.connection.state === 'connected'
    if (isConnected && !isOptional && !cache.serves(kind.resource))
      return { message: `cluster ${cluster} no longer serves ${kind.typeName}`, ...place }
    const texts = new Map(next.indexes.map((index) => [index.name, JSON.stringify(index)]))
    const index = kind.indexes.find((one) => {
      const text = texts.get(one.name)
      return text !== undefined && text !== JSON.stringify(one)
    })?.name
    if (index !== undefined)
      return { message: `index ${index} of ${kind.typeName} has changed`, ...place }
  }
  return undefined
}

/**
 * A kind that the new schema adds to `usedBy` or `owned` of the subscription's kinds. The old plan does not read it, so
 * these fields, and filters by them, would be incomplete.
 */
function furtherSupport(
  { kinds, served, supporting }: OpenSubscription,
  now: ServedSchema,
): Problem | undefined {
  if (served === now) return undefined
  const isFurther = kinds.some(({ kind }) => {
    const next = now.kinds.get(kind.typeName)
    const before = new Set(ledTo(kind, served))
    return next !== undefined && ledTo(next, now).some((typeName) => !before.has(typeName))
  })
  if (!isFurther) return undefined
  const known = new Set(kinds.map(({ kind }) => kind.typeName))
  for (const { cluster, kind } of supporting(now)) {
    if (known.has(kind.typeName)) continue
    const { typeName } = kind
    return { message: `the subscription also depends on ${typeName}`, cluster, type: typeName }
  }
  return undefined
}

/** The kinds that may use an object of a kind, or be owned by it. */
function ledTo(kind: Kind, { relations }: ServedSchema): readonly string[] {
  const users = relations.usesOf(kind).map(({ user }) => user)
  return [...users, ...relations.ownedKinds(kind)].map(({ typeName }) => typeName)
}

/** The first difference of the latest schema in a document's reads, by document and its schema. */
type Readings = WeakMap<DocumentNode, Map<GraphQLSchema, string | undefined>>

function difference(
  document: DocumentNode,
  before: GraphQLSchema,
  now: GraphQLSchema,
): string | undefined {
  const [error] = validate(now, document, undefined, { maxErrors: 1 })
  if (error !== undefined) return error.message
  const [old, next] = [new TypeInfo(before), new TypeInfo(now)]
  let found: string | undefined
  const compare = {
    Field: () => {
      const [was, is] = [String(old.getType()), String(next.getType())]
      if (was === is) return
      const coordinate = `${String(old.getParentType())}.${old.getFieldDef()?.name ?? ''}`
      found ??= `${coordinate} is of type ${is}, and was of ${was}`
    },
  }
  visit(document, visitWithTypeInfo(old, visitWithTypeInfo(next, compare)))
  return found
}
