import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { Status } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'

type Details = NonNullable<Status['details']>

interface RefusalParts {
  readonly reason?: string
  readonly details?: Details
  readonly metadata?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A refused request: the HTTP status and the Status body of the answer. */
export class Refusal extends CodedError {
  readonly httpStatus: number
  readonly status: Status
  /** Headers beside the usual ones. */
  readonly headers: Readonly<Record<string, string>>

  constructor(httpStatus: number, message: string, parts: RefusalParts = {}) {
    super('REFUSED', message, { value: httpStatus })
    this.httpStatus = httpStatus
    this.headers = parts.headers ?? {}
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: parts.metadata ?? {},
      status: 'Failure',
      message,
      ...(parts.reason === undefined ? {} : { reason: parts.reason }),
      ...(parts.details === undefined ? {} : { details: parts.details }),
      code: httpStatus,
    }
  }
}

/** The object of a refusal. */
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

export const notFound = (object: Named): Refusal =>
  new Refusal(404, `${groupResourceOf(object)} "${object.name}" not found`, {
    reason: 'NotFound',
    details: detailsOf(object),
  })

/** A 404 for an unknown resource, or an unknown path of a resource. */
export const noSuchResource = (): Refusal =>
  new Refusal(404, 'the server could not find the requested resource', {
    reason: 'NotFound',
    details: {},
  })

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'the server does not allow this method on the requested resource', {
    reason: 'MethodNotAllowed',
    details: {},
  })

export const alreadyExists = (object: Named, deleting: boolean): Refusal =>
  new Refusal(
    409,
    `${deleting ? 'object is being deleted: ' : ''}${groupResourceOf(object)} "${object.name}" already exists`,
    { reason: 'AlreadyExists', details: detailsOf(object) },
  )

export const conflict = (object: Named, problem: string = modified): Refusal =>
  new Refusal(
    409,
    `Operation cannot be fulfilled on ${groupResourceOf(object)} "${object.name}": ${problem}`,
    { reason: 'Conflict', details: detailsOf(object) },
  )

const modified =
  'the object has been modified; please apply your changes to the latest version and try again'

export const badRequest = (message: string): Refusal =>
  new Refusal(400, message, { reason: 'BadRequest' })

export const notAcceptable = (message: string): Refusal =>
  new Refusal(406, message, { reason: 'NotAcceptable' })

/** Throws a 422 with one cause for each problem, if there are any. */
export function refuseInvalid(
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
  problems: readonly FieldProblem[],
): void {
  if (problems.length === 0) return
  const texts = problems.map(({ field, message }) => `${field}: ${message}`)
  const what = group === '' ? kind : `${kind}.${group}`
  const message = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  throw new Refusal(422, `${what} "${name}" is invalid: ${message}`, {
    reason: 'Invalid',
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind,
      causes: problems,
    },
  })
}

/** A 504: the server has not reached this resource version. */
export const tooLargeResourceVersion = (asked: number, current: number): Refusal =>
  new Refusal(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    reason: 'Timeout',
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    headers: { 'retry-after': '1' },
  })

/** A 410: the history no longer holds the resource version of a LIST. */
export const listExpired = (): Refusal =>
  new Refusal(410, 'The resourceVersion for the provided list is too old.', { reason: 'Expired' })

/**
 * A 410: the history no longer holds the revision of a continue token. `token` continues from the present state
 * instead.
 */
export const continueExpired = (token: string): Refusal =>
  new Refusal(
    410,
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
      'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
      'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { reason: 'Expired', metadata: { continue: token } },
  )

/** The ERROR event of a watch that starts before the history. */
export const watchExpired = (asked: number, oldest: number): Refusal =>
  new Refusal(410, `too old resource version: ${asked} (${oldest})`, { reason: 'Expired' })

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
