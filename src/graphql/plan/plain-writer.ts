import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun, WrittenMember } from './plan-run.ts'

/** Writes a plain object, or one of its members. */
export type PlainWriter<T> = (run: PlanRun, source: T) => string

/** Compiles the members of an object, each as a field that may fail. `compile` does not get `__typename`. */
export function writtenMembers<W extends (run: PlanRun, ...source: never[]) => string>(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  { collect }: PlanCompiler,
  compile: (name: string, nodes: readonly FieldNode[], key: string) => W,
): { readonly before: string; readonly write: W | (() => string) }[] {
  const fields = collectFields(selections, new Set([type.name]), collect)
  return Array.from(fields, ([key, nodes], position) => {
    const name = nodes[0]?.name.value ?? ''
    const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
    if (name === '__typename') return { before, write: () => JSON.stringify(type.name) }
    const field = { key, type: fieldType(type, name), nodes }
    return { before, write: answered(field, compile(name, nodes, key)) }
  })
}

/** Compiles a plain object of a type, member by member. Throws {@link NotCoveredError}. */
export function plainWriter<T>(
  type: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  memberOf: (name: string, nodes: readonly FieldNode[]) => PlainWriter<T> | undefined,
): PlainWriter<T> {
  const members = plainMembers(type, nodes, compiler, memberOf)
  return (run, source) => run.object(members, source)
}

/** Compiles the members of a plain object. Throws {@link NotCoveredError}. */
export function plainMembers<T>(
  type: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  memberOf: (name: string, nodes: readonly FieldNode[]) => PlainWriter<T> | undefined,
): readonly WrittenMember<[T]>[] {
  // Response paths omit the keys of connections.
  const isPart = /(Connection|Edge)$/.test(type)
  return writtenMembers(
    compiler.objectType(type),
    selectionsOf(nodes),
    compiler,
    (name, same, key): PlainWriter<T> => {
      const compiled = (): PlainWriter<T> | undefined => memberOf(name, same)
      const write = isPart ? compiled() : compiler.within(key, compiled)
      if (write === undefined) throw new NotCoveredError(`${type}.${name}`)
      return write
    },
  )
}

/** Compiles members that are the JSON of their value. */
export function valueMembers<T>(
  names: readonly (keyof T & string)[],
): (name: string) => PlainWriter<T> | undefined {
  return (name) => {
    const known = names.find((one) => one === name)
    return known === undefined ? undefined : (_run, source) => JSON.stringify(source[known])
  }
}
