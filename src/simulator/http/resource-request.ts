/*
 * A request for objects of a resource: its options, and the form in which objects are sent (whole, metadata alone, or
 * rows of a table). Stored texts are sent as they are where that is possible.
 */

import type { IncomingMessage } from 'node:http'
import type { Fields } from '../../kubernetes/fields.ts'
import type { Unstructured } from '../../kubernetes/object.ts'
import { type Column, printedCell } from '../../kubernetes/printing/column.ts'
import { customColumns } from '../../kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../kubernetes/printing/printed-kinds.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Authentication } from '../access/authentication.ts'
import { type CapturedApi, metadataSchema } from '../api/captured-api.ts'
import type { ServedResource } from '../api/served-resource.ts'
import {
  badRequest,
  type Found,
  invalidAt,
  Refusal,
  refuseInvalid,
  tooLongAt,
  unsupportedAt,
} from '../api/status-refusal.ts'
import type { FaultEffect } from '../faults/faults.ts'
import {
  kindPrefix,
  readObject,
  type Storage,
  storedObject,
  type StoredObject,
} from '../storage/storage.ts'
import type { DeleteOptions, WriteOptions, WriteTarget } from '../writes/object-writes.ts'
import {
  beginJson,
  contentType,
  type Exchange,
  flag,
  integer,
  parseBody,
  readBody,
  sendJson,
} from './exchange.ts'

/** A request for an object of a resource or, without a name, for its objects in one namespace or in all (`''`). */
export interface ResourceRequest extends WriteTarget {
  readonly exchange: Exchange
  readonly storage: Storage
  /** `''` for the object itself. */
  readonly subresource: string
  /** The faults that strike the request. */
  readonly effects: readonly FaultEffect[]
  readonly watches: WatchRegistry
  readonly authentication: Authentication
}

/** An open watch, for faults that end it. */
export interface OpenWatch {
  readonly resource: string
  readonly end: (reason: Refusal) => void
}

/** The part of the server that watches use. */
interface WatchRegistry {
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
    Buffer.byteLength(manager) > maxManagerBytes && tooLongAt('fieldManager', maxManagerBytes),
    dryRunProblem(dryRun),
    !fieldValidations.includes(fieldValidation) &&
      unsupportedAt('fieldValidation', fieldValidation, fieldValidations),
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
  refuseOptions('DeleteOptions', [
    dryRunProblem(dryRun),
    policy !== undefined &&
      !propagationPolicies.some((one) => one === policy) &&
      unsupportedAt('propagationPolicy', policy, propagationPolicies),
    policy !== undefined &&
      orphanDependents !== undefined &&
      invalidAt('propagationPolicy', policy, 'cannot be set with orphanDependents'),
  ])
  return { dryRun: dryRun.includes('All'), ...(isJsonObject(preconditions) && { preconditions }) }
}

const dryRunProblem = (dryRun: readonly unknown[]): Found =>
  !dryRun.every((one) => one === 'All') && unsupportedAt('dryRun', dryRun, ['All'])

/** Throws 422 for the options of a request, if there are problems. */
export const refuseOptions = (kind: string, found: Found): void =>
  refuseInvalid({ group: 'meta.k8s.io', kind, name: '' }, found)

/** The form in which objects are sent: whole, metadata alone, or rows of a table. */
export type Representation =
  | { readonly kind: 'object' }
  | { readonly kind: 'metadata' }
  | {
      readonly kind: 'table'
      readonly apiVersion: string
      /** The part of the object that a row carries. */
      readonly include: 'Metadata' | 'Object' | 'None'
    }

interface MediaRange {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
  readonly quality: number
}

/** The ranges of an `Accept` header, the preferred range first. */
function mediaRanges({ headers: { accept = '*/*' } }: IncomingMessage): MediaRange[] {
  return accept
    .split(',')
    .map((range) => {
      const [type = '', ...parts] = range.split(';').map((part) => part.trim())
      const parameters = Object.fromEntries(
        parts.map((part) => {
          const [name = '', value = ''] = part.split('=')
          return [name, value]
        }),
      )
      return { type, parameters, quality: Number(parameters['q'] ?? 1) || 0 }
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
}

const jsonTypes = new Set(['application/json', 'application/*', '*/*', ''])

const accepted = 'only the following media types are accepted: application/json'

/** The representation that a request asks for. Throws 406, and 400 for an invalid `includeObject`. */
export function representationOf({ params, request }: Exchange, isList: boolean): Representation {
  const ranges = mediaRanges(request)
  let mismatch: string | undefined
  for (const { type, parameters } of ranges) {
    if (!jsonTypes.has(type)) continue
    const { as, g, v = '' } = parameters
    if (as === undefined) return { kind: 'object' }
    if (g !== 'meta.k8s.io') continue
    if (as === 'Table' && (v === 'v1' || v === 'v1beta1')) {
      const include = params.get('includeObject') || 'Metadata'
      if (include !== 'Metadata' && include !== 'Object' && include !== 'None') {
        const problem = `Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`
        throw badRequest(`Unable to convert to Table as requested: includeObject: ${problem}`)
      }
      return { kind: 'table', apiVersion: `meta.k8s.io/${v}`, include }
    }
    if (v !== 'v1') continue
    if (as === (isList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata')) {
      return { kind: 'metadata' }
    }
    if (as === 'PartialObjectMetadataList') {
      mismatch = `you requested ${as}, but the requested object is not a list`
    }
  }
  const isConverted = ranges.some(({ parameters }) => parameters['as'] !== undefined)
  throw new Refusal(406, mismatch ?? (isConverted ? accepted : unacceptable))
}

const unacceptable =
  '406: Not Acceptable\n\nAvailable representations: application/json, application/json;stream=watch'

/** Whether the client accepts aggregated discovery. Throws 406 if it accepts neither form. */
export function wantsAggregated({ request }: Exchange): boolean {
  const ranges = mediaRanges(request).filter(({ type }) => jsonTypes.has(type))
  const aggregated = ranges.some(
    ({ parameters: { g, v, as } }) =>
      g === 'apidiscovery.k8s.io' && v === 'v2' && as === 'APIGroupDiscoveryList',
  )
  if (aggregated) return true
  if (ranges.some(({ parameters }) => parameters['as'] === undefined)) return false
  throw new Refusal(406, accepted)
}

/** How the objects of one request are written: their version and their parts. */
export interface ObjectText {
  /** The pieces of an object in a list. */
  readonly item: (object: StoredObject) => readonly Buffer[]
  /** The pieces of an object on its own, with its kind. */
  readonly whole: (object: StoredObject) => readonly Buffer[]
  /** The kind and version in {@link whole}. */
  readonly kind: string
  readonly apiVersion: string
  /** The beginning of a list of them, up to its first item. */
  readonly listHead: (metadata: object) => string
}

const brace = Buffer.from('}')
const metadataVersion = 'meta.k8s.io/v1'

/** Sends texts as they are stored. Only tables and other versions of an object are parsed and written anew. */
export function objectText(
  captured: CapturedApi,
  served: ServedResource,
  shown: Representation,
): ObjectText {
  if (shown.kind === 'table') return tableText(captured, served, shown)
  const isPartial = shown.kind === 'metadata'
  const kind = isPartial ? 'PartialObjectMetadata' : served.kind
  const apiVersion = isPartial ? metadataVersion : served.apiVersion
  const prefix = Buffer.from(kindPrefix(kind, apiVersion))
  const whole = (object: StoredObject): readonly Buffer[] =>
    isPartial
      ? [prefix, object.text.subarray(1, object.metadataEnd), brace]
      : [prefix, textOf(object, served).subarray(1)]
  return {
    kind,
    apiVersion,
    listHead: listHead(`${kind}List`, apiVersion),
    whole,
    // Items of custom resources carry their kind; items of built-in resources do not.
    item: served.stored.custom || isPartial ? whole : (object) => [textOf(object, served)],
  }
}

const listHead =
  (kind: string, apiVersion: string) =>
  (metadata: object): string =>
    `${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`

function tableText(
  captured: CapturedApi,
  served: ServedResource,
  { apiVersion, include }: Representation & { readonly kind: 'table' },
): ObjectText {
  const { definitions, cellsOf } = tableColumns(captured, served)
  const kind = 'Table'
  const row = (object: StoredObject): Buffer => {
    const read = served.stored.convert(readObject(object, served.stored), served.apiVersion)
    const cells = JSON.stringify(cellsOf(read))
    if (include === 'None') return Buffer.from(`{"cells":${cells},"object":null}`)
    const { metadata } = read
    const partial = { kind: 'PartialObjectMetadata', apiVersion: metadataVersion, metadata }
    const part = JSON.stringify(include === 'Object' ? read : partial)
    return Buffer.from(`{"cells":${cells},"object":${part}}`)
  }
  // Only the first table of a watch has the columns.
  let columns: readonly object[] | null = definitions
  const head = (metadata: object): string => {
    const opening = { kind, apiVersion, metadata, columnDefinitions: columns }
    columns = null
    return `${JSON.stringify(opening).slice(0, -1)},"rows":[`
  }
  return {
    kind,
    apiVersion,
    listHead: head,
    item: (object) => [row(object)],
    whole: (object) => {
      const metadata = { resourceVersion: String(object.revision) }
      return [Buffer.from(head(metadata)), row(object), Buffer.from(']}')]
    },
  }
}

/**
 * The columns of a resource's tables: those of its definition, or those that a kube-apiserver prints for a built-in
 * kind; otherwise the name and the age. `cellsOf` reads the cells of a row.
 */
function tableColumns(
  captured: CapturedApi,
  served: ServedResource,
): { definitions: readonly object[]; cellsOf: (object: Unstructured) => readonly unknown[] } {
  const builtIn = served.columns === undefined ? printedKindOf(served) : undefined
  const { columns } = builtIn ?? customColumns(served.columns ?? [])
  const fields = metadataSchema(captured).root?.properties
  const described = ({ name }: Column, at: number): string => {
    const declared = served.columns?.[at - 1]
    if (at === 0 && name === 'Name') return fields?.['name']?.description ?? ''
    if (declared === undefined) {
      return name === 'Age' ? (fields?.['creationTimestamp']?.description ?? '') : ''
    }
    return declared.description === ''
      ? `Custom resource definition column (in JSONPath format): ${declared.jsonPath}`
      : declared.description
  }
  return {
    definitions: columns.map((column, at) => ({
      name: column.name,
      type: builtIn !== undefined && isText(column) ? 'string' : column.type,
      format: column.format,
      description: described(column, at),
      priority: column.priority,
    })),
    cellsOf: (object) => {
      const nowMs = Date.now()
      return columns.map((column) => printedCell(column, column.cell(object), nowMs))
    },
  }
}

/** Ages of built-in kinds are formatted texts. */
const isText = ({ asTime, type }: Column): boolean => type === 'date' && asTime !== true

function textOf(object: StoredObject, served: ServedResource): Buffer {
  if (served.apiVersion === served.stored.apiVersion) return object.text
  const { stored, apiVersion } = served
  const {
    kind: _kind,
    apiVersion: _version,
    ...rest
  } = stored.convert(readObject(object, stored), apiVersion)
  return Buffer.from(JSON.stringify(rest))
}
