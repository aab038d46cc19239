/*
 * Rows of a kind that is known only from the object. Kinds that the fragments name are compiled at once, so that their
 * needs are loaded before the first run. Any other kind is compiled when its first object is written.
 */

import { Kind as NodeKind, type SelectionSetNode } from 'graphql'
import type { Kind } from '../model/kind.ts'
import type { Compiled, PlanCompiler, PlanField, PlanNeeds, RowWriter } from './plan-compiler.ts'

/** The part of a plan that a field compiles for each kind. The first use of a kind compiles it. */
export function compiledByKind<T>(
  { compiler }: PlanField,
  compile: (kind: Kind) => T,
): (kind: Kind) => Compiled<T> {
  const { scope } = compiler
  const known = new Map<Kind, Compiled<T>>()
  return (kind) => {
    let part = known.get(kind)
    if (part === undefined) {
      part = compiler.apart(() => compiler.in(scope, () => compile(kind)))
      known.set(kind, part)
    }
    return part
  }
}

/**
 * Compiles objects of any kind: at once for kinds that fragments name, or for the `expected` kinds, unless the arguments
 * of the field name the kinds; on first use for others.
 */
export function anyRowWriter(field: PlanField, expected?: readonly Kind[]): RowWriter {
  const { compiler, selections } = field
  const rowOf = compiledByKind(field, (kind) => compiler.row(kind, selections))
  const needs = (kind: Kind): PlanNeeds => rowOf(kind).needs
  if (!compiler.isOfNamedKinds(needs)) {
    for (const kind of expected ?? []) if (!kind.uncached) compiler.reads(kind)
    for (const kind of expected ?? kindsNamed(selections, compiler)) compiler.needs(needs(kind))
  }
  let lastKind: Kind | undefined
  let lastWrite: RowWriter | undefined
  return (run, part, id) => {
    const { kind } = part
    if (kind !== lastKind || lastWrite === undefined) {
      lastWrite = rowOf(kind).compiled
      lastKind = kind
    }
    return lastWrite(run, part, id)
  }
}

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
