import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from 'informerql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { type GraphQLAnswer, serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { type RequestProxy, startRequestProxy } from '../support/request-proxy.ts'
import { heldAt, sharedBetween } from './settled-holders.ts'
import { behind, freePort, SharedGateways, type SharingGateway } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 200 }

/** What a gateway has reported to its audit log. */
class Reports implements NonNullable<GatewayOptions['audit']> {
  readonly lines: string[] = []
  answered({
    operation,
    by,
    codes,
  }: {
    operation: string
    by: string
    codes: readonly string[]
  }): void {
    this.lines.push(['answered', operation, by, ...codes].join(' '))
  }
  wrote({ mutation, name, code }: { mutation: string; name: string; code: string }): void {
    this.lines.push(['wrote', mutation, name, code].join(' ').trim())
  }
  ended({ operation }: { operation: string }): void {
    this.lines.push(`ended ${operation}`)
  }
}

describe('a write about a cluster that another gateway holds', needsPostgres, () => {
  const stack = new AsyncDisposableStack()
  const apis: RequestProxy[] = []
  let shared: SharedGateways
  let here: SharingGateway
  let there: SharingGateway
  let atHere: Reports
  let atThere: Reports
  /** Between them. */
  let proxy: CutProxy
  let near = ''
  let far = ''

  const serve = async (audit: Reports, isCut: boolean): Promise<SharingGateway> => {
    const port = await freePort()
    const between = isCut ? await startCutProxy(port) : undefined
    if (between !== undefined) proxy = between
    const address = `http://127.0.0.1:${between?.port ?? port}`
    const clusters = shared.names.map((name, at) => ({ name, server: apis[at]?.url ?? '' }))
    const writes = { writesPerMinute: 30 }
    const options = { ...shared.options, clusters, share: { address }, allowWrites: true }
    const gateway = await serveGateway({ ...options, writes, audit }, { port })
    return between === undefined ? { ...gateway, address } : behind(gateway, between)
  }

  beforeAll(async () => {
    shared = stack.use(await SharedGateways.start(12))
    for (const { url } of shared.simulators) apis.push(stack.use(await startRequestProxy(url)))
    atHere = new Reports()
    here = stack.use(await serve(atHere, false))
    const between = await sharedBetween(here, async () => {
      atThere = new Reports()
      return await serve(atThere, true)
    })
    there = stack.use(between.there)
    ;[near = ''] = heldAt(here, between.held)
    ;[far = ''] = heldAt(there, between.held)
  }, 240_000)

  afterAll(async () => {
    proxy.flow()
    await stack.disposeAsync()
  })

  const idOf = (cluster: string): string => `${cluster}/Pod/default/pod-of-${cluster}`
  const label = (cluster: string, team: string, more = ''): string =>
    `mutation { label(id: "${idOf(cluster)}", labels: { team: "${team}" }${more}) { object { metadata { labels } } } }`
  /** How often a cluster was asked to change the pod. */
  const patches = (cluster: string): number =>
    apis[shared.names.indexOf(cluster)]?.requests.filter((one) => one.startsWith('PATCH')).length ??
    0
  const simulatorOf = (cluster: string) => {
    const simulator = shared.simulators[shared.names.indexOf(cluster)]
    if (simulator === undefined) throw new Error('no simulator')
    return simulator
  }
  const unknown = { data: null, errors: [{ extensions: { code: 'OUTCOME_UNKNOWN' } }] }

  it('is made once, and is in the audit log once as a write: at the holder', async () => {
    const before = patches(far)
    atHere.lines.length = atThere.lines.length = 0
    const { data } = await here.query(label(far, 'one'))
    expect(data.label.object.metadata.labels).toMatchObject({ team: 'one' })
    expect(patches(far)).toBe(before + 1)
    expect(atHere.lines).toEqual(['answered mutation peers'])
    expect(atThere.lines.filter((line) => line.startsWith('wrote'))).toEqual([
      `wrote label pod-of-${far}`,
    ])
  })

  it('has an unknown outcome if the holder is lost while it writes, and is not made again', async () => {
    const before = patches(far)
    const api = apis[shared.names.indexOf(far)]
    if (api === undefined) throw new Error('no proxy')
    const held = Promise.withResolvers<void>()
    api.held = held.promise
    const answer = here.query(label(far, 'two'))
    await expect.poll(() => patches(far), patience).toBe(before + 1)
    proxy.cut()
    expect(await answer).toMatchObject(unknown)
    api.held = undefined
    held.resolve()
    await sleep(4_000)
    expect(patches(far)).toBe(before + 1)
  })

  it('has an unknown outcome if the holder stands still, and is not made again when it goes on', async () => {
    const before = patches(far)
    proxy.mute()
    expect(await here.query(label(far, 'three'))).toMatchObject(unknown)
    proxy.cut()
    const count = `{ pods(cluster: "${far}") { totalCount } }`
    await expect.poll(() => here.query(count), patience).toHaveProperty('data.pods.totalCount', 1)
    expect(patches(far)).toBe(before + 1)
  })

  it('is made by no gateway if none can be reached, and that is no unknown outcome', async () => {
    const before = patches(far)
    await proxy.refuse()
    const refused = { errors: [{ extensions: { code: 'CLUSTER_UNREACHABLE' } }] }
    expect(await here.query(label(far, 'four'))).toMatchObject(refused)
    await proxy.listen()
    const write = async (): Promise<GraphQLAnswer> => await here.query(label(far, 'five'))
    await expect.poll(write, patience).not.toHaveProperty('errors')
    expect(patches(far)).toBe(before + 1)
  })

  it('that is a drain, or a log that is followed, ends at the holder when the client leaves', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } }
    await created(simulatorOf(far), '/api/v1/nodes', node)
    await created(simulatorOf(far), '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'held',
        finalizers: ['example.com/held'],
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: '1', controller: true },
        ],
      },
      spec: { nodeName: 'worker', containers: [{ name: 'a', image: 'a' }] },
    })
    const asked = [
      `subscription { drain(id: "${far}/Node//worker") { state } }`,
      `subscription { podLogs(ids: ["${idOf(far)}"]) { lines { text } } }`,
    ]
    for (const query of asked) {
      atThere.lines.length = 0
      const frames: unknown[] = []
      const leave = here.connect().subscribe(
        { query },
        {
          next: (frame) => void frames.push(frame),
          error: (error) => void frames.push(error),
          complete() {},
        },
      )
      const begun = (): readonly string[] =>
        atThere.lines.filter((line) => line.startsWith('answered subscription'))
      await expect.poll(begun, patience).toHaveLength(1)
      await sleep(1_000)
      expect(JSON.stringify(frames)).not.toContain('"errors"')
      expect(atThere.lines).not.toContain('ended subscription')
      leave()
      await expect.poll(() => atThere.lines, patience).toContain('ended subscription')
    }
  })

  it('counts for its user at the holder alone', async () => {
    const codes: string[] = []
    while (!codes.includes('TOO_MANY_WRITES') && codes.length < 60) {
      const { errors = [] } = await here.query(label(far, `six-${codes.length}`, ', dryRun: true'))
      codes.push(errors[0]?.extensions.code ?? '')
    }
    expect(codes.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => ''))
    expect(codes.at(-1)).toBe('TOO_MANY_WRITES')
    expect(await here.query(label(near, 'seven', ', dryRun: true'))).not.toHaveProperty('errors')
  })
})
