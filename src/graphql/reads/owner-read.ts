/*
 * The references that objects make by name: their owners, the chain of owners, and references such as `Event.involved`. A
 * run reads the values at these paths once for each version of an object, from the held row, without decoding the rest
 * (`valueReader`). `namedReader` follows names for viewers who may get an object but not list its kind.
 */

import type { HeldObject } from '../../informer/codec/object-codec.ts'
import { writeJson } from '../../informer/codec/projection.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey, type OwnerReference, splitObjectKey } from '../../kubernetes/object.ts'
import { parseExact } from '../../lib/json.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import type { RelationDefinition } from '../../query/relation/relations.ts'
import type { Kind, ObjectRefField } from '../model/kind.ts'
import type { ClientError } from '../errors/client-error.ts'
import type { FoundObject, KindView } from '../prepare/kind-view.ts'
import {
  objectRefOfKind,
  objectRefsOf,
  type ReferenceOrigin,
  topmostBuiltIn,
  type ObjectRef,
} from '../schema/object-ref.ts'
import {
  foundByUid,
  kindOfIdentity,
  referenced,
  type Refused,
  tellIfRefused,
} from './object-read.ts'
import type { ReadRun } from './read-run.ts'

export function ownersOf<R extends ReadRun>(
  run: R,
  part: KindView,
  id: ObjectId,
  refused: Refused<R>,
): readonly FoundObject[] {
  const { cluster, namespace = '' } = originOf(part, id)
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
    const origin = originOf(from.part, from.id)
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
export type ReadNamed = <R extends ReadRun>(
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
export function namedReader(
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
        const origin = originOf(from.part, from.id)
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

/** The relation to the object that names the kind of a reference: a `RelationRead`, which can also read by names. */
interface KindRelation {
  readonly one: ReadNamed
}

export class ObjectRefRead {
  readonly #readers: readonly ValueReader[]
  readonly #isTopmost: boolean
  readonly #kind: { readonly relation: KindRelation; readonly read: ValueReader } | undefined

  /** `relation`: leads to the object that names the kind, if the field has `kindAt`. */
  constructor({ paths, isTopmost, kindAt }: ObjectRefField, relation: KindRelation | undefined) {
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
    const origin = originOf(part, id)
    if (this.#kind === undefined) return objectRefsOf(values, origin, run.served.kindOf)
    const [kind] = other === undefined ? [] : this.#kind.read(run, other.part, other.id)
    return listed(objectRefOfKind(values, kind, origin, run.served.kindOf))
  }
}

function listed(ref: ObjectRef | null): readonly ObjectRef[] {
  return ref === null ? [] : [ref]
}

function originOf({ cluster, view }: KindView, id: ObjectId): ReferenceOrigin {
  const { namespace } = splitObjectKey(view.keyOf(id))
  return { cluster, namespace: namespace === '' ? undefined : namespace }
}

/** Reads the values at a path of an object, once a run, without parsing the rest of the object. */
type ValueReader = (run: ReadRun, part: KindView, id: ObjectId) => readonly unknown[]

const readOwners = valueReader('metadata.ownerReferences[*]')

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
    if (v === null) return nothing
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

const nothing: readonly unknown[] = []
