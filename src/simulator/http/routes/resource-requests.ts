import type { AccessAttributes } from '../../access/authorization.ts'
import type { ServedResource } from '../../api/served-resource.ts'
import { methodNotAllowed, noSuchResource } from '../../api/status-refusal.ts'
import type { FaultEffect } from '../../faults/fault-effects.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Exchange, RequestTarget } from '../exchange.ts'
import {
  deleteCollection,
  listObjects,
  watchObjects,
  type WatchRegistry,
} from './collection-requests.ts'
import { serveEviction } from './eviction-requests.ts'
import {
  getObject,
  type ObjectRequest,
  postObject,
  putObject,
  removeObject,
} from './object-requests.ts'
import { patchObject } from './patch-requests.ts'
import { serveScale } from './scale-requests.ts'

/** A request for a resource, and the parts of the server that it uses. */
export interface ResourceRequest {
  readonly exchange: Exchange
  readonly target: RequestTarget
  readonly storage: Storage
  readonly effects: readonly FaultEffect[]
  readonly watches: WatchRegistry
}

const objectVerbs: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** The RBAC verb of a request; `''` for methods that no resource has. */
export function verbOf({ method, params }: Exchange, { name, subresource }: RequestTarget): string {
  if (subresource !== '' && method === 'POST') return 'create'
  if (name !== '') return objectVerbs[method] ?? ''
  if (method === 'POST') return 'create'
  if (method === 'DELETE') return 'deletecollection'
  if (method !== 'GET') return ''
  const watch = params.get('watch')
  return watch === null || ['0', 'false'].includes(watch.toLowerCase()) ? 'list' : 'watch'
}

/** The access that a request needs. */
export function accessAttributes(
  exchange: Exchange,
  target: RequestTarget | undefined,
): AccessAttributes {
  const { path, method, params } = exchange
  if (target === undefined) return { kind: 'path', verb: method.toLowerCase(), path }
  const { group, resource, subresource, name } = target
  const isNamespace = group === '' && resource === 'namespaces'
  const [, selected = ''] =
    /(?:^|,)metadata\.name==?([^,]*)/.exec(params.get('fieldSelector') ?? '') ?? []
  return {
    kind: 'resource',
    verb: verbOf(exchange, target),
    group,
    resource,
    subresource,
    namespace: isNamespace ? name : target.namespace,
    // A selector for one name asks for that object.
    name: name === '' ? selected : name,
  }
}

/** Serves a request about a resource. Throws refusals. */
export async function serveResource(request: ResourceRequest): Promise<void> {
  const { exchange, target, storage } = request
  const verb = verbOf(exchange, target)
  const served = storage.registry.find(target.group, target.version, target.resource)
  if (served === undefined) throw noSuchResource()
  const allNamespaces = served.namespaced && target.namespace === ''
  if (!served.namespaced && target.namespace !== '') throw noSuchResource()
  if (target.name !== '' && allNamespaces) throw noSuchResource()
  const verbs =
    target.subresource === '' ? served.verbs : served.subresources.get(target.subresource)
  if (verbs === undefined) throw noSuchResource()
  if (!verbs.has(verb) || (verb === 'create' && allNamespaces)) throw methodNotAllowed()
  // Discovery lists other subresources (log, exec, …), which the simulator does not serve.
  if (!['', 'status', 'scale', 'eviction'].includes(target.subresource)) throw noSuchResource()
  if (served.deprecation !== undefined) exchange.warnings.push(served.deprecation)
  await serveVerb(verb, served, request)
}

async function serveVerb(
  verb: string,
  served: ServedResource,
  { exchange, target, storage, effects, watches }: ResourceRequest,
): Promise<void> {
  const { namespace, name, subresource } = target
  const collection = { exchange, storage, served, namespace, effects }
  const object: ObjectRequest = { exchange, storage, served, namespace, name, subresource }
  if (subresource === 'scale') return serveScale(verb, object)
  if (subresource === 'eviction') return serveEviction(object)
  switch (verb) {
    case 'list':
      return listObjects(collection)
    case 'watch':
      return watchObjects(collection, watches)
    case 'deletecollection':
      return deleteCollection(collection)
    case 'get':
      return getObject(object)
    case 'create':
      return postObject(object)
    case 'update':
      return putObject(object)
    case 'patch':
      return patchObject(object)
    default:
      return removeObject(object)
  }
}
