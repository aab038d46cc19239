// Imports internals: the rules of health and of problems, and printer columns, are pure functions of one object, and read nothing; test/gateway/health.test.ts, test/problems and test/gateway/printer-columns.test.ts hold them.
import { type Health, ruledHealth } from '../../src/kubernetes/health/health.ts'
import { healthRuleOf } from '../../src/kubernetes/health/health-rules.ts'
import { decodeNode, encodeNode, unmetBy } from '../../src/kubernetes/problems/pod-placement.ts'
import {
  causeOf,
  isOfSameCause,
  ownCauses,
  tellingOf,
} from '../../src/kubernetes/problems/problem-cause.ts'
import {
  decodeFact,
  lastSuccessIn,
  type ProblemFact,
  type Replicas,
  replicasIn,
  waitsForPod,
} from '../../src/kubernetes/problems/problem-fact.ts'
import { metadataColumns } from '../../src/kubernetes/printing/column.ts'
import { printedKindOf } from '../../src/kubernetes/printing/printed-kinds.ts'
import { problemValuesOf } from '../../src/kubernetes/problems/problem-rules.ts'
import type { Plain } from './plain-world.ts'

export { isOfSameCause, ownCauses, tellingOf }
export type { ProblemFact, Replicas }

/** The class of cause of something that is wrong with an object. */
export const causeIn = ({ kind }: Plain, fact: ProblemFact): string => causeOf(kind, fact)

/** What a pod asks for that no Node has: a text, and what tells it from others. */
export function unmetOf(
  { role }: ProblemFact,
  nodes: readonly Plain[],
): { readonly key: string; readonly message: string } | undefined {
  if (role?.form !== 'unscheduled' || role.claims.length > 0) return undefined
  return unmetBy(
    nodes.map(({ object }) => decodeNode(encodeNode(object))),
    role,
  )
}

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
  /** The pods of a workload. */
  readonly replicas: Replicas | undefined
}

export function factsOf({ kind, object }: Plain): PlainFacts {
  const values = problemValuesOf(kind, () => true)(object)
  const facts = values.map(decodeFact).filter((fact) => fact !== undefined)
  return {
    facts,
    successMs: lastSuccessIn(values),
    waits: values.includes(waitsForPod),
    replicas: replicasIn(values),
  }
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
