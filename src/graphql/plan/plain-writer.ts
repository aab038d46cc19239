import type { FieldNode } from 'graphql'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { answered, fieldType } from './field-errors.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

type MemberWriter<T> = (run: PlanRun, source: T) => string

/** Compiles what is written of a plain object of a type, member by member. Throws {@link NotCoveredError}. */
export function plainWriter<T>(
  type: string,
  nodes: readonly FieldNode[],
  compiler: PlanCompiler,
  memberOf: (name: string, nodes: readonly FieldNode[]) => MemberWriter<T> | undefined,
): MemberWriter<T> {
  // The parts of connections are no places of an answer.
  const isPart = /(Connection|Edge)$/.test(type)
  const members = Array.from(
    collectFields(selectionsOf(nodes), new Set([type]), compiler.collect),
    ([key, same], position) => {
      const name = same[0]?.name.value ?? ''
      const compiled = (): MemberWriter<T> | undefined => memberOf(name, same)
      const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
      if (name === '__typename') return { before, write: () => JSON.stringify(type) }
      const write = isPart ? compiled() : compiler.within(key, compiled)
      if (write === undefined) throw new NotCoveredError(`${type}.${name}`)
      const field = { key, type: fieldType(compiler.objectType(type), name), nodes: same }
      return { before, write: answered(field, write) }
    },
  )
  return (run, source) => {
    let text = '{'
    for (const { before, write } of members) text += before + write(run, source)
    return `${text}}`
  }
}

/** What is written of those members whose JSON is their value's. */
export function valueMembers<T>(
  names: readonly (keyof T & string)[],
): (name: string) => MemberWriter<T> | undefined {
  return (name) => {
    const known = names.find((one) => one === name)
    return known === undefined ? undefined : (_run, source) => JSON.stringify(source[known])
  }
}
