import type { IncomingMessage } from 'node:http'
import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import { type Fields, textOf } from '../../kubernetes/fields.ts'
import type { ObjectMeta, Unstructured } from '../../kubernetes/object.ts'
import { isJsonObject } from '../../lib/json.ts'
import { parseJson, parseYaml } from '../api/json.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { badRequest, Refusal } from '../api/status-refusal.ts'

/** The limit of a kube-apiserver. */
const maxBodyBytes = 3 * 1024 * 1024

/** The whole body of a request. Throws 413 beyond 3 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) {
      throw new Refusal(413, `Request entity too large: limit is ${maxBodyBytes}`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The media type of a request's body, without its parameters. */
export function contentType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? ''
}

/** Reads JSON or YAML, by the media type; `undefined` for an empty body. Throws 415 and 400. */
export function parseBody(body: Buffer, mediaType: string, mustBe: string): unknown {
  if (body.length === 0) return undefined
  const text = body.toString()
  if (mediaType === 'application/json' || mediaType === '') {
    return parsed(text, mustBe, () => parseJson(text))
  }
  if (mediaType === 'application/yaml') return parsed(text, mustBe, () => parseYaml(text))
  throw new Refusal(
    415,
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
  )
}

/** Reads a body that is an object of `kind`; an empty body is an empty object. Throws 400, 413 and 415. */
export async function readFields(request: IncomingMessage, kind: string): Promise<Fields> {
  const value = parseBody(await readBody(request), contentType(request), kind) ?? {}
  if (isJsonObject(value)) return value
  throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
}

function parsed(text: string, mustBe: string, parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${mustBe}): couldn't get version/kind; ` +
        `json parse error: ${(error as Error).message} (${text.slice(0, 30)} ...)`,
    )
  }
}

/**
 * Reads an object of a resource and fills in `kind` and `apiVersion`. Throws 400 for another kind, version or shape.
 */
export function parseObject(body: Buffer, mediaType: string, served: ServedResource): Unstructured {
  const value = parseBody(body, mediaType, served.kind)
  if (value !== undefined) return checkedObject(value, served)
  throw badRequest(
    `the object provided is unrecognized (must be of type ${served.kind}): couldn't get version/kind; ` +
      'json parse error: unexpected end of JSON input (<empty>)',
  )
}

/** As {@link parseObject}, for a parsed value. */
export function checkedObject(value: unknown, { kind, apiVersion }: ServedResource): Unstructured {
  if (!isJsonObject(value)) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; it is not a JSON object`,
    )
  }
  const given = {
    ...value,
    kind: textOf(value['kind']) ?? kind,
    apiVersion: textOf(value['apiVersion']) ?? apiVersion,
  }
  const { version } = splitApiVersion(given.apiVersion)
  const unfit = `${given.kind} in version "${version}" cannot be handled as a ${kind}`
  if (given.kind !== kind) throw badRequest(`${unfit}: it is of another kind`)
  if (given.apiVersion !== apiVersion) {
    throw badRequest(`${unfit}: no kind "${kind}" is registered for version "${version}"`)
  }
  const metadata = value['metadata'] ?? {}
  if (!isJsonObject(metadata)) {
    throw badRequest(`${unfit}: metadata is not an object`)
  }
  return { ...given, metadata: metadata as unknown as ObjectMeta }
}
