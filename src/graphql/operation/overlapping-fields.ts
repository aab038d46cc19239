import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind as NodeKind,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsOf } from './document-fragments.ts'

/** The fragments that a selection stands in, innermost first. */
interface Within {
  readonly fragment: string
  readonly around: Within | undefined
}

/** A field, or what is selected of one, and where it stands. */
interface Placed<T> {
  readonly node: T
  readonly within: Within | undefined
}

/** To look at a field takes so much of what it takes to compare two with all that they select, some 6 us. */
const lookCost = 0.1
/** To compare two of which nothing is selected. */
const leafCost = 0.1

/**
 * Whether validation would compare more than `most` pairs of fields, each with each that has its name in its place, fragments
 * included, to find out whether they can be merged. Pairs of plain leaves count a tenth.
 */
export function hasOverlapsBeyond(document: DocumentNode, most: number): boolean {
  const overlaps = new Overlaps(document, most)
  const { definitions } = document
  const sets = (kind: NodeKind) =>
    definitions.flatMap((one) =>
      'selectionSet' in one && one.kind === kind ? [{ one, set: one.selectionSet }] : [],
    )
  for (const { set } of sets(NodeKind.OPERATION_DEFINITION)) overlaps.count([placed(set)])
  // A fragment that no operation has is refused, but only after it has been compared.
  for (const { one, set } of sets(NodeKind.FRAGMENT_DEFINITION)) {
    const name = 'name' in one ? (one.name?.value ?? '') : ''
    if (!overlaps.reached.has(name)) overlaps.count([placed(set)])
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

  /** What is selected in one place. */
  count(sets: readonly Placed<SelectionSetNode>[]): void {
    const fields = new Map<string, Placed<FieldNode>[]>()
    const spread = new Set<string>()
    for (const set of sets) this.#collect(set, fields, spread)
    for (const same of fields.values()) {
      const pairs = (same.length * (same.length - 1)) / 2
      this.cost += lookCost * same.length + (areOneLeaf(same) ? leafCost : 1) * pairs
      if (this.cost > this.#most) return
      const inner = same.flatMap(({ node: { selectionSet }, within }) =>
        selectionSet === undefined ? [] : [placed(selectionSet, within)],
      )
      if (inner.length > 0) this.count(inner)
    }
  }

  #collect(
    { node, within }: Placed<SelectionSetNode>,
    fields: Map<string, Placed<FieldNode>[]>,
    spread: Set<string>,
  ): void {
    for (const selection of node.selections) {
      if (selection.kind === NodeKind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const same = fields.get(name)
        if (same === undefined) fields.set(name, [placed(selection, within)])
        else same.push(placed(selection, within))
      } else if (selection.kind === NodeKind.INLINE_FRAGMENT) {
        this.#collect(placed(selection.selectionSet, within), fields, spread)
      } else {
        const name = selection.name.value
        const fragment = this.#fragments.get(name)
        // One that spreads itself is left to the validation.
        if (fragment === undefined || spread.has(name) || isWithin(within, name)) continue
        spread.add(name)
        this.reached.add(name)
        this.#collect(
          placed(fragment.selectionSet, { fragment: name, around: within }),
          fields,
          spread,
        )
      }
    }
  }
}

/** Whether all are one field, without arguments, of which nothing is selected: then they need not be looked into. */
function areOneLeaf(same: readonly Placed<FieldNode>[]): boolean {
  const [first] = same
  return same.every(
    ({ node }) =>
      node.selectionSet === undefined &&
      (node.arguments?.length ?? 0) === 0 &&
      node.name.value === first?.node.name.value,
  )
}

function placed<T>(node: T, within?: Within): Placed<T> {
  return { node, within }
}

function isWithin(within: Within | undefined, fragment: string): boolean {
  for (let one = within; one !== undefined; one = one.around) {
    if (one.fragment === fragment) return true
  }
  return false
}
