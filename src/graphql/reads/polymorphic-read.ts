import { splitObjectKey } from '../../kubernetes/object.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasLabel,
  hasValue,
  nothing,
} from '../../query/condition/condition.ts'
import type { Kind, PolymorphicRelationField } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { CachedParts, KindView, FoundObject } from '../prepare/kind-view.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import type { OwnedArguments } from '../schema/read-arguments.ts'
import { choosingNeeds, choosingPart, chosenPart } from './chosen-objects.ts'
import { kindsServedBy, knownKinds, namedKinds } from '../served/named-kinds.ts'
import { originOf } from './object-read.ts'
import { type PolymorphicPage, polymorphicPage } from './polymorphic-page.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'
import type { RelatedNeed, SchemaRelation } from '../served/schema-relations.ts'

/** The object that a relation starts from, in one run. */
interface Origin {
  readonly run: ReadRun
  readonly cluster: string
  readonly object: FoundObject
  /** The kinds that the request names. */
  readonly named: readonly Kind[]
}

/**
 * A relation from the objects of a kind to objects of several kinds: those in memory, those that the request names, and
 * the one that the object itself refers to.
 */
export class PolymorphicRead {
  readonly #served: ServedSchema
  readonly #from: Kind
  readonly #field: PolymorphicRelationField
  readonly #named = new OncePerRun<readonly Kind[]>()

  constructor(served: ServedSchema, from: Kind, field: PolymorphicRelationField) {
    this.#served = served
    this.#from = from
    this.#field = field
  }

  /** The kinds that it loads, with their indexes. Ignores unknown names. */
  needs({ kinds }: { readonly kinds?: unknown }): readonly RelatedNeed[] {
    const { sameLabel, relations } = this.#field
    const { byField } = this.#served.relations
    const named = knownKinds(this.#served, kinds)
    const needs =
      sameLabel === undefined
        ? relations
            .filter(({ definition }) => named.some(({ typeName }) => typeName === definition.to))
            .flatMap((one) => [...(byField.get(one)?.needs.values() ?? [])])
        : named.map((kind): RelatedNeed => ({ kind, indexes: {} }))
    const choosing = choosingNeeds(this.#field, this.#served.relations)
    return [...needs, ...choosing].filter(({ kind }) => !kind.uncached)
  }

  /**
   * A page of the related objects; empty where the object is gone. Throws as `listUnionPage` does, and `ClientError`.
   */
  page(
    run: ReadRun,
    object: FoundObject | { readonly gone: string; readonly cluster: string },
    args: OwnedArguments,
  ): PolymorphicPage {
    const named = this.#named.of(run, args.kinds?.join() ?? '', () =>
      namedKinds(this.#served, args.kinds),
    )
    const found = 'gone' in object ? undefined : originOf(run, object)
    const cluster = 'gone' in object ? object.cluster : object.part.cluster
    const places =
      found === undefined ? nowhere : this.#places({ run, cluster, object: found, named })
    run.followed?.({ reads: places.reads, condition: everything, isSaid: false })
    const name = 'gone' in object ? object.gone : nameOf(object)
    const list = `${cluster}/${this.#from.typeName}.${this.#field.name}/${name}`
    return polymorphicPage(run, { ...places, cluster, list }, args)
  }

  #places(origin: Origin): PolymorphicParts {
    const field = this.#field
    if (field.sameLabel !== undefined) return labelledParts(field.sameLabel, origin)
    if (field.chosen !== undefined || field.chosenBy !== undefined)
      return choiceParts(field, origin)
    return relatedParts(field, origin)
  }
}

const nowhere: PolymorphicParts = { parts: [], failures: [], reads: [], notLookedAt: () => [] }

function nameOf({ part: { view }, id }: FoundObject): string {
  return view.uidOf(id) || view.keyOf(id)
}

/** The places that may hold the related objects. */
interface PolymorphicParts {
  readonly parts: readonly (KindView & { readonly condition: Condition })[]
  /** The errors of kinds that could not be read. */
  readonly failures: readonly ClientError[]
  /** The type names of kinds that may hold more but were not read: not loaded, or not allowed. Sorted. */
  readonly notLookedAt: () => readonly string[]
  /** All kinds read, including those on the way. */
  readonly reads: readonly Kind[]
}

/**
 * Reads the cached kinds, the named kinds, and the kind that a relation itself refers to, each with the condition of
 * the related objects.
 */
function relatedParts(
  field: PolymorphicRelationField,
  { run, cluster, object, named }: Origin,
): PolymorphicParts {
  const { parts, budget } = run
  const { view } = object.part
  const origin = { view, id: object.id, budget }
  const found = new Map<Kind, KindView & { readonly condition: Condition }>()
  const failures: ClientError[] = []
  const reads = new Set<Kind>()
  const passedOver = new Set<Kind>()
  const key = view.keyOf(object.id)
  for (const one of field.relations) {
    const known = run.served.relations.byField.get(one)
    if (known === undefined) throw new TypeError(`${one.definition.name} is not resolved`)
    const { to, relation } = known
    const isMeant = relation.only === undefined ? named.includes(to) : relation.only === key
    const isCached = relation.only === undefined && parts.cachedPart({ cluster, kind: to })
    if (to.uncached || (!isMeant && !isCached)) {
      if (relation.only === undefined) passedOver.add(to)
      continue
    }
    for (const read of known.reads) reads.add(read)
    try {
      const part = (type: string): KindView => partOf(known, type, parts, cluster)
      const condition = relation.follow({ ...origin, part })
      const before = found.get(to)?.condition ?? nothing
      found.set(to, { ...part(to.typeName), condition: anyOf([before, condition]) })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const parted = { parts: [...found.values()], failures, reads: [...reads] }
  return { ...parted, notLookedAt: () => namesOf(passedOver) }
}

function namesOf(kinds: Iterable<Kind>): readonly string[] {
  return Array.from(kinds, ({ typeName }) => typeName).toSorted()
}

/** The objects that this one chooses, all of one kind, or the objects of every kind that may choose it. */
function choiceParts(
  field: PolymorphicRelationField,
  { run, cluster, object }: Origin,
): PolymorphicParts {
  const { chosen, chosenBy = [] } = field
  const { relations, kindOf } = run.served
  const origin = { view: object.part.view, id: object.id }
  const choosing = { relations, kindOf, parts: run.parts, cluster, budget: run.budget }
  const parts: (KindView & { readonly condition: Condition })[] = []
  const failures: ClientError[] = []
  const reading = [
    ...(chosen === undefined ? [] : [() => chosenPart(chosen, choosing, origin)]),
    ...chosenBy.map((one) => () => choosingPart(one, choosing, origin)),
  ]
  for (const read of reading) {
    try {
      const part = read()
      if (part !== undefined) parts.push(part)
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const onTheWay = choosingNeeds(field, relations)
  const reads = [...onTheWay, ...parts].map(({ kind }) => kind)
  return { parts, failures, reads, notLookedAt: () => [] }
}

/** Objects that share a label value, in the same namespace or where either is cluster-scoped. */
function labelledParts(
  label: string,
  { run: { served, parts }, cluster, object, named }: Origin,
): PolymorphicParts {
  const { id } = object
  const { view } = object.part
  const values = view.label(label)?.valuesOf(id) ?? []
  if (values.length === 0) return nowhere
  const { namespace } = splitObjectKey(view.keyOf(id))
  const found: (KindView & { readonly condition: Condition })[] = []
  const failures: ClientError[] = []
  const passedOver: Kind[] = []
  for (const kind of kindsServedBy(served, cluster)) {
    const isBound = namespace !== '' && kind.resource.namespaced
    const reading = isBound ? { within: () => [namespace] } : {}
    const at = { cluster, kind }
    try {
      const part = named.includes(kind) ? parts.part(at, reading) : parts.cachedPart(at, reading)
      if (kind.uncached || part === undefined) {
        passedOver.push(kind)
        continue
      }
      const place = isBound ? hasValue('namespace', [namespace]) : everything
      found.push({ ...part, condition: allOf([hasLabel(label, values), place]) })
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures.push(error)
    }
  }
  const reads = found.map(({ kind }) => kind)
  return { parts: found, failures, reads, notLookedAt: () => namesOf(passedOver) }
}

function partOf(
  { needs, name }: SchemaRelation,
  type: string,
  parts: CachedParts,
  cluster: string,
): KindView {
  const need = needs.get(type)
  if (need === undefined) throw new TypeError(`${name} does not read ${type}`)
  return parts.part({ cluster, ...need })
}
