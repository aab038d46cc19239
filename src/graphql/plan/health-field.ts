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
import { memberWriters } from './member-writers.ts'
import { selectionOfPaths } from './path-selection.ts'

/** Writes how an object is, of those parts of it that its kind's rule reads. */
export function healthValue(
  rule: HealthRule,
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
): SelectedValue {
  const write = memberWriters<Health>(type, fields, ['status', 'reason', 'message'])
  return {
    form: 'made',
    of: selectionOfPaths(pathsOf(rule)),
    write: (json) =>
      write(ruledHealth(rule, fieldsOf(json === undefined ? undefined : parseHeld(json)))),
  }
}
