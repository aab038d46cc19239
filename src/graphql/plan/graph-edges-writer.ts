import type { FieldNode } from 'graphql'
import type { WalkEdge } from '../../query/relation/graph-walk.ts'
import { collectFields, selectionsOf } from './collected-fields.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanCompiler } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

/** Writes the edges of a graph. `ids`: the objects' ids as JSON, by position. */
type EdgesWriter = (run: PlanRun, edges: readonly WalkEdge[], ids: readonly string[]) => string

const type = 'GraphEdge'
const names = ['from', 'to', 'relation', '__typename'] as const

/** A member of an edge, with the text before it. */
interface EdgeMember {
  readonly before: string
  readonly name: (typeof names)[number]
}

/** Compiles the edges of graphs. Throws {@link NotCoveredError}. */
export function graphEdgesWriter(
  nodes: readonly FieldNode[],
  { collect }: PlanCompiler,
): EdgesWriter {
  const fields = collectFields(selectionsOf(nodes), new Set([type]), collect)
  const members = Array.from(fields, ([key, [node]], position): EdgeMember => {
    const name = names.find((one) => one === node?.name.value)
    if (name === undefined) throw new NotCoveredError(`a field of ${type}`)
    return {
      name,
      before: `${position === 0 ? '{' : ','}${JSON.stringify(key)}:`,
    }
  })
  return (run, edges, ids) => {
    const texts = members.map((member) => memberTexts(member, ids))
    return run.list(edges, (edge) => {
      // Without members, the opening brace is missing.
      let text = texts.length === 0 ? '{' : ''
      for (const textOf of texts) text += textOf(edge)
      return `${text}}`
    })
  }
}

/** A thousand edges share some hundred objects and a dozen relations: each text is joined with its prefix once. */
function memberTexts(
  { before, name }: EdgeMember,
  ids: readonly string[],
): (edge: WalkEdge) => string {
  switch (name) {
    case '__typename': {
      const text = `${before}"${type}"`
      return () => text
    }
    case 'relation': {
      const texts = new Map<string, string>()
      return ({ relation }) => {
        let text = texts.get(relation)
        // Names of types and of fields need no escapes.
        if (text === undefined) texts.set(relation, (text = `${before}"${relation}"`))
        return text
      }
    }
    case 'from':
    case 'to': {
      const texts: string[] = []
      return (edge) => {
        const position = edge[name]
        return (texts[position] ??= before + (ids[position] ?? ''))
      }
    }
  }
}
