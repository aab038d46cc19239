import type { Fields } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { ServiceAccountTokens } from '../access/authentication.ts'
import {
  badRequest,
  type FieldProblem,
  invalidAt,
  type Refusal,
  refuseInvalid,
  tooLongAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import type { FaultEffect } from '../faults/fault-effects.ts'
import type { Storage } from '../storage/storage.ts'
import { storedObject } from '../storage/stored-object.ts'
import type { DeleteOptions, WriteOptions, WriteTarget } from '../writes/object-writes.ts'
import { beginJson, type Exchange, flag, integer, sendJson } from './exchange.ts'
import { objectText, type Representation } from './representation.ts'
import { contentType, parseBody, readBody } from './request-body.ts'

/** A request for an object of a resource or, without a name, for its objects in one namespace or in all (`''`). */
export interface ResourceRequest extends WriteTarget {
  readonly exchange: Exchange
  readonly storage: Storage
  /** `''` for the object itself. */
  readonly subresource: string
  /** The faults that strike the request. */
  readonly effects: readonly FaultEffect[]
  readonly watches: WatchRegistry
  readonly accounts: ServiceAccountTokens
}

/** An open watch, for faults that end it. */
export interface OpenWatch {
  readonly resource: string
  end(reason: Refusal): void
}

/** The part of the server that watches use. */
export interface WatchRegistry {
  readonly bookmarkIntervalMs: number
  /** Registers a watch. The returned function removes it. */
  add(watch: OpenWatch): () => void
}

export function sendObject(
  { exchange, storage, served }: ResourceRequest,
  status: number,
  object: Unstructured,
  shown: Representation,
): void {
  const { kind, apiVersion, metadata } = object
  if (shown.kind === 'object') {
    sendJson(exchange, status, Object.assign({ kind, apiVersion, metadata }, object))
    return
  }
  const held = served.stored.convert(object, served.stored.apiVersion)
  const stored = storedObject(held, Number(metadata.resourceVersion ?? 0), () => [])
  const text = objectText(storage.registry.captured, served, shown).whole(stored)
  beginJson(exchange, status)
  exchange.response.end(Buffer.concat([...text, Buffer.from('\n')]))
}

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']
const propagationPolicies = ['Foreground', 'Background', 'Orphan']
const maxManagerBytes = 128

const optionsKinds: Readonly<Record<string, string>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
}

/** The options of a write. Throws 422 for invalid options. */
export function writeOptions({ exchange, subresource }: ResourceRequest): WriteOptions {
  const { params, request, warnings, method } = exchange
  const [agent = ''] = (request.headers['user-agent'] ?? '').split('/')
  const manager = params.get('fieldManager') ?? ''
  const fieldValidation = params.get('fieldValidation') ?? ''
  const dryRun = params.getAll('dryRun')
  refuseOptions(optionsKinds[method] ?? 'PatchOptions', [
    ...(Buffer.byteLength(manager) > maxManagerBytes
      ? [tooLongAt('fieldManager', maxManagerBytes)]
      : []),
    ...dryRunProblems(dryRun),
    ...(fieldValidations.includes(fieldValidation)
      ? []
      : [unsupportedAt('fieldValidation', fieldValidation, fieldValidations)]),
  ])
  return {
    subresource,
    dryRun: dryRun.includes('All'),
    manager: manager === '' ? agent.slice(0, maxManagerBytes) || 'unknown' : manager,
    fieldValidation: (fieldValidation || 'Warn') as WriteOptions['fieldValidation'],
    warn: (text) => warnings.push(text),
  }
}

/** Reads the `DeleteOptions` of a DELETE from its body, or else from its parameters. Throws 400, 415 and 422. */
export async function readDeleteOptions({ request, params }: Exchange): Promise<DeleteOptions> {
  const body = parseBody(await readBody(request), contentType(request), 'DeleteOptions')
  if (body !== undefined) {
    if (!isJsonObject(body)) throw badRequest('DeleteOptions are an object')
    const { kind = 'DeleteOptions', apiVersion = 'v1' } = body
    if (kind === 'DeleteOptions') return deleteOptionsOf(body)
    const version = JSON.stringify(String(apiVersion))
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${version}`)
  }
  // It must be a number, and changes nothing.
  integer(params, 'gracePeriodSeconds')
  return deleteOptionsOf({
    dryRun: params.getAll('dryRun'),
    propagationPolicy: params.get('propagationPolicy') ?? undefined,
    orphanDependents: params.has('orphanDependents') ? flag(params, 'orphanDependents') : undefined,
  })
}

export function deleteOptionsOf(given: Fields): DeleteOptions {
  const { propagationPolicy: policy, orphanDependents, preconditions } = given
  const dryRun = Array.isArray(given['dryRun']) ? (given['dryRun'] as readonly unknown[]) : []
  const problems = dryRunProblems(dryRun)
  if (policy !== undefined && !propagationPolicies.some((one) => one === policy)) {
    problems.push(unsupportedAt('propagationPolicy', policy, [...propagationPolicies, 'nil']))
  }
  if (policy !== undefined && orphanDependents !== undefined) {
    const message = 'orphanDependents and deletionPropagation cannot be both set'
    problems.push(invalidAt('propagationPolicy', policy, message))
  }
  refuseOptions('DeleteOptions', problems)
  return { dryRun: dryRun.includes('All'), ...(isJsonObject(preconditions) && { preconditions }) }
}

function dryRunProblems(dryRun: readonly unknown[]): FieldProblem[] {
  return dryRun.every((one) => one === 'All') ? [] : [unsupportedAt('dryRun', dryRun, ['All'])]
}

/** Throws 422 for the options of a request, if there are problems. */
export function refuseOptions(kind: string, problems: readonly FieldProblem[]): void {
  refuseInvalid({ group: 'meta.k8s.io', kind, name: '' }, problems)
}
