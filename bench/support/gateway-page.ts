import { Agent, type IncomingMessage, request } from 'node:http'
import { once } from 'node:events'
import { type PageCounts, pageQuery } from './application-page.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- answers are read by the names that their query gives them
type Fields = any

/** The page as the gateway answers it: one request, over a kept connection. */
export class GatewayPage {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  readonly #body: string
  requests = 0
  bytes = 0

  constructor(url: string, namespaces: readonly string[]) {
    this.#url = url
    this.#body = JSON.stringify({ query: pageQuery, variables: { namespaces } })
  }

  async assemble(): Promise<PageCounts> {
    this.requests += 1
    const message = request(this.#url, {
      agent: this.#agent,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(this.#body)),
      },
    })
    message.end(this.#body)
    const [response] = (await once(message, 'response')) as [IncomingMessage]
    response.setEncoding('utf8')
    let text = ''
    for await (const part of response) text += part as string
    this.bytes += Buffer.byteLength(text)
    const { data, errors }: Fields = JSON.parse(text)
    if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 500))
    const deployments: readonly Fields[] = data.deployments.nodes
    const pods: readonly Fields[] = deployments.flatMap((one) => one.pods.nodes)
    return {
      deployments: deployments.length,
      pods: pods.length,
      nodes: pods.filter(({ node }) => node !== null).length,
      services: deployments.reduce((total, one) => total + one.services.nodes.length, 0),
      autoscalers: deployments.filter(({ autoscaler }) => autoscaler !== null).length,
      warnings: deployments.reduce((total, { podEvents }) => total + podEvents.nodes.length, 0),
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
