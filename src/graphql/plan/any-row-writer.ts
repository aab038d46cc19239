import { Kind as NodeKind, type SelectionSetNode } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { RowWriter } from './writers.ts'

/**
 * Compiles what is written of objects of whatever kind. Of the kinds that fragments name it is compiled at once, so that what
 * their relations read is known; of the others when the first object of them is there.
 */
export function anyRowWriter(
  selectionSets: readonly SelectionSetNode[],
  compiler: PlanCompiler,
): RowWriter {
  const writers = new Map<Kind, RowWriter | NotCoveredError>()
  const { place } = compiler
  const writerOf = (kind: Kind): RowWriter | NotCoveredError => {
    try {
      return compiler.within(place, () => compiler.row(kind, selectionSets))
    } catch (error) {
      if (error instanceof NotCoveredError) return error
      throw error
    }
  }
  for (const kind of kindsNamed(selectionSets, compiler)) {
    writers.set(kind, compiler.row(kind, selectionSets))
  }
  return (run, part, id) => {
    let write = writers.get(part.kind)
    if (write === undefined) writers.set(part.kind, (write = writerOf(part.kind)))
    if (write instanceof NotCoveredError) throw write
    return write(run, part, id)
  }
}

/** The kinds that the fragments of selections are on. */
function kindsNamed(
  selectionSets: readonly SelectionSetNode[],
  { served, collect }: PlanCompiler,
): ReadonlySet<Kind> {
  const kinds = new Set<Kind>()
  const spread = new Set<string>()
  const search = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === NodeKind.FIELD) continue
      let fragment
      if (selection.kind === NodeKind.INLINE_FRAGMENT) fragment = selection
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        fragment = collect.fragments.get(selection.name.value)
      }
      if (fragment === undefined) continue
      const kind = served.kinds.get(fragment.typeCondition?.name.value ?? '')
      if (kind !== undefined) kinds.add(kind)
      search(fragment.selectionSet)
    }
  }
  for (const one of selectionSets) search(one)
  return kinds
}
