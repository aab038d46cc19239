import { objectKey } from '../../kubernetes/object.ts'
import type { AccessAttributes } from '../access/authorization.ts'
import { detailsOf, methodNotAllowed, noSuchResource, notFound } from '../api/status-refusal.ts'
import { createObject, deleteObject, updateObject } from '../writes/object-writes.ts'
import { deleteCollection, listObjects, watchObjects } from './collection-requests.ts'
import { type Exchange, type RequestTarget, sendBytes, sendSuccess } from './exchange.ts'
import { serveLog } from './log-requests.ts'
import { patchObject } from './patch-requests.ts'
import { objectText, representationOf } from './representation.ts'
import { contentType, parseObject, readBody } from './request-body.ts'
import {
  readDeleteOptions,
  type ResourceRequest,
  sendObject,
  writeOptions,
} from './resource-request.ts'
import { serveEviction, serveScale, serveTokenRequest } from './subresource-requests.ts'

/** The access that a request needs. */
export function accessAttributes(
  exchange: Exchange,
  target: RequestTarget | undefined,
): AccessAttributes {
  const { path, method, params } = exchange
  if (target === undefined) return { kind: 'path', verb: method.toLowerCase(), path }
  const { verb, group, resource, subresource, name } = target
  const isNamespace = group === '' && resource === 'namespaces'
  const [, selected = ''] =
    /(?:^|,)metadata\.name==?([^,]*)/.exec(params.get('fieldSelector') ?? '') ?? []
  return {
    kind: 'resource',
    verb,
    group,
    resource,
    subresource,
    namespace: isNamespace ? name : target.namespace,
    // A selector for one name asks for that object.
    name: name === '' ? selected : name,
  }
}

/** Serves a request about a resource. Throws refusals. */
export async function serveResource(
  target: RequestTarget,
  parts: Pick<ResourceRequest, 'exchange' | 'storage' | 'effects' | 'watches' | 'accounts'>,
): Promise<void> {
  const { exchange, storage } = parts
  const { namespace, name, subresource, verb } = target
  const served = storage.registry.find(target.group, target.version, target.resource)
  if (served === undefined) throw noSuchResource()
  const allNamespaces = served.namespaced && namespace === ''
  if (!served.namespaced && namespace !== '') throw noSuchResource()
  if (name !== '' && allNamespaces) throw noSuchResource()
  const verbs = subresource === '' ? served.verbs : served.subresources.get(subresource)
  if (verbs === undefined) throw noSuchResource()
  if (!verbs.has(verb) || (verb === 'create' && allNamespaces)) throw methodNotAllowed()
  if (served.deprecation !== undefined) exchange.warnings.push(served.deprecation)
  const request = { ...parts, served, namespace, name, subresource }
  switch (subresource) {
    case '':
    case 'status':
      return verbHandlers[verb]?.(request)
    case 'scale':
      return serveScale(verb, request)
    case 'eviction':
      return serveEviction(request)
    case 'token':
      return serveTokenRequest(request)
    case 'log':
      return serveLog(request)
    default:
      // Discovery lists other subresources (exec, proxy, …), which the simulator does not serve.
      throw noSuchResource()
  }
}

const verbHandlers: Readonly<Record<string, (request: ResourceRequest) => Promise<void> | void>> = {
  list: listObjects,
  watch: watchObjects,
  deletecollection: deleteCollection,
  get: getObject,
  create: postObject,
  update: putObject,
  patch: patchObject,
  delete: removeObject,
}

function getObject({ exchange, storage, served, namespace, name }: ResourceRequest): void {
  const shown = representationOf(exchange, false)
  const found = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (found === undefined) throw notFound({ ...served, name })
  const text = objectText(storage.registry.captured, served, shown)
  sendBytes(exchange, Buffer.concat([...text.whole(found), Buffer.from('\n')]))
}

async function postObject(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served } = request
  const body = await readBody(exchange.request)
  const shown = representationOf(exchange, false)
  const object = parseObject(body, contentType(exchange.request), served)
  const created = createObject(storage, request, object, writeOptions(exchange))
  sendObject(request, 201, created, shown)
}

async function putObject(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, subresource } = request
  const body = await readBody(exchange.request)
  const shown = representationOf(exchange, false)
  const object = parseObject(body, contentType(exchange.request), served)
  const options = { ...writeOptions(exchange), subresource }
  sendObject(request, 200, updateObject(storage, request, object, options), shown)
}

async function removeObject(request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, name } = request
  const options = await readDeleteOptions(exchange)
  const shown = representationOf(exchange, false)
  const { object, uid } = deleteObject(storage, request, options)
  if (object !== undefined) sendObject(request, 200, object, shown)
  else sendSuccess(exchange, 200, { details: { ...detailsOf({ ...served, name }), uid } })
}
