/*
 * Serves the portal. Files whose names contain a hash have long lifetimes. A browser gets the page for every other path,
 * since each view of the portal has its own address. Views of the operator are served, too. The page forbids all scripts
 * but its own.
 */

import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import { CodedError } from '../../lib/coded-error.ts'
import { acceptsHtml, pathOf, refuseRequest } from '../guard/request-guard.ts'
import { acceptedEncoding, isSame, vary } from './http-operation.ts'

/** The folder of the built portal, in this package: `dist/portal`. */
export const portalFolder: string = fileURLToPath(new URL('../../../dist/portal/', import.meta.url))

/** Answers requests for the portal: a page, its assets, and the same page for every address of its views. */
export class PortalFiles {
  readonly #page: readonly [string, ...string[]] | undefined
  readonly #assets: ReadonlyMap<string, Asset>
  /** The operations of the page by their hashes, for gateways with trusted documents. */
  readonly documents: Readonly<Record<string, string>>

  /**
   * Reads all files of a folder that `packages/portal/build.ts` writes. Only these are served, so that the page matches its
   * assets even if another build replaces them. Without a built page, serves a page that says how to build it. `views`:
   * folders of further views, which the page loads. Throws BAD_PORTAL_VIEW for a folder without a view.
   */
  constructor(folder: string, views: readonly string[] = []) {
    const index = join(folder, 'index.html')
    if (!existsSync(index)) {
      this.#assets = new Map()
      this.documents = {}
      return
    }
    const added = views.map(readView)
    const names = added.map(({ name }) => name)
    const page = readFileSync(index, 'utf8').replace('{{views}}', names.join(' '))
    const [first = '', ...rest] = page.split('{{nonce}}')
    this.#page = [first, ...rest]
    const assets = join(folder, 'assets')
    const built = readdirSync(assets, { withFileTypes: true })
      .filter((entry) => entry.isFile() && extname(entry.name) !== '.br')
      .map(({ name }): readonly [string, Asset] => {
        const compressed = join(assets, `${name}.br`)
        const isCompressed = existsSync(compressed)
        const bytes = readFileSync(isCompressed ? compressed : join(assets, name))
        return [`/assets/${name}`, assetOf(name, bytes, isCompressed ? 'br' : 'identity', true)]
      })
    const icon = built.find(([path]) => /^\/assets\/icon-[^/]+\.svg$/.test(path))?.[1]
    this.#assets = new Map([
      ...built,
      // A browser asks for it beside what is no page, such as `/livez`.
      ...(icon === undefined ? [] : [['/favicon.ico', { ...icon, isHashed: false }] as const]),
      ...added.flatMap(({ files }) => files),
    ])
    const documents = readFileSync(join(folder, 'documents.json'), 'utf8')
    this.documents = JSON.parse(documents) as Readonly<Record<string, string>>
  }

  /** Whether the page is built. */
  get isBuilt(): boolean {
    return this.#page !== undefined
  }

  /** Answers a request that no other path of the server takes. Returns whether it did: see {@link PortalFiles}. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const path = pathOf(request)
    const asset = this.#assets.get(path)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    // Serves the page for the address of each view. The page finds the view.
    const isPage = path === '/' || (isRead && acceptsHtml(request) && !path.startsWith('/assets/'))
    if (asset === undefined && !isPage) return false
    if (!isRead) {
      const reason = `${String(request.method)} is not a method of the portal.`
      const hint = 'send operations to /graphql'
      refuseRequest(response, { status: 405, reason, hint, headers: { allow: 'GET, HEAD' } })
      return true
    }
    if (asset !== undefined) {
      await answerAsset(asset, request, response)
      return true
    }
    // The page has a fresh nonce and no `ETag`, and browsers may not keep it: a kept page would have the nonce of an earlier
    // answer, which the policy of this one refuses.
    const nonce = randomBytes(16).toString('base64url')
    const body = Buffer.from(this.#page?.join(nonce) ?? notBuilt)
    response.writeHead(this.#page === undefined ? 503 : 200, {
      'content-type': html,
      'content-length': body.length,
      'content-security-policy': contentSecurityPolicy(nonce),
      'cross-origin-opener-policy': 'same-origin',
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}

/**
 * Lets the page load its own files and reach its own gateway, and nothing else. Scripts must be files. The nonce allows
 * the style elements that components insert.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>informerql</title><link rel="icon" href="data:,"></head>
<body>
<h1>The portal is not built</h1>
<p>Build it in the repository, then start the gateway again:</p>
<pre>npm run build --workspace @informerql/portal</pre>
<p>The API answers at <a href="/graphql">/graphql</a> meanwhile.</p>
</body>
</html>
`

/** A file that is kept in memory, compressed or as it is. */
export interface Asset {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  readonly encoding: 'br' | 'identity'
  /** Whether the name contains the hash of the content. */
  readonly isHashed: boolean
  /** For requests without Brotli, which browsers accept only over TLS or from loopback. Made at the first such request. */
  gzipped?: Promise<Buffer>
}

const html = 'text/html; charset=utf-8'
/** The content types of the files that a view may have. */
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

export function assetOf(
  name: string,
  bytes: Buffer,
  encoding: Asset['encoding'],
  isHashed: boolean,
): Asset {
  const extension = extname(name)
  const type = extension === '.html' ? html : (types[extension] ?? 'application/octet-stream')
  const etag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { type, etag, bytes, encoding, isHashed }
}

/** The files of a separate view: `index.js` is its module, `style.css` its style sheet. */
function readView(folder: string): {
  readonly name: string
  readonly files: readonly (readonly [string, Asset])[]
} {
  const name = basename(folder)
  try {
    readFileSync(join(folder, 'index.js'))
    const files = readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
      if (!entry.isFile() || !(extname(entry.name) in types)) return []
      const file = join(entry.parentPath, entry.name)
      const path = `/views/${name}/${relative(folder, file).split(sep).join('/')}`
      return [[path, assetOf(entry.name, readFileSync(file), 'identity', false)] as const]
    })
    return { name, files }
  } catch (cause) {
    const problem = `${folder} has no view of the portal: ${(cause as Error).message}`
    const hint =
      'build the view, so that the folder has an index.js, or take it out of server.portalViews'
    throw new CodedError('BAD_PORTAL_VIEW', problem, { value: folder, hint, cause })
  }
}

/** Sends an asset. If its name contains the hash of its content, a browser requests it once. */
export async function answerAsset(
  asset: Asset,
  { headers, method }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const accepted = acceptedEncoding(headers['accept-encoding'])
  let encoding: 'br' | 'gzip' | 'identity' = asset.encoding
  let body = asset.bytes
  if (encoding === 'br' && accepted !== 'br') {
    encoding = accepted ?? 'identity'
    body = await (accepted === undefined ? inflate(body) : (asset.gzipped ??= gzipped(body)))
  }
  const etag = `"${asset.etag}-${encoding}"`
  const caching = asset.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache'
  response.setHeader('cache-control', caching)
  response.setHeader('etag', etag)
  vary(response, 'accept-encoding')
  if (isSame(headers['if-none-match'], etag)) {
    response.writeHead(304).end()
    return
  }
  if (encoding !== 'identity') response.setHeader('content-encoding', encoding)
  response.writeHead(200, { 'content-type': asset.type, 'content-length': body.length })
  response.end(method === 'HEAD' ? undefined : body)
}

const inflate = promisify(brotliDecompress)
const deflate = promisify(gzip)

async function gzipped(brotli: Buffer): Promise<Buffer> {
  return deflate(await inflate(brotli))
}
