/*
 * The fields that lead from an object to objects of several kinds: `owned`, `usedBy`, and what SDL declares for several
 * kinds (a relation to each, a common label, a choice). `RelatedObjects` is one such field. Its form (`formOf`) says which
 * kinds the field loads, and finds the parts with the related objects of one object: each kind with a condition. The page
 * over these parts is the connection (`kindsConnection`). Loading every kind would load the whole cluster, so a form loads
 * the named and the common kinds, and reads others only if they are in memory. Only `usedBy` answers with all objects or
 * fails: it reports an unreadable kind, and a kind that the viewer may see only in part.
 */

import { objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { usersLeftOut } from '../../../query/condition/argument-error.ts'
import {
  allOf,
  anyOf,
  type Condition,
  everything,
  hasKey,
  hasLabel,
  hasValue,
  nothing,
} from '../../../query/condition/condition.ts'
import { selectorCondition } from '../../../query/condition/list-condition.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { valueAt } from '../../../query/index/path.ts'
import {
  choiceAt,
  choiceIndex,
  type ChoosingField,
  choosersOf,
  chosenKind,
} from '../../../query/relation/object-choice.ts'
import type { RelationOrigin } from '../../../query/relation/relation.ts'
import { ClientError } from '../../errors/client-error.ts'
import {
  type ChosenObjects,
  type Kind,
  type PolymorphicRelationField,
  type RelationField,
  usedByField,
} from '../../model/kind.ts'
import { notWhole, hiddenUsers } from '../../prepare/read-failures.ts'
import type { FoundObject, KindView } from '../../prepare/kind-view.ts'
import type { ObjectOwnedArguments, UsedBy } from '../../schema/gateway-types.ts'
import { commonKindsOf, knownKinds, namedKinds, unnamedKinds } from '../../served/named-kinds.ts'
import {
  relationNeeds,
  type RelatedNeed,
  type SchemaRelation,
  type UseWay,
} from '../../served/schema-relations.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import { originOf, refOf } from '../object-read.ts'
import { Places, type PlacesRead, typesNotRead, unnamedPart } from '../places.ts'
import { OncePerRun, type ReadRun } from '../read-run.ts'
import { partOnTheWay } from '../relation-read.ts'
import { kindsConnection, type PlacedPart } from './kinds-connection.ts'

/** An object to start from, and the names of the kinds that the arguments give. */
interface Origin extends FoundObject {
  readonly run: ReadRun
  readonly cluster: string
  readonly key: string
  /** The namespace of the object; `''` if it is cluster-scoped. */
  readonly namespace: string
  readonly types: ObjectOwnedArguments['types']
  /** The kinds of these types. Empty for `usedBy`, which knows its users. */
  readonly named: readonly Kind[]
}

/** How a field finds the objects that one object leads to. */
interface RelatedForm {
  /** The kinds that the field loads in a cluster, with the indexes that it reads. Ignores unknown names. */
  needs(types: unknown, cluster: string): readonly RelatedNeed[]
  /** Finds the parts with the related objects, and tells subscriptions what they depend on. */
  parts(origin: Origin): PlacesRead<PlacedPart>
  /** Whether it starts from the UID alone, so that the object need not be in a cache. */
  readonly isByUid?: true
  /**
   * The value of a related object of a part. Default: the object itself. `key`: that of the object to start from.
   * Not named `valueOf`: every object has one.
   */
  toValue?(found: FoundObject, key: string): object
}

/** A field over several kinds, as SDL or the gateway's schema declares it. */
export type RelatedField = 'owned' | 'usedBy' | PolymorphicRelationField

export class RelatedObjects {
  readonly #served: ServedSchema
  readonly #name: string
  readonly #form: RelatedForm
  readonly #named = new OncePerRun<readonly Kind[]>()

  constructor(served: ServedSchema, from: Kind, field: RelatedField) {
    this.#served = served
    this.#name = typeof field === 'string' ? field : `${from.typeName}.${field.name}`
    this.#form = formOf(served, from, field)
  }

  needs({ types }: { readonly types?: unknown }, cluster: string): readonly RelatedNeed[] {
    return this.#form.needs(types, cluster)
  }

  /**
   * A page of the related objects; empty if the object is gone. Throws as `listPage` does, and `ClientError` for an
   * unknown name. `usedBy` also throws the error of the first kind that cannot be read, that is not in the schema, or that
   * the viewer may see only in part.
   */
  page(run: ReadRun, object: FoundObject, { types, ...bounds }: ObjectOwnedArguments): object {
    const form = this.#form
    const { cluster, kind, view } = object.part
    const key = view.keyOf(object.id)
    const { namespace } = splitObjectKey(key)
    const named =
      form.toValue === undefined
        ? this.#named.of(run, types?.join() ?? '', () =>
            namedKinds(this.#served, types, run.limits),
          )
        : []
    const found = form.isByUid === true ? object : originOf(run, object)
    const places =
      found === undefined
        ? new Places<PlacedPart>(run).read()
        : form.parts({ ...found, run, cluster, key, namespace, types, named })
    const list = `${cluster}/${this.#name}/${view.uidOf(object.id) || `${kind.typeName}/${key}`}`
    const toValue = form.toValue && ((one: FoundObject) => form.toValue?.(one, key) ?? one)
    return kindsConnection(run, places, { identity: { list }, bounds, toValue })
  }
}

function formOf(served: ServedSchema, from: Kind, field: RelatedField): RelatedForm {
  if (field === 'owned') return ownedForm(served, from)
  if (field === 'usedBy') return usedByForm(served, from)
  if (field.sameLabel !== undefined) return sameLabelForm(served, field.sameLabel)
  return (field.chosen ?? field.chosenBy) ? choiceForm(served, field) : relationsForm(served, field)
}

/** The objects that an object owns directly, of the kinds that the SDL relates to its kind, and of others as above. */
function ownedForm(served: ServedSchema, owner: Kind): RelatedForm {
  const related = (cluster: string): readonly Kind[] =>
    served.relations
      .ownedKinds(owner)
      .filter(({ resource }) => served.clusters.get(cluster)?.serves(resource) === true)
  const around = kindsAround(served, (at) => related(at.cluster), mayBeOwned)
  return {
    isByUid: true,
    needs(types, cluster) {
      const common = commonKindsOf(served, cluster).filter((kind) =>
        mayBeOwned(kind, owner.resource.namespaced),
      )
      const all = new Set([...related(cluster), ...knownKinds(served, types), ...common])
      return Array.from(all, (kind) => ({ kind, indexes: {} }))
    },
    parts(origin) {
      const uid = origin.part.view.uidOf(origin.id)
      const places = around(origin)
      const condition = hasValue('ownerUid', uid === '' ? [] : [uid])
      const reads = places.parts.map(({ kind }) => kind)
      origin.run.followed?.({ reads, condition, isSaid: false, owner: uid })
      return { ...places, parts: places.parts.map((part) => ({ ...part, condition })) }
    },
  }
}

/** Every kind may have owners, except Events. What an object in a namespace owns is in its namespace. */
function mayBeOwned({ resource }: Kind, isOwnerNamespaced: boolean): boolean {
  return resource.kind !== 'Event' && (resource.namespaced || !isOwnerNamespaced)
}

/** Objects with the same value of a label, in the same namespace or if either is cluster-scoped. */
function sameLabelForm(served: ServedSchema, label: string): RelatedForm {
  const around = kindsAround(
    served,
    () => [],
    () => true,
  )
  return {
    needs: (types, cluster) => namedAndCommon(served, types, cluster),
    parts(origin) {
      const { run, namespace } = origin
      const values = origin.part.view.label(label)?.valuesOf(origin.id) ?? []
      if (values.length === 0) return new Places<PlacedPart>(run).read()
      const places = around(origin)
      const parts = places.parts.map((part): PlacedPart => {
        const isBound = namespace !== '' && part.kind.resource.namespaced
        const place = isBound ? hasValue('namespace', [namespace]) : everything
        return { ...part, condition: allOf([hasLabel(label, values), place]) }
      })
      follow(run, parts)
      return { ...places, parts }
    },
  }
}

/**
 * The kinds around an object: `wanted` and named ones, whose errors stand beside the answer, and of those that `mayBe`
 * the common kinds and kinds in memory. All objects of a namespace share the places in a run.
 */
function kindsAround(
  served: ServedSchema,
  wantedBy: (origin: Origin) => readonly Kind[],
  mayBe: (kind: Kind, isOriginNamespaced: boolean) => boolean,
): (origin: Origin) => PlacesRead<KindView> {
  const shared = new OncePerRun<PlacesRead<KindView>>()
  return (origin) => {
    const { run, cluster, namespace, types } = origin
    return shared.of(run, `${cluster}/${namespace}/${types?.join() ?? ''}`, () => {
      const wanted = new Set([...wantedBy(origin), ...origin.named])
      const reading = { within: () => (namespace === '' ? undefined : [namespace]) }
      const readingOf = ({ resource }: Kind) => (resource.namespaced ? reading : undefined)
      const isFurther = (kind: Kind): boolean => !wanted.has(kind) && mayBe(kind, namespace !== '')
      const places = new Places(run)
      for (const kind of wanted)
        places.find(() => run.parts.part({ cluster, kind }, readingOf(kind)))
      run.parts.looksAround?.()
      for (const kind of unnamedKinds(served, cluster)) {
        const part = isFurther(kind)
          ? unnamedPart(run, { cluster, kind }, readingOf(kind))
          : undefined
        if (part !== undefined) places.parts.push(part)
      }
      let others: readonly string[] | undefined
      return places.read(
        () => (others ??= typesNotRead(served, [cluster], places.parts, isFurther)),
      )
    })
  }
}

function namedAndCommon(
  served: ServedSchema,
  types: unknown,
  cluster: string,
): readonly RelatedNeed[] {
  const kinds = new Set([...knownKinds(served, types), ...commonKindsOf(served, cluster)])
  return [...kinds].filter(({ uncached }) => !uncached).map((kind) => ({ kind, indexes: {} }))
}

/** Tells subscriptions which kinds a field has read, where a change of any object may change the answer. */
function follow(run: ReadRun, read: Iterable<{ readonly kind: Kind }>): void {
  run.followed?.({
    reads: Array.from(read, ({ kind }) => kind),
    condition: everything,
    isSaid: false,
  })
}

/**
 * A relation to each kind: to common kinds, kinds in memory and named kinds, and to the kind that the object itself refers
 * to.
 */
function relationsForm(served: ServedSchema, { relations }: PolymorphicRelationField): RelatedForm {
  return {
    needs(types, cluster) {
      const kinds = namedAndCommon(served, types, cluster).map(({ kind }) => kind.typeName)
      return relations
        .filter(({ definition }) => kinds.includes(definition.to))
        .flatMap((one) => relationNeeds(served.relations, one))
    },
    parts({ run, cluster, part: { view }, id, key, named }) {
      const byKind = new Map<Kind, PlacedPart>()
      const places = new Places<PlacedPart>(run)
      const reads = new Set<Kind>()
      const passedOver = new Set<string>()
      for (const one of relations) {
        const known = relationOf(one, served)
        const { to, relation } = known
        const isMeant = relation.only === undefined ? named.includes(to) : relation.only === key
        const isCached = relation.only === undefined && unnamedPart(run, { cluster, kind: to })
        if (to.uncached || (!isMeant && !isCached)) {
          if (relation.only === undefined) passedOver.add(to.typeName)
          continue
        }
        for (const read of known.reads) reads.add(read)
        const part = (type: string): KindView => partOnTheWay(known, type, run, cluster)
        places.find(() => {
          try {
            const condition = relation.follow({ view, id, budget: run.budget, part })
            const before = byKind.get(to)?.condition ?? nothing
            byKind.set(to, { ...part(to.typeName), condition: anyOf([before, condition]) })
          } catch (error) {
            // Another operation has begun to load the kind meanwhile.
            const isLoading = error instanceof ClientError && error.code === 'NOT_SYNCED'
            if (isMeant || !isLoading) throw error
            passedOver.add(to.typeName)
          }
          return undefined
        })
      }
      places.parts.push(...byKind.values())
      follow(
        run,
        Array.from(reads, (kind) => ({ kind })),
      )
      return places.read(() => passedOver)
    },
  }
}

/** The objects that this one chooses, all of one kind, or the objects of every kind that may choose it. */
function choiceForm(served: ServedSchema, field: PolymorphicRelationField): RelatedForm {
  const { chosen, chosenBy = [] } = field
  const needsOf = ({ relation }: ChosenObjects): readonly RelatedNeed[] =>
    relationNeeds(served.relations, relation)
  const needs = [
    ...(chosen === undefined ? [] : needsOf(chosen)),
    ...chosenBy.flatMap((one) => {
      const { from } = one.relation.definition
      const indexes = { needed: [choiceIndex(one.field)] }
      const choosers = needsOf(one).filter(({ kind }) => kind.typeName === from)
      return [...needsOf(one), ...choosers.map(({ kind }) => ({ kind, indexes }))]
    }),
  ]
  return {
    needs: () => needs,
    parts(start) {
      const { run, cluster } = start
      const places = new Places<PlacedPart>(run)
      if (chosen !== undefined) {
        places.find(() => {
          const { choosing, origin } = choosingFrom(chosen, served, start)
          const named = chosenKind(choosing, origin)
          if (named === undefined) return undefined
          run.budget.spend('rows', 1)
          const kind = served.kindOf(named.group, named.kind)
          if (kind === undefined || kind.uncached) return undefined
          const reference = valueAt(chosen.path, start.part.view.object(start.id))
          const choice = choiceIn(reference, kind)
          const within = (): readonly string[] | undefined => choice?.within
          if (choice === undefined) return undefined
          return { ...run.parts.part({ cluster, kind }, { within }), condition: choice.condition }
        })
      }
      for (const one of chosenBy) {
        places.find(() => {
          const { choosing, origin } = choosingFrom(one, served, start)
          const { from } = one.relation.definition
          const part = partOnTheWay(relationOf(one.relation, served), from, run, cluster)
          return { ...part, condition: hasKey(choosersOf(choosing, origin, part)) }
        })
      }
      follow(run, [...needs, ...places.parts])
      return places.read()
    },
  }
}

/** A field with `@chooses`, and an object to start from. */
function choosingFrom(
  { relation, ...field }: ChosenObjects,
  served: ServedSchema,
  { run, cluster, part: { view }, id }: Origin,
): { readonly choosing: ChoosingField; readonly origin: RelationOrigin } {
  const known = relationOf(relation, served)
  const part = (type: string): KindView => partOnTheWay(known, type, run, cluster)
  const choosing = { ...field, kindRelation: known.relation }
  return { choosing, origin: { view, id, part, budget: run.budget } }
}

function relationOf(relation: RelationField, { relations }: ServedSchema): SchemaRelation {
  const known = relations.byField.get(relation)
  if (known === undefined) throw new TypeError(`${relation.definition.name} is not resolved`)
  return known
}

/**
 * The chosen objects of a kind, and the namespaces that the choice covers (`undefined`: all). A choice without a namespace
 * covers all. A choice of a cluster-scoped kind must have none.
 */
function choiceIn(
  reference: unknown,
  { resource: { namespaced } }: Kind,
): { readonly within: readonly string[] | undefined; readonly condition: Condition } | undefined {
  const choice = choiceAt(reference)
  if (choice === undefined) return undefined
  const { namespace } = choice
  if (namespace !== undefined && !namespaced) return undefined
  const within = namespace === undefined ? undefined : [namespace]
  if (choice.form === 'name') {
    const { name } = choice
    if (namespace !== undefined)
      return { within, condition: hasKey([objectKey({ namespace, name })]) }
    return { within, condition: namespaced ? hasValue('name', [name]) : hasKey([name]) }
  }
  const place = within === undefined ? everything : hasValue('namespace', within)
  return { within, condition: allOf([place, selectorCondition(choice.labels)]) }
}

/** The key of the only object that a way leads from: each object of a custom kind uses the definition of its kind. */
function onlyOf({ relation }: UseWay): string | undefined {
  return relation.relation.only
}

interface UsingPart extends PlacedPart {
  readonly ways: readonly UseWay[]
}

/** The objects that use an object: of all kinds that may use it, or of the named ones, with the paths that name it. */
function usedByForm(served: ServedSchema, used: Kind): RelatedForm {
  const waysTo = served.relations.usesOf(used)
  const users = [...new Set(waysTo.map(({ user }) => user.typeName))].toSorted()
  const followed = new OncePerRun<readonly RelatedNeed[]>()
  const refusals = new OncePerRun<ClientError>()
  const needs: RelatedForm['needs'] = (types, cluster) =>
    waysOf(types, cluster).flatMap((way) => (onlyOf(way) === undefined ? way.needs : []))

  function waysOf(types: unknown, cluster: string): readonly UseWay[] {
    const cache = served.clusters.get(cluster)
    return waysTo.filter(
      ({ user }) =>
        (!Array.isArray(types) || types.includes(user.typeName)) &&
        cache?.serves(user.resource) === true,
    )
  }

  /** The part of a kind with all users of an object. Throws `ClientError` if the viewer may not see all of them. */
  function usersOf(
    { run, cluster, namespace }: Origin,
    user: Kind,
    ways: readonly UseWay[],
  ): KindView {
    const needed = ways.flatMap((way) => way.needs.filter(({ kind }) => kind === user))
    const indexes = { needed: needed.flatMap((one) => [...(one.indexes.needed ?? [])]) }
    const isWithin = namespace !== '' && ways.every(({ relation }) => relation.relation.isLocal)
    const at = { cluster, kind: user, indexes }
    const hidden = (message: string): ClientError =>
      refusals.of(run, `${cluster} ${message}`, () => hiddenUsers(at, message))
    let part: KindView
    try {
      part = run.parts.part(at, { within: () => (isWithin ? [namespace] : undefined) })
    } catch (error) {
      const isForbidden = error instanceof ClientError && error.code === 'FORBIDDEN'
      throw isForbidden ? hidden(error.message) : error
    }
    const { scope } = part
    const isWhole =
      scope.form === 'all' ||
      (isWithin && scope.form !== 'names' && isInScope(scope, `${namespace}/`))
    if (!isWhole && part.coverage !== undefined) throw notWhole(at, part.coverage)
    if (!isWhole) throw hidden(`you may not see all objects of ${user.typeName}`)
    return part
  }

  /** The first failure. Where all are of kinds that the viewer may not see, it names these kinds and the others. */
  function failureOf(
    { run, cluster }: Origin,
    failures: ReadonlyMap<Kind, unknown>,
    seen: readonly PlacedPart[],
  ): unknown {
    const [[kind, first] = []] = failures
    const isHidden = [...failures.values()].every(
      (error) => error instanceof ClientError && error.code === 'FORBIDDEN',
    )
    if (!isHidden || kind === undefined || !(first instanceof ClientError)) return first
    const hiddenTypes = namesOf(failures.keys())
    const visibleTypes = namesOf(seen.map((part) => part.kind))
    const name = [cluster, first.message, ...hiddenTypes, '', ...visibleTypes].join(' ')
    return refusals.of(run, name, () =>
      hiddenUsers({ cluster, kind }, first.message, { hiddenTypes, visibleTypes }),
    )
  }

  return {
    needs,
    parts(origin) {
      const {
        run,
        cluster,
        key,
        part: { view },
        id,
        types,
      } = origin
      for (const name of types ?? []) {
        if (users.includes(name)) continue
        const message = `types: nothing of the type ${JSON.stringify(name)} makes use of a ${used.typeName}`
        const hint = users.length === 0 ? 'nothing does' : `there are ${users.join(', ')}`
        throw new ClientError('BAD_USER_INPUT', message, { argument: 'types', value: name, hint })
      }
      // Also if it throws: the answer is another one once the kind can be read.
      const names = types?.join() ?? '*'
      follow(
        run,
        followed.of(run, `${cluster} ${names}`, () => needs(types, cluster)),
      )
      if (!types && used.leftOutUsers.length > 0) throw usersLeftOut(usedByField, used.leftOutUsers)
      const places = new Places<UsingPart>(run)
      const ofThis = waysOf(types, cluster).filter((way) => (onlyOf(way) ?? key) === key)
      const instances = ofThis.filter((way) => onlyOf(way) !== undefined)
      if (instances.length > 0)
        follow(
          run,
          instances.map(({ user }) => ({ kind: user })),
        )
      // Every kind that is still lacking is noted in one round: there are only three.
      const failures = new Map<Kind, unknown>()
      for (const [user, ways] of Map.groupBy(ofThis, (way) => way.user)) {
        try {
          const part = usersOf(origin, user, ways)
          const conditions = ways.map(({ relation, condition }) => {
            const onTheWay = (type: string): KindView =>
              type === user.typeName ? part : partOnTheWay(relation, type, run, cluster)
            const led = relation.relation.follow({ view, id, budget: run.budget, part: onTheWay })
            return allOf([led, condition])
          })
          places.parts.push({ ...part, ways, condition: anyOf(conditions) })
        } catch (error) {
          failures.set(user, error)
        }
      }
      if (failures.size > 0) throw failureOf(origin, failures, places.parts)
      return places.read()
    },
    toValue: (user, key): Record<keyof UsedBy, unknown> => ({
      object: refOf(user),
      paths() {
        const using = user.part.view.object(user.id)
        const { ways } = user.part as UsingPart
        return [...new Set(ways.flatMap((way) => way.places(using, key)))]
      },
    }),
  }
}

function namesOf(kinds: Iterable<Kind>): readonly string[] {
  return Array.from(kinds, ({ typeName }) => typeName).toSorted()
}
