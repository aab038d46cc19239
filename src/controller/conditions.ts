/*
 * Conditions in the status of an object: reading and setting them as apimachinery's `meta` does, in copies, with the checks
 * that the API server would make.
 */

import { timestamp } from '../kubernetes/timestamp.ts'
import type { Condition } from '../kubernetes/wire/meta-v1.ts'
import type { Int64 } from '../kubernetes/scalars.ts'
import { InvalidOptionError } from '../lib/options.ts'

/** A condition in a status: `metav1.Condition`, or a kind's own form of it. */
export interface StatusCondition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string | null
  readonly observedGeneration?: Int64
}

/** A condition to set, without its transition time. */
export interface ConditionUpdate {
  /** `Ready`, or `example.com/Shipped`. */
  readonly type: string
  readonly status: 'False' | 'True' | 'Unknown'
  /** For programs: letters, digits and `_`, such as `OutOfStock`. */
  readonly reason: string
  /** For people. Cut at 32,768 characters. */
  readonly message?: string
  /** The `metadata.generation` of the object that the condition is about. */
  readonly observedGeneration?: number
}

/** What {@link setCondition} returns. */
export interface SetConditions<C extends StatusCondition> {
  /** The list as it was if nothing has changed, else a new one. */
  readonly conditions: readonly C[]
  /** Whether the status has to be written. */
  readonly changed: boolean
}

/**
 * Sets the condition of one type (apimachinery's `meta.SetStatusCondition`) in a copy of the list. The transition time is
 * that of the last change of `status`; other changes keep it. Further members of a condition are kept; a new condition
 * has none. Throws `InvalidOptionError` if the API would refuse the condition.
 */
export function setCondition<C extends StatusCondition = Condition>(
  conditions: readonly C[] | undefined,
  update: ConditionUpdate,
  nowMs: number = Date.now(),
): SetConditions<[C] extends [never] ? Condition : C> {
  const set = withCondition(conditions ?? [], checked(update), nowMs)
  return set as SetConditions<[C] extends [never] ? Condition : C>
}

function withCondition(
  conditions: readonly StatusCondition[],
  update: ConditionUpdate,
  nowMs: number,
): SetConditions<StatusCondition> {
  const { type, status, reason, observedGeneration } = update
  const message = (update.message ?? '').slice(0, maxMessageLength).toWellFormed()
  const before = findCondition(conditions, type)
  const isKept = before?.status === status && typeof before.lastTransitionTime === 'string'
  const condition = {
    ...before,
    type,
    status,
    reason,
    message,
    lastTransitionTime: isKept ? before.lastTransitionTime : timestamp(nowMs),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  }
  if (before === undefined) return { conditions: [...conditions, condition], changed: true }
  const isSame =
    isKept &&
    before.reason === reason &&
    (before.message ?? '') === message &&
    before.observedGeneration === condition.observedGeneration
  if (isSame) return { conditions, changed: false }
  const all = conditions.map((one) => (one.type === type ? condition : one))
  return { conditions: all, changed: true }
}

/** The condition of the type; `undefined` if there is none. */
export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((one) => one.type === type)
}

/** Whether there is a condition of the type, and its status is `True`. */
export function isConditionTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

/** The limits and patterns of `metav1.Condition`. */
const maxMessageLength = 32_768
const maxReasonLength = 1024
const maxTypeLength = 316
const reasonPattern = /^[A-Za-z](?:[\w,:]*\w)?$/
const typePattern = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?$/

function checked(update: ConditionUpdate): ConditionUpdate {
  const { type, status, reason } = update
  if (!typePattern.test(type) || type.length > maxTypeLength) {
    throw new InvalidOptionError('type', type, 'a name such as Ready or example.com/Shipped')
  }
  if (!['False', 'True', 'Unknown'].includes(status)) {
    throw new InvalidOptionError('status', status, "'True', 'False' or 'Unknown'")
  }
  if (!reasonPattern.test(reason) || reason.length > maxReasonLength) {
    throw new InvalidOptionError('reason', reason, 'a word such as OutOfStock, for programs')
  }
  return update
}
