import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import { type CollectedFields, collectFields } from './collected-fields.ts'
import { answered } from './field-errors.ts'
import { type PlanCompiler, PlanField } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'
import { objectText, type WrittenMember } from './value-run.ts'

/** Writes a plain object, or one of its members. */
export type PlainWriter<T> = (run: PlanRun, source: T) => string

/** Compiles the writer of a member. Returns `undefined` for a field that plans do not cover. */
type CompileMember<T> = (field: PlanField) => PlainWriter<T> | undefined

/**
 * Compiles the members of an object, each as a field that may fail. `compile` does not get `__typename`. `abstract`:
 * the names of unions that fragments may name besides the type.
 */
export function writtenMembers<W extends (run: never, ...source: never[]) => string>(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  compiler: PlanCompiler,
  compile: (field: PlanField) => W | undefined,
  abstract: readonly string[] = [],
): { readonly before: string; readonly write: W | (() => string) }[] {
  // Response paths omit the keys of connections.
  const isPart = /(Connection|Edge)$/.test(type.name)
  const names = [type.name, ...type.getInterfaces().map(({ name }) => name), ...abstract]
  const fields = collectFields(selections, new Set(names), compiler.collect)
  return Array.from(fields, ([key, nodes], position) => {
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    if (nodes[0]?.name.value === '__typename') {
      return { before, write: () => JSON.stringify(type.name) }
    }
    const written = (): W => {
      const field = new PlanField(type, key, nodes, compiler)
      const write = compile(field)
      if (write === undefined) throw field.notCovered()
      return answered(field, write)
    }
    return { before, write: isPart ? written() : compiler.within(key, written) }
  })
}

/** Compiles a plain object, member by member. Throws {@link NotCoveredError}. */
export function plainWriter<T>(field: PlanField, compile: CompileMember<T>): PlainWriter<T> {
  const members = plainMembers(field, compile)
  return (run, source) => objectText(run, members, source)
}

/** Compiles the members of a plain object. Throws {@link NotCoveredError}. */
export function plainMembers<T>(
  { objectType, selections, compiler }: PlanField,
  compile: CompileMember<T>,
): readonly WrittenMember<[T], PlanRun>[] {
  return writtenMembers(objectType, selections, compiler, compile)
}

/** Adjacent own fields of an object, by response key. */
export type AdjacentFields = readonly (readonly [string, readonly FieldNode[]])[]

/**
 * Compiles the members of an object. Adjacent own fields form one fragment, whose text the cache keeps. The other fields
 * are holes between the fragments, which each run fills.
 */
export function fragmentedMembers<W extends (run: PlanRun, ...source: never[]) => string>(
  type: GraphQLObjectType,
  fields: CollectedFields,
  compiler: PlanCompiler,
  of: {
    readonly isOwn: (name: string) => boolean
    readonly fragment: (own: AdjacentFields) => W
    readonly hole: (field: PlanField) => W
  },
): readonly { readonly before: string; readonly write: W }[] {
  const members: { readonly name: string; readonly write: W }[] = []
  let own: [string, readonly FieldNode[]][] = []
  const endFragment = (): void => {
    if (own.length > 0) members.push({ name: '', write: of.fragment(own) })
    own = []
  }
  for (const [key, nodes] of fields) {
    if (of.isOwn(nodes[0]?.name.value ?? '')) {
      own.push([key, nodes])
      continue
    }
    endFragment()
    const write = compiler.within(key, () => {
      const field = new PlanField(type, key, nodes, compiler)
      return answered(field, of.hole(field))
    })
    members.push({ name: `${JSON.stringify(key)}:`, write })
  }
  endFragment()
  // Joins separators and names in advance: the answer copies each piece once more.
  return members.map(({ name, write }, at) => ({ before: `${at === 0 ? '' : ','}${name}`, write }))
}
