import { type FieldNode, getNamedType, type GraphQLObjectType, isObjectType } from 'graphql'
import { parseExact } from '../../lib/json.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PodLogsArguments } from '../schema/read-arguments.ts'
import type { PodLogsSource } from '../schema/read-context.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import type { PlanField, RootWriter } from './plan-compiler.ts'

/** Compiles `Query.podLogs`. Throws `NotCoveredError`. */
export function podLogsWriter(field: PlanField): RootWriter {
  const { args } = field
  const write = logsWriter(field)
  return {
    write(run) {
      const asked = run.argumentsOf(args) as unknown as PodLogsArguments
      const logs = run.direct.logs(asked, run.budget)
      if (logs === undefined) return 'null'
      const text = write(logs)
      run.budget.spend('rows', logs.lines.length)
      run.budget.spend('bytes', text.length)
      return text
    },
  }
}

type Write<T> = (source: T) => string

/** Compiles what is selected of logs. Throws `NotCoveredError`. */
export function logsWriter(
  field: Pick<PlanField, 'objectType' | 'nodes' | 'compiler'>,
): Write<PodLogsSource> {
  const { compiler } = field
  const write = (type: GraphQLObjectType, nodes: readonly FieldNode[]): Write<object> => {
    const fields = collectFields(selectionsOf(nodes), new Set([type.name]), compiler.collect)
    const members = Array.from(fields, ([key, same], position) => {
      const before = `${position === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = same[0]?.name.value ?? ''
      return [before, memberWriter(type, name, same)] as const
    })
    return (source) => {
      let text = '{'
      for (const [before, member] of members) text += before + member(source)
      return `${text}}`
    }
  }
  const memberWriter = (
    type: GraphQLObjectType,
    name: string,
    nodes: readonly FieldNode[],
  ): Write<object> => {
    if (name === '__typename') return () => JSON.stringify(type.name)
    const member = type.getFields()[name]
    if (member === undefined) throw new NotCoveredError(`${type.name}.${name}`)
    if (name === 'fields') return (line) => jsonObject((line as { readonly text: string }).text)
    const valueOf = (source: object): unknown => (source as Readonly<Record<string, unknown>>)[name]
    const of = getNamedType(member.type)
    if (!isObjectType(of)) return (source) => JSON.stringify(valueOf(source))
    const item = write(of, nodes)
    return (source) => {
      const items = valueOf(source) as readonly object[] | null
      return items === null ? 'null' : `[${items.map(item).join(',')}]`
    }
  }
  return write(field.objectType, field.nodes)
}

/** The text of a JSON object as it stands, so that its numbers keep their digits; `null` if it is none. */
function jsonObject(text: string): string {
  if (!text.startsWith('{')) return 'null'
  try {
    parseExact(text)
    return text
  } catch {
    return 'null'
  }
}
