import { Agent } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import { clientNodeConfig } from '../kubeconfig/client-node.ts'
import type { ClusterConfig, ClusterEntry } from '../kubeconfig/cluster-config.ts'

export interface ConnectionPoolOptions {
  /** How many connections may be open at once. Further requests wait for one, within their deadline. */
  readonly maxConnections: number
  readonly maxIdleConnections: number
  /** Silence after which the kernel probes the peer. After ten unanswered probes (10 s) the connection is dead. */
  readonly tcpKeepAliveMs: number
}

/** The connections to one API server: one agent for all requests. */
export class ConnectionPool {
  readonly #config: ClusterConfig
  readonly #options: ConnectionPoolOptions
  readonly #prepared = new WeakSet<Socket>()
  #agent: Promise<Agent> | undefined

  constructor(config: ClusterConfig, options: ConnectionPoolOptions) {
    this.#config = config
    this.#options = options
  }

  /** For `node:http` or `node:https`, by the cluster's address. */
  agent(): Promise<Agent> {
    this.#agent ??= this.#createAgent()
    return this.#agent
  }

  /**
   * Makes the kernel detect dead peers. An agent does so for idle connections only, and never for TLS ones
   * (nodejs/node#41965, nodejs/node#62003); a watch is never idle in that sense.
   */
  prepare(socket: Socket): void {
    if (this.#prepared.has(socket)) return
    this.#prepared.add(socket)
    const apply = () => {
      socket.setNoDelay(true)
      socket.setKeepAlive(true, this.#options.tcpKeepAliveMs)
    }
    if (socket.connecting) socket.once('connect', apply)
    else apply()
  }

  /** Closes all connections, including those in use. */
  async close(): Promise<void> {
    const agent = await this.#agent?.catch(() => undefined)
    agent?.destroy()
  }

  async #createAgent(): Promise<Agent> {
    const settings = {
      keepAlive: true,
      keepAliveMsecs: this.#options.tcpKeepAliveMs,
      maxSockets: this.#options.maxConnections,
      maxFreeSockets: this.#options.maxIdleConnections,
    }
    const { cluster } = this.#config
    if (cluster.proxyUrl !== undefined) return await proxyAgentOf(cluster, settings)
    return cluster.server.startsWith('https:') ? new HttpsAgent(settings) : new Agent(settings)
  }
}

/**
 * client-node's agent for the cluster's `proxy-url` (HTTP CONNECT or SOCKS), made to keep connections. client-node is
 * loaded for this only.
 */
async function proxyAgentOf(cluster: ClusterEntry, settings: object): Promise<Agent> {
  const use = `the proxy of ${cluster.server}`
  const kubeConfig = await clientNodeConfig(use, cluster, { name: 'anonymous' })
  const options: RequestOptions = {}
  await kubeConfig.applyToHTTPSOptions(options)
  const agent = options.agent as Agent
  // An agent's options override a request's, and client-node sets all of them: an undefined one would override a
  // certificate.
  const own = (agent as Agent & { options: Record<string, unknown> }).options
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) Reflect.deleteProperty(own, name)
  }
  return Object.assign(agent, settings)
}
