/*
 * The selected fields of an object of a known type (CollectFields in the GraphQL specification). Fragments that apply are
 * spread, the plan's variation decides `@skip` and `@include`, and fields of one response key come together. Each field
 * adds to the size of the plan, which the cache of documents counts.
 */

import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql'
import { compactText } from '../../lib/text.ts'
import { isIncluded } from '../documents/document-fragments.ts'

export interface CollectContext {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly flags: ReadonlyMap<string, boolean>
  /** Receives the size of the collected fields in a plan, in bytes. */
  readonly grown: (bytes: number) => void
}

/** The approximate size of a field in a plan, without its name. */
const bytesPerField = 700

/** The fields of one object by response key, in the order of the answer, each with all of its nodes. */
export type CollectedFields = ReadonlyMap<string, readonly FieldNode[]>

/** Collects the fields. `names`: the type and its interfaces. Fragments on other types do not apply. */
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

export function selectionsOf(nodes: readonly FieldNode[]): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]))
}
