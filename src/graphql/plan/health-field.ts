import type { FieldNode, GraphQLObjectType } from 'graphql'
import { parseHeld } from '../../informer/codec/leaf-writer.ts'
import type { SelectedValue } from '../../informer/codec/projection.ts'
import { fieldsOf } from '../../kubernetes/fields.ts'
import {
  type Health,
  type HealthRule,
  pathsOf,
  ruledHealth,
} from '../../kubernetes/health/health.ts'
import { NotCoveredError } from './not-covered.ts'
import { selectionOfPaths } from './path-selection.ts'

/** Writes how an object is, of those parts of it that its kind's rule reads. */
export function healthValue(
  rule: HealthRule,
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
): SelectedValue {
  const members = Array.from(fields, ([key, nodes]) => ({
    before: `${JSON.stringify(key)}:`,
    write: memberWriter(type, nodes[0]?.name.value ?? ''),
  }))
  return {
    form: 'made',
    of: selectionOfPaths(pathsOf(rule)),
    write(json) {
      const health = ruledHealth(rule, fieldsOf(json === undefined ? undefined : parseHeld(json)))
      return `{${members.map(({ before, write }) => before + write(health)).join(',')}}`
    },
  }
}

function memberWriter(type: GraphQLObjectType, name: string): (health: Health) => string {
  switch (name) {
    case '__typename': {
      const text = JSON.stringify(type.name)
      return () => text
    }
    case 'status':
    case 'reason':
    case 'message':
      return (health) => JSON.stringify(health[name] ?? null)
    default:
      throw new NotCoveredError(`${type.name}.${name}`)
  }
}
