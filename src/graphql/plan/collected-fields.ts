/*
 * The selected fields of an object of a known type: fragments that apply are spread, `@skip` and `@include` are decided
 * by the plan's variation, and fields of one response key come together. Each field adds to the size of the plan, which
 * the cache of documents counts.
 */

import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql'
import { compactText } from '../../lib/text.ts'
import { isIncluded } from '../documents/document-fragments.ts'

/** A document's fragments, and the values of the variables in `@skip` and `@include`. */
export interface CollectContext {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly flags: ReadonlyMap<string, boolean>
  /** Receives the number of bytes that the plan of the collected fields takes. */
  readonly grown: (bytes: number) => void
}

/** The approximate size of a field in a plan, without its name. */
const bytesPerField = 700

/** The fields of one object by response key, in the order of the answer, each with all of its nodes. */
export type CollectedFields = ReadonlyMap<string, readonly FieldNode[]>

/**
 * Collects the selected fields of an object of a known type (the specification's CollectFields). `names` are those of
 * the type and its interfaces: fragments on other types do not apply.
 */
export function collectFields(
  selectionSets: readonly SelectionSetNode[],
  names: ReadonlySet<string>,
  context: CollectContext,
): CollectedFields {
  const fields = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  const flag = (name: string): boolean => context.flags.get(name) === true
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, flag)) continue
      switch (selection.kind) {
        case NodeKind.FIELD: {
          const key = compactText(selection.alias?.value ?? selection.name.value)
          const same = fields.get(key)
          if (same === undefined) fields.set(key, [selection])
          else same.push(selection)
          break
        }
        case NodeKind.INLINE_FRAGMENT: {
          const { typeCondition } = selection
          if (typeCondition !== undefined && !names.has(typeCondition.name.value)) break
          collect(selection.selectionSet)
          break
        }
        case NodeKind.FRAGMENT_SPREAD: {
          const { value: name } = selection.name
          if (visited.has(name)) break
          const fragment = context.fragments.get(name)
          if (fragment === undefined || !names.has(fragment.typeCondition.name.value)) break
          visited.add(name)
          collect(fragment.selectionSet)
        }
      }
    }
  }
  for (const one of selectionSets) collect(one)
  let bytes = 0
  for (const key of fields.keys()) bytes += bytesPerField + 2 * key.length
  context.grown(bytes)
  return fields
}

/** The selections of all nodes of one field. */
export function selectionsOf(nodes: readonly FieldNode[]): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]))
}
