import type { IncomingMessage } from 'node:http'
import type { Unstructured } from '../../kubernetes/object.ts'
import { type Column, printedCell } from '../../kubernetes/printing/column.ts'
import { customColumns } from '../../kubernetes/printing/custom-columns.ts'
import { printedKindOf } from '../../kubernetes/printing/printed-kinds.ts'
import { type CapturedApi, metadataSchema } from '../api/captured-api.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { badRequest, Refusal } from '../api/status-refusal.ts'
import { kindPrefix, readObject, type StoredObject } from '../storage/stored-object.ts'
import type { Exchange } from './exchange.ts'

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
  if (shown.kind === 'metadata') return metadataText()
  const { kind, apiVersion } = served
  const prefix = Buffer.from(kindPrefix(kind, apiVersion))
  const whole = (object: StoredObject): readonly Buffer[] => [
    prefix,
    textOf(object, served).subarray(1),
  ]
  return {
    kind,
    apiVersion,
    listHead: listHead(`${kind}List`, apiVersion),
    whole,
    // Items of custom resources carry their kind; items of built-in resources do not.
    item: served.stored.custom ? whole : (object) => [textOf(object, served)],
  }
}

function metadataText(): ObjectText {
  const kind = 'PartialObjectMetadata'
  const prefix = Buffer.from(kindPrefix(kind, metadataVersion))
  const whole = ({ text, metadataEnd }: StoredObject): readonly Buffer[] => [
    prefix,
    text.subarray(1, metadataEnd),
    brace,
  ]
  const head = listHead(`${kind}List`, metadataVersion)
  return { kind, apiVersion: metadataVersion, listHead: head, whole, item: whole }
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
