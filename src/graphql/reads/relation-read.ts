/*
 * Where one object leads to. `RelationRead` reads a relation of the schema, by one or two indexes. Most rows name one object,
 * whose key an index of the referring kind holds. Otherwise the relation gives a condition: keys to look up, or the condition
 * of a list. All rows of a run share the parts on the way and that index.
 *
 * Below it: the references that objects make by name. These are their owners, the chain of owners, and references such as
 * `Event.involved`. A run reads the values at these paths once for each version of an object, from the held row, without
 * decoding the rest (`valueReader`). `namedReader` follows names for viewers who may get an object but not list its kind.
 */

import type { IndexView, ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitObjectKey, objectKey, type OwnerReference } from '../../kubernetes/object.ts'
import { type Condition, namespacesOf, nothing } from '../../query/condition/condition.ts'
import { VisiblePart, objectByKey } from '../../query/page/list-part.ts'
import type { Kind, RelationField, ObjectRefField } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { ClusterKind, KindView, FoundObject } from '../prepare/kind-view.ts'
import { type ListRequest, readList, type ReadPage } from './list-read.ts'
import type { SchemaRelation } from '../served/schema-relations.ts'
import {
  foundByKey,
  originOf,
  refusalOf,
  type Refused,
  tellIfRefused,
  foundByUid,
  kindOfIdentity,
  referenced,
} from './object-read.ts'
import type { ReadRun } from './read-run.ts'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import { writeJson } from '../../informer/codec/projection.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { parseExact } from '../../lib/json.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import type { RelationDefinition } from '../../query/relation/relations.ts'
import {
  objectRefOfKind,
  objectRefsOf,
  type ReferenceOrigin,
  topmostBuiltIn,
  type ObjectRef,
} from '../schema/object-ref.ts'

/** References whose keys an index of the referring kind holds. */
interface DirectReferences {
  readonly view: StoreView
  readonly keys: IndexView
  readonly part: KindView
}

export class RelationRead {
  readonly #relation: SchemaRelation
  /**
   * Whether the run keeps the result for relations that go through this one. Not for Events: they are followed in two
   * ways.
   */
  readonly #isStep: boolean
  readonly #isSaid: boolean
  readonly #named: ReadNamed | undefined
  readonly #targets = new Map<string, ClusterKind>()
  readonly #ways = new WeakMap<ReadRun, Map<string, KindView>>()
  readonly #direct = new WeakMap<ReadRun, DirectReferences | 'none'>()

  constructor({ many, definition }: RelationField, relation: SchemaRelation) {
    this.#relation = relation
    this.#isStep = many && !['through', 'events'].includes(relation.relation.definition.form)
    this.#isSaid = definition.form === 'reference' && !many
    this.#named = many ? undefined : namedReader(definition, relation.reads)
  }

  get to(): Kind {
    return this.#relation.to
  }

  /**
   * The object that a relation to one leads to, at the price of a row; `undefined` if it is absent or hidden. Calls
   * `refused` if the viewer may not get an object of this name. Throws `ClientError`.
   */
  one<R extends ReadRun>(
    run: R,
    part: KindView,
    id: ObjectId,
    refused?: Refused<R>,
  ): FoundObject | undefined {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      return origin && this.one(run, origin.part, origin.id, refused)
    }
    const direct = this.#directReferences(run, part)
    const keys = direct?.keys.valuesOf(id)
    // Most rows name one object at most and need no condition.
    if (direct !== undefined && keys !== undefined && keys.length <= 1) {
      const [key] = keys
      if (key === undefined) return undefined
      run.budget.spend('examined', 1)
      return paidObject(run, direct.part, direct.part.view.idOf(key))
    }
    try {
      return this.#oneFollowed(run, part, id, refused)
    } catch (error) {
      const isForbidden = error instanceof ClientError && error.code === 'FORBIDDEN'
      if (this.#named === undefined || !isForbidden) throw error
      return this.#named(run, part, id, refused)
    }
  }

  #oneFollowed<R extends ReadRun>(
    run: R,
    part: KindView,
    id: ObjectId,
    refused: Refused<R> | undefined,
  ): FoundObject | undefined {
    const condition = this.#follow(run, part, id, false)
    if (condition.form === 'nothing') return undefined
    const at = this.#target(part.cluster)
    if (this.#relation.to.uncached) {
      const [key] = condition.form === 'keys' ? condition.keys : []
      if (key === undefined) throw notFoundByCondition(at)
      const one = foundByKey(run, at, key)
      if (one === undefined && refused !== undefined) tellIfRefused(run, at, key, refused)
      return one
    }
    if (condition.form !== 'keys') {
      const target = run.parts.part(at, {
        within: () => this.#namespaces(condition, part.view, id),
      })
      const [first] = new VisiblePart({ ...target, condition }, run.budget).first(undefined, 1)
      return paidObject(run, target, first)
    }
    const target = run.parts.forLookup(at, condition.keys)
    if (target === undefined) {
      refused?.(run, refusalOf(run, at))
      return undefined
    }
    const options = { ...target, budget: run.budget }
    for (const key of condition.keys.length === 1 ? condition.keys : condition.keys.toSorted()) {
      const targetId = objectByKey(options, key)
      if (targetId !== undefined) return paidObject(run, target, targetId)
    }
    return undefined
  }

  /**
   * The page of the list that a relation to many leads to. The argument `related` adds the Events of the objects below
   * it. Throws as `listPage` does, and `ClientError`.
   */
  many(run: ReadRun, part: KindView, id: ObjectId, request: ListRequest): ReadPage {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      if (origin !== undefined) return this.many(run, origin.part, origin.id, request)
      // The object is gone: the page is empty.
      const { name, to } = this.#relation
      const target = run.parts.part(this.#target(part.cluster))
      return readList(run, to, request, { list: name, part: target, condition: nothing, reads: [] })
    }
    const { cluster, view } = part
    const withRelated = request.args.related === true
    const condition = this.#follow(run, part, id, withRelated)
    const within = (): readonly string[] | undefined => this.#namespaces(condition, view, id)
    const origin = view.uidOf(id) || view.keyOf(id)
    const list = `${this.#relation.name}${withRelated ? '+related' : ''}/${origin}`
    const target = run.parts.part(this.#target(cluster), { within })
    const { reads, to } = this.#relation
    return readList(run, to, request, { list, part: target, condition, reads, within })
  }

  /** All objects that the viewer may see, in the order of their keys. Throws as {@link many} does. */
  all(run: ReadRun, part: KindView, id: ObjectId): readonly FoundObject[] {
    if (part.isDirect) {
      const origin = originOf(run, { part, id })
      return origin === undefined ? [] : this.all(run, origin.part, origin.id)
    }
    const condition = this.#follow(run, part, id, false)
    const target = run.parts.part(this.#target(part.cluster), {
      within: () => this.#namespaces(condition, part.view, id),
    })
    const found = new VisiblePart({ ...target, condition }, run.budget).first(undefined, Infinity)
    run.budget.spend('rows', found.length)
    return found.map((one) => ({ part: target, id: one }))
  }

  #follow(
    run: ReadRun,
    { cluster, view }: KindView,
    id: ObjectId,
    withRelated: boolean,
  ): Condition {
    const { relation, reads } = this.#relation
    const part = (type: string): KindView => {
      if (!run.parts.isOpen) return this.#partOnTheWay(run, cluster, type, namespaceOf(view, id))
      // All rows share the parts if the viewer may see everything.
      let ways = this.#ways.get(run)
      if (ways === undefined) this.#ways.set(run, (ways = new Map()))
      let way = ways.get(type)
      if (way?.cluster !== cluster) {
        ways.set(type, (way = this.#partOnTheWay(run, cluster, type, '')))
      }
      return way
    }
    const origin = { view, id, withRelated, part, budget: run.budget, steps: run.steps }
    const condition = this.#isStep
      ? run.steps.take(relation, origin).condition
      : relation.follow(origin)
    run.followed?.({ reads, condition, isSaid: this.#isSaid })
    return condition
  }

  /** The kind that the relation leads to, with the indexes that it reads there. */
  #target(cluster: string): ClusterKind {
    let target = this.#targets.get(cluster)
    if (target === undefined) {
      const { needs, to } = this.#relation
      target = { cluster, kind: to, ...needs.get(to.typeName) }
      this.#targets.set(cluster, target)
    }
    return target
  }

  /** A kind on the way that the viewer may not list reveals nothing, not even the objects beyond it. */
  #partOnTheWay(run: ReadRun, cluster: string, type: string, namespace: string): KindView {
    const { needs, relation, to } = this.#relation
    const need = needs.get(type)
    if (to.uncached && need?.kind === to) throw notFoundByCondition({ cluster, kind: to })
    const isWithin = relation.isLocal && need?.kind.resource.namespaced === true && namespace !== ''
    return partOnTheWay(this.#relation, type, run, cluster, isWithin ? [namespace] : undefined)
  }

  /** The namespaces of all objects that the relation leads to; `undefined` if they are unknown. */
  #namespaces(condition: Condition, view: StoreView, id: ObjectId): readonly string[] | undefined {
    const namespace = namespaceOf(view, id)
    return this.#relation.relation.isLocal && namespace !== ''
      ? [namespace]
      : namespacesOf(condition)
  }

  /**
   * The index in which the rows of a store name their objects. `undefined` if the relation must be followed: the run is
   * traced, the index is missing, or the viewer may see only some objects.
   */
  #directReferences(run: ReadRun, { cluster, view }: KindView): DirectReferences | undefined {
    const { keysIndex } = this.#relation.relation
    if (keysIndex === undefined) return undefined
    let direct = this.#direct.get(run)
    if (direct === undefined || (direct !== 'none' && direct.view !== view)) {
      const isDirect = !run.isTraced && view.hasIndex(keysIndex) && !this.#relation.to.uncached
      const part = isDirect ? run.openPart(this.#target(cluster)) : undefined
      direct = part === undefined ? 'none' : { view, keys: view.index(keysIndex), part }
      this.#direct.set(run, direct)
    }
    return direct === 'none' ? undefined : direct
  }
}

/** A part that a relation reads, with the indexes that it needs there. Throws `ClientError`. */
export function partOnTheWay(
  { needs, name }: SchemaRelation,
  type: string,
  { parts }: ReadRun,
  cluster: string,
  namespaces?: readonly string[],
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need }, { within: () => namespaces })
}

/** Kinds without a cache are found by name only. */
function notFoundByCondition({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live, so the server finds its objects by name only`
  return new ClientError('UNSUPPORTED', message, {
    cluster,
    type: typeName,
    hint: 'declare the relation with @reference or @named, to one object',
  })
}

function paidObject(
  run: ReadRun,
  part: KindView,
  id: ObjectId | undefined,
): FoundObject | undefined {
  if (id === undefined) return undefined
  run.budget.spend('rows', 1)
  return { part, id }
}

function namespaceOf(view: StoreView, id: ObjectId): string {
  return splitObjectKey(view.keyOf(id)).namespace
}

export function ownersOf<R extends ReadRun>(
  run: R,
  part: KindView,
  id: ObjectId,
  refused: Refused<R>,
): readonly FoundObject[] {
  const { cluster, namespace = '' } = referenceOrigin(part, id)
  return ownerReferencesOf(run, part, id).flatMap(({ apiVersion, kind: kindName, name, uid }) => {
    const { group } = splitApiVersion(apiVersion)
    const at = kindOfIdentity(run.served, { cluster, group, kind: kindName })
    if (at === undefined) return []
    const key = objectKey(at.kind.resource.namespaced ? { namespace, name } : { name })
    const found = foundByUid(run, at, uid, key)
    if (found === undefined) tellIfRefused(run, at, key, refused)
    return found ?? []
  })
}

const maxChain = 16

/**
 * The chain of owners of an object, the nearest first: at each step the controller, or the first owner if none controls.
 * Ends if the next owner does not exist, is not served or is refused, and after 16 steps.
 */
export function ownerChainOf<R extends ReadRun>(
  run: R,
  part: KindView,
  id: ObjectId,
  refused: Refused<R>,
): readonly ObjectRef[] {
  const chain: ObjectRef[] = []
  let from: FoundObject | undefined = { part, id }
  while (from !== undefined && chain.length < maxChain) {
    const owners = ownerReferencesOf(run, from.part, from.id)
    const origin = referenceOrigin(from.part, from.id)
    const nearest = owners.find(({ controller }) => controller) ?? owners[0]
    const [owner] = objectRefsOf([nearest], origin, run.served.kindOf)
    if (owner === undefined || chain.some(({ uid }) => uid === owner.uid)) break
    chain.push(owner)
    from = referenced(run, owner, refused)
  }
  return chain
}

interface NamedReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
  readonly uid: string
}

/** Finds an object by the names that stand beside UIDs, like `RelationRead.one`. */
type ReadNamed = <R extends ReadRun>(
  run: R,
  part: KindView,
  id: ObjectId,
  refused: Refused<R> | undefined,
) => FoundObject | undefined

/**
 * Reads the target of a relation by UID by the names that stand beside the UIDs, for viewers who may get the object but
 * not list its kind. Returns `undefined` if the relation has no names. `kinds`: the kinds on the way, in their order.
 * Several targets give the first one by key. Without a target, calls `refused` for the targets that the viewer may not
 * get.
 */
function namedReader(
  definition: RelationDefinition,
  kinds: readonly Kind[],
): ReadNamed | undefined {
  let steps = kinds.map((kind) => ({ kind, read: readOwners }))
  if (definition.form !== 'owner') {
    const [path = ''] = definition.form === 'uid' ? definition.paths : []
    const [kind] = kinds
    if (!path.endsWith(uidMember) || kind === undefined) return undefined
    steps = [{ kind, read: valueReader(path.slice(0, -uidMember.length)) }]
  }
  return (run, part, id, refused) => {
    const refusals = new Set<ClientError>()
    let found: readonly FoundObject[] = [{ part, id }]
    for (const { kind, read } of steps) {
      found = found.flatMap((from) => {
        const origin = referenceOrigin(from.part, from.id)
        const references = read(run, from.part, from.id) as readonly NamedReference[]
        return references.flatMap((reference) => {
          const { kind: of = kind.resource.kind, apiVersion } = reference
          if (of !== kind.resource.kind) return []
          const group = apiVersion === undefined ? undefined : splitApiVersion(apiVersion).group
          if (group !== undefined && group !== kind.resource.group) return []
          const at = { cluster: origin.cluster, kind }
          const { name, namespace = origin.namespace ?? '' } = reference
          const key = objectKey(kind.resource.namespaced ? { namespace, name } : { name })
          const one = foundByUid(run, at, reference.uid, key)
          if (one === undefined) tellIfRefused(run, at, key, (_run, error) => refusals.add(error))
          return one ?? []
        })
      })
    }
    const [first] = found.toSorted((a, b) =>
      a.part.view.keyOf(a.id) < b.part.view.keyOf(b.id) ? -1 : 1,
    )
    if (first === undefined) for (const error of refusals) refused?.(run, error)
    return first
  }
}

const uidMember = '.uid'

export class ObjectRefRead {
  readonly #readers: readonly ValueReader[]
  readonly #isTopmost: boolean
  readonly #kind: { readonly relation: RelationRead; readonly read: ValueReader } | undefined

  /** `relation`: leads to the object that names the kind, if the field has `kindAt`. */
  constructor({ paths, isTopmost, kindAt }: ObjectRefField, relation: RelationRead | undefined) {
    this.#readers = paths.map(valueReader)
    this.#isTopmost = isTopmost === true
    this.#kind = kindAt && relation && { relation, read: valueReader(kindAt.path) }
  }

  refs<R extends ReadRun>(
    run: R,
    part: KindView,
    id: ObjectId,
    refused: Refused<R>,
  ): readonly ObjectRef[] {
    if (this.#isTopmost) return listed(topmostBuiltIn(ownerChainOf(run, part, id, refused)))
    const other = this.#kind?.relation.one(run, part, id, refused)
    const values = this.#readers.flatMap((read) => read(run, part, id))
    const origin = referenceOrigin(part, id)
    if (this.#kind === undefined) return objectRefsOf(values, origin, run.served.kindOf)
    const [kind] = other === undefined ? [] : this.#kind.read(run, other.part, other.id)
    return listed(objectRefOfKind(values, kind, origin, run.served.kindOf))
  }
}

function listed(ref: ObjectRef | null): readonly ObjectRef[] {
  return ref === null ? [] : [ref]
}

function referenceOrigin({ cluster, view }: KindView, id: ObjectId): ReferenceOrigin {
  const { namespace } = splitObjectKey(view.keyOf(id))
  return { cluster, namespace: namespace === '' ? undefined : namespace }
}

/** Reads the values at a path of an object, once a run, without parsing the rest of the object. */
type ValueReader = (run: ReadRun, part: KindView, id: ObjectId) => readonly unknown[]

const readOwners = valueReader('metadata.ownerReferences[*]')

/** The `metadata` of an object: one value. */
export const readMetadata: ValueReader = valueReader('metadata')

/** The owners that an object names. Reads them once a run, without parsing the rest of the object. */
export function ownerReferencesOf(
  run: ReadRun,
  part: KindView,
  id: ObjectId,
): readonly OwnerReference[] {
  return readOwners(run, part, id) as readonly OwnerReference[]
}

/** Compiles a {@link ValueReader}. Throws `PathError`. */
function valueReader(path: string): ValueReader {
  const whole = parsePath(path)
  const { steps } = whole
  const parsed = steps.findIndex(({ form }) => form !== 'field')
  const own = parsed < 0 ? steps : steps.slice(0, parsed)
  const names = own.flatMap((step) => (step.form === 'field' ? [step.name] : []))
  const rest = { text: path, steps: steps.slice(own.length), many: true }
  const value = { form: 'leaf', write: writeJson } as const
  const selection = { fields: [{ key: 'v', path: names, value }] }
  const found = new WeakMap<ReadRun, Map<HeldObject, readonly unknown[]>>()
  const projections = new WeakMap<StoreView, (held: HeldObject) => string | undefined>()
  const readHeld = (view: StoreView, held: HeldObject, id: ObjectId): readonly unknown[] => {
    let project = projections.get(view)
    if (project === undefined) projections.set(view, (project = view.projection(selection)))
    const text = project(held)
    if (text === undefined) return valuesAt(whole, view.object(id))
    const { v } = parseExact(text) as { readonly v: unknown }
    if (v === null) return noValues
    return rest.steps.length === 0 ? [v] : valuesAt(rest, v)
  }
  return (run, { view }, id) => {
    let known = found.get(run)
    if (known === undefined) found.set(run, (known = new Map()))
    const held = view.held(id)
    let values = known.get(held)
    run.budget.spend('fields', values === undefined ? fieldsPerReading : 1)
    if (values === undefined) known.set(held, (values = readHeld(view, held, id)))
    return values
  }
}

/** The price of finding and parsing the values, in written fields. */
const fieldsPerReading = 20

const noValues: readonly unknown[] = []
