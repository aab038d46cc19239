import type { Unstructured } from '../../../kubernetes/object.ts'
import { objectKey } from '../../../kubernetes/object.ts'
import { notFound } from '../../api/status-refusal.ts'
import type { Storage } from '../../storage/storage.ts'
import { storedObject } from '../../storage/stored-object.ts'
import { createObject } from '../../writes/object-creation.ts'
import { deleteObject } from '../../writes/object-deletion.ts'
import { updateObject } from '../../writes/object-update.ts'
import type { WriteTarget } from '../../writes/write-target.ts'
import { representationOf, type Representation } from '../accept-header.ts'
import { objectText } from '../object-text.ts'
import { contentType, parseObject, readBody } from '../request-body.ts'
import { beginJson, type Exchange, sendBytes, sendJson } from '../exchange.ts'
import { readDeleteRequest, writeOptions } from './write-parameters.ts'

/** A request that reads, writes or creates one object. */
export interface ObjectRequest extends WriteTarget {
  readonly exchange: Exchange
  readonly storage: Storage
  /** `''`, `status`, `scale` or `eviction`. */
  readonly subresource: string
}

/** The representation of the request's object. Throws 406. */
export function requestedRepresentation({
  exchange: { request, params },
}: ObjectRequest): Representation {
  return representationOf({ accept: request.headers.accept, params }, false)
}

const lineEnd = Buffer.from('\n')

/** Answers with a written object. */
export function sendObject(
  { exchange, storage, served }: ObjectRequest,
  status: number,
  object: Unstructured,
  shown: Representation,
): void {
  const { kind, apiVersion, metadata } = object
  if (shown.kind === 'object') {
    sendJson(exchange, status, Object.assign({ kind, apiVersion, metadata }, object))
  } else if (shown.kind === 'metadata') {
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
    sendJson(exchange, status, partial)
  } else {
    const held = served.stored.convert(object, served.stored.apiVersion)
    const text = storedObject(held, Number(metadata.resourceVersion ?? 0), () => [])
    beginJson(exchange, status)
    const { captured } = storage.registry
    exchange.response.end(
      Buffer.concat([...objectText(captured, served, shown).whole(text), lineEnd]),
    )
  }
}

export function getObject(request: ObjectRequest): void {
  const { exchange, storage, served, namespace, name } = request
  const shown = requestedRepresentation(request)
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...served, name })
  const text = objectText(storage.registry.captured, served, shown)
  sendBytes(exchange, Buffer.concat([...text.whole(found), lineEnd]))
}

export async function postObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, namespace } = request
  const body = await readBody(exchange.request)
  const shown = requestedRepresentation(request)
  const object = parseObject(body, contentType(exchange.request), served)
  const created = createObject(
    storage,
    { served, namespace },
    object,
    writeOptions(request.exchange),
  )
  sendObject(request, 201, created, shown)
}

export async function putObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, subresource } = request
  const body = await readBody(exchange.request)
  const shown = requestedRepresentation(request)
  const object = parseObject(body, contentType(exchange.request), served)
  const options = { ...writeOptions(request.exchange), subresource }
  sendObject(request, 200, updateObject(storage, request, object, options), shown)
}

export async function removeObject(request: ObjectRequest): Promise<void> {
  const { exchange, storage, served, name } = request
  const { options, dryRun } = await readDeleteRequest(exchange)
  const shown = requestedRepresentation(request)
  const deletion = deleteObject(storage, request, options, { dryRun })
  if (deletion.kind === 'object') {
    sendObject(request, 200, deletion.object, shown)
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
