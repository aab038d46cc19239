/*
 * Refusals of an API server: the `Status` that it sends, the error that it becomes, and the tests that tell refusals apart.
 */

import { type Fields, itemsOf, textOf } from './fields.ts'
import { CodedError } from '../lib/coded-error.ts'

/** The `Status` object of a refusal by a Kubernetes API server. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata?: object
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  /** `NotFound`, `Expired`, `Conflict`, `Forbidden`, … */
  readonly reason?: string
  /** The HTTP status. */
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly causes?: readonly { reason?: string; message?: string; field?: string }[]
    readonly retryAfterSeconds?: number
  }
}

/** The API server refused a request: a response outside 2xx, or an ERROR event in a watch. */
export class ApiStatusError extends CodedError {
  readonly status: Status
  /** The HTTP status, or the `code` of an ERROR event's Status; 0 if neither exists. */
  readonly httpStatus: number
  /** How long the server asks to wait, by `Retry-After` or by the Status. */
  readonly retryAfterMs: number | undefined

  constructor(request: string, httpStatus: number, status: Status, retryAfterMs?: number) {
    const reason = textOf(status.reason)
    const message = textOf(status.message) ?? 'no message'
    super(
      'API_STATUS',
      `${request}: ${httpStatus}${reason === undefined ? '' : ` ${reason}`}: ${message}`,
      httpStatus === 401 ? { hint: unknownCredentials } : {},
    )
    this.status = status
    this.httpStatus = httpStatus
    const seconds: unknown = status.details?.retryAfterSeconds
    this.retryAfterMs = retryAfterMs ?? (typeof seconds === 'number' ? seconds * 1000 : undefined)
  }
}

const unknownCredentials =
  'the server does not accept these credentials: log in again, or check the user of the context in the kubeconfig'

/** 404: there is no such object or resource. */
export function isNotFound(error: unknown): boolean {
  return isRefusal(error, 404, 'NotFound')
}

/**
 * 409: the object has changed since it was read, or is another one. Read it again, then write. Excludes the 409 of
 * {@link isAlreadyExists}.
 */
export function isConflict(error: unknown): boolean {
  return isRefusal(error, 409, 'Conflict')
}

/** 409: there is already an object of that name. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiStatusError && error.status.reason === 'AlreadyExists'
}

function isRefusal(error: unknown, httpStatus: number, reason: string): boolean {
  if (!(error instanceof ApiStatusError)) return false
  const given = textOf(error.status.reason)
  return given === undefined ? error.httpStatus === httpStatus : given === reason
}

/** 410: the resource version or continue token is older than the server's history. */
export function isExpired(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false
  const { reason } = error.status
  return error.httpStatus === 410 || reason === 'Expired' || reason === 'Gone'
}

/** The server is behind the requested resource version, which it reports in one of three ways. */
export function isTooLargeResourceVersion(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false
  const { message, details } = error.status
  const causes: unknown = details?.causes
  const reports: readonly Fields[] = [{ message }, ...itemsOf(causes)]
  return reports.some(
    ({ reason, message: text }) =>
      reason === 'ResourceVersionTooLarge' ||
      textOf(text)?.includes('Too large resource version') === true,
  )
}

/** 429: the server asks to retry later. */
export function isTooManyRequests(error: unknown): boolean {
  return error instanceof ApiStatusError && error.httpStatus === 429
}

export function failureStatus(
  code: number,
  reason: string,
  message: string,
  details?: Status['details'],
): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  }
}

export const statusReasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}
