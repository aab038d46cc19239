import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openShell, refusedExec, type ShellClient, type ShellStart } from '../exec/shell-client.ts'
import type { CutProxy } from '../support/cut-proxy.ts'
import { needsPostgres } from '../support/postgres.ts'
import { type ShellGateway, type ShellGateways, startShellGateways } from './shell-gateways.ts'

describe('a shell in a cluster that another gateway holds', needsPostgres, () => {
  let gateways: ShellGateways
  let here: ShellGateway
  let there: ShellGateway
  /** Between them. */
  let proxy: CutProxy
  let cluster = ''

  beforeAll(async () => {
    gateways = await startShellGateways({ exec: { maxSessionsPerUser: 2 } })
    ;({ here, there, proxy, cluster } = gateways)
  }, 240_000)

  afterAll(() => gateways[Symbol.asyncDispose]())

  const open = async (
    start: ShellStart = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ShellClient> =>
    await openShell(here.url, { authorization: 'Bearer of-ann', cluster, ...start }, headers)

  it('prints and ends as its process does, and is recorded once, by the holder, with the caller', async () => {
    using shell = await open()
    await shell.printed('# ')
    shell.type('echo from afar\r')
    await shell.printed('\nfrom afar')
    const authorization = 'Bearer of-ann'
    shell.socket.send(JSON.stringify({ type: 'credentials', authorization }))
    shell.type('exit 3\r')
    expect(await shell.ended()).toEqual({
      type: 'end',
      code: 'EXITED',
      message: 'the process has exited with 3',
      exitCode: 3,
    })
    expect(shell.closed).toEqual({ code: 1000, reason: 'EXITED: the process has exited with 3' })
    expect(shell.container).toBeDefined()
    const viewer = expect.objectContaining({ username: 'ann' })
    expect(there.ended).toEqual([
      expect.objectContaining({ outcome: 'EXITED', exitCode: 3, cluster, viewer }),
    ])
    expect(here).toMatchObject({ began: [], ended: [], refused: [] })
  })

  it('is opened by the header of the caller as well', async () => {
    using shell = await openShell(here.url, { cluster }, { authorization: 'Bearer of-ann' })
    await shell.printed('# ')
    shell.type('exit\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
  })

  it('takes what is typed before it is open, and the end of the input', async () => {
    using shell = await open({ tty: false })
    shell.type('echo early\n')
    shell.endInput()
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
    expect(shell.output).toContain('early')
  })

  it('is refused to callers without the right, or with wrong messages, as the holder says', async () => {
    using bob = await open({ authorization: 'Bearer of-bob' })
    expect(await bob.ended()).toMatchObject({ code: 'FORBIDDEN' })
    expect(bob.closed?.code).toBe(4403)
    expect(here.refused).toEqual([])
    using nobody = await open({ authorization: 'Bearer of-nobody' })
    expect(await nobody.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    using wrong = await open()
    await wrong.printed('# ')
    wrong.socket.send(Buffer.of(7, 7))
    expect(await wrong.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('is refused to pages of other origins, where they arrive', async () => {
    const foreign = await refusedExec(here.url, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  it('takes a place of its user', async () => {
    using first = await open()
    using second = await open()
    await first.printed('# ')
    await second.printed('# ')
    using third = await open()
    expect(await third.ended()).toMatchObject({ code: 'TOO_MANY_OPERATIONS' })
  })

  it('goes one hop: what another gateway has passed on goes no further', async () => {
    using shell = await open({}, { 'informerql-forwarded': there.address })
    expect(await shell.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE', retryAfterMs: 1_000 })
    expect(shell.closed?.code).toBe(1013)
  })

  it('ends there when its client is gone', async () => {
    const { ended } = there
    const before = ended.length
    using shell = await open()
    await shell.printed('# ')
    shell.socket.terminate()
    await expect.poll(() => ended.slice(before).map(({ outcome }) => outcome)).toContain('CLOSED')
  })

  it('ends with CLUSTER_UNREACHABLE when the holder is gone', async () => {
    using shell = await open()
    await shell.printed('# ')
    proxy.cut()
    expect(await shell.ended()).toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining(`the gateway that holds cluster ${cluster} is lost`),
      retryAfterMs: 1_000,
    })
  })
})
