import { apiVersionOf } from '../schema/captured-cluster.ts'
import type { ApiResource } from 'informerql/kubernetes'

/** What JSON.rawJSON and a reviver's source text look like to TypeScript. */
const json = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): object
}

/** The errors that an encoder may answer with, by their codes. */
export type Refusal = 'MALFORMED_OBJECT' | 'WRONG_KIND' | 'MISSING_METADATA'

/** What must come out for a text, by the plainest means: parse everything, then delete. */
export function referenceDecode(
  text: string,
  resource: ApiResource,
  metadataOnly = false,
): { readonly object: Record<string, unknown> } | { readonly refusal: Refusal } {
  let parsed: unknown
  try {
    parsed = json.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && /^-?\d{16,}$/.test(source ?? '') && String(value) !== source
        ? json.rawJSON(source ?? '')
        : value,
    )
  } catch {
    return { refusal: 'MALFORMED_OBJECT' }
  }
  if (!isRecord(parsed)) return { refusal: 'MALFORMED_OBJECT' }
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  const found = { ...type, ...parsed }
  const partial =
    metadataOnly && found.apiVersion === 'meta.k8s.io/v1' && found.kind === 'PartialObjectMetadata'
  if (!partial && (found.apiVersion !== type.apiVersion || found.kind !== type.kind)) {
    return { refusal: 'WRONG_KIND' }
  }
  const { metadata } = parsed
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    return { refusal: 'MISSING_METADATA' }
  }
  if ('namespace' in metadata && typeof metadata['namespace'] !== 'string') {
    return { refusal: 'MISSING_METADATA' }
  }
  delete metadata['managedFields']
  const { annotations } = metadata
  if (isRecord(annotations)) delete annotations['kubectl.kubernetes.io/last-applied-configuration']
  return { object: metadataOnly ? { ...type, metadata } : { ...type, ...parsed, ...type } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
