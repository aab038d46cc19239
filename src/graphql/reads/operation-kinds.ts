import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  type GraphQLField,
  isInterfaceType,
  isObjectType,
  Kind as NodeKind,
  type SelectionNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  type VariableValues,
} from 'graphql'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import type { WantedIndexes } from '../../cache/cached-resource.ts'
import type { Kind } from '../model/kind.ts'
import { type ObjectIdentity, readObjectId } from '../model/object-id.ts'
import { fieldSourceOf } from '../schema/field-source.ts'
import type { GraphArguments } from '../schema/read-arguments.ts'
import {
  type FieldsType,
  fragmentsOf,
  isIncluded,
  narrowedType,
} from '../documents/document-fragments.ts'
import { graphKinds } from './graph/graph-request.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { knownKinds } from '../served/named-kinds.ts'
import { OwnedRead } from './owned-read.ts'
import { PolymorphicRead } from './polymorphic-read.ts'
import { UsedByRead } from './used-by-read.ts'
import { searchNeeds } from './search-read.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { type RelatedNeed, relationNeeds } from '../served/schema-relations.ts'
import { filterNeeds } from './list-read.ts'

/** An executable operation with coerced variables. */
export type OperationToRead = Pick<
  ValidatedExecutionArgs,
  'document' | 'operation' | 'variableValues'
>

type AnyField = GraphQLField<unknown, unknown>

/**
 * The kinds that an operation reads, as far as its text and variables show: those of each root field, in the cluster of
 * that field, and those of its relations. Skips selections that `@skip` and `@include` leave out. Execution finds the
 * kinds that depend on data (`owners`).
 */
export function operationKinds(
  served: ServedSchema,
  { document, operation, variableValues }: OperationToRead,
): readonly ClusterKind[] {
  const root = served.schema.getRootType(operation.operation)
  if (root === null || root === undefined) return []
  const search = new KindSearch(served, document, variableValues)
  search.enter(operation.selectionSet, root, '')
  return search.found()
}

/**
 * The kinds that the meaning of an operation depends on, as `cluster type`, each with the part that depends on it: the
 * kinds that filters read, the users that `usedBy` may show, and the kinds related by `owned`. A schema with more such
 * kinds gives the same text another meaning.
 */
export function supportingKinds(
  served: ServedSchema,
  { document, operation, variableValues }: OperationToRead,
): ReadonlyMap<string, string> {
  const root = served.schema.getRootType(operation.operation)
  const search = new KindSearch(served, document, variableValues)
  if (root !== null && root !== undefined) search.enter(operation.selectionSet, root, '')
  return search.supporting
}

class KindSearch {
  /** The part of the operation that depends on a kind, by cluster and type name. */
  readonly supporting = new Map<string, string>()
  readonly #served: ServedSchema
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #variables: VariableValues
  readonly #found = new Map<string, Map<Kind, { needed: Set<string>; useful: Set<string> }>>()
  /** Searches each selection once for a type and a cluster, however many fragments lead to it. */
  readonly #entered = new Map<SelectionSetNode, Set<string>>()

  readonly #flag = (name: string): boolean => this.#variables.coerced[name] === true

  constructor(served: ServedSchema, document: DocumentNode, variables: VariableValues) {
    this.#served = served
    this.#variables = variables
    this.#fragments = fragmentsOf(document)
  }

  found(): readonly ClusterKind[] {
    return [...this.#found].flatMap(([cluster, kinds]) =>
      Array.from(kinds, ([kind, indexes]) => ({ cluster, kind, indexes })),
    )
  }

  /** Searches a selection on a type; `cluster` is that of the root field above. */
  enter(selections: SelectionSetNode, type: FieldsType, cluster: string): void {
    const place = `${type.name}\0${cluster}`
    const entered = this.#entered.get(selections)
    if (entered?.has(place) === true) return
    if (entered === undefined) this.#entered.set(selections, new Set([place]))
    else entered.add(place)
    for (const selection of selections.selections) {
      if (isIncluded(selection, this.#flag)) this.#select(selection, type, cluster)
    }
  }

  #select(selection: SelectionNode, type: FieldsType, cluster: string): void {
    if (selection.kind === NodeKind.FIELD) {
      const field = type.getFields()[selection.name.value]
      if (field !== undefined) this.#field(selection, field, type, cluster)
      return
    }
    const fragment =
      selection.kind === NodeKind.FRAGMENT_SPREAD
        ? this.#fragments.get(selection.name.value)
        : selection
    if (fragment === undefined) return
    const inner = narrowedType(this.#served.schema, type, fragment.typeCondition?.name.value)
    if (inner !== undefined) this.enter(fragment.selectionSet, inner, cluster)
  }

  #field(node: FieldNode, field: AnyField, type: FieldsType, cluster: string): void {
    const source = fieldSourceOf(field)
    if (source.form === 'objectById') {
      this.#objects(node, [this.#arguments(field, node)?.['id']])
    } else if (source.form === 'objectsByIds') {
      const ids = this.#arguments(field, node)?.['ids']
      if (Array.isArray(ids)) this.#objects(node, ids)
    } else if (source.form === 'objectByRef') {
      this.#meant(node, field)
    } else if (source.form === 'aroundObjects') {
      this.#around(node, field)
    } else if (source.form === 'search') {
      this.#searched(node, field)
    } else if (
      source.form === 'list' ||
      source.form === 'lookup' ||
      source.form === 'listFrames' ||
      source.form === 'lookupFrames' ||
      source.form === 'livePages'
    ) {
      const args = this.#arguments(field, node)
      const at = this.#cluster(args?.['cluster'])
      if (at === undefined) return
      const isLive = source.form === 'lookup' && args?.['live'] === true
      const isQuery = source.form === 'list' || source.form === 'lookup'
      // A live read needs no cache. A subscription to an uncached kind needs the entry to report the missing cache.
      if (!isLive && !(isQuery && source.kind.uncached)) this.#add(at, [source.kind])
      const filtered = this.#filtered(source.kind, args?.['where'], at)
      this.#addNeeds(at, isQuery ? filtered : filtered.map(withAllIndexes))
      this.#inner(node, field, at)
    } else {
      const args = this.#arguments(field, node) ?? {}
      if (source.form === 'relation') {
        this.#addNeeds(cluster, relationNeeds(this.#served.relations, source.relation))
        const relation = this.#served.relations.byField.get(source.relation)
        if (relation !== undefined) this.#addFiltered(node, field, relation.to, cluster)
      } else if (source.form === 'polymorphic') {
        const from = this.#served.kinds.get(type.name)
        const read = from && new PolymorphicRead(this.#served, from, source.field)
        this.#addNeeds(cluster, read?.needs(args) ?? [])
      } else if (source.form === 'usedBy') {
        const needs = new UsedByRead(this.#served, source.kind).needs(args, cluster)
        for (const { user } of needs) this.#supports('usedBy', cluster, user)
        this.#addNeeds(cluster, needs)
      } else if (source.form === 'owned') {
        const owner = this.#served.kinds.get(type.name)
        const read = owner && new OwnedRead(this.#served, owner)
        for (const kind of read?.related(cluster) ?? []) this.#supports('owned', cluster, kind)
        const named = knownKinds(this.#served, args['kinds'])
        this.#addNeeds(
          cluster,
          read?.needs(args, cluster) ?? named.map((kind) => ({ kind, indexes: {} })),
        )
      } else if (source.form === 'ofRowType' && field.name === 'events') {
        for (const { events } of this.#served.kinds.values()) {
          if (events === undefined) continue
          // Objects of all kinds read Events by the same index.
          this.#addNeeds(cluster, relationNeeds(this.#served.relations, events))
          break
        }
        const event = this.#served.kinds.get('Event')
        if (event !== undefined) this.#addFiltered(node, field, event, cluster)
      }
      this.#inner(node, field, cluster)
    }
  }

  #inner(node: FieldNode, field: AnyField, cluster: string): void {
    const type = getNamedType(field.type)
    if (node.selectionSet === undefined) return
    if (isObjectType(type) || isInterfaceType(type)) this.enter(node.selectionSet, type, cluster)
  }

  /** Follows `id`s: each names its cluster and kind, so the type of the object is known. */
  #objects(node: FieldNode, ids: readonly unknown[]): void {
    for (const id of ids) {
      const identity = identityOf(id)
      if (identity === undefined || !this.#served.clusters.has(identity.cluster)) continue
      const kind = this.#served.kindOf(identity.group, identity.kind)
      const type = kind === undefined ? undefined : this.#served.schema.getType(kind.typeName)
      if (kind === undefined || !isObjectType(type)) continue
      if (!kind.uncached) this.#add(identity.cluster, [kind])
      if (node.selectionSet !== undefined) this.enter(node.selectionSet, type, identity.cluster)
    }
  }

  /** Follows a reference, which names the cluster and the kind as an id does. */
  #meant(node: FieldNode, field: AnyField): void {
    const args = this.#arguments(field, node)
    const cluster = this.#cluster(args?.['cluster'])
    if (args === undefined || cluster === undefined) return
    const { apiVersion, kind: name } = args
    const kind = this.#served.kindOf(splitApiVersion(String(apiVersion)).group, String(name))
    const type = kind === undefined ? undefined : this.#served.schema.getType(kind.typeName)
    if (kind === undefined || !isObjectType(type)) return
    if (!kind.uncached) this.#add(cluster, [kind])
    if (node.selectionSet !== undefined) this.enter(node.selectionSet, type, cluster)
  }

  #around(node: FieldNode, field: AnyField): void {
    const args = this.#arguments(field, node)
    if (args === undefined) return
    const kinds = graphKinds(this.#served, args as unknown as GraphArguments)
    for (const { cluster, kind, indexes } of kinds) this.#add(cluster, [kind], indexes)
    for (const cluster of new Set(kinds.map((at) => at.cluster))) this.#inner(node, field, cluster)
  }

  #searched(node: FieldNode, field: AnyField): void {
    const args = this.#arguments(field, node)
    const cluster = this.#cluster(args?.['cluster'])
    if (args === undefined || cluster === undefined) return
    this.#addNeeds(cluster, searchNeeds(this.#served, args))
    this.#inner(node, field, cluster)
  }

  /** Adds the kinds that the `where` of a list reads. */
  #addFiltered(node: FieldNode, field: AnyField, kind: Kind, cluster: string): void {
    if (node.arguments?.some(isWhere) !== true) return
    const where = this.#arguments(field, node)?.['where']
    this.#addNeeds(cluster, this.#filtered(kind, where, cluster))
  }

  #filtered(kind: Kind, where: unknown, cluster: string): readonly RelatedNeed[] {
    const needs = filterNeeds(this.#served, kind, where)
    for (const { kind: read } of needs) this.#supports('a filter by usedBy', cluster, read)
    return needs
  }

  #supports(what: string, cluster: string, { typeName }: Kind): void {
    const place = `${cluster} ${typeName}`
    if (!this.supporting.has(place)) this.supporting.set(place, what)
  }

  /** `undefined` for an unknown cluster, which the field itself refuses. */
  #cluster(name: unknown): string | undefined {
    const { clusters } = this.#served
    if (typeof name === 'string') return clusters.has(name) ? name : undefined
    return clusters.keys().next().value
  }

  /** `undefined` where the arguments cannot be coerced. The field itself reports why. */
  #arguments(field: AnyField, node: FieldNode): Readonly<Record<string, unknown>> | undefined {
    try {
      return getArgumentValues(field, node, this.#variables)
    } catch {
      return undefined
    }
  }

  #addNeeds(cluster: string, needs: readonly RelatedNeed[]): void {
    for (const { kind, indexes } of needs) this.#add(cluster, [kind], indexes)
  }

  #add(cluster: string, kinds: readonly Kind[], indexes: WantedIndexes = {}): void {
    if (kinds.length === 0) return
    let found = this.#found.get(cluster)
    if (found === undefined) this.#found.set(cluster, (found = new Map()))
    for (const kind of kinds) {
      let wanted = found.get(kind)
      if (wanted === undefined) found.set(kind, (wanted = { needed: new Set(), useful: new Set() }))
      for (const name of indexes.needed ?? []) wanted.needed.add(name)
      for (const name of indexes.useful ?? []) wanted.useful.add(name)
    }
  }
}

/** Following changes needs the indexes of both directions. */
function withAllIndexes({ kind, indexes: { needed = [], useful = [] } }: RelatedNeed): RelatedNeed {
  return { kind, indexes: { needed: [...needed, ...useful] } }
}

function isWhere({ name }: ArgumentNode): boolean {
  return name.value === 'where'
}

function identityOf(id: unknown): ObjectIdentity | undefined {
  return typeof id === 'string' ? readObjectId(id) : undefined
}
