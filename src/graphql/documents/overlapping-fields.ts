import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsOf } from './document-fragments.ts'

/** The cost of visiting a selection, in comparisons of two fields with their selections (some 6 us each). */
const lookCost = 0.1
/** The cost of comparing two fields without selections, or two fragments without a common field. */
const leafCost = 0.1

/**
 * Whether validation would compare more than `most` pairs of fields to find out whether they can be merged. It compares
 * all fields with the same name in the same place, fragments included. A visited selection, a pair of plain leaves and
 * a pair of fragments in one place count a tenth. The document must not have unknown fragments or fragments that spread
 * themselves.
 */
export function hasOverlapsBeyond(document: DocumentNode, most: number): boolean {
  const overlaps = new Overlaps(document, most)
  for (const one of document.definitions) {
    if (one.kind === NodeKind.OPERATION_DEFINITION) overlaps.count([one.selectionSet])
  }
  // Validation refuses unused fragments, but compares their fields first.
  for (const one of document.definitions) {
    if (one.kind !== NodeKind.FRAGMENT_DEFINITION || overlaps.reached.has(one.name.value)) continue
    overlaps.count([one.selectionSet])
  }
  return overlaps.cost > most
}

class Overlaps {
  cost = 0
  readonly reached = new Set<string>()
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #most: number

  constructor(document: DocumentNode, most: number) {
    this.#fragments = fragmentsOf(document)
    this.#most = most
  }

  /** Counts the selections of one place. Stops when the cost exceeds the limit. */
  count(sets: readonly SelectionSetNode[]): void {
    const fields = new Map<string, FieldNode[]>()
    const spread = new Set<string>()
    for (const set of sets) this.#collect(set, fields, spread)
    this.cost += leafCost * pairsOf(spread.size)
    for (const same of fields.values()) {
      this.cost += (areOneLeaf(same) ? leafCost : 1) * pairsOf(same.length)
      if (this.cost > this.#most) return
      const inner = same.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (inner.length > 0) this.count(inner)
    }
  }

  #collect(
    { selections }: SelectionSetNode,
    fields: Map<string, FieldNode[]>,
    spread: Set<string>,
  ): void {
    this.cost += lookCost * selections.length
    if (this.cost > this.#most) return
    for (const selection of selections) {
      if (selection.kind === NodeKind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const same = fields.get(name)
        if (same === undefined) fields.set(name, [selection])
        else same.push(selection)
      } else if (selection.kind === NodeKind.INLINE_FRAGMENT) {
        this.#collect(selection.selectionSet, fields, spread)
      } else {
        const name = selection.name.value
        const fragment = this.#fragments.get(name)
        if (fragment === undefined || spread.has(name)) continue
        spread.add(name)
        this.reached.add(name)
        this.#collect(fragment.selectionSet, fields, spread)
      }
    }
  }
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2
}

/** Whether all are the same field, without arguments and selections. Such fields need no further comparison. */
function areOneLeaf(same: readonly FieldNode[]): boolean {
  const [first] = same
  return same.every(
    ({ selectionSet, arguments: args, name }) =>
      selectionSet === undefined && (args?.length ?? 0) === 0 && name.value === first?.name.value,
  )
}
