import type { ServedResource } from '../api/served-resource.ts'
import { badRequest, Refusal, tooLargeResourceVersion } from '../api/status-refusal.ts'
import type { ResponseSink } from '../faults/fault-effects.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { ListQuery, Selection } from './list-query.ts'
import type { ObjectText } from './representation.ts'
import { ChunkedWriter } from './response-sink.ts'

/** One page of a list: the whole list if the request has no limit. */
export interface Page {
  readonly objects: readonly StoredObject[]
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

/** The start of a page, and its revision. */
interface PageStart {
  readonly revision: number
  readonly from: string
  /** The continue token of the request; `''` for a first page. */
  readonly token: string
}

/** Reads a page within one tick. Throws 410 for revisions before the history and 504 for future revisions. */
export function listPage(
  storage: Storage,
  served: ServedResource,
  selection: Selection,
  query: ListQuery,
): Page {
  const start = pageStart(storage, selection.namespace, query)
  const { namespace, test } = selection
  const snapshot = storage
    .store(served.stored)
    .snapshot(start.revision, { namespace, from: start.from })
  if (snapshot === undefined) throw expired(start, namespace)
  // Revision 0 asks for a cached list, which has no pages.
  const limit = query.revision === 0 || query.limit === 0 ? Infinity : query.limit
  const objects: StoredObject[] = []
  let next: StoredObject | undefined
  for (const object of snapshot.objects) {
    if (objects.length === limit) {
      next = object
      break
    }
    if (test === undefined || test(object)) objects.push(object)
  }
  const resourceVersion = String(start.revision)
  const last = objects.at(-1)
  if (next === undefined || last === undefined) return { objects, metadata: { resourceVersion } }
  return {
    objects,
    metadata: {
      resourceVersion,
      continue: encodeContinue({ revision: start.revision, from: `${last.key}\0` }, namespace),
      ...(test === undefined ? { remainingItemCount: snapshot.size - objects.length } : {}),
    },
  }
}

function pageStart(storage: Storage, namespace: string, query: ListQuery): PageStart {
  const { revision = 0, match } = query
  const current = storage.revision
  if (query.continue !== '') {
    const token = decodeContinue(query.continue, namespace)
    if (revision !== 0) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    const at = token.revision === -1 ? current : token.revision
    if (at > current) throw tooLargeResourceVersion(at, current)
    return { revision: at, from: token.from, token: query.continue }
  }
  if (revision > current) throw tooLargeResourceVersion(revision, current)
  // A limit without a match asks for exactly this revision, as in a kube-apiserver: all pages show one state.
  const exact = match === 'Exact' || (match === '' && query.limit > 0 && revision > 0)
  return { revision: exact ? revision : current, from: '', token: '' }
}

function expired({ from, token }: PageStart, namespace: string): Error {
  if (token === '') {
    return new Refusal(410, 'The resourceVersion for the provided list is too old.')
  }
  // The new token continues from the present state.
  return new Refusal(
    410,
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
      'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
      'modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    { metadata: { continue: encodeContinue({ revision: -1, from }, namespace) } },
  )
}

/** The position at which a list continues. */
interface ContinueToken {
  /** -1 for the present state, which differs from the state of earlier pages. */
  readonly revision: number
  /** The lowest possible key of the next page. */
  readonly from: string
}

const version = 'meta.k8s.io/v1'

/** Writes a token in kube-apiserver's form. Its key is relative to the listed namespace. */
function encodeContinue({ revision, from }: ContinueToken, namespace: string): string {
  const start = `/${namespace === '' ? from : from.slice(namespace.length + 1)}`
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url')
}

/** Reads a token. Throws 400. */
function decodeContinue(token: string, namespace: string): ContinueToken {
  let value: { v?: unknown; rv?: unknown; start?: unknown } | null
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString()) as typeof value
  } catch (error) {
    throw invalidToken(`continue key is not valid: ${(error as Error).message}`)
  }
  if (value?.v !== version) {
    throw invalidToken('continue key is not valid: server does not recognize this encoded version')
  }
  const { rv, start } = value
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken('continue key is not valid: incorrect encoded start resourceVersion')
  }
  if (typeof start !== 'string' || start === '') {
    throw invalidToken('continue key is not valid: encoded start key empty')
  }
  const key = start.replace(/^\//, '')
  return { revision: rv, from: namespace === '' ? key : `${namespace}/${key}` }
}

const invalidToken = (problem: string): Error => badRequest(`invalid continue token: ${problem}`)

const comma = Buffer.from(',')

/** Streams a list at the speed of the client. */
export async function sendList(page: Page, text: ObjectText, sink: ResponseSink): Promise<void> {
  const writer = new ChunkedWriter(sink)
  writer.add(Buffer.from(text.listHead(page.metadata)))
  let first = true
  for (const object of page.objects) {
    if (!first) writer.add(comma)
    first = false
    if (writer.add(...text.item(object)) && !(await writer.flush())) return
  }
  writer.add(Buffer.from(']}\n'))
  if (await writer.flush()) sink.end()
}
