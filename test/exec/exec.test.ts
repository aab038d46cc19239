import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GuardedShop, openShop, tokenOf } from './guarded-shop.ts'
import { openShell, type ShellClient, type ShellStart } from './shell-client.ts'

describe('a shell in a container', () => {
  let shop: GuardedShop
  const clients: ShellClient[] = []
  beforeEach(async () => {
    shop = await openShop()
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) client[Symbol.dispose]()
    await shop[Symbol.asyncDispose]()
  })
  const open = async (start: ShellStart = {}): Promise<ShellClient> => {
    const client = await openShell(shop.url, { authorization: tokenOf('ann'), ...start })
    clients.push(client)
    return client
  }

  it('runs commands, and ends with the exit code', async () => {
    const shell = await open({ columns: 100, rows: 30 })
    await shell.printed('/ # ')
    shell.type('echo hello $HOSTNAME\r')
    await shell.printed('hello web\r\n/ # ')
    shell.type('stty size\r')
    await shell.printed('30 100\r\n')
    shell.resize(81, 25)
    shell.type('stty size\r')
    await shell.printed('25 81\r\n')
    shell.type('exit 3\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 3 })
    expect(shell.closed).toEqual({ code: 1000, reason: 'EXITED: the process has exited with 3' })
  })

  it('interrupts what runs by ctrl-c, and goes on', async () => {
    const shell = await open()
    await shell.printed('# ')
    shell.type('sleep 1000\r')
    await shell.printed('sleep 1000\r\n')
    shell.type('\u0003')
    await shell.printed(/\^C\r\n.*# /s)
    shell.type('echo $?\r')
    await shell.printed('130\r\n')
    expect(shell.end).toBeUndefined()
  })

  it('without a terminal keeps the streams apart, and takes the end of the input', async () => {
    const command = ['sh', '-c', 'cat; ls /absent']
    const shell = await open({ tty: false, command })
    await shell.opened()
    shell.type('one\ntwo\n')
    shell.endInput()
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 1 })
    expect(shell.output).toBe('one\ntwo\n')
    expect(shell.errors).toBe('ls: /absent: No such file or directory\n')
  })

  it('what is typed before it is open is not lost', async () => {
    const shell = await open()
    shell.type('echo early\r')
    await shell.printed('early\r\n')
    expect(shell.output).toContain('# ')
  })

  it('in a debug container runs there, and the pod has it', async () => {
    const shell = await open({ container: 'app', debug: { image: 'busybox:1.37' } })
    await shell.printed('# ')
    expect(shell.container).toMatch(/^debugger-[0-9a-f]{6}$/)
    shell.type('cat /etc/os-release\r')
    await shell.printed('IMAGE="busybox:1.37"')
    const { pods } = await shop.gateway
      .as('of-ann')
      .data(
        '{ pods { nodes { metadata { name } spec { ephemeralContainers { name image targetContainerName } } } } }',
      )
    expect(pods.nodes).toContainEqual({
      metadata: { name: 'web' },
      spec: {
        ephemeralContainers: [
          { name: shell.container, image: 'busybox:1.37', targetContainerName: 'app' },
        ],
      },
    })
    expect(shop.began).toMatchObject([{ container: shell.container, cluster: 'one' }])
  })

  it('names the debug container to the audit log, also if it does not run, unless it was not added', async () => {
    const start = { container: 'app', debug: { image: 'missing:1' } }
    const shell = await open(start)
    const { message } = await shell.ended()
    const [name] = /debugger-[0-9a-f]{6}/.exec(message) ?? []
    expect(shop.refused).toMatchObject([
      { container: name, outcome: 'BAD_USER_INPUT', target: { container: 'app' } },
    ])
    const absent = await open({ ...start, pod: 'absent' })
    expect(await absent.ended()).toMatchObject({ code: 'NOT_FOUND' })
    expect(shop.refused[1]?.container).toBeUndefined()
    const left = await open({ ...start, debug: { image: 'busybox:1.37' } })
    await left.opened()
    expect(left.container).toMatch(/^debugger-/)
  })

  it.each([
    ['a debug image that is missing', { debug: { image: 'missing:1' } }, 'BAD_USER_INPUT'],
    ['a pod that is not there', { pod: 'absent' }, 'NOT_FOUND'],
    ['a container that is not there', { container: 'absent' }, 'BAD_USER_INPUT'],
    ['a container that does not run', { pod: 'crashed' }, 'NODE_UNREACHABLE'],
    ['a node that does not answer', { pod: 'lost' }, 'NODE_UNREACHABLE'],
    ['a program that is not there', { command: ['zsh'] }, 'FAILED'],
    ['a cluster that is not there', { cluster: 'two' }, 'BAD_USER_INPUT'],
    ['no command', { command: [] }, 'BAD_USER_INPUT'],
  ])('%s is an error with its code', async (_, start, code) => {
    const shell = await open(start)
    const end = await shell.ended()
    expect(end).toMatchObject({ code })
    expect(shell.closed?.reason).toMatch(new RegExp(`^${code}: `))
  })

  it('is in the audit log with its target and outcome, and not with its content', async () => {
    const shell = await open({ command: ['sh', '-c', 'echo secret'] })
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 0 })
    const target = { namespace: 'shop', pod: 'web', command: ['sh', '-c', 'echo secret'] }
    expect(shop.began).toMatchObject([{ viewer: { username: 'ann' }, cluster: 'one', target }])
    expect(shop.ended).toMatchObject([
      { outcome: 'EXITED', exitCode: 0, bytesIn: 0, bytesOut: 'secret\r\n'.length, target },
    ])
    expect(await shop.metric('informerql_exec_sessions')).toBe(0)
    expect(await shop.metric('informerql_exec_sessions_total{outcome="EXITED"}')).toBe(1)
    expect(await shop.metric('informerql_exec_bytes_total{direction="out"}')).toBe(8)
  })
})
