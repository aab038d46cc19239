import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayOptions, OperationOrigin, ServerOptions } from 'informerql'
import { startSimulator } from 'informerql/simulator'
import { type CountedServer, startCountedServer } from '../access/counted-server.ts'
import { type GatewayCaller, type ServedGateway, serveGateway } from '../support/gateway.ts'
import { company } from '../support/company.ts'

/** A gateway that knows who asks, somebody who attacks it, and somebody who only wants a pod. */
export interface AttackedGateway extends AsyncDisposable {
  readonly gateway: ServedGateway
  readonly mallory: GatewayCaller
  /** `Bearer …` */
  readonly authorization: string
  /** Asks for one pod, which has to be answered. */
  readonly neighbour: () => Promise<void>
  /** Where operations came from that have gone through the pipeline. */
  readonly origins: OperationOrigin[]
  /** The transports of readers that were cut off. */
  readonly cutOff: string[]
  /** How many bytes wait to be sent. */
  readonly unsent: () => number
  /** The API server. */
  readonly cluster: CountedServer
}

const tokens = { gateway: 'of-the-gateway', mallory: 'of-mallory', ann: 'of-ann' }

export const startAttackedGateway = async (
  server: Partial<ServerOptions> = {},
  limits: object = {},
  live: GatewayOptions['live'] = {},
): Promise<AttackedGateway> => {
  const now = new Date('2026-01-15T12:00:00Z')
  const simulator = await startSimulator({
    users: Object.entries(tokens).map(([user, token]) => ({ user, token })),
    populate: company({ seed: 'abuse', pods: 60, now }),
  })
  const cluster = await startCountedServer(simulator.url)
  const folder = await mkdtemp(join(tmpdir(), 'informerql-attacks-'))
  const kubeconfig = join(folder, 'config.json')
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: cluster.url } }],
      users: [{ name: 'a', user: { token: tokens.gateway } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  )
  const origins: OperationOrigin[] = []
  const cutOff: string[] = []
  let unsent = (): number => 0
  const gateway = await serveGateway(
    { clusters: [{ name: 'one', kubeconfig }], limits: { introspection: false, ...limits }, live },
    server,
    {
      auth: { mode: 'token-review' },
      observer: {
        refused: () => {},
        cutOff: (transport) => cutOff.push(transport),
        unsent: (bytes) => (unsent = bytes),
      },
      context: (origin) => {
        origins.push(origin)
        return {}
      },
    },
  )
  await rm(folder, { recursive: true })
  const ann = gateway.as(tokens.ann)
  await ann.data('{ pods { totalCount } nodes { totalCount } }')
  return {
    gateway,
    mallory: gateway.as(tokens.mallory),
    authorization: `Bearer ${tokens.mallory}`,
    neighbour: async () => {
      const { pods } = await ann.data('{ pods(first: 1) { nodes { metadata { name } } } }')
      if (pods.nodes.length !== 1) throw new Error('no pod was answered')
    },
    origins,
    cutOff,
    unsent: () => unsent(),
    cluster,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
      await simulator[Symbol.asyncDispose]()
    },
  }
}
