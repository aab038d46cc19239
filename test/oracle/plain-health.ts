// Imports internals: a rule of health is a pure function of one object, and reads nothing; test/gateway/health.test.ts holds the rules.
import { type Health, ruledHealth } from '../../src/kubernetes/health/health.ts'
import { healthRuleOf } from '../../src/kubernetes/health/health-rules.ts'
import type { Plain } from './plain-world.ts'

export function healthOf({ kind, object }: Plain): Health {
  return ruledHealth(healthRuleOf({ group: kind.group, kind: kind.kind }), object)
}
