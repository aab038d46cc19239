import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openShell, refusedExec, type ShellClient, type ShellStart } from '../exec/shell-client.ts'
import { needsPostgres } from '../support/postgres.ts'
import { type ShellGateway, type ShellGateways, startShellGateways } from './shell-gateways.ts'

const maxBufferedBytes = 65_536
const friend = 'https://friend.example'
const tools = 'https://tools.example'

describe('shells that one gateway passes on to another one', needsPostgres, () => {
  const tokens = new Map<string, string>()
  const clients: ShellClient[] = []
  let gateways: ShellGateways
  let here: ShellGateway
  let there: ShellGateway

  beforeAll(async () => {
    gateways = await startShellGateways({
      tokens,
      exec: { maxSessionsPerUser: 3, maxBufferedBytes, allowedOrigins: [tools] },
      server: { reauthenticateMs: 200, allowedOrigins: [friend] },
      auth: { mode: 'token-review', knownMs: 1_000 },
    })
    ;({ here, there } = gateways)
  }, 240_000)

  afterEach(async () => {
    for (const client of clients.splice(0)) client[Symbol.dispose]()
    await vi.waitFor(() => {
      const running = there.began.length - there.ended.length
      if (running > 0) throw new Error(`${running} shells run on`)
    })
    for (const { began, ended, refused } of [here, there]) {
      for (const list of [began, ended, refused]) list.length = 0
    }
  })

  afterAll(() => gateways[Symbol.asyncDispose]())

  const open = async (
    token: string,
    { at = here, ...start }: ShellStart & { readonly at?: ShellGateway } = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ShellClient> => {
    const { cluster } = gateways
    const authorization = `Bearer ${token}`
    const shell = await openShell(at.url, { authorization, cluster, ...start }, headers)
    clients.push(shell)
    return shell
  }
  const echo = async (shell: ShellClient, text: string): Promise<void> => {
    shell.type(`echo ${text}\r`)
    await shell.printed(`\n${text}`)
  }

  describe('to a reader who takes nothing', () => {
    /** Resolves with the most that waits at each, once the kernel takes no more and nothing more is printed. */
    const heldBack = async (): Promise<readonly number[]> => {
      let before: readonly number[] = []
      let most: readonly number[] = [0, 0]
      const isStill = async (): Promise<boolean> => {
        const now = [here.unsent(), there.unsent()]
        const isSame = now.every((bytes, at) => bytes > 0 && bytes === before[at])
        most = most.map((bytes, at) => Math.max(bytes, now[at] ?? 0))
        before = now
        await sleep(200)
        return isSame
      }
      await expect.poll(isStill).toBe(true)
      return most
    }

    it('hold the process back, keep little at both, hold up nobody, and lose nothing', async () => {
      const slow = await open('of-ann')
      await slow.printed('# ')
      slow.socket.pause()
      slow.type('yes\r')
      for (const bytes of await heldBack()) expect(bytes).toBeLessThan(3 * maxBufferedBytes)
      const neighbour = await open('of-carl')
      await neighbour.printed('# ')
      await echo(neighbour, 'not held up')
      const own = await open('of-ann')
      await own.printed('# ')
      await echo(own, 'nor the same caller')
      expect(slow.end).toBeUndefined()
      slow.socket.resume()
      await slow.printed(/(y\r\n){100}/)
      slow.type('\u0003')
      await slow.printed(/\^C\r\n/)
      slow.type('exit\r')
      expect(await slow.ended()).toMatchObject({ code: 'EXITED', exitCode: 130 })
      expect(there.ended[0]?.bytesOut).toBe(Buffer.byteLength(slow.output))
    })
  })

  describe('of one caller', () => {
    it('that are too many are refused where they arrive, and the others get theirs', async () => {
      const flood = await Promise.all(Array.from({ length: 30 }, () => open('of-ann')))
      const neighbour = await open('of-carl')
      await neighbour.printed('# ')
      await echo(neighbour, 'still here')
      const refused = (): readonly ShellClient[] =>
        flood.filter(({ closed }) => closed !== undefined)
      await expect.poll(() => refused().length).toBe(27)
      for (const shell of refused()) {
        expect(shell.end).toMatchObject({ code: 'TOO_MANY_OPERATIONS', retryAfterMs: 5_000 })
        expect(shell.closed?.code).toBe(4429)
      }
      expect(here.refused).toHaveLength(27)
      expect(there.began).toHaveLength(4)
    })

    it('count at the holder with those that were opened there', async () => {
      for (let count = 0; count < 3; count += 1) {
        const shell = await open('of-ann', { at: there })
        await shell.printed('# ')
      }
      const further = await open('of-ann')
      expect(await further.ended()).toMatchObject({
        code: 'TOO_MANY_OPERATIONS',
        message: expect.stringContaining('exec.maxSessionsPerUser'),
        retryAfterMs: 5_000,
      })
      expect(further.closed?.code).toBe(4429)
      expect(there.refused).toHaveLength(1)
      expect(here.refused).toEqual([])
      // Its place at the first gateway is free again.
      clients[0]?.[Symbol.dispose]()
      await expect.poll(() => there.ended.length).toBe(1)
      const again = await open('of-ann')
      await again.printed('# ')
    })
  })

  describe('are opened', () => {
    it.each([
      ['a page of another origin', () => ({ origin: 'https://evil.example' })],
      ['a page that may send operations', () => ({ origin: friend })],
      ['a page of the holder', () => ({ origin: there.address })],
    ])('to %s by neither of them, also if it says to be a gateway', async (_, headersOf) => {
      const headers = headersOf()
      const forged = { ...headers, 'informerql-forwarded': there.address }
      for (const given of [headers, forged]) {
        expect(await refusedExec(here.url, given)).toMatchObject({ status: 403 })
      }
      expect([here, there].flatMap((one) => [...one.began, ...one.refused])).toEqual([])
    })

    it('to a page that exec.allowedOrigins names, by its token', async () => {
      const shell = await open('of-ann', {}, { origin: tools })
      await shell.printed('# ')
      await echo(shell, 'by its token')
      expect(shell.end).toBeUndefined()
    })

    it('to nobody more who says to be a gateway, or to be somebody', async () => {
      const forged = {
        'informerql-forwarded': here.address,
        'informerql-proof': '0'.repeat(64),
        'x-remote-user': 'ann',
      }
      for (const at of [here, there]) {
        const nobody = await open('of-nobody', { at }, forged)
        expect(await nobody.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
      }
      const bob = await open('of-bob', { at: there }, forged)
      expect(await bob.ended()).toMatchObject({ code: 'FORBIDDEN' })
      // The holder opens what is passed on; another gateway passes it no further.
      const atHolder = await open('of-ann', { at: there }, forged)
      await atHolder.printed('# ')
      const elsewhere = await open('of-ann', {}, forged)
      expect(await elsewhere.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
      expect(there.began.map(({ viewer }) => viewer?.username)).toEqual(['ann'])
    })
  })

  it('end as soon as it is known that the holder stands still, also while it is connected', async () => {
    const { proxy } = gateways
    const running = await open('of-ann')
    await running.printed('# ')
    proxy.hang()
    const asked = await open('of-ann')
    expect(await asked.ended()).toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining('stands still'),
    })
    expect(await running.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
    proxy.cut()
    proxy.flow()
    const isOpen = async (): Promise<boolean> => {
      using again = await open('of-ann')
      await again.opened()
      return again.end === undefined
    }
    await expect.poll(isOpen, { timeout: 60_000 }).toBe(true)
  })

  describe('of a caller whose token is renewed', () => {
    it('while the holder is connected, go on by the newer one', async () => {
      tokens.set('first', 'ann').set('second', 'ann')
      const { proxy } = gateways
      proxy.hang()
      const shell = await open('first')
      shell.socket.send(JSON.stringify({ type: 'credentials', authorization: 'Bearer second' }))
      // The renewal has arrived once the pong has.
      const pong = new Promise((resolve) => shell.socket.once('pong', resolve))
      shell.socket.ping()
      await pong
      proxy.flow()
      await shell.printed('# ')
      tokens.delete('first')
      const isRefused = async (at: ShellGateway): Promise<boolean> => {
        using other = await open('first', { at })
        await other.opened()
        return other.end?.code === 'UNAUTHENTICATED'
      }
      for (const at of [here, there]) {
        await expect.poll(() => isRefused(at)).toBe(true)
      }
      // Both have authenticated it again since.
      await sleep(1_000)
      await echo(shell, 'by the second')
      tokens.delete('second')
      expect(await shell.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    })
  })
})
