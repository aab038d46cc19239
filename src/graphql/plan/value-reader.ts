import { writeJson } from '../../informer/codec/leaf-writer.ts'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { parseExact } from '../../lib/exact-json.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import type { KindPart } from '../operation/kind-part.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanRun } from './plan-run.ts'

/** Reads what stands at a path of an object; nothing else of it is parsed. */
export type ValueReader = (run: PlanRun, part: KindPart, id: ObjectId) => readonly unknown[]

/** Compiles a {@link ValueReader}. Throws `PathError`. */
export function valueReader(path: string): ValueReader {
  const { steps } = parsePath(path)
  const parsed = steps.findIndex(({ form }) => form !== 'field')
  const own = parsed < 0 ? steps : steps.slice(0, parsed)
  const names = own.flatMap((step) => (step.form === 'field' ? [step.name] : []))
  const rest = { text: path, steps: steps.slice(own.length), many: true }
  const value = { form: 'leaf', write: writeJson } as const
  const selection = { fields: [{ key: 'v', path: names, value }] }
  const projections = new WeakMap<StoreView, (held: HeldObject) => string | undefined>()
  return (run, { view }, id) => {
    let project = projections.get(view)
    if (project === undefined) projections.set(view, (project = view.projection(selection)))
    run.budget.spend('fields', 1)
    const text = project(view.held(id))
    if (text === undefined) throw new NotCoveredError(`what stands at ${path}`)
    const { v: found } = parseExact(text) as { readonly v: unknown }
    if (found === null) return nothing
    return rest.steps.length === 0 ? [found] : valuesAt(rest, found)
  }
}

const nothing: readonly unknown[] = []
