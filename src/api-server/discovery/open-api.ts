/*
 * The OpenAPI v3 documents of one server. Each call reads the index, fetches the documents whose hashes have changed, and
 * forgets documents that the server no longer lists. Of a text, only the schemas are parsed, one by one with pauses: the
 * paths, which are most of it, are never needed. The schema of a custom kind is held as `KindSchema`, which is small.
 * Equal documents and schemas of several servers are held once, and a document that another server has sent is not fetched.
 */

import { createHash } from 'node:crypto'
import { isBuiltInGroup } from '../../kubernetes/api-resource.ts'
import { definitionNameOf, type OpenApiSchema } from '../../kubernetes/open-api.ts'
import {
  KindSchema,
  kindsOf,
  type OpenApiDocument,
  type OpenApiDocuments,
} from '../../kubernetes/open-api-structures.ts'
import { ApiStatusError } from '../../kubernetes/status.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { boundedParallel } from '../../lib/concurrency.ts'
import { inSlices } from '../../lib/event-loop.ts'
import { isRecord } from '../../lib/json.ts'
import { type JsonMember, jsonMembers } from '../../lib/json-text.ts'
import { SharedValues } from '../../lib/shared-values.ts'

/** An OpenAPI document could not be fetched. The other documents are unaffected. */
export class OpenApiDocumentError extends CodedError {
  constructor(path: string, cause: unknown) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    super('OPENAPI_DOCUMENT', `OpenAPI document ${path}: ${problem}`, { value: path, cause })
  }
}

export interface FetchedOpenApi {
  readonly documents: OpenApiDocuments
  readonly failures: readonly OpenApiDocumentError[]
}

/** Fetches a document; `read` reads its text. */
export type GetDocument = (
  path: string,
  signal: AbortSignal,
  read?: (text: string) => unknown,
) => Promise<unknown>

export interface OpenApiRequest {
  /** Selects documents by path: `api/v1`, `apis/apps/v1`. Default: all. */
  readonly isWanted?: (path: string) => boolean
  readonly signal: AbortSignal
}

/** The number of documents requested at once. */
const maxParallel = 2

interface CachedDocument {
  /** The address with its hash: the same address means the same content. */
  readonly url: string
  readonly document: OpenApiDocument
}

export class OpenApi {
  readonly #get: GetDocument
  #cache: ReadonlyMap<string, CachedDocument> = new Map()

  constructor(get: GetDocument) {
    this.#get = get
  }

  /**
   * The selected documents. Rejects if the index cannot be fetched, such as with `ApiStatusError` 404 from servers before
   * Kubernetes 1.24.
   */
  async documents({ isWanted = () => true, signal }: OpenApiRequest): Promise<FetchedOpenApi> {
    const index = (await this.#get('/openapi/v3', signal)) as {
      readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>
    }
    const wanted = Object.entries(index?.paths ?? {}).filter(([path]) => isWanted(path))
    const cache = new Map<string, CachedDocument>()
    const documents: Record<string, OpenApiDocument> = {}
    const failures: OpenApiDocumentError[] = []
    const fetched = await boundedParallel(wanted, maxParallel, async ([path, entry]) => {
      const url = entry.serverRelativeURL ?? `/openapi/v3/${path}`
      const known = this.#cache.get(path)
      if (known?.url === url) return known
      try {
        return await this.#document(url, signal).catch(async (error: unknown) => {
          // The document has changed since the index was read. Its old address redirects to the new one.
          const isMoved =
            error instanceof ApiStatusError && error.httpStatus >= 300 && error.httpStatus < 400
          if (!isMoved) throw error
          return await this.#document(url.replace(/\?.*/, ''), signal)
        })
      } catch (error) {
        signal.throwIfAborted()
        return new OpenApiDocumentError(path, error)
      }
    })
    for (const [at, result] of fetched.entries()) {
      const [path = ''] = wanted[at] ?? []
      if (result instanceof OpenApiDocumentError) {
        failures.push(result)
        continue
      }
      documents[path] = result.document
      if (result.url.includes('hash=')) cache.set(path, result)
    }
    this.#cache = cache
    return { documents, failures }
  }

  async #document(url: string, signal: AbortSignal): Promise<CachedDocument> {
    const named = /[?&]hash=([0-9A-F]{128})$/.exec(url)?.[1]
    const sent = named === undefined ? undefined : shared.get(named)
    if (sent !== undefined) return { url, document: sent }
    const text = await this.#get(url, signal, (body) => body)
    const document =
      typeof text === 'string'
        ? await inSlices(documentInSteps(text), () => signal.aborted)
        : undefined
    signal.throwIfAborted()
    if (document === undefined) throw new TypeError('the answer is not an OpenAPI document')
    if (typeof text === 'string' && named === sha512(text)) shared.add(named, document)
    return { url, document }
  }
}

/**
 * Clusters of one version serve equal documents, of some megabytes. All connections hold the same one, parsed once: by the SHA-256 of its
 * text, and by the SHA-512 if the API server named that in the address. This process computes both, so a server that names the hash of
 * another document gets that document for itself, and cannot give its own to others.
 */
const shared = new SharedValues<OpenApiDocument>()
/** Documents repeat the definitions of Kubernetes itself. */
const definitions = new SharedValues<OpenApiSchema>()
const hashes = new WeakMap<OpenApiDocument, string>()

/**
 * The document of a text; `undefined` for another text. This process hashes the text, so that no server can pass off its
 * document as another server's.
 */
function* documentInSteps(text: string): Generator<void, OpenApiDocument | undefined> {
  const hash = sha256(text)
  const known = shared.get(hash)
  if (known !== undefined) return known
  const members = new Map<string, JsonMember>()
  for (const member of jsonMembers(text)) {
    members.set(member.name, member)
    yield
  }
  if (!members.has('openapi')) return undefined
  const all = [...schemaMembers(text, members.get('components'))]
  const schemas: Record<string, OpenApiSchema> = {}
  const kinds: KindSchema[] = []
  for (const { name, begin, end } of all) {
    const written = text.slice(begin, end)
    const madeOf = sha256(written)
    const kind = KindSchema.of(madeOf)
    if (kind !== undefined) {
      kinds.push(kind)
      continue
    }
    const before = definitions.get(madeOf)
    const schema = before ?? (JSON.parse(written) as OpenApiSchema)
    yield
    if (!isRecord(schema)) continue
    if (!isOfCustomKind(name, schema)) schemas[name] = before ?? definitions.add(madeOf, schema)
    else if (!isList(schema)) kinds.push(yield* KindSchema.inSteps(madeOf, schema))
  }
  // A kind may be a part of another one.
  const referred = new Set(kinds.flatMap(({ references }) => references))
  for (const { name, begin, end } of all) {
    if (referred.has(name)) schemas[name] ??= JSON.parse(text.slice(begin, end)) as OpenApiSchema
    yield
  }
  const about = members.get('info')
  const info: unknown = about && JSON.parse(text.slice(about.begin, about.end))
  const document: OpenApiDocument = { info, components: { schemas }, kinds }
  hashes.set(document, hash)
  return shared.add(hash, document)
}

/** The members of `components.schemas`. */
function* schemaMembers(text: string, components: JsonMember | undefined): Generator<JsonMember> {
  if (components === undefined || text[components.begin] !== '{') return
  for (const { name, begin } of jsonMembers(text, components.begin)) {
    if (name === 'schemas' && text[begin] === '{') yield* jsonMembers(text, begin)
  }
}

/** All documents have the definitions of the API machinery, some of which name the groups of custom kinds. */
function isOfCustomKind(name: string, schema: OpenApiSchema): boolean {
  const isOfAll = name.startsWith('io.k8s.apimachinery.')
  return !isOfAll && kindsOf(schema).some(({ group }) => !isBuiltInGroup(group))
}

/** Whether a schema is that of a list of objects, which nothing reads. */
function isList({ properties }: OpenApiSchema): boolean {
  const metadata: unknown = properties?.['metadata']
  return isRecord(metadata) && definitionNameOf(metadata)?.endsWith('.ListMeta') === true
}

/** The document of a hash, if anything in this process holds it. */
export function knownDocument(hash: string): OpenApiDocument | undefined {
  return shared.get(hash)
}

/** A part of a document, as a line of its text. */
type DocumentLine =
  | { readonly info: unknown }
  | { readonly name: string; readonly schema: OpenApiSchema }
  | Pick<KindSchema, 'madeOf' | 'kinds' | 'held'>

function lineOf(line: DocumentLine): string {
  return JSON.stringify(line)
}

/** A text from which {@link documentOfTextInSteps} makes an equal document: a line of JSON for each part. */
export function* documentTextInSteps(document: OpenApiDocument): Generator<void, string> {
  const lines = [lineOf({ info: document.info })]
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    lines.push(lineOf({ name, schema }))
    yield
  }
  for (const { madeOf, kinds, held } of document.kinds ?? []) {
    lines.push(lineOf({ madeOf, kinds, held }))
    yield
  }
  return lines.join('\n')
}

/** The document whose text this is. `hash`: that of the document. */
export function* documentOfTextInSteps(
  hash: string,
  text: string,
): Generator<void, OpenApiDocument> {
  const known = shared.get(hash)
  if (known !== undefined) return known
  const schemas: Record<string, OpenApiSchema> = {}
  const kinds: KindSchema[] = []
  let info: unknown
  for (const written of text.split('\n')) {
    const line = JSON.parse(written) as DocumentLine
    if ('madeOf' in line) kinds.push(KindSchema.kept(line))
    else if ('name' in line) {
      const madeOf = sha256(JSON.stringify(line.schema))
      schemas[line.name] = definitions.get(madeOf) ?? definitions.add(madeOf, line.schema)
    } else info = line.info
    yield
  }
  const document: OpenApiDocument = { info, components: { schemas }, kinds }
  hashes.set(document, hash)
  return shared.add(hash, document)
}

/** A hash of the content, which is equal for documents that were fetched with the same text. */
export function documentHash(document: OpenApiDocument): string {
  return hashes.get(document) ?? sha256(JSON.stringify(document))
}

function sha512(text: string): string {
  return createHash('sha512').update(text).digest('hex').toUpperCase()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
