import { Agent } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { ClusterConfig, ClusterEntry } from '../kubeconfig/cluster-config.ts'

export interface ConnectionPoolOptions {
  /** How many connections may be open at once; further requests wait for one (and for their deadline). */
  readonly maxConnections: number
  /** How many idle connections are kept. */
  readonly maxIdleConnections: number
  /** Silence after which the kernel asks whether the peer is still there; ten questions later (10 s) it is not. */
  readonly tcpKeepAliveMs: number
}

/** The connections to one API server: one agent for all requests, whoever sends them. */
export class ConnectionPool {
  readonly #config: ClusterConfig
  readonly #options: ConnectionPoolOptions
  readonly #prepared = new WeakSet<Socket>()
  #agent: Promise<Agent> | undefined

  constructor(config: ClusterConfig, options: ConnectionPoolOptions) {
    this.#config = config
    this.#options = options
  }

  /** For `node:http` or `node:https`, as the cluster's address says. */
  agent(): Promise<Agent> {
    this.#agent ??= this.#createAgent()
    return this.#agent
  }

  /**
   * Makes the kernel notice a peer that is gone. An agent does so only for idle connections, and never for TLS ones
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

  /** Closes all connections, those in use as well. */
  async close(): Promise<void> {
    const agent = await this.#agent
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
 * client-node's agent for the cluster's `proxy-url` (HTTP CONNECT or SOCKS), made to keep its connections. client-node is
 * loaded for that alone.
 */
async function proxyAgentOf(cluster: ClusterEntry, settings: object): Promise<Agent> {
  const clientNode = await import('@kubernetes/client-node')
  const kubeConfig = new clientNode.KubeConfig()
  const isPlain = cluster.server.startsWith('http:')
  const readable = isPlain ? { ...cluster, skipTLSVerify: true } : cluster
  kubeConfig.loadFromClusterAndUser(readable, { name: 'anonymous' })
  const options: RequestOptions = {}
  await kubeConfig.applyToHTTPSOptions(options)
  const agent = options.agent as Agent
  // An agent's options win over a request's, and client-node names all of them: undefined would win over a certificate.
  const own = (agent as Agent & { options: Record<string, unknown> }).options
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) Reflect.deleteProperty(own, name)
  }
  return Object.assign(agent, settings)
}
