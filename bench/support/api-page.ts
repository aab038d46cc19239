import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { type PageCounts, pageSizes } from './application-page.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- objects are read by the names that the API gives them
type Fields = any

/** As many at once as browsers and client libraries keep open, and some more. */
const connections = 16

/**
 * The page as a good client puts it together from the API server: over kept connections, what can be asked for at once at
 * once, by selectors, namespaces and `limit`; each node only once.
 */
export class ApiPage {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections })
  readonly #url: string
  readonly #namespace: string
  requests = 0
  bytes = 0

  constructor(url: string, namespace: string) {
    this.#url = url
    this.#namespace = namespace
  }

  async assemble(): Promise<PageCounts> {
    const core = `/api/v1/namespaces/${this.#namespace}`
    const [deployments, services, autoscalers, events] = await Promise.all([
      this.#list(
        `/apis/apps/v1/namespaces/${this.#namespace}/deployments?limit=${pageSizes.deployments}`,
      ),
      this.#list(`${core}/services`),
      this.#list(`/apis/autoscaling/v2/namespaces/${this.#namespace}/horizontalpodautoscalers`),
      this.#list(`${core}/events?fieldSelector=type%3DWarning`),
    ])
    const podsOf = await Promise.all(
      deployments.map(async ({ spec }) => {
        const selector = Object.entries(spec.selector.matchLabels).map((pair) => pair.join('='))
        const query = `labelSelector=${encodeURIComponent(selector.join(','))}&limit=${pageSizes.pods}`
        return await this.#list(`${core}/pods?${query}`)
      }),
    )
    const pods = podsOf.flat()
    const names = new Set<string>(pods.flatMap(({ spec }) => spec.nodeName ?? []))
    await Promise.all([...names].map(async (name) => this.#read(`/api/v1/nodes/${name}`)))
    const warnings = Map.groupBy(events, ({ involvedObject }) => involvedObject.uid)
    const serves = ({ spec }: Fields, { metadata }: Fields): boolean =>
      spec.selector !== undefined &&
      Object.entries(spec.selector).every(([key, value]) => metadata.labels?.[key] === value)
    const scales = ({ spec }: Fields, name: string): boolean =>
      spec.scaleTargetRef.kind === 'Deployment' && spec.scaleTargetRef.name === name
    return {
      deployments: deployments.length,
      pods: pods.length,
      nodes: pods.filter(({ spec }) => spec.nodeName !== undefined).length,
      services: sum(
        podsOf,
        (own) => services.filter((one) => own.some((pod) => serves(one, pod))).length,
      ),
      autoscalers: sum(deployments, ({ metadata }) =>
        autoscalers.some((one) => scales(one, metadata.name)) ? 1 : 0,
      ),
      warnings: sum(pods, ({ metadata }) =>
        Math.min(pageSizes.warnings, warnings.get(metadata.uid)?.length ?? 0),
      ),
    }
  }

  close(): void {
    this.#agent.destroy()
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

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}
