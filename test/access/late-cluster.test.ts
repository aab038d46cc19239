import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { reads, type SmallWorld, startSmallWorld } from './small-world.ts'

const query = `{ pods(cluster: "late", namespace: "one") { totalCount }
  gatewayClusters { name permissions { state } } }`
const alice = caller('alice')

describe('a cluster that was down when the gateway started', () => {
  const worlds: SmallWorld[] = []
  let proxy: CutProxy
  let port: number
  let gateway: ViewedGateway

  beforeAll(async () => {
    worlds.push(await startSmallWorld())
    const late = await startSmallWorld(async (url) => {
      port = Number(new URL(url).port)
      proxy = await startCutProxy(port)
      return `http://127.0.0.1:${proxy.port}`
    })
    worlds.push(late)
    await late.allow('one', 'alice', 'alice', [reads('', 'pods')])
    proxy.target = undefined
    const clusters = worlds.map(({ selection }, at) => ({
      ...selection,
      name: at === 0 ? 'there' : 'late',
    }))
    // Nothing but a change of RBAC ends what is known.
    const access = { allowMs: 3_600_000, denyMs: 3_600_000 }
    gateway = await serveViewers({ clusters, access, retryMs: 50 })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    for (const world of worlds) await world[Symbol.asyncDispose]()
  })

  it('has its RBAC followed once it is there, also where it was asked about before: what is revoked is gone at once', async () => {
    const codes = async (): Promise<readonly string[]> =>
      ((await gateway.query(alice, query)).errors ?? []).map(({ extensions }) => extensions.code)
    expect(await codes()).toEqual(['CLUSTER_UNREACHABLE'])
    proxy.target = port
    await expect.poll(codes).toEqual([])
    const followed = async (): Promise<string> => {
      const { data } = await gateway.query(alice, query)
      return data.gatewayClusters[1].permissions.state
    }
    await expect.poll(followed).toBe('FOLLOWING')
    await worlds[1]?.remove('/apis/rbac.authorization.k8s.io/v1/namespaces/one/rolebindings/alice')
    await expect.poll(codes).toEqual(['FORBIDDEN'])
  })
})
