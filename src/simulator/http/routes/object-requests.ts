import type { Unstructured } from '../../../kubernetes/object.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import type { OpenApiDocument } from '../../api/captured-api.ts'
import { type Exchange, beginJson, sendJson } from '../simulated-exchange.ts'
import { JsonPatchError, jsonPatch } from '../../writes/patch/json-patch.ts'
import { mergePatch } from '../../writes/patch/merge-patch.ts'
import { objectText } from '../object-text.ts'
import { deleteObject, type DeleteOptions } from '../../writes/object-deletion.ts'
import {
  createObject,
  currentObject,
  updateObject,
  type WriteTarget,
} from '../../writes/object-writes.ts'
import { badRequest, notFound, Refusal } from '../../api/status-refusal.ts'
import { representationOf } from '../accept-header.ts'
import { checkedObject, contentType, parseBody, parseObject, readBody } from '../request-body.ts'
import type { Storage } from '../../storage/storage.ts'
import { strategicMergePatch } from '../../writes/patch/strategic-merge-patch.ts'

/** A request about one object, or to create one. */
export interface ObjectRequest extends WriteTarget {
  readonly exchange: Exchange
  readonly storage: Storage
  /** `''`, or `status`. */
  readonly subresource: string
}

const dryRunOf = ({ exchange }: ObjectRequest): { readonly dryRun: boolean } => ({
  dryRun: exchange.params.getAll('dryRun').includes('All'),
})

function sendObject({ exchange }: ObjectRequest, status: number, object: Unstructured): void {
  const shown = representationOf(exchange.request.headers.accept, false)
  const { kind, apiVersion, metadata } = object
  sendJson(
    exchange,
    status,
    shown === 'metadata'
      ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
      : Object.assign({ kind, apiVersion, metadata }, object),
  )
}

export function getObject({ exchange, storage, served, namespace, name }: ObjectRequest): void {
  const shown = representationOf(exchange.request.headers.accept, false)
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...served, name })
  beginJson(exchange)
  exchange.response.end(
    Buffer.concat([...objectText(served, shown).whole(found), Buffer.from('\n')]),
  )
}

export async function postObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const body = await readBody(exchange.request)
  const object = parseObject(body, contentType(exchange.request), served)
  sendObject(request, 201, createObject(storage, { served, namespace }, object, dryRunOf(request)))
}

export async function putObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, subresource } = request
  const body = await readBody(exchange.request)
  const object = parseObject(body, contentType(exchange.request), served)
  sendObject(
    request,
    200,
    updateObject(storage, request, object, { ...dryRunOf(request), subresource }),
  )
}

export async function patchObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, subresource } = request
  const body = await readBody(exchange.request)
  const apply = patchers[contentType(exchange.request)]
  if (apply === undefined) {
    throw new Refusal(415, '415: Unsupported Media Type', {
      reason: 'UnsupportedMediaType',
      details: {},
    })
  }
  const patch = parsedPatch(body)
  const patched = checkedObject(apply(currentObject(storage, request), patch, request), served)
  // The version that stands in the patched object is the current one unless the patch says another: a precondition.
  sendObject(
    request,
    200,
    updateObject(storage, request, patched, { ...dryRunOf(request), subresource }),
  )
}

function parsedPatch(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`)
  }
}

/** The patch types by their media types. Server-side apply is not played: 415. */
const patchers: Readonly<
  Record<string, (current: Unstructured, patch: unknown, request: ObjectRequest) => unknown>
> = {
  'application/merge-patch+json': mergePatch,
  'application/json-patch+json': (current, patch) => {
    if (!Array.isArray(patch))
      throw badRequest('error decoding patch: it is not an array of operations')
    try {
      return jsonPatch(current, patch)
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error
      const message = 'the server rejected our request due to an error in our request'
      throw new Refusal(422, message, { reason: 'Invalid', details: {} })
    }
  },
  'application/strategic-merge-patch+json': (current, patch, { served, storage }) => {
    if (served.stored.custom) {
      const message = '415: Unsupported Media Type'
      throw new Refusal(415, message, { reason: 'UnsupportedMediaType', details: {} })
    }
    const path = served.group === '' ? `api/${served.version}` : `apis/${served.apiVersion}`
    const document: OpenApiDocument | undefined = storage.registry.captured.openapi[path]
    return document === undefined
      ? mergePatch(current, patch)
      : strategicMergePatch(current, patch, document, served)
  },
}

export async function removeObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, name } = request
  const body = await readBody(exchange.request)
  const options = (parseBody(body, contentType(exchange.request), 'DeleteOptions') ??
    {}) as DeleteOptions
  const deletion = deleteObject(storage, request, options, dryRunOf(request))
  if (deletion.kind === 'object') {
    sendObject(request, 200, deletion.object)
    return
  }
  const { group, resource: kind } = served
  sendJson(exchange, 200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind, uid: deletion.uid },
  })
}
