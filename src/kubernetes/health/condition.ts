import { type Fields, fieldsOf, itemsOf, numberOf, textOf } from '../fields.ts'

/** One of `status.conditions`. */
export interface Condition {
  readonly type: string
  /** `True`, `False`, `Unknown`. */
  readonly status: string
  readonly reason: string | undefined
  readonly message: string | undefined
  /** `Error`, `Warning`, `Info`, for kinds that have it. */
  readonly severity: string | undefined
  /** The generation of the object that the condition describes. */
  readonly observedGeneration: number | undefined
}

/** The conditions of an object by type. The first one of each type counts. */
export type Conditions = ReadonlyMap<string, Condition>

export function conditionsIn(list: unknown): Conditions {
  const conditions = new Map<string, Condition>()
  for (const one of itemsOf(list)) {
    const condition = conditionOf(one)
    if (condition !== undefined && !conditions.has(condition.type)) {
      conditions.set(condition.type, condition)
    }
  }
  return conditions
}

export function conditionsOf(object: Fields): Conditions {
  return conditionsIn(fieldsOf(object['status'])['conditions'])
}

function conditionOf(one: Fields): Condition | undefined {
  const [type, status] = [textOf(one['type']), textOf(one['status'])]
  if (type === undefined || status === undefined) return undefined
  return {
    type,
    status,
    reason: textOf(one['reason']),
    message: textOf(one['message']),
    severity: textOf(one['severity']),
    observedGeneration: numberOf(one['observedGeneration']),
  }
}

/** The condition of this type, if it has this status. */
export function conditionWith(
  conditions: Conditions,
  type: string,
  status: 'True' | 'False' | 'Unknown',
): Condition | undefined {
  const condition = conditions.get(type)
  return condition?.status === status ? condition : undefined
}
