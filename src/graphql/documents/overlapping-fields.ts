import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsOf } from './document-fragments.ts'

/** To look at a selection takes so much of what it takes to compare two fields with all that they select, some 6 us. */
const lookCost = 0.1
/** To compare two fields of which nothing is selected, or two fragments that have no field in common. */
const leafCost = 0.1

/**
 * Whether validation would compare more than `most` pairs of fields, each with each that has its name in its place, fragments
 * included, to find out whether they can be merged. A selection that is looked at, a pair of plain leaves and a pair of fragments
 * in one place count a tenth. The fragments of the document must neither spread themselves nor be unknown.
 */
export function hasOverlapsBeyond(document: DocumentNode, most: number): boolean {
  const overlaps = new Overlaps(document, most)
  for (const one of document.definitions) {
    if (one.kind === NodeKind.OPERATION_DEFINITION) overlaps.count([one.selectionSet])
  }
  // A fragment that no operation has is refused, but only after it has been compared.
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

  /** What is selected in one place. Goes no further once it is too much. */
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

/** Whether all are one field, without arguments, of which nothing is selected: then they need not be looked into. */
function areOneLeaf(same: readonly FieldNode[]): boolean {
  const [first] = same
  return same.every(
    ({ selectionSet, arguments: args, name }) =>
      selectionSet === undefined && (args?.length ?? 0) === 0 && name.value === first?.name.value,
  )
}
