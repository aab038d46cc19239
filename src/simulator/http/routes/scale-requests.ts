import type { Unstructured } from '../../../kubernetes/object.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { parseJson, valueAt } from '../../api/json.ts'
import type { ScalePaths, ServedResource } from '../../api/served-resource.ts'
import { badRequest, invalid, noSuchResource, Refusal } from '../../api/status-refusal.ts'
import { updateObject } from '../../writes/object-update.ts'
import { currentObject } from '../../writes/write-target.ts'
import { readBody } from '../request-body.ts'
import { sendJson } from '../exchange.ts'
import type { ObjectRequest } from './object-requests.ts'
import { patchOf } from './patch-requests.ts'
import { writeOptions } from './write-parameters.ts'
import { invalidAt } from '../../api/field-problem.ts'

/** Reads or sets the replicas of an object, as an `autoscaling/v1` Scale. Throws refusals. */
export async function serveScale(verb: string, request: ObjectRequest): Promise<void> {
  const { exchange, storage, served } = request
  const paths = served.scale
  if (paths === undefined) throw noSuchResource()
  const current = currentObject(storage, request)
  if (verb === 'get') {
    sendJson(exchange, 200, scaleOf(current, served, paths))
    return
  }
  const body = await readBody(exchange.request)
  const given = verb === 'update' ? scaleBody(body) : patched(request, body, current, paths)
  const { metadata, spec } = given as {
    readonly metadata?: { readonly resourceVersion?: string; readonly uid?: string }
    readonly spec?: { readonly replicas?: unknown }
  }
  const replicas = spec?.replicas ?? 0
  if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale is a number')
  // The rules of a custom kind check this themselves.
  if (replicas < 0 && !served.stored.custom) {
    throw invalid({ group: 'autoscaling', kind: 'Scale', name: request.name }, [
      invalidAt('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ])
  }
  const scaled = withValue(current, paths.specReplicas.split('.'), replicas) as Unstructured
  const { resourceVersion = current.metadata.resourceVersion, uid = current.metadata.uid } =
    metadata ?? {}
  const version = {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  }
  const next = { ...scaled, metadata: { ...scaled.metadata, ...version } }
  const options = { ...writeOptions(request.exchange), subresource: 'scale' }
  sendJson(exchange, 200, scaleOf(updateObject(storage, request, next, options), served, paths))
}

function scaleBody(body: Buffer): object {
  try {
    const value = parseJson(body.toString())
    if (isJsonObject(value)) return value
  } catch {
    // The error below covers this too.
  }
  throw badRequest('the object provided is unrecognized (must be of type Scale)')
}

function patched(
  request: ObjectRequest,
  body: Buffer,
  current: Unstructured,
  paths: ScalePaths,
): object {
  const value = patchOf(request, body)(scaleOf(current, request.served, paths) as Unstructured)
  if (!isJsonObject(value)) throw badRequest('a Scale is an object')
  return value
}

function scaleOf(object: Unstructured, { stored }: ServedResource, paths: ScalePaths): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, paths.specReplicas)
  if (replicas === undefined && stored.custom) {
    const message = `the spec replicas field ".${paths.specReplicas}" does not exist`
    throw new Refusal(500, `Internal error occurred: ${message}`, {
      reason: 'InternalError',
      details: { causes: [{ message }] },
    })
  }
  const selector = selectorText(
    paths.selector === undefined ? undefined : valueAt(object, paths.selector),
  )
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas: replicas ?? 1 },
    status: {
      replicas: valueAt(object, paths.statusReplicas) ?? 0,
      ...(selector === undefined || selector === '' ? {} : { selector }),
    },
  }
}

/** Custom resources have a selector as text, built-in kinds as an object. */
function selectorText(selector: unknown): string | undefined {
  if (typeof selector === 'string') return selector
  if (!isJsonObject(selector)) return undefined
  const labels = isJsonObject(selector['matchLabels']) ? selector['matchLabels'] : {}
  return Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${String(labels[name])}`)
    .join(',')
}

function withValue(object: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  const fields = isJsonObject(object) ? object : {}
  return { ...fields, [name]: withValue(fields[name], rest, value) }
}
