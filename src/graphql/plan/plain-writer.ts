import type { FieldNode } from 'graphql'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { NotCoveredError } from './not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'

type MemberWriter<T> = (source: T) => string

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
      const write =
        name === '__typename'
          ? () => JSON.stringify(type)
          : isPart
            ? compiled()
            : compiler.within(key, compiled)
      if (write === undefined) throw new NotCoveredError(`${type}.${name}`)
      return { before: `${position === 0 ? '' : ','}${JSON.stringify(key)}:`, write }
    },
  )
  return (source) => {
    let text = '{'
    for (const { before, write } of members) text += before + write(source)
    return `${text}}`
  }
}

/** What is written of those members whose JSON is their value's. */
export function valueMembers<T>(
  names: readonly (keyof T & string)[],
): (name: string) => MemberWriter<T> | undefined {
  return (name) => {
    const known = names.find((one) => one === name)
    return known === undefined ? undefined : (source) => JSON.stringify(source[known])
  }
}
