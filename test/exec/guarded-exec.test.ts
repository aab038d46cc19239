import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type GuardedShop, openShop, type ShopUser, tokenOf } from './guarded-shop.ts'
import {
  connectExec,
  openShell,
  refusedExec,
  type ShellClient,
  type ShellStart,
} from './shell-client.ts'

let shop: GuardedShop
const clients: ShellClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client[Symbol.dispose]()
  await shop[Symbol.asyncDispose]()
})

const openAs = async (user: ShopUser, start: ShellStart = {}): Promise<ShellClient> => {
  const client = await openShell(shop.url, { authorization: tokenOf(user), ...start })
  clients.push(client)
  return client
}
const working = async (user: ShopUser, start?: ShellStart): Promise<ShellClient> => {
  const shell = await openAs(user, start)
  await shell.printed('# ')
  return shell
}

describe('a shell is opened only', () => {
  it.each([
    ['reader', {}, 'FORBIDDEN', /create pods\/exec/],
    // What the older kubelets' rule allows is not enough.
    ['getter', {}, 'FORBIDDEN', /create pods\/exec/],
    ['ben', { debug: { image: 'busybox' } }, 'FORBIDDEN', /patch pods\/ephemeralcontainers/],
    ['ben', { namespace: 'default' }, 'NOT_FOUND', /web/],
  ] as const)('to callers with the right: %s, %o', async (user, start, code, hint) => {
    shop = await openShop()
    const shell = await openAs(user, start)
    const end = await shell.ended()
    expect(end.code).toBe(code)
    expect(`${end.message} ${end.hint}`).toMatch(hint)
    expect(shell.output).toBe('')
    expect(shop.began).toEqual([])
    expect(shop.refused).toMatchObject([{ viewer: { username: user }, outcome: code }])
  })

  it('to callers with credentials, without which the addresses that docs/security.md names are all that answer', async () => {
    shop = await openShop()
    const text = await readFile('docs/security.md', 'utf8')
    const named = /^- Without credentials a caller reaches only (.*)$/m.exec(text)?.[1] ?? ''
    const paths = [
      '/livez',
      '/readyz',
      '/exec',
      '/auth/me',
      '/graphql',
      '/schema.graphql',
      '/metrics',
    ]
    const open = await Promise.all(
      paths.map(async (path) => {
        const { status } = await fetch(new URL(path, shop.url))
        return status === 200 ? [path] : []
      }),
    )
    expect(open.flat()).toEqual(paths.filter((path) => new RegExp(`[\` ]${path}\``).test(named)))
  })

  it('to callers who say who they are, and by nobody else’s credentials', async () => {
    shop = await openShop()
    const unnamed = await openShell(shop.url)
    clients.push(unnamed)
    expect(await unnamed.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    const unknown = await openShell(shop.url, { authorization: 'Bearer of-nobody' })
    clients.push(unknown)
    expect(await unknown.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(unknown.closed?.code).toBe(4401)
    expect(shop.began).toEqual([])
  })

  it('to pages of its own origin, also where others may send operations', async () => {
    const allowedOrigins = ['https://portal.example.com']
    shop = await openShop({}, { allowedOrigins })
    const [origin = ''] = allowedOrigins
    for (const headers of [{ origin }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
      const { status, text } = await refusedExec(shop.url, headers)
      expect(status).toBe(403)
      expect(text).toContain('exec.allowedOrigins')
    }
    const own = await connectExec(shop.url, { origin: new URL(shop.url).origin })
    clients.push(own)
    expect(own.socket.readyState).toBe(own.socket.OPEN)
  })

  it('to pages of other origins that exec.allowedOrigins names', async () => {
    const origin = 'https://portal.example.com'
    shop = await openShop({ allowedOrigins: [origin] })
    const shell = await openShell(shop.url, { authorization: tokenOf('ann') }, { origin })
    clients.push(shell)
    await shell.printed('# ')
    expect(shell.end).toBeUndefined()
  })

  it('to clients that speak its protocol', async () => {
    shop = await openShop()
    const { status } = await refusedExec(shop.url, {}, 'graphql-transport-ws')
    expect(status).toBe(400)
  })

  it('within the places of a user, and of all', async () => {
    shop = await openShop({ maxSessionsPerUser: 2, maxSessions: 3 })
    const first = await working('ann')
    await working('ann')
    const third = await openAs('ann')
    expect(await third.ended()).toMatchObject({
      code: 'TOO_MANY_OPERATIONS',
      message: expect.stringContaining('exec.maxSessionsPerUser'),
    })
    await working('ben')
    const fifth = await openAs('ben')
    expect(await fifth.ended()).toMatchObject({
      code: 'TOO_MANY_OPERATIONS',
      message: expect.stringContaining('exec.maxSessions)'),
    })
    first[Symbol.dispose]()
    await expect.poll(() => shop.ended.length).toBe(1)
    await working('ann')
    expect(await shop.metric('informerql_exec_sessions')).toBe(3)
  })

  it('a flood of them neither opens more nor keeps the others from their shells', async () => {
    shop = await openShop({ maxSessionsPerUser: 2 })
    const flood = await Promise.all(Array.from({ length: 40 }, () => openAs('ben')))
    const neighbour = await working('ann')
    await expect.poll(() => shop.refused.length).toBe(38)
    neighbour.type('echo still here\r')
    await neighbour.printed('still here\r\n')
    expect(flood.filter(({ closed }) => closed === undefined)).toHaveLength(2)
  })
})

describe('a message that breaks the protocol ends the session', () => {
  it.each([
    ['a text that is no JSON', 'hello'],
    ['a first message without a target', JSON.stringify({ type: 'start' })],
    [
      'a name that leads elsewhere',
      JSON.stringify({ type: 'start', namespace: 'shop', pod: '..', command: ['sh'] }),
    ],
    [
      'another member',
      JSON.stringify({ type: 'start', namespace: 'a', pod: 'b', command: ['sh'], as: 'root' }),
    ],
    ['input before a target', Buffer.of(0, 65)],
  ])('%s', async (_, message) => {
    shop = await openShop()
    const client = await connectExec(shop.url)
    clients.push(client)
    client.socket.send(message)
    expect(await client.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(client.closed?.code).toBe(4400)
  })

  it.each([
    ['another channel', Buffer.of(3, 65)],
    ['a size that is none', Buffer.concat([Buffer.of(4), Buffer.from('{"Width":-1}')])],
    ['the end of another channel', Buffer.of(255, 1)],
    ['an empty message', Buffer.of()],
  ])('%s', async (_, message) => {
    shop = await openShop()
    const shell = await working('ann')
    shell.socket.send(message)
    expect(await shell.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('a message beyond the bound', async () => {
    shop = await openShop({ maxMessageBytes: 1_024 })
    const shell = await working('ann')
    shell.type('a'.repeat(2_000))
    await expect.poll(() => shell.closed?.code).toBe(1009)
    await expect.poll(() => shop.ended).toMatchObject([{ outcome: 'CLOSED' }])
  })

  it('no message at all', async () => {
    shop = await openShop({}, { connectionInitDeadlineMs: 100 })
    const client = await connectExec(shop.url)
    clients.push(client)
    expect(await client.ended()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})

describe('a slow reader', () => {
  /** What is on the way fills the buffers of the kernel first; then nothing more is printed. Resolves with what waits. */
  const heldBack = async (): Promise<number> => {
    let unsent = -1
    await expect
      .poll(async () => {
        const before = unsent
        unsent = await shop.metric('informerql_unsent_bytes')
        await sleep(100)
        return unsent > 0 && unsent === before
      })
      .toBe(true)
    return unsent
  }

  it('holds the process back, and little waits for it', async () => {
    shop = await openShop({ maxBufferedBytes: 65_536 })
    const shell = await working('ann')
    shell.socket.pause()
    shell.type('yes\r')
    expect(await heldBack()).toBeLessThan(2 * 65_536 + 65_536)
    expect(shell.end).toBeUndefined()
    shell.socket.resume()
    await shell.printed(/(y\r\n){100}/)
    shell.type('\u0003')
    await shell.printed(/\^C\r\n/)
    shell.type('exit\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 130 })
    expect(shop.ended[0]?.bytesOut).toBe(Buffer.byteLength(shell.output))
  })

  it('goes on once it reads again, also with a buffer that is smaller than that of its connection', async () => {
    shop = await openShop({ maxBufferedBytes: 4_096 })
    const shell = await working('ann')
    shell.socket.pause()
    shell.type('yes\r')
    await heldBack()
    shell.socket.resume()
    await sleep(500)
    const { length } = shell.output
    await expect.poll(() => shell.output.length).toBeGreaterThan(length + 1_000)
  })

  it('that takes nothing is cut off, and its place is free', async () => {
    shop = await openShop({ maxBufferedBytes: 65_536 }, { writeDeadlineMs: 200 })
    const shell = await working('ann')
    shell.socket.pause()
    shell.type('yes\r')
    await expect.poll(() => shop.ended).toMatchObject([{ outcome: 'SLOW_READER' }])
    expect(await shop.metric('informerql_exec_sessions')).toBe(0)
  })
})

describe('a client that sends more than anything takes is read no further', () => {
  const answersPings = async ({ socket }: ShellClient): Promise<boolean> => {
    const answer = once(socket, 'pong')
    socket.ping()
    return await Promise.race([answer.then(() => true), sleep(3_000, false)])
  }

  it('before the shell is open, also of empty messages', async () => {
    shop = await openShop()
    // The API server answers nothing.
    shop.proxy.hang()
    const shell = await openAs('ann')
    for (let at = 0; at < 20_000; at++) shell.socket.send(Buffer.of())
    expect(await answersPings(shell)).toBe(false)
  })

  it('of sizes of its window', async () => {
    shop = await openShop({ maxBufferedBytes: 4_096 })
    const shell = await working('ann')
    shop.proxy.stall()
    // More than the kernel buffers.
    for (let burst = 0; burst < 40; burst++) {
      for (let at = 0; at < 10_000; at++) shell.resize(80, 24)
      await sleep(10)
    }
    expect(await answersPings(shell)).toBe(false)
  })
})

describe('a shell ends', () => {
  it('when nothing is typed and printed', async () => {
    shop = await openShop({ idleMs: 1_000 })
    const shell = await working('ann')
    expect(await shell.ended()).toMatchObject({
      code: 'IDLE',
      message: expect.stringContaining('exec.idleMs'),
    })
    expect(shell.closed?.code).toBe(4408)
  })

  it('when it has lasted long enough, also while it prints', async () => {
    shop = await openShop({ maxSessionMs: 1_500 })
    const shell = await working('ann')
    shell.type('yes\r')
    expect(await shell.ended()).toMatchObject({ code: 'TOO_LONG' })
  })

  it('when its caller loses the right', async () => {
    shop = await openShop()
    const shell = await working('ben')
    shop.revoke('ben')
    expect(await shell.ended()).toMatchObject({ code: 'FORBIDDEN' })
    expect(shell.closed?.code).toBe(4403)
    expect(shop.ended).toMatchObject([{ outcome: 'FORBIDDEN' }])
  })

  it('when the API server is cut off', async () => {
    shop = await openShop()
    const shell = await working('ann')
    await shop.proxy.refuse()
    expect(await shell.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
    const next = await openAs('ann')
    expect(await next.ended()).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
    await shop.proxy.listen()
    await expect
      .poll(async () => {
        const again = await openAs('ann')
        await again.opened()
        return again.end?.code ?? 'open'
      })
      .toBe('open')
  })

  it('when its pod is deleted', async () => {
    shop = await openShop()
    const shell = await working('ann')
    shop.simulator.storage.delete({ group: '', version: 'v1', resource: 'pods' }, 'shop', 'web')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 137 })
  })

  it('when the gateway stops, which says so', async () => {
    shop = await openShop()
    const shell = await working('ann')
    await shop.gateway[Symbol.asyncDispose]()
    expect(await shell.ended()).toMatchObject({ code: 'STOPPING' })
    expect(shell.closed?.code).toBe(1012)
    expect(shop.ended).toMatchObject([{ outcome: 'STOPPING' }])
  })

  it('when its client is gone, and the process with it', async () => {
    shop = await openShop()
    const shell = await working('ann')
    shell.type('sleep 1000\r')
    await shell.printed('sleep')
    shell.socket.terminate()
    await expect.poll(() => shop.ended).toMatchObject([{ outcome: 'CLOSED' }])
    expect(await shop.metric('informerql_exec_sessions')).toBe(0)
  })

  it('when its token is no longer accepted', async () => {
    shop = await openShop({}, { reauthenticateMs: 200 })
    const { storage, url } = shop.simulator
    const core = { group: '', version: 'v1', resource: 'serviceaccounts' }
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' }
    storage.create(core, { ...account, metadata: { name: 'robot', namespace: 'shop' } })
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
    storage.create(
      { ...rbac, resource: 'clusterrolebindings' },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'robot' },
        roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'ben' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'shop', name: 'robot' }],
      },
    )
    const answer = await fetch(`${url}/api/v1/namespaces/shop/serviceaccounts/robot/token`, {
      method: 'POST',
      headers: { authorization: tokenOf('ann'), 'content-type': 'application/json' },
      body: '{"spec":{}}',
    })
    const { token } = ((await answer.json()) as { status: { token: string } }).status
    const shell = await openAs('ann', { authorization: `Bearer ${token}` })
    await shell.printed('# ')
    storage.delete(core, 'shop', 'robot')
    expect(await shell.ended()).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(shell.closed?.code).toBe(4401)
  })

  it('not by a token that is not of its caller', async () => {
    shop = await openShop({}, { reauthenticateMs: 200 })
    const shell = await working('ann')
    const renew = (authorization: string): void =>
      shell.socket.send(JSON.stringify({ type: 'credentials', authorization }))
    renew('Bearer of-nobody')
    renew(tokenOf('ben'))
    shell.type('echo on\r')
    await shell.printed('on\r\n')
    expect(shell.end).toBeUndefined()
  })
})

it('what a process prints character by character reaches the client in few messages, whole and before its end', async () => {
  shop = await openShop()
  const shell = await working('ann')
  let messages = 0
  shell.socket.on('message', () => (messages += 1))
  // The terminal echoes each character as a message of its own.
  shell.type(`# ${'x'.repeat(5_000)}\rexit\r`)
  await shell.ended()
  expect(shell.output).toContain(`# ${'x'.repeat(5_000)}\r\n`)
  await expect.poll(() => shop.ended[0]?.bytesOut).toBe(Buffer.byteLength(shell.output))
  expect(messages).toBeLessThan(2_500)
})
