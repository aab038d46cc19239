import type { Unstructured } from '../../kubernetes/object.ts'
import { textOf } from '../../kubernetes/fields.ts'
import { isJsonObject } from '../../lib/json.ts'
import { kindSchema } from '../api/captured-api.ts'
import { parseJson, parseYaml } from '../api/json.ts'
import { badRequest, forbiddenAt, Refusal, requiredAt } from '../api/status-refusal.ts'
import { currentObject, updateObject } from '../writes/object-writes.ts'
import { jsonPatch, JsonPatchError, mergePatch, strategicMergePatch } from '../writes/patches.ts'
import { applyObject } from '../writes/server-side-apply.ts'
import { representationOf } from './representation.ts'
import { checkedObject, contentType, readBody } from './request-body.ts'
import {
  refuseOptions,
  type ResourceRequest,
  sendObject,
  writeOptions,
} from './resource-request.ts'

/** Patches an object or a subresource in one of the four ways. */
export async function patchObject(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, subresource } = request
  const body = await readBody(exchange.request)
  const shown = representationOf(exchange, false)
  if (contentType(exchange.request) === applyType) {
    const { object, created } = apply(request, body)
    sendObject(request, created ? 201 : 200, object, shown)
    return
  }
  if (exchange.params.has('force')) {
    refuseOptions('PatchOptions', [
      forbiddenAt('force', 'may not be specified for non-apply patch'),
    ])
  }
  const patch = patchOf(request, body)
  const patched = checkedObject(patch(currentObject(storage, request)), served)
  // The patched object has the current version, unless the patch sets another: a precondition.
  const options = {
    ...writeOptions(request.exchange),
    subresource,
    strictRefusal: (problem: string) => notDecoded(patched, problem),
  }
  sendObject(request, 200, updateObject(storage, request, patched, options), shown)
}

const applyType = 'application/apply-patch+yaml'

function apply(request: ResourceRequest, body: Buffer): ReturnType<typeof applyObject> {
  const { exchange, storage, served, subresource } = request
  const { params } = exchange
  if ((params.get('fieldManager') ?? '') === '') {
    refuseOptions('PatchOptions', [requiredAt('fieldManager', 'is required for apply patch')])
  }
  const value = configuration(body)
  const given = isJsonObject(value) ? value : {}
  const { apiVersion, kind, metadata } = given
  if (apiVersion !== served.apiVersion || kind !== served.kind) {
    const version = textOf(apiVersion) ?? ''
    const group = version.includes('/') ? version : `/${version}`
    throw badRequest(`invalid object type: ${group}, Kind=${textOf(kind) ?? ''}`)
  }
  if (isJsonObject(metadata) && metadata['managedFields'] !== undefined) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const force = ['', 'true', '1'].includes(params.get('force') ?? 'false')
  const options = { ...writeOptions(request.exchange), subresource, force }
  return applyObject(storage, request, checkedObject(value, served), options)
}

function configuration(body: Buffer): unknown {
  try {
    return parseYaml(body.toString())
  } catch (error) {
    const message = `error decoding YAML: error converting YAML to JSON: yaml: ${(error as Error).message}`
    throw badRequest(message)
  }
}

const notDecoded = (patched: object, problem: string): Refusal => {
  const cause = `Invalid value: ${JSON.stringify(JSON.stringify(patched))}: ${problem}`
  return new Refusal(422, ` "" is invalid: patch: ${cause}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', message: cause, field: 'patch' }] },
  })
}

/** Reads a patch of the request's media type. Throws 415 for an unknown type and 400 for an invalid body. */
export function patchOf(
  { exchange, served, storage }: ResourceRequest,
  body: Buffer,
): (current: Unstructured) => unknown {
  const type = contentType(exchange.request)
  if (type === 'application/merge-patch+json') {
    const patch = parsedPatch(body)
    return (current) => mergePatch(current, patch)
  }
  if (type === 'application/json-patch+json') {
    const patch = parsedPatch(body)
    return (current) => jsonPatched(current, patch)
  }
  if (type === 'application/strategic-merge-patch+json' && !served.stored.custom) {
    const patch = parsedPatch(body)
    const schema = kindSchema(storage.registry.captured, served)
    return (current) => strategicMergePatch(current, patch, schema)
  }
  throw new Refusal(415, '415: Unsupported Media Type', { details: {} })
}

function jsonPatched(current: Unstructured, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest('error decoding patch: it is not an array of operations')
  }
  try {
    return jsonPatch(current, patch)
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    const message = 'the server rejected our request due to an error in our request'
    throw new Refusal(422, message, { details: {} })
  }
}

function parsedPatch(body: Buffer): unknown {
  try {
    return parseJson(body.toString())
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`)
  }
}
