import { aggregatedDiscovery, hashOf, type OpenApi, resourceList } from '../api/discovery.ts'
import type { ResourceRegistry } from '../api/resource-registry.ts'
import { methodNotAllowed, noSuchResource } from '../api/status-refusal.ts'
import { beginJson, type Exchange, sendJson, sendText } from './exchange.ts'
import { wantsAggregated } from './representation.ts'

export interface ApiDescription {
  readonly registry: ResourceRegistry
  readonly openApi: OpenApi
}

const probes = new Set(['/healthz', '/readyz', '/livez'])

/** Answers requests for health, version, discovery and OpenAPI. Returns `false` for other paths. Throws refusals. */
export function serveApiDocument(exchange: Exchange, api: ApiDescription): boolean {
  const path = exchange.path.length > 1 ? exchange.path.replace(/\/$/, '') : exchange.path
  const probe = `/${path.split('/')[1]}`
  if (probes.has(probe)) {
    sendText(exchange, 200, 'ok')
    return true
  }
  const send = documentAt(path, exchange, api)
  if (send === undefined) return false
  if (exchange.method !== 'GET') throw methodNotAllowed()
  send()
  return true
}

function documentAt(
  path: string,
  exchange: Exchange,
  { registry, openApi }: ApiDescription,
): (() => void) | undefined {
  const json = (body: object) => (): void => sendJson(exchange, 200, body)
  if (path === '/version') return json(registry.captured.version)
  if (path === '/api' || path === '/apis') return () => sendDiscovery(path, exchange, registry)
  if (path === '/openapi/v3') return json(openApi.index())
  if (path.startsWith('/openapi/v3/')) return () => sendOpenApi(path.slice(12), exchange, openApi)
  const [root, group = '', version] = path.slice(1).split('/')
  const depth = path.split('/').length - 1
  if (root === 'api' && depth === 2) {
    const list = resourceList(registry, path.slice(1))
    if (list === undefined) throw noSuchResource()
    return json(list)
  }
  if (root !== 'apis' || depth > 3) return undefined
  if (version === undefined) {
    const found = registry.groups().find(({ name }) => name === group)
    return found && json({ kind: 'APIGroup', apiVersion: 'v1', ...found })
  }
  const list = resourceList(registry, path.slice(1))
  return list && json(list)
}

function sendDiscovery(
  path: '/api' | '/apis',
  exchange: Exchange,
  registry: ResourceRegistry,
): void {
  if (!wantsAggregated(exchange)) {
    const groups = { kind: 'APIGroupList', apiVersion: 'v1', groups: registry.groups() }
    const document = path === '/api' ? registry.captured.api : groups
    sendJson(exchange, 200, document, { vary: 'Accept' })
    return
  }
  const text = JSON.stringify(aggregatedDiscovery(registry, path === '/api' ? 'api' : 'apis'))
  sendTagged(exchange, text, hashOf(text), {
    'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    vary: 'Accept',
  })
}

function sendOpenApi(path: string, exchange: Exchange, openApi: OpenApi): void {
  const document = openApi.document(path)
  if (document === undefined) {
    exchange.response.writeHead(404)
    exchange.response.end()
    return
  }
  sendTagged(exchange, document.text, document.hash, {})
}

/** Sends a document with its hash as ETag, or 304 if the client has it. */
function sendTagged(exchange: Exchange, text: string, hash: string, headers: object): void {
  const etag = `"${hash}"`
  if (exchange.request.headers['if-none-match'] === etag) {
    exchange.response.writeHead(304, { etag })
    exchange.response.end()
    return
  }
  beginJson(exchange, 200, { 'cache-control': 'public', etag, ...headers })
  exchange.response.end(text)
}
