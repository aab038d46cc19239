import { type FieldNode, GraphQLError, type GraphQLObjectType } from 'graphql'
import {
  AnswerTooLongError,
  type ObjectSelection,
  type SelectedValue,
} from '../../informer/codec/projection.ts'
import type { StoreView } from '../../informer/store/store-view.ts'
import { ArgumentError } from '../../query/condition/argument-error.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { Kind } from '../model/kind.ts'
import type { KindView } from '../prepare/kind-view.ts'
import { decodedFields } from './decoded-fields.ts'
import { FieldArguments } from './field-arguments.ts'
import type { StoreFragment } from './fragment-cache.ts'
import { type OwnFieldsContext, ownSelection } from './own-fields.ts'
import type { AdjacentFields } from './plain-writer.ts'
import type { PlanCompiler, RowWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Fragments share these places of a run. Two at one place only look each other's up again. */
const recentFragments = 64
let fragments = 0

/** The number of argument values that a fragment keeps. */
const maxVariations = 64

/** Adjacent own fields of the objects of a kind. */
interface OwnFields {
  readonly kind: Kind
  readonly type: GraphQLObjectType
  readonly fields: AdjacentFields
  /** Whether the fields are the whole object: its text then includes the braces. */
  readonly isWhole: boolean
}

/**
 * Compiles adjacent own fields of an object. Their text depends on the held row alone, so each version of an object is
 * written once. The cache keys the text by the signature of the selection: all plans with this selection share it. What a
 * projection cannot write is written from the decoded object (`decoded-fields.ts`).
 */
export function ownFragment(own: OwnFields, compiler: PlanCompiler): RowWriter {
  const { kind, type, fields, isWhole } = own
  const { collect, scope } = compiler
  let decoded: RowWriter | undefined
  const writeDecoded: RowWriter = (run, part, id) => {
    decoded ??= compiler.in(scope, () => decodedFields(type, fields, compiler))
    const text = decoded(run, part, id)
    return isWhole ? text : text.slice(1, -1)
  }
  const argumentsOf = new Map<FieldNode, FieldArguments>()
  let variations = new Map<string, WeakMap<StoreView, StoreFragment>>()
  let variationBytes = 0
  const grown = (bytes: number): void => {
    variationBytes += bytes
    collect.grown(bytes)
  }
  const select = (
    { cluster, isDirect }: Pick<KindView, 'cluster' | 'isDirect'>,
    valuesOf: OwnFieldsContext['argumentsOf'],
  ) => {
    const notes = [cluster]
    let charged = 0
    const selection = ownSelection(type, fields, {
      kind,
      cluster,
      isDirect: isDirect === true,
      collect: { ...collect, grown },
      argumentsOf: valuesOf,
      note: (line) => notes.push(line),
      charge: (extra) => void (charged += extra),
    })
    const signature = `${isWhole ? '{}' : ''}${notes.join('\n')}`
    return { selection, signature, fields: fieldsOf(selection) + charged }
  }
  try {
    // Collects the fields with arguments.
    select({ cluster: '' }, (field, node) => {
      const args = new FieldArguments(field, node)
      argumentsOf.set(node, args)
      return args.constant ?? unknownArguments
    })
  } catch (error) {
    if (error instanceof ArgumentError) return writeDecoded
    throw error
  }
  const isConstant = [...argumentsOf.values()].every(({ constant }) => constant !== undefined)

  const fragmentOf = (run: PlanRun, part: KindView): StoreFragment => {
    const { view } = part
    const values = (args: FieldArguments) => run.argumentsOf(args)
    const variation = isConstant ? '' : JSON.stringify(Array.from(argumentsOf.values(), values))
    let ofView = variations.get(variation)
    if (ofView === undefined) {
      if (variations.size >= maxVariations) {
        variations = new Map()
        grown(-variationBytes)
      }
      variations.set(variation, (ofView = new WeakMap()))
    }
    let fragment = ofView.get(view)
    if (fragment === undefined) {
      const selected = select(part, (_, node) => {
        const args = argumentsOf.get(node)
        return args === undefined ? {} : run.argumentsOf(args)
      })
      grown(2 * variation.length)
      fragment = {
        memo: run.fragmentsOf(part).memo(selected.signature, view),
        project: view.projection(selected.selection),
        fields: selected.fields,
      }
      ofView.set(view, fragment)
    }
    return fragment
  }

  // The next row mostly reuses the fragment of the last one. The run remembers it, not the plan, which outlives the stores it reads.
  const place = ++fragments % recentFragments
  return (run, part, id) => {
    const { view } = part
    let recent = run.recent[place]
    if (recent === undefined || recent.view !== view || recent.of !== fragmentOf) {
      const fragment = readable(fragmentOf, run, part)
      if (fragment === undefined) return writeDecoded(run, part, id)
      recent = { of: fragmentOf, view, fragment }
      run.recent[place] = recent
    }
    const { fragment } = recent
    const { memo } = fragment
    const held = view.held(id)
    let text = memo.get(id, held)
    if (text === undefined) {
      text = projected(run.budget, fragment, held)
      if (text === undefined) return writeDecoded(run, part, id)
      if (!isWhole) text = text.slice(1, -1)
      memo.set(id, held, text)
    }
    run.budget.spend('bytes', text.length)
    return text
  }
}

/** The fragment; `undefined` if its arguments cannot be read. */
function readable(
  fragmentOf: (run: PlanRun, part: KindView) => StoreFragment,
  run: PlanRun,
  part: KindView,
): StoreFragment | undefined {
  try {
    return fragmentOf(run, part)
  } catch (error) {
    if (error instanceof ArgumentError || error instanceof GraphQLError) return undefined
    throw error
  }
}

/**
 * Projects a held row; `undefined` if it has a value that GraphQL refuses. The text is limited to the bytes left in the
 * budget, which pays for one that exceeds them. Apart from the writer, whose calls would allocate what a closure captures.
 */
function projected(
  budget: WorkBudget,
  { project, fields }: StoreFragment,
  held: Parameters<StoreFragment['project']>[0],
): string | undefined {
  budget.spend('fields', fields)
  try {
    return project(held, budget.left('bytes'))
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
