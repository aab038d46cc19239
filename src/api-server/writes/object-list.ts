/*
 * Lists objects page by page at the API server. If the reader takes too long, the server forgets the state of the first
 * page, and the list expires. Then `whenExpired` decides between an error, a new list, and pages of another moment.
 */

import { type ApiResource, apiVersionOf, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { fieldsOf } from '../../kubernetes/fields.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import { type ApiStatusError, isExpired } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'
import { aLimit, aString, type OptionChecks, oneOf } from '../../lib/options.ts'
import { UnexpectedAnswerError } from '../transport/json-request.ts'
import { readChecks, type ReadOptions } from './write-options.ts'

/** The selection of a list, and how to read it. `deadlineMs` applies to each page. */
export interface ListObjectsOptions extends ReadOptions {
  /** Default: all namespaces. */
  readonly namespace?: string
  /** `app=web,tier!=cache` */
  readonly labelSelector?: string
  /** `spec.nodeName=worker-1` */
  readonly fieldSelector?: string
  /** Objects per page; `Infinity` for one page. */
  readonly limit?: number
  /**
   * What to do if the server has forgotten the state of the first page (410), minutes after that page. `fail`: throw
   * {@link ListExpiredError}. `restart`: begin again, up to three times; all objects come once more. `inconsistent`:
   * continue with the rest in its present state; then the list does not show a single moment.
   */
  readonly whenExpired?: 'fail' | 'restart' | 'inconsistent'
}

/** The defaults of {@link ListObjectsOptions}. */
export const listDefaults = { limit: 500, whenExpired: 'fail' } as const

export const listChecks: OptionChecks<ListObjectsOptions> = {
  ...readChecks,
  namespace: aString,
  labelSelector: aString,
  fieldSelector: aString,
  limit: aLimit(1),
  whenExpired: oneOf('fail', 'restart', 'inconsistent'),
}

/** A page of a list. */
export interface ObjectPage<T extends KubernetesObject = KubernetesObject> {
  readonly items: readonly T[]
  /** The version of the state that the page shows: equal for all pages, unless the list is {@link isInconsistent}. */
  readonly resourceVersion: string
  /** The number of objects that follow, if the server counts them. */
  readonly remaining: number | undefined
  /** The number of times the list has begun again. When it grows, forget the objects of earlier pages. */
  readonly restarts: number
  /** Whether this page shows a later state than the first ones, after `whenExpired: 'inconsistent'`. */
  readonly isInconsistent: boolean
}

/** An uncached list: the objects one by one, or by pages. Each iteration begins anew, and sends the first request. */
export interface ObjectList<
  T extends KubernetesObject = KubernetesObject,
> extends AsyncIterable<T> {
  pages(): AsyncIterable<ObjectPage<T>>
}

/** The server has forgotten the state that the pages of a list show, before all were read. */
export class ListExpiredError extends CodedError {
  constructor(resource: ApiResource, pages: number, cause: ApiStatusError) {
    super('LIST_EXPIRED', `the list of ${groupResourceOf(resource)} expired after page ${pages}`, {
      cause,
      hint: "read pages sooner, or give whenExpired: 'restart' or 'inconsistent'",
    })
  }
}

/** Requests one page. */
type RequestPage = (query: URLSearchParams) => Promise<unknown>

const maxRestarts = 3

/** A list whose pages come from `request`. */
export function objectList<T extends KubernetesObject>(
  resource: ApiResource,
  options: ListObjectsOptions,
  request: RequestPage,
): ObjectList<T> {
  const pages = (): AsyncGenerator<ObjectPage<T>> => readPages<T>(resource, options, request)
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    },
  }
}

async function* readPages<T extends KubernetesObject>(
  resource: ApiResource,
  options: ListObjectsOptions,
  request: RequestPage,
): AsyncGenerator<ObjectPage<T>, void, undefined> {
  const { labelSelector = '', fieldSelector = '' } = options
  const { limit = listDefaults.limit, whenExpired = listDefaults.whenExpired } = options
  let next: string | undefined
  let count = 0
  let restarts = 0
  let isInconsistent = false
  let expiredAt = -1
  do {
    let answer: unknown
    try {
      const query = new URLSearchParams()
      if (labelSelector !== '') query.set('labelSelector', labelSelector)
      if (fieldSelector !== '') query.set('fieldSelector', fieldSelector)
      if (Number.isFinite(limit)) query.set('limit', String(Math.floor(limit)))
      if (next !== undefined) query.set('continue', next)
      answer = await request(query)
    } catch (error) {
      if (next === undefined || !isExpired(error)) throw error
      const expired = error as ApiStatusError
      // The token in a 410 continues with the present state.
      const rest = fieldsOf(fieldsOf(expired.status)['metadata'])['continue'] ?? ''
      const isRest = typeof rest === 'string' && rest !== ''
      if (whenExpired === 'inconsistent' && isRest && expiredAt !== count) {
        isInconsistent = true
        expiredAt = count
        next = rest
        continue
      }
      if (whenExpired !== 'restart' || restarts === maxRestarts) {
        throw new ListExpiredError(resource, count, expired)
      }
      restarts += 1
      count = 0
      next = undefined
      continue
    }
    const { items, metadata } = listOf(resource, answer)
    if (metadata.next !== undefined && metadata.next === next) {
      throw new UnexpectedAnswerError(titleOf(resource), 'a page leads to itself', next)
    }
    next = metadata.next
    count += 1
    const { resourceVersion, remaining } = metadata
    yield { items: items as T[], resourceVersion, remaining, restarts, isInconsistent }
  } while (next !== undefined || count === 0)
}

interface ReadList {
  readonly items: readonly object[]
  readonly metadata: {
    readonly resourceVersion: string
    readonly remaining: number | undefined
    readonly next: string | undefined
  }
}

/** The items of a list, with their kind added, which lists leave out. */
function listOf(resource: ApiResource, answer: unknown): ReadList {
  const { items: given, metadata: about }: Readonly<Record<string, unknown>> = isRecord(answer)
    ? answer
    : {}
  const items = given ?? []
  if (!isRecord(about) || !Array.isArray(items) || !items.every(isRecord)) {
    throw new UnexpectedAnswerError(titleOf(resource), 'the answer is not a list', answer)
  }
  const { resourceVersion, remainingItemCount, continue: next } = about
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  return {
    items: items.map((item) => ({ ...type, ...item })),
    metadata: {
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      remaining: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
      next: typeof next === 'string' && next !== '' ? next : undefined,
    },
  }
}

const titleOf = (resource: ApiResource): string => `a list of ${groupResourceOf(resource)}`
