import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { type PageCounts, pageSizes } from './application-page.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- objects are read by the names that the API gives them
type Fields = any

/** As many at once as browsers and client libraries keep open, and some more. */
const connections = 16

/**
 * The page as a good client composes it from the API server: over kept connections, with parallel requests where possible, by
 * selectors, namespaces and `limit`, and each node only once.
 */
export class ApiPage {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections })
  readonly #url: string
  readonly #namespaces: readonly string[]
  requests = 0
  bytes = 0

  constructor(url: string, namespaces: readonly string[]) {
    this.#url = url
    this.#namespaces = namespaces.toSorted()
  }

  async assemble(): Promise<PageCounts> {
    const [listed, services, autoscalers, events] = await Promise.all([
      this.#everywhere('/apis/apps/v1', `deployments?limit=${pageSizes.deployments}`),
      this.#everywhere('/api/v1', 'services'),
      this.#everywhere('/apis/autoscaling/v2', 'horizontalpodautoscalers'),
      this.#everywhere('/api/v1', 'events?fieldSelector=type%3DWarning'),
    ])
    const deployments = listed.slice(0, pageSizes.deployments)
    const podsOf = await Promise.all(
      deployments.map(async ({ metadata, spec }) => {
        const selector = Object.entries(spec.selector.matchLabels).map((pair) => pair.join('='))
        const query = `labelSelector=${encodeURIComponent(selector.join(','))}&limit=${pageSizes.pods}`
        return await this.#list(`/api/v1/namespaces/${metadata.namespace}/pods?${query}`)
      }),
    )
    const pods = podsOf.flat()
    const names = new Set<string>(pods.flatMap(({ spec }) => spec.nodeName ?? []))
    await Promise.all([...names].map(async (name) => this.#read(`/api/v1/nodes/${name}`)))
    const warnings = Map.groupBy(events, ({ involvedObject: { kind, namespace, name } }) =>
      kind === 'Pod' ? `${namespace}/${workloadOf(name)}` : '',
    )
    return {
      deployments: deployments.length,
      pods: pods.length,
      nodes: pods.filter(({ spec }) => spec.nodeName !== undefined).length,
      services: sum(
        podsOf,
        (own) => services.filter((one) => own.some((pod) => serves(one, pod))).length,
      ),
      autoscalers: sum(deployments, ({ metadata }) =>
        autoscalers.some((one) => scales(one, metadata)) ? 1 : 0,
      ),
      warnings: sum(deployments, ({ metadata }) =>
        Math.min(
          pageSizes.warnings,
          warnings.get(`${metadata.namespace}/${metadata.name}`)?.length ?? 0,
        ),
      ),
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  /** The same of each namespace, at once. */
  async #everywhere(group: string, list: string): Promise<readonly Fields[]> {
    const lists = this.#namespaces.map(async (one) =>
      this.#list(`${group}/namespaces/${one}/${list}`),
    )
    return (await Promise.all(lists)).flat()
  }

  async #list(path: string): Promise<readonly Fields[]> {
    return (await this.#read(path)).items
  }

  async #read(path: string): Promise<Fields> {
    this.requests += 1
    const request = get(this.#url + path, {
      agent: this.#agent,
      headers: { accept: 'application/json' },
    })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.setEncoding('utf8')
    let text = ''
    for await (const part of response) text += part as string
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
    this.bytes += Buffer.byteLength(text)
    return JSON.parse(text)
  }
}

/**
 * The Deployment that a pod is called after: its name, a hash, five characters. So a client need not list all pods of each
 * Deployment, to know which Events are about them.
 */
function workloadOf(pod: string): string {
  return pod.split('-').slice(0, -2).join('-')
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}

function serves({ metadata: own, spec }: Fields, { metadata }: Fields): boolean {
  return (
    own.namespace === metadata.namespace &&
    spec.selector !== undefined &&
    Object.entries(spec.selector).every(([key, value]) => metadata.labels?.[key] === value)
  )
}

function scales({ metadata: own, spec }: Fields, { namespace, name }: Fields): boolean {
  const { kind, name: target } = spec.scaleTargetRef
  return own.namespace === namespace && kind === 'Deployment' && target === name
}
