import type { ApiResource } from '../../kubernetes/api-resource.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { healthStatuses, ruledHealth } from '../../kubernetes/health/health.ts'
import { healthRuleOf } from '../../kubernetes/health/health-rules.ts'
import type { IndexDefinition } from '../../query/index/index-definition.ts'

/** The index of every kind that filters by `health` use. Made of each object anew, so only where somebody asks for it. */
export function healthIndex(resource: ApiResource): IndexDefinition {
  const rule = healthRuleOf(resource)
  return {
    name: 'health',
    paths: [],
    type: 'string',
    values: healthStatuses,
    lazy: true,
    valuesOf: (object) => [ruledHealth(rule, object as Unstructured).status],
  }
}
