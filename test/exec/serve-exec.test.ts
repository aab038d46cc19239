import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { putNodes, putPod, running } from '../logs/small-town.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { openShell, refusedExec } from './shell-client.ts'

describe('informerql serve', () => {
  let simulator: Simulator
  let folder: string
  beforeAll(async () => {
    simulator = await startSimulator({
      populate(storage) {
        putNodes(storage)
        putPod(storage, 'web', running(0))
      },
    })
    folder = await mkdtemp(join(tmpdir(), 'informerql-exec-'))
  })
  afterAll(async () => {
    await simulator[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  const start = (...args: readonly string[]): ExampleProcess => {
    const own = ['serve', '--server', simulator.url, '--port', '0', '--log-format', 'json']
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    return startProgram(process.execPath, ['src/main.ts', ...own, ...args], {
      env: { PATH, NODE_COMPILE_CACHE },
    })
  }
  const urlOf = async (gateway: ExampleProcess): Promise<string> => {
    await gateway.printed('informerql answers at')
    return /answers at ([^"\s]+)/.exec(gateway.lines.join('\n'))?.[1] ?? ''
  }
  const allowed = async (url: string): Promise<unknown> =>
    (await fetch(new URL('/exec', url))).json()

  it('opens no shells unless it is told to', async () => {
    await using gateway = start()
    const url = await urlOf(gateway)
    expect(await allowed(url)).toEqual({ allowed: false })
    const { status, text } = await refusedExec(url)
    expect(status).toBe(404)
    expect(text).toContain('--allow-exec')
  })

  it('opens none for everyone who reaches it from other machines', async () => {
    await using gateway = start('--allow-exec', '--host', '0.0.0.0', '--insecure-no-auth')
    await gateway.printed('everyone who reaches this port could run commands in containers')
    expect(gateway.lines.join('\n')).not.toContain('answers at')
  })

  it('writes the target and the outcome of a shell into the audit log, and no content', async () => {
    const audit = join(folder, 'audit.log')
    await using gateway = start('--allow-exec', '--audit-file', audit)
    const url = await urlOf(gateway)
    expect(await allowed(url)).toEqual({ allowed: true })
    using shell = await openShell(url, { container: 'app' })
    await shell.printed('# ')
    shell.type('echo secret-of-the-shop\r')
    await shell.printed('\r\nsecret-of-the-shop\r\n')
    shell.type('exit 2\r')
    expect(await shell.ended()).toMatchObject({ code: 'EXITED', exitCode: 2 })
    using refused = await openShell(url, { pod: 'absent' })
    expect(await refused.ended()).toMatchObject({ code: 'NOT_FOUND' })
    const lines = async (): Promise<readonly Record<string, unknown>[]> => {
      const text = await readFile(audit, 'utf8')
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => String(event).startsWith('exec'))
    }
    await expect.poll(async () => (await lines()).length).toBe(3)
    const target = { cluster: 'default', namespace: 'shop', pod: 'web', container: 'app' }
    expect(await lines()).toMatchObject([
      { event: 'exec', ...target, program: 'sh', tty: true, decision: 'allowed' },
      { event: 'exec-ended', ...target, outcome: 'EXITED', exitCode: 2 },
      { event: 'exec', pod: 'absent', decision: 'failed', outcome: 'NOT_FOUND' },
    ])
    expect(await readFile(audit, 'utf8')).not.toContain('secret')
  })
})
