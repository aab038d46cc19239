/*
 * The part of a cluster's API that the schema is made of, and the texts by which gateways that share clusters publish it
 * for each other. The text of an API has its resources, its CustomResourceDefinitions and the hashes of its OpenAPI
 * documents, which are texts of their own: clusters of one version have equal ones. Equal APIs are one object in this
 * process, so that a thousand clusters of one version take little more than one.
 */

import { hash as hashOf } from 'node:crypto'
import type { ApiDocument, PublishedCalls } from '../archive/archive-calls.ts'
import {
  documentHash,
  documentOfTextInSteps,
  documentTextInSteps,
  knownDocument,
} from '../api-server/discovery/open-api.ts'
import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { OpenApiDocument, OpenApiDocuments } from '../kubernetes/open-api-structures.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import { inSlices } from '../lib/event-loop.ts'
import { getOrInsert } from '../lib/get-or-insert.ts'
import { SharedValues } from '../lib/shared-values.ts'

export interface ApiDescription {
  /** All versions of each resource, the preferred one first. */
  readonly resources: readonly ApiResource[]
  readonly openapi: OpenApiDocuments
  /** CustomResourceDefinitions, without the schemas of their versions. */
  readonly crds: readonly unknown[]
}

/** Of the form of all texts: gateways of another form neither read them nor replace them. */
const form = '1.'

const maxParallel = 4
/** How many documents are read at once. Each takes some hundreds of kilobytes. */
const documentsAtOnce = 8

const hashes = new WeakMap<ApiDescription, string>()
const shared = new SharedValues<ApiDescription>()

/** Equal for APIs of which the same schema is made. */
export function apiHash(api: ApiDescription): string {
  return getOrInsert(hashes, api, () => textOfApi(api).hash)
}

function textOfApi({ resources, crds, openapi }: ApiDescription): ApiDocument {
  const documents = Object.entries(openapi)
    .map(([path, document]) => [path, form + documentHash(document)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([documents, resources, crds])
  const hash = form + hashOf('sha256', text, 'base64url')
  return { hash, parts: documents.map(([, one]) => one), text }
}

/** Keeps the texts of an API, as far as they are not there yet. Rejects with `ArchiveError`. */
export async function keepApi(
  api: ApiDescription,
  archive: PublishedCalls,
  signal: AbortSignal,
): Promise<void> {
  const text = textOfApi(api)
  const lacked = new Set(await archive.lackedDocuments([text.hash, ...new Set(text.parts)]))
  const documents = Object.values(api.openapi).filter((one) => lacked.has(form + documentHash(one)))
  await boundedParallel(documents, maxParallel, async (document) => {
    const written = await inSlices(documentTextInSteps(document), () => signal.aborted)
    const hash = form + documentHash(document)
    if (written !== undefined) await archive.keepDocument({ hash, parts: [], text: written })
  })
  signal.throwIfAborted()
  if (lacked.has(text.hash)) await archive.keepDocument(text)
}

/** The API of a hash; `undefined` if a text of it is missing, or of another form. Rejects with `ArchiveError`. */
export async function keptApi(
  hash: string,
  archive: PublishedCalls,
  signal: AbortSignal,
): Promise<ApiDescription | undefined> {
  const known = shared.get(hash)
  if (known !== undefined || !hash.startsWith(form)) return known
  const [found] = await archive.documentsOf([hash])
  if (found === undefined) return undefined
  const [documents, resources, crds] = JSON.parse(found.text) as [
    (readonly [path: string, hash: string])[],
    ApiDescription['resources'],
    ApiDescription['crds'],
  ]
  const held = new Map<string, OpenApiDocument>()
  const unread = [...new Set(documents.map(([, one]) => one))].filter((one) => {
    const document = knownDocument(one.slice(form.length))
    if (document !== undefined) held.set(one, document)
    return document === undefined
  })
  for (let at = 0; at < unread.length; at += documentsAtOnce) {
    const read = await archive.documentsOf(unread.slice(at, at + documentsAtOnce))
    for (const { hash: one, text } of read) {
      const steps = documentOfTextInSteps(one.slice(form.length), text)
      const document = await inSlices(steps, () => signal.aborted)
      if (document !== undefined) held.set(one, document)
    }
  }
  signal.throwIfAborted()
  const openapi = Object.fromEntries(
    documents.flatMap(([path, one]) => {
      const document = held.get(one)
      return document === undefined ? [] : [[path, document] as const]
    }),
  )
  if (Object.keys(openapi).length < documents.length) return undefined
  const api: ApiDescription = { resources, openapi, crds }
  hashes.set(api, hash)
  return shared.add(hash, api)
}
