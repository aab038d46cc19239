import type { ServedResource } from '../api/served-resource.ts'
import {
  badRequest,
  continueExpired,
  listExpired,
  tooLargeResourceVersion,
} from '../api/status-refusal.ts'
import type { ResponseSink } from '../faults/fault-effects.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import type { ListQuery } from './list-options.ts'
import type { ObjectText } from './object-text.ts'
import { ChunkedWriter } from './response-sink.ts'
import type { Selection } from './selection.ts'

/** One page of a list: the whole list where there was no limit. */
export interface Page {
  readonly objects: readonly StoredObject[]
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

/** Where a page begins, and at which revision it stands. */
interface PageStart {
  readonly revision: number
  readonly from: string
  /** The token that it continues; `''` for a first page. */
  readonly token: string
}

/** Reads a page, all at once. Throws 410 where the history does not reach back, 504 where the revision is to come. */
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
  // A cache, which revision 0 asks for, knows no pages.
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
  // As in kube-apiserver, a limit without a match asks for exactly this revision: pages need one state.
  const exact = match === 'Exact' || (match === '' && query.limit > 0 && revision > 0)
  return { revision: exact ? revision : current, from: '', token: '' }
}

function expired({ from, token }: PageStart, namespace: string): Error {
  return token === ''
    ? listExpired()
    : continueExpired(encodeContinue({ revision: -1, from }, namespace))
}

/** Where a list goes on. */
interface ContinueToken {
  /** -1: at the present state, which is another one than that of the pages before. */
  readonly revision: number
  /** The first key that may be in the next page. */
  readonly from: string
}

const version = 'meta.k8s.io/v1'

/** Writes a token in kube-apiserver's form. Keys in it are relative to the namespace that is listed. */
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

/** Streams a list, as fast as the client reads it. */
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
