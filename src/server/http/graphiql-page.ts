import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { graphqlPath } from '../operation-options.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Restricts the page to itself and this server, whatever its scripts contain. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface RenderedPage {
  readonly gzipped: Buffer
  readonly etag: string
}

/**
 * GraphiQL from the installed package: rendered at the first request, then kept compressed. It opens the operation of
 * its address, `?query=…&variables=…`, if there is one, and the examples at the first visit.
 */
export class GraphiqlPage {
  readonly #examples: readonly string[]
  #rendered: Promise<RenderedPage> | undefined

  constructor(examples: readonly string[]) {
    this.#examples = examples
  }

  /** Whether the request asks for a page instead of an operation's result. */
  static isAskedFor({ method, headers }: IncomingMessage): boolean {
    return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { gzipped, etag } = await (this.#rendered ??= this.#render())
    const { headers, method } = request
    response.setHeader('content-security-policy', contentSecurityPolicy)
    response.setHeader('etag', etag)
    // The browser keeps the page and revalidates it: its 2 MB change with the version only.
    response.setHeader('cache-control', 'no-cache')
    response.setHeader('vary', 'accept, accept-encoding')
    if (headers['if-none-match']?.includes(etag) === true) {
      response.writeHead(304).end()
      return
    }
    const accepted = /\bgzip\b/.test(headers['accept-encoding'] ?? '')
    const body = accepted ? gzipped : await decompress(gzipped)
    if (accepted) response.setHeader('content-encoding', 'gzip')
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
    })
    response.end(method === 'HEAD' ? undefined : body)
  }

  async #render(): Promise<RenderedPage> {
    // Loads 9 MB of source that most processes never need.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
    const options = {
      title: 'informerql',
      endpoint: graphqlPath,
      // What a new tab starts with.
      defaultQuery: '',
      subscriptionsProtocol: 'WS',
      credentials: 'same-origin',
    } as const
    const written = JSON.stringify(options)
    const [head, ...tail] = renderGraphiQL(options).split(written)
    if (tail.length !== 1) throw new Error('GraphiQL is not rendered with its options')
    const html = [head, `(${inBrowser})(${written}, ${scriptText(this.#examples)})`, ...tail].join(
      '',
    )
    const etag = `"${createHash('sha256').update(html).digest('base64url')}"`
    return { gzipped: await compress(html), etag }
  }
}

/**
 * Completes the options in the browser. GraphiQL reads the query of its address by itself, and no variables. The examples become
 * its kept tabs: those of its option `defaultTabs` replace the query of the address, and overlap.
 */
const inBrowser = `(options, examples) => {
  const kept = 'graphiql:tabState'
  if (localStorage.getItem(kept) === null && examples.length > 0) {
    const tabs = examples.map((query, at) => {
      const title = /(?:query|mutation|subscription) +(\\w+)/.exec(query)?.[1] ?? 'example ' + (at + 1)
      return { id: 'example-' + at, title, query, variables: null, headers: null, operationName: null, response: null }
    })
    localStorage.setItem(kept, JSON.stringify({ tabs, activeTabIndex: 0 }))
    // Without a query in the address, the tab of the last one is opened.
    localStorage.setItem('graphiql:query', examples[0])
  }
  const variables = new URL(location.href).searchParams.get('variables') ?? undefined
  return { ...options, variables }
}`

/** JSON that does not end the script in which it stands. */
function scriptText(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
