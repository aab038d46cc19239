// Imports internals: the rules of health and of problems, and printer columns, are pure functions of one object, and read nothing; test/gateway/health.test.ts, test/problems and test/gateway/printer-columns.test.ts hold them.
import { type Health, ruledHealth } from '../../src/kubernetes/health/health.ts'
import { healthRuleOf } from '../../src/kubernetes/health/health-rules.ts'
import {
  decodeFact,
  lastSuccessIn,
  type ProblemFact,
  waitsForPod,
} from '../../src/kubernetes/problems/problem-fact.ts'
import { metadataColumns } from '../../src/kubernetes/printing/column.ts'
import { printedKindOf } from '../../src/kubernetes/printing/printed-kinds.ts'
import { problemValuesOf } from '../../src/kubernetes/problems/problem-rules.ts'
import type { Plain } from './plain-world.ts'

export type { ProblemFact }

export function healthOf({ kind, object }: Plain): Health | undefined {
  return ruledHealth(healthRuleOf({ group: kind.group, kind: kind.kind }), object)
}

/** What may be wrong with an object, as it alone tells. */
export interface PlainFacts {
  readonly facts: readonly ProblemFact[]
  /** The last success of a CronJob, in milliseconds. */
  readonly successMs: number | undefined
  /** Whether a StorageClass binds volumes when a pod uses them. */
  readonly waits: boolean
}

export function factsOf({ kind, object }: Plain): PlainFacts {
  const values = problemValuesOf(kind, () => true)(object)
  const facts = values.map(decodeFact).filter((fact) => fact !== undefined)
  return { facts, successMs: lastSuccessIn(values), waits: values.includes(waitsForPod) }
}

/** The printer columns of an object, as docs/printer-columns.md has them; `undefined` if its kind is not built in. */
export function columnsOf({ kind, object }: Plain, isWide: boolean): readonly object[] | undefined {
  const printed = printedKindOf(kind)
  const { columns } =
    kind.type === 'Secret' && printed !== undefined ? metadataColumns(printed) : (printed ?? {})
  return columns
    ?.filter(({ priority }) => isWide || priority === 0)
    .map(({ name, type, format, priority, cell }) => {
      const { value, since = null } = cell(object)
      return {
        name,
        type,
        format,
        priority,
        since,
        value: type === 'date' ? since : (value ?? null),
      }
    })
}
