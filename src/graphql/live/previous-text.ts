import type { FieldNode, GraphQLField } from 'graphql'
import { AnswerTooLongError } from '../../informer/codec/answer-room.ts'
import type { HeldObject, Projection } from '../../informer/codec/object-codec.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { FieldArguments } from '../plan/field-arguments.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { jsonField } from '../plan/object-writers.ts'
import type { PlanRun } from '../plan/plan-run.ts'

/** What writing one is charged: walking a path may cost as much as so many fields. */
const chargedFields = 65
/** Of one document; paths come by variables. */
const maxPaths = 16

/** A field `previous`, compiled: writes what stood at its path of an object as it was, straight from what is held. */
export class PreviousText {
  readonly #arguments: FieldArguments
  #projections = new WeakMap<StoreView, Map<string, Projection>>()

  /** Throws `PathError` for a constant path that cannot be read. */
  constructor(field: GraphQLField<unknown, unknown>, node: FieldNode) {
    this.#arguments = new FieldArguments(field, node)
    const { constant } = this.#arguments
    if (constant !== undefined) jsonField(pathOf(constant))
  }

  /** The text. Throws `QueryTooCostlyError`, `NotCoveredError`, and `PathError` for a path that cannot be read. */
  text(run: PlanRun, view: StoreView, held: HeldObject): string {
    const { budget } = run
    budget.spend('fields', chargedFields)
    const project = this.#projection(view, pathOf(run.argumentsOf(this.#arguments)))
    let text: string | undefined
    try {
      text = project(held, budget.left('bytes'))
    } catch (error) {
      if (error instanceof AnswerTooLongError) budget.spend('bytes', error.length)
      throw error
    }
    if (text === undefined) throw new NotCoveredError('previous')
    budget.spend('bytes', text.length)
    return text.slice(memberStart.length, -1)
  }

  #projection(view: StoreView, path: string | null): Projection {
    let ofView = this.#projections.get(view)
    if (ofView === undefined) this.#projections.set(view, (ofView = new Map()))
    const name = JSON.stringify(path)
    let projection = ofView.get(name)
    if (projection === undefined) {
      const { path: names, value } = jsonField(path)
      if (ofView.size >= maxPaths) ofView.clear()
      projection = view.projection({ fields: [{ key: 'v', path: names, value }] })
      ofView.set(name, projection)
    }
    return projection
  }
}

const memberStart = '{"v":'

function pathOf({ path = null }: { readonly path?: unknown }): string | null {
  return typeof path === 'string' ? path : null
}
