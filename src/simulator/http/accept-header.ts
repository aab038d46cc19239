import type { IncomingMessage } from 'node:http'
import { badRequest, notAcceptable } from '../api/status-refusal.ts'
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

/** One media range of an `Accept` header. */
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
      return { kind: 'table', apiVersion: `meta.k8s.io/${v}`, include: includedObject(params) }
    }
    if (v !== 'v1') continue
    if (as === (isList ? 'PartialObjectMetadataList' : 'PartialObjectMetadata')) {
      return { kind: 'metadata' }
    }
    if (as === 'PartialObjectMetadataList') {
      mismatch = `you requested ${as}, but the requested object is not a list`
    }
  }
  throw notAcceptable(mismatch ?? unacceptable(ranges))
}

function includedObject(params: URLSearchParams): 'Metadata' | 'Object' | 'None' {
  const include = params.get('includeObject') ?? ''
  if (include === '' || include === 'Metadata') return 'Metadata'
  if (include === 'Object' || include === 'None') return include
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

function unacceptable(ranges: readonly MediaRange[]): string {
  return ranges.some(({ parameters }) => parameters['as'] !== undefined)
    ? accepted
    : '406: Not Acceptable\n\nAvailable representations: application/json, application/json;stream=watch'
}

/** Whether the client accepts aggregated discovery. Throws 406 if it accepts neither form. */
export function wantsAggregated({ request }: Exchange): boolean {
  const ranges = mediaRanges(request).filter(({ type }) => jsonTypes.has(type))
  const aggregated = ranges.some(
    ({ parameters: { g, v, as } }) =>
      g === 'apidiscovery.k8s.io' && v === 'v2' && as === 'APIGroupDiscoveryList',
  )
  if (aggregated) return true
  if (ranges.some(({ parameters }) => parameters['as'] === undefined)) return false
  throw notAcceptable(accepted)
}
