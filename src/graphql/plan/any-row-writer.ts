import { Kind as NodeKind, type SelectionSetNode } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { Compiled, PlanCompiler, PlanField, PlanNeeds, RowWriter } from './plan-compiler.ts'

/** Rows of any kind. */
interface RowsByKind {
  /** The needs of a kind's row. Throws {@link NotCoveredError}. */
  readonly needs: (kind: Kind) => PlanNeeds
  /** Throws {@link NotCoveredError} if plans do not cover the selection for the object's kind. */
  readonly write: RowWriter
}

/** Rows of any kind. The first use of a kind compiles its row. */
export function rowsByKind({ compiler, selections }: PlanField): RowsByKind {
  const { scope } = compiler
  const rows = new Map<Kind, Compiled<RowWriter> | NotCoveredError>()
  const compile = (kind: Kind): Compiled<RowWriter> | NotCoveredError => {
    try {
      return compiler.apart(() => compiler.in(scope, () => compiler.row(kind, selections)))
    } catch (error) {
      if (error instanceof NotCoveredError) return error
      throw error
    }
  }
  const rowOf = (kind: Kind): Compiled<RowWriter> => {
    let row = rows.get(kind)
    if (row === undefined) rows.set(kind, (row = compile(kind)))
    if (row instanceof NotCoveredError) throw row
    return row
  }
  let lastKind: Kind | undefined
  let lastWrite: RowWriter | undefined
  return {
    needs: (kind) => rowOf(kind).needs,
    write(run, part, id) {
      const { kind } = part
      if (kind !== lastKind || lastWrite === undefined) {
        lastWrite = rowOf(kind).compiled
        lastKind = kind
      }
      return lastWrite(run, part, id)
    },
  }
}

/**
 * Compiles objects of any kind. Rows of kinds that fragments name are compiled at once, so that their needs are known.
 * The first object of another kind compiles its row.
 */
export function anyRowWriter(field: PlanField): RowWriter {
  const { compiler, selections } = field
  const rows = rowsByKind(field)
  for (const kind of kindsNamed(selections, compiler)) compiler.needs(rows.needs(kind))
  return rows.write
}

/** The kinds in the type conditions of the fragments. */
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
