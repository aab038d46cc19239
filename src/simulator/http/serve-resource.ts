/*
 * Serves what is below a resource's path. First the target has to exist, and to have the verb: a version, a resource, a
 * subresource. Then the verb decides for an object or a collection: lists and watches are answered in
 * `collection-requests.ts`, all else here. Subresources that are more than a part of the object (scale, eviction, token)
 * have answers of their own; so has the log of a pod, which an API server and a kubelet answer together: the options are
 * checked, the run of the container is found, and its lines are sent as they are due.
 */

import { fieldsOf, itemsOf, textOf } from '../../kubernetes/fields.ts'
import { labelSelectorOf, matchesLabels } from '../../kubernetes/label-selector.ts'
import { objectKey, type ObjectMeta, type Unstructured } from '../../kubernetes/object.ts'
import { resources } from '../../kubernetes/resources.ts'
import { timestamp } from '../../kubernetes/timestamp.ts'
import type { PodDisruptionBudget } from '../../kubernetes/wire/policy-v1.ts'
import { isJsonObject } from '../../lib/json.ts'
import { audience } from '../access/authentication.ts'
import { kindSchema } from '../api/captured-api.ts'
import { parseJson, parseYaml, valueAt } from '../api/json.ts'
import type { ScalePaths } from '../api/served-resource.ts'
import {
  badRequest,
  detailsOf,
  forbiddenAt,
  type Found,
  invalidAt,
  methodNotAllowed,
  noSuchResource,
  notFound,
  Refusal,
  refuseInvalid,
  requiredAt,
} from '../api/status-refusal.ts'
import {
  ContainerLog,
  containerOf,
  type ContainerRun,
  endOf,
  runOf,
} from '../logs/container-log.ts'
import { readObject, type Storage, type StoredObject } from '../storage/storage.ts'
import {
  applyObject,
  createObject,
  currentObject,
  deleteObject,
  updateObject,
} from '../writes/object-writes.ts'
import { jsonPatch, JsonPatchError, mergePatch, strategicMergePatch } from '../writes/patches.ts'
import { deleteCollection, listObjects, watchObjects } from './collection-requests.ts'
import {
  checkedObject,
  contentType,
  flag,
  gathered,
  integer,
  parseBody,
  readBody,
  readFields,
  type RequestTarget,
  sendBytes,
  sendJson,
  sendStream,
  sendSuccess,
  unrecognized,
} from './exchange.ts'
import {
  deleteOptionsOf,
  objectText,
  readDeleteOptions,
  refuseOptions,
  representationOf,
  type ResourceRequest,
  sendObject,
  writeOptions,
} from './resource-request.ts'
import { requireKubelet } from './serve-exec.ts'

/** Serves a request about a resource. Throws refusals. */
export async function serveResource(
  target: RequestTarget,
  parts: Pick<ResourceRequest, 'exchange' | 'storage' | 'effects' | 'watches' | 'authentication'>,
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
    case 'ephemeralcontainers':
      return serveEphemeralContainers(verb, request)
    case 'exec':
      throw badRequest('Upgrade request required')
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

/**
 * Reads or writes the debug containers of a pod, and starts those of a running pod as its kubelet does. An image whose name
 * has `missing` cannot be pulled.
 */
async function serveEphemeralContainers(verb: string, request: ResourceRequest): Promise<void> {
  await serveVerb(verb, request)
  const { storage, served, namespace, name } = request
  const pod = storage.get(served, namespace, name)
  if (verb === 'get' || pod === undefined) return
  const status = fieldsOf(pod['status'])
  const known = itemsOf(status['ephemeralContainerStatuses'])
  const added = itemsOf(fieldsOf(pod['spec'])['ephemeralContainers']).filter(
    (one) => !known.some((other) => other['name'] === one['name']),
  )
  if (added.length === 0 || status['phase'] !== 'Running') return
  const started = added.map(({ name: container, image }) => {
    const problem = { reason: 'ErrImagePull', message: `failed to pull image "${String(image)}"` }
    const isMissing = String(image).includes('missing')
    const state = isMissing
      ? { waiting: problem }
      : { running: { startedAt: timestamp(Date.now()) } }
    return { name: container, image, imageID: '', ready: false, restartCount: 0, state }
  })
  const ephemeralContainerStatuses = [...known, ...started]
  storage.update(served, { ...pod, status: { ...status, ephemeralContainerStatuses } })
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
  const { authentication, exchange, namespace, name } = request
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
  const order = { namespace, name, audiences, expirationSeconds: seconds }
  const status = authentication.issue(order)
  if (status === undefined) throw notFound({ group: '', resource: 'serviceaccounts', name })
  sendJson(exchange, 201, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: timestamp(Date.now()) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: null },
    status,
  })
}

/**
 * Creates an object (POST), or writes an object or its status (PUT, and PATCH in one of four ways). A request is read
 * whole before anything is checked. Throws refusals.
 */
async function writeObject(request: ResourceRequest, verb: string): Promise<void> {
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
    const value = parseBody(body, type, served.kind)
    if (value === undefined) throw unrecognized(served.kind, 'json parse error: (<empty>)')
    const given = checkedObject(value, served)
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
function patchOf(
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

/** The parameters of a request for a log: `PodLogOptions`. */
interface LogQuery {
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
  readonly sinceMs: number | undefined
}

/**
 * Sends the log of a container, as the subresource `log` does. What a kubelet would answer is made here. Throws
 * refusals.
 */
async function serveLog(request: ResourceRequest): Promise<void> {
  const { exchange, storage, name } = request
  const query = logQuery(exchange.params, name)
  const { served, namespace } = request
  const stored = storage.store(served.stored).get(objectKey({ namespace, name }))
  if (stored === undefined) throw notFound({ group: '', resource: 'pods', name })
  const pod = readObject(stored, served.stored)
  const container = containerOf(pod, query.container)
  const nodeName = textOf(fieldsOf(pod['spec'])['nodeName'])
  if (nodeName === undefined) {
    exchange.response.writeHead(204)
    exchange.response.end()
    return
  }
  const path = `containerLogs/${namespace}/${name}/${container}`
  requireKubelet(storage, nodeName, (host) => `Get "https://${host}/${path}"`)
  const run = runOf(pod, container, query.previous)
  exchange.response.writeHead(200, {
    'cache-control': 'no-cache, private',
    'content-type': 'text/plain',
  })
  exchange.response.flushHeaders()
  await sendStream(exchange, request.effects, logChunks(request, pod, container, run, query))
}

const least = (field: string, value: number | undefined, bound: number): Found =>
  value !== undefined && value < bound && invalidAt(field, value, `must be at least ${bound}`)

/** Source of the checks: `pkg/apis/core/validation`, `ValidatePodLogOptions`. */
function logQuery(params: URLSearchParams, name: string): LogQuery {
  const tailLines = integer(params, 'tailLines')
  const limitBytes = integer(params, 'limitBytes')
  const sinceSeconds = integer(params, 'sinceSeconds')
  const sinceTime = params.get('sinceTime') ?? ''
  const at = Date.parse(sinceTime)
  if (sinceTime !== '' && Number.isNaN(at)) {
    throw badRequest(`sinceTime: ${JSON.stringify(sinceTime)} is not a time of RFC 3339`)
  }
  refuseInvalid({ group: '', kind: 'PodLogOptions', name }, [
    least('tailLines', tailLines, 0),
    least('limitBytes', limitBytes, 1),
    least('sinceSeconds', sinceSeconds, 1),
    sinceTime !== '' &&
      sinceSeconds !== undefined &&
      forbiddenAt('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
  ])
  const past = sinceSeconds === undefined ? undefined : Date.now() - sinceSeconds * 1_000
  return {
    container: params.get('container') ?? '',
    follow: flag(params, 'follow'),
    previous: flag(params, 'previous'),
    timestamps: flag(params, 'timestamps'),
    tailLines,
    limitBytes,
    sinceMs: sinceTime === '' ? past : at,
  }
}

/** What is written, and while it is followed, each line when it is due. Holds one chunk of lines. */
async function* logChunks(
  { storage, served, namespace, name, exchange }: ResourceRequest,
  pod: Unstructured,
  container: string,
  run: ContainerRun,
  query: LogQuery,
): AsyncGenerator<Buffer, undefined, undefined> {
  const log = new ContainerLog(pod, container, run)
  const { tailLines, sinceMs, timestamps } = query
  const nowMs = Date.now()
  let next = log.first(nowMs)
  if (sinceMs !== undefined) next = log.from(sinceMs, nowMs)
  if (tailLines !== undefined) next = Math.max(next, log.count(nowMs) - tailLines)
  let bytes = query.limitBytes ?? Infinity
  function* due(): Generator<Buffer> {
    for (const end = log.count(Date.now()); next < end && bytes > 0; next++) {
      const { atMs, nanos, text } = log.line(next)
      const at = timestamps ? new Date(atMs).toISOString().slice(0, -1) : ''
      const time = timestamps ? `${at}${String(nanos).padStart(6, '0')}Z ` : ''
      const sent = Buffer.from(`${time}${text}\n`).subarray(0, bytes)
      bytes -= sent.length
      yield sent
    }
  }
  yield* gathered(due(), 16 * 1024)
  if (!query.follow || run.finishedAtMs !== undefined) return
  // Wakes at changes of the pods, and when the connection closes.
  const store = storage.store(served.stored)
  let seen: StoredObject | undefined
  let wake: (() => void) | undefined
  const unsubscribe = store.subscribe(() => wake?.())
  exchange.response.once('close', () => wake?.())
  try {
    while (bytes > 0 && !exchange.response.destroyed) {
      const now = store.get(objectKey({ namespace, name }))
      if (now === undefined || now !== seen) {
        seen = now
        const read = now && readObject(now, served.stored)
        const same = read?.metadata.uid === pod.metadata.uid ? read : undefined
        const end = endOf(same, container, run)
        if (end !== undefined) {
          log.finish(Math.max(end.finishedAtMs ?? 0, Date.now()), end.exitCode)
          yield* gathered(due())
          return
        }
      }
      const forMs = log.nextMs(next) - Date.now()
      if (forMs > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, Math.min(forMs, 2 ** 31 - 1))
        await promise
        clearTimeout(timer)
      }
      yield* gathered(due(), 16 * 1024)
    }
  } finally {
    unsubscribe()
  }
}
