import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql'
import {
  AnswerTooLongError,
  type ObjectSelection,
  type SelectedValue,
} from '../../informer/codec/projection.ts'
import type { Projection } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { FieldArguments } from './field-arguments.ts'
import type { FragmentMemo } from './fragment-cache.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import { ownSelection } from './own-fields.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** A fragment for the objects of one store. */
interface StoreFragment {
  readonly memo: FragmentMemo
  readonly project: Projection
  /** The least number of fields that one object's text has. */
  readonly fields: number
}

/** The number of argument values that a fragment keeps. */
const maxVariations = 64

/**
 * Adjacent own fields of an object. Their text depends on the held row alone, so each version of an object is written
 * once. The cache keys the text by the signature of the selection: all plans with this selection share it.
 */
export class OwnFragment {
  readonly #kind: Kind
  readonly #type: GraphQLObjectType
  readonly #fields: readonly (readonly [string, readonly FieldNode[]])[]
  /** Whether the fragment is the whole object: its text then includes the braces. */
  readonly #isWhole: boolean
  readonly #compiler: PlanCompiler
  readonly #arguments = new Map<FieldNode, FieldArguments>()
  readonly #isConstant: boolean
  #variations = new Map<string, WeakMap<StoreView, StoreFragment>>()
  /** The size of the variations. */
  #bytes = 0
  /** The next row mostly reuses the last fragment. A fragment without variables serves every run. */
  #lastRun = 0
  #lastView: StoreView | undefined
  #lastFragment: StoreFragment | undefined

  /** Throws {@link NotCoveredError}, and the GraphQLError of a constant argument. */
  constructor(
    kind: Kind,
    type: GraphQLObjectType,
    fields: readonly (readonly [string, readonly FieldNode[]])[],
    isWhole: boolean,
    compiler: PlanCompiler,
  ) {
    this.#kind = kind
    this.#type = type
    this.#fields = fields
    this.#isWhole = isWhole
    this.#compiler = compiler
    // Detects fields that plans do not cover, and collects the fields with arguments.
    this.#select({ cluster: '' }, (field, node) => {
      const args = new FieldArguments(field, node)
      this.#arguments.set(node, args)
      return args.constant ?? unknownArguments
    })
    this.#isConstant = [...this.#arguments.values()].every(({ constant }) => constant !== undefined)
  }

  /** The text of an object. Throws {@link NotCoveredError} if it holds a value that GraphQL refuses. */
  text(run: PlanRun, part: KindView, id: ObjectId): string {
    const { view } = part
    const isLast = view === this.#lastView && (this.#isConstant || run.number === this.#lastRun)
    const { memo, project, fields } =
      isLast && this.#lastFragment !== undefined ? this.#lastFragment : this.#fragmentOf(run, part)
    const held = view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) {
      run.budget.spend('fields', fields)
      text = withinBudget(run.budget, (maxUnits) => project(held, maxUnits))
      if (text === undefined) throw new NotCoveredError('a value that GraphQL refuses')
      if (!this.#isWhole) text = text.slice(1, -1)
      memo.set(id, held, text)
    }
    run.budget.spend('bytes', text.length)
    return text
  }

  #fragmentOf(run: PlanRun, part: KindView): StoreFragment {
    const { view } = part
    const variation = this.#isConstant ? '' : this.#variationOf(run)
    let ofView = this.#variations.get(variation)
    if (ofView === undefined) {
      if (this.#variations.size >= maxVariations) {
        this.#variations = new Map()
        this.#grown(-this.#bytes)
      }
      this.#variations.set(variation, (ofView = new WeakMap()))
    }
    let fragment = ofView.get(view)
    if (fragment === undefined) {
      const { selection, signature, charged } = this.#select(part, (_, node) => {
        const args = this.#arguments.get(node)
        return args === undefined ? {} : run.argumentsOf(args)
      })
      this.#grown(2 * variation.length)
      const text = `${this.#isWhole ? '{}' : ''}${signature}`
      fragment = {
        memo: run.fragmentsOf(part).memo(text, view),
        project: view.projection(selection),
        fields: fieldsOf(selection) + charged,
      }
      ofView.set(view, fragment)
    }
    this.#lastRun = run.number
    this.#lastView = view
    this.#lastFragment = fragment
    return fragment
  }

  #variationOf(run: PlanRun): string {
    return JSON.stringify(Array.from(this.#arguments.values(), (args) => run.argumentsOf(args)))
  }

  #grown(bytes: number): void {
    this.#bytes += bytes
    this.#compiler.collect.grown(bytes)
  }

  #select(
    { cluster, isDirect }: Pick<KindView, 'cluster' | 'isDirect'>,
    argumentsOf: (
      field: GraphQLField<unknown, unknown>,
      node: FieldNode,
    ) => Readonly<Record<string, unknown>>,
  ): {
    readonly selection: ObjectSelection
    readonly signature: string
    readonly charged: number
  } {
    const notes = [cluster]
    let charged = 0
    const selection = ownSelection(this.#type, this.#fields, {
      kind: this.#kind,
      cluster,
      isDirect: isDirect === true,
      collect: { ...this.#compiler.collect, grown: (bytes) => this.#grown(bytes) },
      argumentsOf,
      note: (line) => notes.push(line),
      charge: (fields) => void (charged += fields),
    })
    return { selection, signature: notes.join('\n'), charged }
  }
}

/** Limits a text to the bytes left in the budget, and charges a text that exceeds them. */
function withinBudget<T>(budget: WorkBudget, write: (maxUnits: number) => T): T {
  try {
    return write(budget.left('bytes'))
  } catch (error) {
    if (error instanceof AnswerTooLongError) budget.spend('bytes', error.length)
    throw error
  }
}

/** Placeholder for arguments that only requests supply. */
const unknownArguments = { path: null, key: '' }

/** The number of fields that a selection writes if each list has one item. */
function fieldsOf({ fields }: ObjectSelection): number {
  return fields.reduce((sum, { value }) => sum + 1 + innerFieldsOf(value), 0)
}

function innerFieldsOf(value: SelectedValue): number {
  switch (value.form) {
    case 'object':
      return fieldsOf(value.selection)
    case 'list':
      return innerFieldsOf(value.of)
    case 'entries':
      return value.fields.length
    case 'leaf':
    case 'made':
    case 'text':
      return 0
  }
}
