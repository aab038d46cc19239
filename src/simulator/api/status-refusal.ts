/*
 * What the simulator refuses, and how it says so: a `Refusal` is an HTTP status with the `Status` body of a kube-apiserver,
 * and a 422 has one cause for each field that breaks a rule. Checks answer with what they `Found`: a problem, a list, or
 * nothing, so that a rule reads as a list of what is wrong.
 */

import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type Status, statusReasons } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'

type Details = NonNullable<Status['details']>

interface RefusalParts {
  /** Default: the usual reason of the HTTP status. */
  readonly reason?: string
  readonly details?: Details
  readonly metadata?: object
  readonly retryAfterSeconds?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Handlers name the reason of these themselves, or give none. */
const unnamed: ReadonlySet<number> = new Set([500, 503])

/** A refused request: the HTTP status and the Status body of the answer. */
export class Refusal extends CodedError {
  readonly httpStatus: number
  readonly status: Status
  readonly headers: Readonly<Record<string, string>>

  constructor(httpStatus: number, message: string, parts: RefusalParts = {}) {
    super('REFUSED', message, { value: httpStatus })
    const { metadata = {}, retryAfterSeconds } = parts
    const usual = unnamed.has(httpStatus) ? undefined : statusReasons[httpStatus]
    const reason = parts.reason ?? usual
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
    const details = { ...parts.details, ...wait }
    this.httpStatus = httpStatus
    this.headers = {
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...parts.headers,
    }
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(parts.details === undefined ? {} : { details }),
      code: httpStatus,
    }
  }
}

interface Named {
  readonly group: string
  readonly resource: string
  readonly name: string
}

export const detailsOf = ({ group, resource, name }: Named): Details => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: resource,
})

const titleOf = (object: Named): string => `${groupResourceOf(object)} "${object.name}"`

export const notFound = (object: Named): Refusal =>
  new Refusal(404, `${titleOf(object)} not found`, { details: detailsOf(object) })

/** A 404 for an unknown resource, or an unknown path of a resource. */
export const noSuchResource = (): Refusal =>
  new Refusal(404, 'the server could not find the requested resource', { details: {} })

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'the server does not allow this method on the requested resource', {
    details: {},
  })

export const alreadyExists = (object: Named, isDeleting: boolean): Refusal => {
  const prefix = isDeleting ? 'object is being deleted: ' : ''
  return new Refusal(409, `${prefix}${titleOf(object)} already exists`, {
    reason: 'AlreadyExists',
    details: detailsOf(object),
  })
}

export const conflict = (object: Named, problem: string = modified): Refusal =>
  new Refusal(409, `Operation cannot be fulfilled on ${titleOf(object)}: ${problem}`, {
    details: detailsOf(object),
  })

const modified =
  'the object has been modified; please apply your changes to the latest version and try again'

export const badRequest = (message: string): Refusal => new Refusal(400, message)

/** What a check found: a problem, a list of what it found, or nothing. */
export type Found<T extends FieldProblem = FieldProblem> =
  | T
  | false
  | undefined
  | readonly Found<T>[]

/** What a check found, as a list. */
export function problemsIn<T extends FieldProblem>(found: Found<T>): readonly T[] {
  if (found === false || found === undefined) return []
  return 'reason' in found ? [found] : found.flatMap((one) => problemsIn(one))
}

/** Throws a 422 with one cause for each problem, if there are any. */
export function refuseInvalid(
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
  found: Found,
): void {
  const problems = problemsIn(found)
  if (problems.length === 0) return
  const texts = problems.map(({ field, message }) => `${field}: ${message}`)
  const message = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  throw new Refusal(422, `${titleOf({ group, resource: kind, name })} is invalid: ${message}`, {
    details: { ...detailsOf({ group, resource: kind, name }), causes: problems },
  })
}

/** A 504: the server has not reached this resource version. */
export const tooLargeResourceVersion = (asked: number, current: number): Refusal =>
  new Refusal(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    },
    retryAfterSeconds: 1,
  })

/** One cause of a 422: a field that breaks a rule, in a kube-apiserver's words. Source: apimachinery's `field.Error`. */
export interface FieldProblem {
  readonly reason:
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueInvalid'
    | 'FieldValueNotFound'
    | 'FieldValueNotSupported'
    | 'FieldValueRequired'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
  readonly message: string
  readonly field: string
}

const withMessage = (text: string, message: string): string =>
  message === '' ? text : `${text}: ${message}`

export const requiredAt = (field: string, message = ''): FieldProblem => ({
  reason: 'FieldValueRequired',
  message: withMessage('Required value', message),
  field,
})

export const invalidAt = (field: string, value: unknown, message: string): FieldProblem => ({
  reason: 'FieldValueInvalid',
  message: withMessage(`Invalid value: ${JSON.stringify(value)}`, message),
  field,
})

export const forbiddenAt = (field: string, message: string): FieldProblem => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
})

export const unsupportedAt = (
  field: string,
  value: unknown,
  supported: readonly unknown[],
): FieldProblem => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
  field,
})

export const duplicateAt = (field: string, value: unknown): FieldProblem => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
})

export const tooLongAt = (field: string, maxBytes: number): FieldProblem => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${maxBytes} bytes`,
  field,
})
