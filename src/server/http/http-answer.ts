/*
 * Sends an answer. It gets an ETag if the client may keep it. It is compressed if it is large enough and the client
 * accepts that. Its bytes count as unsent while they wait for a slow reader.
 */

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Viewer } from '../../access/viewer.ts'
import type { Output, UnsentBytes } from '../unsent-bytes.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface SendOptions {
  /** Whether the client may keep the answer and revalidate it by its ETag. */
  readonly revalidates: boolean
  /** Answers from this size on are compressed if the client accepts it; 0 for none. */
  readonly compressFromBytes: number
  readonly unsent: UnsentBytes
  readonly viewer: Viewer | undefined
}

const brotliBytes = promisify(brotliCompress)
const gzipBytes = promisify(gzip)

// Quality 1 of Brotli compresses best of the fast settings, in half the time of gzip.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

type Encoding = 'br' | 'gzip'

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes: Buffer) => brotliBytes(bytes, brotliOptions),
  gzip: (bytes: Buffer) => gzipBytes(bytes, { level: 1 }),
}

/** Sends an answer. Returns a promise only if it compresses the answer first. */
export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, text }: HttpAnswer,
  { revalidates, compressFromBytes, unsent, viewer }: SendOptions,
): void | Promise<void> {
  if (response.destroyed) return
  if (revalidates && status === 200) {
    const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`
    response.setHeader('etag', etag)
    response.setHeader('cache-control', 'private, no-cache')
    vary(response, 'accept, authorization, cookie')
    if (isSame(request.headers['if-none-match'], etag)) {
      response.writeHead(304).end()
      return
    }
  }
  const bytes = Buffer.from(text)
  const end = (encoding: object, body: Buffer): void => {
    response.writeHead(status, { ...headers, ...encoding, 'content-length': body.length })
    response.end(body)
    // Most readers have already taken the answer.
    if (response.writableLength > 0) countUnsent(request, response, { unsent, viewer })
  }
  if (compressFromBytes === 0 || bytes.length < compressFromBytes) {
    end({}, bytes)
    return
  }
  vary(response, 'accept-encoding')
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  if (encoding === undefined) {
    end({}, bytes)
    return
  }
  return compressors[encoding](bytes).then((compressed) => {
    if (!response.destroyed) end({ 'content-encoding': encoding }, compressed)
  })
}

export function countUnsent(
  request: IncomingMessage,
  response: ServerResponse,
  { unsent, viewer }: Pick<SendOptions, 'unsent' | 'viewer'>,
): Output {
  const output = unsent.open({
    transport: 'http',
    connection: request.socket,
    viewer: () => viewer,
    waitingBytes: () => response.writableLength,
    cutOff: () => request.socket.destroy(),
  })
  response.once('close', () => output.close())
  output.measure()
  return output
}

export function vary(response: ServerResponse, names: string): void {
  const before = response.getHeader('vary')
  response.setHeader('vary', before === undefined ? names : `${String(before)}, ${names}`)
}

/** Whether `If-None-Match` contains the tag, by weak comparison. */
export function isSame(tags: string | undefined, etag: string): boolean {
  if (tags === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return tags.split(',').some((tag) => {
    const given = tag.trim()
    return given === '*' || given.replace(/^W\//, '') === opaque
  })
}

/** The best encoding that the client accepts; `undefined` for none. */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const accepted = new Set<string>()
  for (const range of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (!parameters.some((one) => /^q=0(\.0*)?$/.test(one))) accepted.add(name)
  }
  return accepted.has('br') ? 'br' : accepted.has('gzip') ? 'gzip' : undefined
}
