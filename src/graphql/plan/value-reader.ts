import { writeJson } from '../../informer/codec/projection.ts'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { parseExact } from '../../lib/json.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import type { KindView } from '../prepare/kind-view.ts'
import type { PlanRun } from './plan-run.ts'

/** Reads the values at a path of an object, once a run, and avoids parsing the rest of the object. */
export type ValueReader = (run: PlanRun, part: KindView, id: ObjectId) => readonly unknown[]

/** Compiles a {@link ValueReader}. Throws `PathError`. */
export function valueReader(path: string): ValueReader {
  const whole = parsePath(path)
  const { steps } = whole
  const parsed = steps.findIndex(({ form }) => form !== 'field')
  const own = parsed < 0 ? steps : steps.slice(0, parsed)
  const names = own.flatMap((step) => (step.form === 'field' ? [step.name] : []))
  const rest = { text: path, steps: steps.slice(own.length), many: true }
  const value = { form: 'leaf', write: writeJson } as const
  const selection = { fields: [{ key: 'v', path: names, value }] }
  const found = new WeakMap<PlanRun, Map<HeldObject, readonly unknown[]>>()
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
