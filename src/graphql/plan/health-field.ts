import type { FieldNode, GraphQLObjectType } from 'graphql'
import type { SelectedValue } from '../../informer/codec/projection.ts'
import { type Health, type HealthRule, ruledHealth } from '../../kubernetes/health/health.ts'
import { memberWriters } from './member-writers.ts'

/** Writes the health of an object. */
export function healthValue(
  rule: HealthRule,
  type: GraphQLObjectType,
  fields: Iterable<readonly [string, readonly FieldNode[]]>,
): SelectedValue {
  const write = memberWriters<Health>(type, fields, ['status', 'reason', 'message'])
  return {
    form: 'made',
    make: (object) => write(ruledHealth(rule, object)),
  }
}
