import { expect, it, describe } from 'vitest'
import { startCountedServer } from '../access/counted-server.ts'
import { needsPostgres } from '../support/postgres.ts'
import { sharedBetween } from './settled-holders.ts'
import { SharedGateways } from './shared-gateways.ts'

describe('an operation of gateways that share their clusters', needsPostgres, () => {
  it('has one deadline: what is late at this gateway is not begun again', async () => {
    await using stack = new AsyncDisposableStack()
    const shared = stack.use(await SharedGateways.start(12))
    const servers = await Promise.all(
      shared.simulators.map(async ({ url }) => stack.use(await startCountedServer(url))),
    )
    const clusters = shared.names.map((name, at) => ({ name, server: servers[at]?.url ?? '' }))
    const limits = { operationDeadlineMs: 8_000, liveDeadlineMs: 20_000 }
    const here = await shared.serve({ clusters, limits })
    const { there, held } = await sharedBetween(here, () => shared.serve({ clusters, limits }))
    const of = ({ address }: { readonly address: string }): string =>
      shared.names.find((name) => held[name] === address) ?? ''
    const [own, far] = [of(here), of(there)]
    const pod = (cluster: string): string =>
      `pod(cluster: "${cluster}", namespace: "default", name: "pod-of-${cluster}", live: true) { name }`
    const ask = () => here.query(`{ own: ${pod(own)} far: ${pod(far)} }`)
    await expect.poll(ask, { timeout: 60_000 }).toEqual({
      data: { own: { name: `pod-of-${own}` }, far: { name: `pod-of-${far}` } },
    })
    const server = servers[shared.names.indexOf(own)]
    const path = `/pods/pod-of-${own}`
    const before = server?.count(path) ?? 0
    server?.hold(path)
    const { errors } = await ask()
    expect(errors).toMatchObject([{ extensions: { code: 'DEADLINE_EXCEEDED' } }])
    await here.data(`{ ${pod(far)} }`)
    expect((server?.count(path) ?? 0) - before).toBe(1)
    server?.release()
  })
})
