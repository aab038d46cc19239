import { fieldsOf } from '../../kubernetes/fields.ts'
import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { PodDisruptionBudget } from '../../kubernetes/wire/policy-v1.ts'
import { isJsonObject } from '../../lib/json.ts'
import { audience } from '../access/authentication.ts'
import type { AccessAttributes } from '../access/authorization.ts'
import { valueAt } from '../api/json.ts'
import type { ScalePaths } from '../api/served-resource.ts'
import {
  badRequest,
  detailsOf,
  invalidAt,
  methodNotAllowed,
  noSuchResource,
  notFound,
  Refusal,
  refuseInvalid,
} from '../api/status-refusal.ts'
import type { Storage } from '../storage/storage.ts'
import { currentObject, deleteObject, updateObject } from '../writes/object-writes.ts'
import { deleteCollection, listObjects, watchObjects } from './collection-requests.ts'
import { type Exchange, type RequestTarget, sendBytes, sendJson, sendSuccess } from './exchange.ts'
import { serveLog } from './log-requests.ts'
import { objectText, representationOf } from './representation.ts'
import { readBody, readFields } from './request-body.ts'
import {
  deleteOptionsOf,
  readDeleteOptions,
  type ResourceRequest,
  sendObject,
  writeOptions,
} from './resource-request.ts'
import { patchOf, writeObject } from './write-requests.ts'

/**
 * Serves what is below a resource's path. First the target has to exist, and to have the verb: a version, a resource, a
 * subresource. Then the verb decides for an object or a collection: reads are answered here and in
 * `collection-requests.ts`, writes in `write-requests.ts`. Subresources that are more than a part of the object (scale,
 * eviction, token, log) have answers of their own.
 */

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
      return serveVerb(verb, request)
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

async function serveVerb(verb: string, request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, namespace, name } = request
  if (verb === 'list') return listObjects(request)
  if (verb === 'watch') return watchObjects(request)
  if (verb === 'deletecollection') return deleteCollection(request)
  if (verb === 'get') {
    const shown = representationOf(exchange, false)
    const found = storage.store(served.stored).get(objectKey({ namespace, name }))
    if (found === undefined) throw notFound({ ...served, name })
    const text = objectText(storage.registry.captured, served, shown)
    return sendBytes(exchange, Buffer.concat([...text.whole(found), Buffer.from('\n')]))
  }
  if (verb !== 'delete') return writeObject(request, verb)
  const options = await readDeleteOptions(exchange)
  const shown = representationOf(exchange, false)
  const { object, uid } = deleteObject(storage, request, options)
  if (object !== undefined) sendObject(request, 200, object, shown)
  else sendSuccess(exchange, 200, { details: { ...detailsOf({ ...served, name }), uid } })
}

/** Deletes a pod unless a PodDisruptionBudget forbids it, as the subresource `eviction` does. Throws refusals. */
async function serveEviction(request: ResourceRequest): Promise<void> {
  const { exchange, storage, name } = request
  const { deleteOptions, metadata } = await readFields(exchange.request, 'Eviction')
  if (fieldsOf(metadata)['name'] !== name) {
    throw badRequest('name in URL does not match name in Eviction object')
  }
  const options = deleteOptionsOf(fieldsOf(deleteOptions))
  const dryRun = options.dryRun || writeOptions(request).dryRun
  const pod = currentObject(storage, request)
  const { phase } = fieldsOf(pod['status'])
  const isEnding = pod.metadata.deletionTimestamp !== undefined
  // A pod that has not started, has ended or is terminating is outside of all budgets.
  const isOutside = isEnding || ['Pending', 'Succeeded', 'Failed'].includes(String(phase))
  if (!isOutside) takeDisruption(storage, pod, dryRun)
  deleteObject(storage, request, { ...options, dryRun })
  sendSuccess(exchange, 201, { code: 201 })
}

/**
 * Takes one disruption from the budget of a pod. Throws 429 if the budget allows none, and 500 if the pod has two
 * budgets.
 */
function takeDisruption(storage: Storage, { metadata }: Unstructured, dryRun: boolean): void {
  const { namespace = '', labels } = metadata
  const [budget, other] = Array.from(
    storage.list(resources.podDisruptionBudgets, namespace) as Iterable<
      PodDisruptionBudget & Unstructured
    >,
  ).filter(({ spec }) => matchesLabels(labelSelectorOf(spec?.selector ?? {}), labels))
  if (budget === undefined) return
  if (other !== undefined) {
    throw new Refusal(
      500,
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const { name, generation = 0 } = budget.metadata
  const { disruptionsAllowed = 0, observedGeneration = 0 } = budget.status ?? {}
  if (Number(observedGeneration) < generation) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10)
  }
  if (disruptionsAllowed === 0) {
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
    const problem =
      currentHealthy <= desiredHealthy
        ? `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
        : 'does not allow evicting pods currently'
    throw tooMany(`The disruption budget ${name} ${problem}`)
  }
  const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1 }
  if (!dryRun) storage.update(resources.podDisruptionBudgets, { ...budget, status })
}

function tooMany(message: string, retryAfterSeconds?: number): Refusal {
  return new Refusal(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: { causes: [{ reason: 'DisruptionBudget', message }] },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/** Reads or sets the replicas of an object, as an `autoscaling/v1` Scale. Throws refusals. */
async function serveScale(verb: string, request: ResourceRequest): Promise<void> {
  const { exchange, storage, served, name } = request
  const paths = served.scale
  if (paths === undefined) throw noSuchResource()
  const current = currentObject(storage, request)
  if (verb === 'get') {
    sendJson(exchange, 200, scaleOf(current, request, paths))
    return
  }
  const given =
    verb === 'update'
      ? await readFields(exchange.request, 'Scale')
      : patchOf(request, await readBody(exchange.request))(scaleOf(current, request, paths))
  const { metadata, spec } = fieldsOf(given)
  const { replicas = 0 } = fieldsOf(spec)
  if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale is a number')
  // The rules of a custom kind check this themselves.
  if (replicas < 0 && !served.stored.custom) {
    refuseInvalid({ group: 'autoscaling', kind: 'Scale', name }, [
      invalidAt('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ])
  }
  const { resourceVersion, uid } = { ...current.metadata, ...fieldsOf(metadata) }
  const version = { ...current.metadata, resourceVersion, uid } as ObjectMeta
  const scaled = withValue(current, paths.specReplicas.split('.'), replicas) as Unstructured
  const next = updateObject(
    storage,
    request,
    { ...scaled, metadata: version },
    writeOptions(request),
  )
  sendJson(exchange, 200, scaleOf(next, request, paths))
}

function scaleOf(
  object: Unstructured,
  { served: { stored } }: ResourceRequest,
  { specReplicas, statusReplicas, selector: selectorPath }: ScalePaths,
): Unstructured {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, specReplicas)
  if (replicas === undefined && stored.custom) {
    const message = `the spec replicas field ".${specReplicas}" does not exist`
    throw new Refusal(500, `Internal error occurred: ${message}`, {
      reason: 'InternalError',
      details: { causes: [{ message }] },
    })
  }
  // Custom resources have a selector as text, built-in kinds as an object.
  const given = selectorPath === undefined ? '' : valueAt(object, selectorPath)
  const labels = fieldsOf(fieldsOf(given)['matchLabels'])
  const names = Object.keys(labels).toSorted()
  const pairs = names.map((label) => `${label}=${String(labels[label])}`)
  const selector = typeof given === 'string' ? given : pairs.join(',')
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as ObjectMeta,
    spec: replicas === 0 ? {} : { replicas: replicas ?? 1 },
    status: {
      replicas: valueAt(object, statusReplicas) ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  }
}

function withValue(object: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  const fields = isJsonObject(object) ? object : {}
  return { ...fields, [name]: withValue(fields[name], rest, value) }
}

const leastSeconds = 600
const mostSeconds = 2 ** 32

/** Issues a token for a ServiceAccount, as the subresource `token` does. Throws refusals. */
async function serveTokenRequest(request: ResourceRequest): Promise<void> {
  const { accounts, exchange, namespace, name } = request
  const given = await readFields(exchange.request, 'TokenRequest')
  const { audiences: wanted, expirationSeconds = 3_600 } = fieldsOf(given['spec'])
  const isNamed = Array.isArray(wanted) && wanted.length > 0
  const audiences = isNamed ? wanted.map(String) : [audience]
  const seconds = typeof expirationSeconds === 'number' ? expirationSeconds : 0
  if (seconds < leastSeconds || seconds > mostSeconds) {
    const bound = seconds < leastSeconds ? 'less than 10 minutes' : 'larger than 2^32 seconds'
    refuseInvalid({ group: 'authentication.k8s.io', kind: 'TokenRequest', name: '' }, [
      invalidAt('spec.expirationSeconds', seconds, `may not specify a duration ${bound}`),
    ])
  }
  const status = accounts.issue({ namespace, name, audiences, expirationSeconds: seconds })
  if (status === undefined) throw notFound({ group: '', resource: 'serviceaccounts', name })
  sendJson(exchange, 201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: timestamp(Date.now()) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: null },
    status,
  })
}
