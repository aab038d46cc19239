import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { objectKey } from '../../kubernetes/object.ts'
import { isRecord } from '../../lib/json.ts'
import {
  allOf,
  type Condition,
  everything,
  hasKey,
  hasValue,
} from '../../query/condition/condition.ts'
import { bindCondition } from '../../query/condition/id-set.ts'
import { selectorCondition } from '../../query/condition/list-condition.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { valueAt } from '../../query/index/path.ts'
import { choiceAt, choiceIndex, placesChoosing } from '../../query/relation/object-choice.ts'
import { visibleIds } from '../../query/relation/last-steps.ts'
import type { ChosenObjects, Kind, PolymorphicRelationField } from '../model/kind.ts'
import type { KindOf } from '../schema/object-ref.ts'
import type { CachedParts, KindView } from '../prepare/kind-view.ts'
import type { RelatedNeed, SchemaRelations } from '../served/schema-relations.ts'

export interface ChoosingOptions {
  readonly relations: SchemaRelations
  readonly kindOf: KindOf
  readonly parts: CachedParts
  readonly cluster: string
  readonly budget: WorkBudget
}

interface ObjectAt {
  readonly view: StoreView
  readonly id: ObjectId
}

/** The objects that an object chooses. */
interface Choice {
  readonly kind: Kind
  /** The namespaces that it covers; `undefined`: all. */
  readonly within: readonly string[] | undefined
  readonly condition: Condition
}

type FoundPart = KindView & { readonly condition: Condition }

/** The kinds that have to be read to find the chosen or the choosing objects. */
export function choosingNeeds(
  { chosen, chosenBy = [] }: PolymorphicRelationField,
  relations: SchemaRelations,
): readonly RelatedNeed[] {
  const needsOf = ({ relation }: ChosenObjects): readonly RelatedNeed[] => [
    ...(relations.byField.get(relation)?.needs.values() ?? []),
  ]
  return [
    ...(chosen === undefined ? [] : needsOf(chosen)),
    ...chosenBy.flatMap((one) => {
      const needs = needsOf(one)
      const { from } = one.relation.definition
      const indexes = { needed: [choiceIndex(one.field)] }
      return [
        ...needs,
        ...needs
          .filter(({ kind }) => kind.typeName === from)
          .map(({ kind }) => ({ kind, indexes })),
      ]
    }),
  ]
}

/** The objects that an object chooses, of the kind that another object names. Throws `ClientError`. */
export function chosenPart(
  chosen: ChosenObjects,
  options: ChoosingOptions,
  origin: ObjectAt,
): FoundPart | undefined {
  const choice = choiceOf(chosen, options, origin)
  if (choice === undefined || choice.kind.uncached) return undefined
  const { kind, within, condition } = choice
  const part = options.parts.part({ cluster: options.cluster, kind }, { within: () => within })
  return { ...part, condition }
}

/**
 * The objects that choose this one. Tries each object that an index has under its name or labels, at the cost of the
 * budget. Throws `ClientError`.
 */
export function choosingPart(
  chosen: ChosenObjects,
  options: ChoosingOptions,
  { view, id }: ObjectAt,
): FoundPart {
  const { budget } = options
  const part = partOf(chosen, options, chosen.relation.definition.from)
  const { group, kind: kindName } = view.resource
  const candidates = hasValue(choiceIndex(chosen.field), placesChoosing(view, id))
  const keys = (visibleIds(candidates, part, budget) ?? []).filter((one) => {
    const choice = choiceOf(chosen, options, { view: part.view, id: one })
    if (choice?.kind.resource.kind !== kindName || choice.kind.resource.group !== group)
      return false
    return bindCondition(choice.condition, view, budget).has(id)
  })
  return { ...part, condition: hasKey(keys.map((one) => part.view.keyOf(one))) }
}

function partOf(
  { relation: { definition }, relation }: ChosenObjects,
  { relations, parts, cluster }: ChoosingOptions,
  type: string,
): KindView {
  const need = relations.byField.get(relation)?.needs.get(type)
  if (need === undefined) throw new TypeError(`${definition.name} does not read ${type}`)
  return parts.part({ cluster, ...need })
}

function choiceOf(
  chosen: ChosenObjects,
  options: ChoosingOptions,
  { view, id }: ObjectAt,
): Choice | undefined {
  const { relations, kindOf, budget } = options
  const known = relations.byField.get(chosen.relation)
  if (known === undefined) return undefined
  const part = (type: string): KindView => partOf(chosen, options, type)
  const teller = part(known.to.typeName)
  const [told] = visibleIds(known.relation.follow({ view, id, part, budget }), teller, budget) ?? []
  if (told === undefined) return undefined
  budget.spend('rows', 2)
  const said = valueAt(chosen.kindPath, teller.view.object(told))
  if (!isRecord(said)) return undefined
  const { apiVersion, kind: name } = said
  if (typeof apiVersion !== 'string' || typeof name !== 'string') return undefined
  const kind = kindOf(splitApiVersion(apiVersion).group, name)
  return kind && choiceIn(valueAt(chosen.path, view.object(id)), kind)
}

/** A choice without a namespace covers all. A choice of a cluster-scoped kind must have none. */
function choiceIn(reference: unknown, kind: Kind): Choice | undefined {
  const choice = choiceAt(reference)
  if (choice === undefined) return undefined
  const { namespaced } = kind.resource
  const { namespace } = choice
  if (namespace !== undefined && !namespaced) return undefined
  const within = namespace === undefined ? undefined : [namespace]
  if (choice.form === 'name') {
    const { name } = choice
    if (namespace !== undefined) {
      return { kind, within, condition: hasKey([objectKey({ namespace, name })]) }
    }
    return { kind, within, condition: namespaced ? hasValue('name', [name]) : hasKey([name]) }
  }
  const place = within === undefined ? everything : hasValue('namespace', within)
  return { kind, within, condition: allOf([place, selectorCondition(choice.labels)]) }
}
