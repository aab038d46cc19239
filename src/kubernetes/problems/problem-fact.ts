/*
 * Facts: what may be wrong with an object, as the object alone tells, and how an index keeps it. The value of a fact begins
 * with its timing and its time, so that the facts that are a problem at some moment are ranges of values. Other values of the
 * index are marks, such as the last success of a CronJob: facts of other objects depend on them.
 */

import { isRecord } from '../../lib/json.ts'
import type { PodPlacement } from './pod-placement.ts'

/** All severities, the worst first. */
export const problemSeverities = ['CRITICAL', 'WARNING'] as const

/**
 * - `CRITICAL`: something does not work
 * - `WARNING`: something works worse than intended, or has not worked for long enough to be sure
 */
export type ProblemSeverity = (typeof problemSeverities)[number]

/** A reference to an owner, or to the object that an Event is about, as the object or the Event has it. */
export interface ReportedObject {
  readonly apiVersion?: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}

/** What a fact means for other objects. */
export type ProblemRole =
  /** A Node that runs nothing at present: the problems of its pods are its own. */
  | { readonly form: 'down' }
  /** A failed pod of a Job. The Job says whether that is a problem. */
  | { readonly form: 'attempt' }
  /** A failed Job that began at this time. A later success of its CronJob makes up for it. */
  | { readonly form: 'run'; readonly began: string | undefined }
  /** A claim that no volume is bound to. Its class may wait for the first pod. */
  | { readonly form: 'claim'; readonly storageClass: string | undefined }
  /** A pod that the scheduler cannot place. Other pods may ask for the same in vain. */
  | ({ readonly form: 'unscheduled' } & PodPlacement)
  /** A Warning Event: so many reports about an object. */
  | { readonly form: 'report'; readonly about: ReportedObject; readonly count: number }

/** When a fact is a problem: at once, from its time on, from a while after its time on, or until a while after it. */
export type ProblemTiming = 'atOnce' | 'from' | 'later' | 'recent'

/** Something that may be wrong with an object. */
export interface ProblemFact {
  readonly timing: ProblemTiming
  /** The time that the timing is about, in RFC 3339. Absent for facts that are a problem at once. */
  readonly at?: string | undefined
  readonly severity: ProblemSeverity
  /** A word for programs: `CrashLoopBackOff`. */
  readonly reason: string
  /** The reason for people. */
  readonly message?: string | undefined
  /** Since when, in RFC 3339, as far as the object says. */
  readonly since?: string | undefined
  readonly role?: ProblemRole | undefined
  /** When another fact takes its place, in RFC 3339. That fact begins at this time. */
  readonly until?: string | undefined
}

/** The rules that `problemRules` can switch off. docs/problems.md says what each of them finds. */
export const problemRuleNames = [
  'blockingDisruptionBudgets',
  'brokenRoutes',
  'endlessJobs',
  'expiringCertificates',
  'expiringTlsSecrets',
  'fullQuotas',
  'missedSchedules',
  'missingReferences',
  'servicesWithoutPods',
  'unreachableClusters',
  'warningEvents',
  'webhooksWithoutEndpoints',
] as const

export type ProblemRuleName = (typeof problemRuleNames)[number]

/** Longer messages are cut: an index keeps them. */
const maxMessage = 1_024

const marks = { atOnce: 'a', from: 'f', later: 'l', recent: 'r' } as const
const successMark = 's'
/** The length of `2026-01-31T10:00:00.000Z`. */
const timeLength = 24

/** A fact as the value of an index. `undefined` for a time that cannot be read. */
export function encodeFact({ timing, at, message, ...rest }: ProblemFact): string | undefined {
  const time = timing === 'atOnce' ? '' : timeText(at)
  if (time === undefined) return undefined
  const cut = message !== undefined && message.length > maxMessage
  const text = cut ? `${message.slice(0, maxMessage)}…` : message
  return `${marks[timing]}${time}${JSON.stringify({ ...rest, message: text })}`
}

export interface DecodedFact extends ProblemFact {
  /** Since when, in milliseconds, as far as the object says. */
  readonly sinceMs: number | undefined
}

/** Facts by their values: reads of problems decode the same ones again and again. */
const decoded = new Map<string, DecodedFact>()
/** Some 4 MB. */
const maxDecoded = 5_000

/** The fact that {@link encodeFact} has encoded. `undefined` for another value. */
export function decodeFact(value: string): DecodedFact | undefined {
  const known = decoded.get(value)
  if (known !== undefined) return known
  const fact = factOf(value)
  if (fact === undefined) return undefined
  if (decoded.size === maxDecoded) decoded.clear()
  decoded.set(value, fact)
  return fact
}

function factOf(value: string): DecodedFact | undefined {
  const timing = (Object.keys(marks) as ProblemTiming[]).find((one) => value[0] === marks[one])
  if (timing === undefined) return undefined
  const start = timing === 'atOnce' ? 1 : 1 + timeLength
  const fact: unknown = JSON.parse(value.slice(start))
  if (!isRecord(fact)) return undefined
  const { reason, severity, message, since, role, until } = fact as unknown as ProblemFact
  const at = timing === 'atOnce' ? undefined : value.slice(1, start)
  const sinceMs = since === undefined ? Number.NaN : Date.parse(since)
  return {
    timing,
    at,
    severity,
    reason,
    message,
    since,
    sinceMs: Number.isNaN(sinceMs) ? undefined : sinceMs,
    role,
    until,
  }
}

/** The value of a StorageClass whose volumes are bound when a pod uses them. */
export const waitsForPod = 'w'

/** The value for the last success of a CronJob. */
export function encodeSuccess(time: string): string | undefined {
  const text = timeText(time)
  return text === undefined ? undefined : successMark + text
}

/** The time of the last success among an object's values, in milliseconds. */
export function lastSuccessIn(values: readonly string[]): number | undefined {
  const value = values.find((one) => one.startsWith(successMark))
  return value === undefined ? undefined : Date.parse(value.slice(1))
}

/** The pods of a workload. */
export interface Replicas {
  readonly ready: number
  readonly wanted: number
}

const replicasMark = 'p'

/** The value for the pods of a workload. */
export function encodeReplicas({ ready, wanted }: Replicas): string {
  return `${replicasMark}${ready}/${wanted}`
}

/** The pods of a workload, from its values. */
export function replicasIn(values: readonly string[]): Replicas | undefined {
  const value = values.find((one) => one.startsWith(replicasMark))
  if (value === undefined) return undefined
  const [ready, wanted] = value.slice(1).split('/').map(Number)
  return ready === undefined || wanted === undefined ? undefined : { ready, wanted }
}

/** A range of values: from the first one, up to but not including the second one. */
export type FactRange = readonly [from: string, until: string]

/**
 * The ranges of the facts that are a problem now, if a problem `later` begins `afterMs` after its time: those `atOnce`, then
 * those of the other timings.
 */
export function factRanges(nowMs: number, afterMs: number): readonly FactRange[] {
  const [now, bound] = [nowMs, nowMs - afterMs].map((ms) => new Date(ms).toISOString())
  const { atOnce, from, later, recent } = marks
  return [
    [atOnce, after(atOnce)],
    [from, `${from}${now}`],
    [later, `${later}${bound}`],
    [`${recent}${bound}`, after(recent)],
  ]
}

/** Whether another fact has taken the place of one. */
export function isOver({ until }: ProblemFact, nowMs: number): boolean {
  return until !== undefined && Date.parse(until) < nowMs
}

/** Whether a value is a fact, and not a mark. */
export function isFact([mark]: string): boolean {
  return Object.values(marks).some((one) => one === mark)
}

/** When the passing of time makes a fact a problem, or ends it, in milliseconds; `Infinity` if it does neither any more. */
export function turnOfFact(value: string, nowMs: number, afterMs: number): number {
  if (value[0] === marks.atOnce || !isFact(value)) return Infinity
  const timeMs = Date.parse(value.slice(1, 1 + timeLength))
  const turnMs = value[0] === marks.from ? timeMs : timeMs + afterMs
  return turnMs >= nowMs ? turnMs : Infinity
}

function after(mark: string): string {
  return String.fromCodePoint((mark.codePointAt(0) ?? 0) + 1)
}

function timeText(time: string | undefined): string | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) || ms < 0 || ms > latestMs ? undefined : new Date(ms).toISOString()
}

/** Later years have more digits. */
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')
