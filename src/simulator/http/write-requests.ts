import type { Unstructured } from '../../kubernetes/object.ts'
import { fieldsOf, textOf } from '../../kubernetes/fields.ts'
import { kindSchema } from '../api/captured-api.ts'
import { parseJson, parseYaml } from '../api/json.ts'
import { badRequest, forbiddenAt, Refusal, requiredAt } from '../api/status-refusal.ts'
import { createObject, currentObject, updateObject } from '../writes/object-writes.ts'
import { jsonPatch, JsonPatchError, mergePatch, strategicMergePatch } from '../writes/patches.ts'
import { applyObject } from '../writes/server-side-apply.ts'
import { representationOf } from './representation.ts'
import { checkedObject, contentType, parseObject, readBody } from './request-body.ts'
import {
  refuseOptions,
  type ResourceRequest,
  sendObject,
  writeOptions,
} from './resource-request.ts'

/**
 * Creates an object (POST), or writes an object or its status (PUT, and PATCH in one of four ways). A request is read
 * whole before anything is checked. Throws refusals.
 */
export async function writeObject(request: ResourceRequest, verb: string): Promise<void> {
  const { exchange, storage, served } = request
  const body = await readBody(exchange.request)
  const type = contentType(exchange.request)
  const shown = representationOf(exchange, false)
  if (type === applyType && verb === 'patch') {
    const { object, created } = apply(request, body)
    sendObject(request, created ? 201 : 200, object, shown)
    return
  }
  if (verb !== 'patch') {
    const given = parseObject(body, type, served)
    const isNew = verb === 'create'
    const write = isNew ? createObject : updateObject
    const object = write(storage, request, given, writeOptions(request))
    sendObject(request, isNew ? 201 : 200, object, shown)
    return
  }
  if (exchange.params.has('force')) {
    const problem = forbiddenAt('force', 'may not be specified for non-apply patch')
    refuseOptions('PatchOptions', [problem])
  }
  const patch = patchOf(request, body)
  const patched = checkedObject(patch(currentObject(storage, request)), served)
  // The patched object has the current version, unless the patch sets another: a precondition.
  const options = {
    ...writeOptions(request),
    strictRefusal: (problem: string) => notDecoded(patched, problem),
  }
  sendObject(request, 200, updateObject(storage, request, patched, options), shown)
}

const applyType = 'application/apply-patch+yaml'

function apply(request: ResourceRequest, body: Buffer): ReturnType<typeof applyObject> {
  const { exchange, storage, served } = request
  const { params } = exchange
  if ((params.get('fieldManager') ?? '') === '') {
    refuseOptions('PatchOptions', [requiredAt('fieldManager', 'is required for apply patch')])
  }
  let value: unknown
  try {
    value = parseYaml(body.toString())
  } catch (error) {
    const problem = `yaml: ${(error as Error).message}`
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${problem}`)
  }
  const { apiVersion, kind, metadata } = fieldsOf(value)
  if (apiVersion !== served.apiVersion || kind !== served.kind) {
    const version = textOf(apiVersion) ?? ''
    const group = version.includes('/') ? version : `/${version}`
    throw badRequest(`invalid object type: ${group}, Kind=${textOf(kind) ?? ''}`)
  }
  if (fieldsOf(metadata)['managedFields'] !== undefined) {
    throw badRequest('metadata.managedFields must be nil')
  }
  const force = ['', 'true', '1'].includes(params.get('force') ?? 'false')
  const options = { ...writeOptions(request), force }
  return applyObject(storage, request, checkedObject(value, served), options)
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
  const isStrategic = type === 'application/strategic-merge-patch+json' && !served.stored.custom
  const isMerge = type === 'application/merge-patch+json'
  if (!isStrategic && !isMerge && type !== 'application/json-patch+json') {
    throw new Refusal(415, '415: Unsupported Media Type', { details: {} })
  }
  let patch: unknown
  try {
    patch = parseJson(body.toString())
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`)
  }
  if (isMerge) return (current) => mergePatch(current, patch)
  if (isStrategic) {
    const schema = kindSchema(storage.registry.captured, served)
    return (current) => strategicMergePatch(current, patch, schema)
  }
  if (!Array.isArray(patch)) {
    throw badRequest('error decoding patch: it is not an array of operations')
  }
  return (current) => {
    try {
      return jsonPatch(current, patch)
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error
      const message = 'the server rejected our request due to an error in our request'
      throw new Refusal(422, message, { details: {} })
    }
  }
}
