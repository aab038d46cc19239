import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { anyOf, type Condition, nothing } from '../condition/condition.ts'
import type { Relation } from './relation.ts'
import type { ThroughRelation } from './relation-definition.ts'
import { visibleIds } from './visible-ids.ts'

/**
 * One relation after the other: what one leads to, and the viewer may see, is where the next one starts. `steps` are those of
 * the definition, at least two.
 */
export function compileThrough(definition: ThroughRelation, steps: readonly Relation[]): Relation {
  return {
    definition,
    reads: [...new Set(steps.flatMap(({ reads }) => reads))].toSorted(last(definition.to)),
    indexers: merged(steps.map(({ indexers }) => indexers)),
    shortcuts: merged(steps.map(({ shortcuts = {} }) => shortcuts)),
    follow(origin) {
      let from: { readonly view: StoreView; readonly ids: readonly ObjectId[] } = {
        view: origin.view,
        ids: [origin.id],
      }
      let condition: Condition = nothing
      for (const [at, step] of steps.entries()) {
        const { view, ids } = from
        const { object, ...rest } = origin
        const start = at === 0 && object !== undefined ? { ...rest, object } : rest
        condition =
          step.followAll === undefined
            ? anyOf(ids.map((id) => step.follow({ ...start, view, id })))
            : step.followAll({ ...start, view }, ids)
        if (condition.form === 'nothing' || at === steps.length - 1) break
        const part = origin.part(step.definition.to)
        from = { view: part.view, ids: visibleIds(condition, part, origin.budget) }
      }
      return condition
    },
  }
}

/** The one that is answered last, as the other reads are on the way to it. */
function last(to: string): (a: string, b: string) => number {
  return (a, b) => Number(a === to) - Number(b === to)
}

function merged(all: readonly Relation['indexers'][]): Relation['indexers'] {
  const types = new Set(all.flatMap((one) => Object.keys(one)))
  return Object.fromEntries(
    [...types].map((type) => [type, Object.assign({}, ...all.map((one) => one[type] ?? {}))]),
  )
}
