import { Kind as NodeKind, type SelectionSetNode } from 'graphql'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanCompiler, PlanField, PlanNeeds, RowWriter } from './plan-compiler.ts'

/** The compiled row of one kind. */
interface KindRow {
  readonly write: RowWriter
  readonly needs: PlanNeeds
}

/** Rows of any kind. The first use of a kind compiles its row. */
export class RowsByKind {
  readonly #selectionSets: readonly SelectionSetNode[]
  readonly #compiler: PlanCompiler
  readonly #place: string
  readonly #isLive: boolean
  readonly #rows = new Map<Kind, KindRow | NotCoveredError>()
  #lastKind: Kind | undefined
  #lastWrite: RowWriter | undefined

  constructor({ selections, compiler }: PlanField) {
    this.#selectionSets = selections
    this.#compiler = compiler
    this.#place = compiler.place
    this.#isLive = compiler.isLive
  }

  /** The needs of a kind's row. Throws {@link NotCoveredError}. */
  needs(kind: Kind): PlanNeeds {
    return this.#rowOf(kind).needs
  }

  /** Throws {@link NotCoveredError} if plans do not cover the selection for the object's kind. */
  readonly write: RowWriter = (run, part, id) => {
    const { kind } = part
    if (kind !== this.#lastKind || this.#lastWrite === undefined) {
      this.#lastWrite = this.#rowOf(kind).write
      this.#lastKind = kind
    }
    return this.#lastWrite(run, part, id)
  }

  #rowOf(kind: Kind): KindRow {
    let row = this.#rows.get(kind)
    if (row === undefined) this.#rows.set(kind, (row = this.#compile(kind)))
    if (row instanceof NotCoveredError) throw row
    return row
  }

  #compile(kind: Kind): KindRow | NotCoveredError {
    const compiler = this.#compiler
    const row = (): RowWriter => compiler.row(kind, this.#selectionSets)
    try {
      const { compiled: write, needs } = compiler.apart(() =>
        compiler.live(this.#isLive, () => compiler.at(this.#place, row)),
      )
      return { write, needs }
    } catch (error) {
      if (error instanceof NotCoveredError) return error
      throw error
    }
  }
}

/**
 * Compiles objects of any kind. Rows of kinds that fragments name are compiled at once, so that their needs are known.
 * The first object of another kind compiles its row.
 */
export function anyRowWriter(field: PlanField): RowWriter {
  const { compiler, selections } = field
  const rows = new RowsByKind(field)
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
