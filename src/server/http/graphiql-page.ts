/*
 * Serves GraphiQL from the installed package. The page is rendered at the first request, and then kept compressed. It
 * opens the operation in its address, `?query=…&variables=…`, and at the first visit the examples.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { acceptsHtml } from '../guard/request-guard.ts'
import { graphqlPath } from '../operation-options.ts'
import { answerAsset, type Asset, assetOf } from './portal-files.ts'

const compress = promisify(brotliCompress)

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

export class GraphiqlPage {
  readonly #examples: readonly string[]
  #rendered: Promise<Asset> | undefined

  constructor(examples: readonly string[]) {
    this.#examples = examples
  }

  /** Whether the request asks for a page instead of an operation's result. */
  static isAskedFor(request: IncomingMessage): boolean {
    return (request.method === 'GET' || request.method === 'HEAD') && acceptsHtml(request)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = await (this.#rendered ??= this.#render())
    response.setHeader('content-security-policy', contentSecurityPolicy)
    response.setHeader('vary', 'accept')
    // The browser keeps the page and revalidates it: its 2 MB change only with the version.
    await answerAsset(page, request, response)
  }

  async #render(): Promise<Asset> {
    // Loads 9 MB of source that most processes never need.
    const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
    const options = {
      title: 'informerql',
      endpoint: graphqlPath,
      // The text of a new tab.
      defaultQuery: '',
      subscriptionsProtocol: 'WS',
      credentials: 'same-origin',
    } as const
    const written = JSON.stringify(options)
    const [head, ...tail] = renderGraphiQL(options).split(written)
    if (tail.length !== 1) throw new Error('GraphiQL is not rendered with its options')
    // Escapes the JSON so that it cannot end the script around it.
    const examples = JSON.stringify(this.#examples).replaceAll('<', '\\u003c')
    const html = [head, `(${inBrowser})(${written}, ${examples})`, ...tail].join('')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return assetOf('graphiql.html', await compress(html, { params }), 'br', false)
  }
}

/**
 * Completes the options in the browser. GraphiQL itself reads only the query of the address, without variables. The
 * examples become kept tabs, since tabs in the option `defaultTabs` would replace the query of the address, and overlap.
 */
const inBrowser = `(options, examples) => {
  const kept = 'graphiql:tabState'
  if (localStorage.getItem(kept) === null && examples.length > 0) {
    const tabs = examples.map((query, at) => {
      const title = /(?:query|mutation|subscription) +(\\w+)/.exec(query)?.[1] ?? 'example ' + (at + 1)
      return { id: 'example-' + at, title, query, variables: null, headers: null, operationName: null, response: null }
    })
    localStorage.setItem(kept, JSON.stringify({ tabs, activeTabIndex: 0 }))
    // Without a query in the address, GraphiQL opens the tab of this query.
    localStorage.setItem('graphiql:query', examples[0])
  }
  const variables = new URL(location.href).searchParams.get('variables') ?? undefined
  return { ...options, variables }
}`
