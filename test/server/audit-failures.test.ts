import { execFile, execFileSync } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient, type ExecutionResult } from 'graphql-ws'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { post } from './small-api.ts'

const query = '{ pods { totalCount } }'
const hasFullDevice = existsSync('/dev/full')

/** A file system of 64 KiB at a folder; `undefined` where this user may not mount one. */
function smallDisk(folder: string): Disposable | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return { [Symbol.dispose]: () => void execFileSync('umount', ['--lazy', folder]) }
}

describe('informerql serve with an audit log that it cannot write', () => {
  let simulator: Simulator
  let all: string
  let folder: string
  beforeAll(async () => {
    simulator = await startSimulator()
    all = await mkdtemp(join(tmpdir(), 'informerql-audit-'))
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(all, 'test-'))
  })
  afterAll(async () => {
    await simulator[Symbol.asyncDispose]()
    await rm(all, { recursive: true })
  })

  const start = (
    audit: string,
    stdout: number | 'pipe' = 'pipe',
    ...args: readonly string[]
  ): ExampleProcess => {
    const own = ['serve', '--server', simulator.url, '--port', '0', '--metrics-port', '0']
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    return startProgram(
      process.execPath,
      ['src/main.ts', ...own, '--log-format', 'json', '--audit-file', audit, ...args],
      { env: { PATH, NODE_COMPILE_CACHE }, stdout },
    )
  }
  const urlOf = async (gateway: ExampleProcess): Promise<string> => {
    await gateway.printed('metrics are at')
    return /answers at ([^"\s]+)/.exec(gateway.lines.join('\n'))?.[1] ?? ''
  }
  const statusOf = async (url: string, path: string): Promise<number> =>
    (await fetch(new URL(path, url))).status
  const untilRefused = async (url: string): Promise<void> => {
    await expect.poll(() => statusOf(url, '/readyz')).toBe(503)
  }

  it('does not start if the file cannot be opened, and says why', async () => {
    await writeFile(join(folder, 'file'), '')
    const audit = join(folder, 'file', 'audit.log')
    await using gateway = start(audit)
    expect(await gateway.ended).toBe(2)
    expect(gateway.lines.join('\n')).toContain(audit)
    expect(gateway.lines.join('\n')).not.toContain('answers at')
    expect(gateway.lines.join('\n')).not.toContain('    at ')
  })

  it.skipIf(!hasFullDevice)(
    'answers nothing while lines cannot be written, by either transport, and goes on by itself when they can',
    async () => {
      const audit = join(folder, 'audit.log')
      await symlink('/dev/full', audit)
      await using gateway = start(audit)
      const url = await urlOf(gateway)
      expect(await statusOf(url, '/readyz')).toBe(200)
      // Nothing shows that a disk is full but a line that it does not take.
      await post(url, { query })
      await untilRefused(url)
      const refused = await post(url, { query })
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await refused.json()).toMatchObject({
        errors: [{ extensions: { code: 'AUDIT_UNAVAILABLE', retryAfterMs: 1_000 } }],
      })
      const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket })
      const { value } = (await client
        .iterate({ query })
        .next()) as IteratorYieldResult<ExecutionResult>
      expect(value.errors).toMatchObject([{ extensions: { code: 'AUDIT_UNAVAILABLE' } }])
      await client.dispose()
      expect(await statusOf(url, '/livez')).toBe(200)
      expect(await (await fetch(new URL('/readyz', url))).text()).toContain('the audit log')
      const metrics = /metrics are at ([^"\s]+)/.exec(gateway.lines.join('\n'))?.[1] ?? ''
      const text = await (await fetch(metrics)).text()
      expect(text).toMatch(/^informerql_audit_failures_total [1-9]/m)
      expect(text).toMatch(/^informerql_refusals_total\{.*"AUDIT_UNAVAILABLE"\} 1$/m)
      const told = gateway.lines.filter((line) => line.includes('audit log cannot be written'))
      expect(told).toHaveLength(1)

      await writeFile(join(folder, 'real.log'), '')
      await symlink(join(folder, 'real.log'), join(folder, 'next'))
      await rename(join(folder, 'next'), audit)
      await expect.poll(() => statusOf(url, '/readyz')).toBe(200)
      expect((await post(url, { query })).status).toBe(200)
      // The first answer was kept until it could be written.
      const lines = async (): Promise<readonly unknown[]> =>
        (await readFile(audit, 'utf8'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      await expect
        .poll(lines)
        .toEqual([
          expect.objectContaining({ event: 'query' }),
          expect.objectContaining({ event: 'query' }),
        ])
    },
  )

  it('answers on a disk that has been full, once there is room again', async (context) => {
    const disk = join(folder, 'disk')
    await mkdir(disk)
    using mounted = smallDisk(disk)
    if (mounted === undefined) return context.skip('this user may not mount a file system')
    const full = writeFile(join(disk, 'ballast'), Buffer.alloc(1 << 20))
    await expect(full).rejects.toThrow('ENOSPC')
    const audit = join(disk, 'audit.log')
    await using gateway = start(audit)
    const url = await urlOf(gateway)
    await post(url, { query })
    await untilRefused(url)
    await rm(join(disk, 'ballast'))
    await expect.poll(() => statusOf(url, '/readyz')).toBe(200)
    expect(await readFile(audit, 'utf8')).toContain('"event":"query"')
  })

  it.skipIf(!hasFullDevice)('answers all the same where audit.required is false', async () => {
    await using gateway = start('/dev/full', 'pipe', '--no-audit-required')
    const url = await urlOf(gateway)
    await post(url, { query })
    await gateway.printed('the audit log cannot be written')
    expect(await statusOf(url, '/readyz')).toBe(200)
    expect((await post(url, { query })).status).toBe(200)
  })

  it.skipIf(!hasFullDevice)(
    'stops on SIGTERM all the same, and says how many lines are lost',
    async () => {
      await using gateway = start('/dev/full')
      const url = await urlOf(gateway)
      await post(url, { query })
      await untilRefused(url)
      expect(await gateway.interrupt('SIGTERM')).toBe(0)
      expect(gateway.lines.join('\n')).toMatch(/"lines":1\b.*lost/)
    },
  )

  it('does not wait for the reader of a pipe', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    await using gateway = start(pipe)
    expect(await gateway.ended).toBe(2)
    expect(gateway.lines.join('\n')).toContain('ENXIO')
  })

  it('says that a pipe takes lines too slowly, and answers again once they are read', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    await using _reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    await using gateway = start(pipe)
    const url = await urlOf(gateway)
    // Its line names each of the namespaces.
    const namespaces = Array.from({ length: 1_000 }, (_, at) => String(at).padStart(60, 'n'))
    const long = 'query ($namespaces: [String!]) { podLogs(namespaces: $namespaces) { skipped } }'
    let status = 200
    for (let asked = 0; status === 200 && asked < 200; asked++) {
      ;({ status } = await post(url, { query: long, variables: { namespaces } }))
    }
    expect(status).toBe(503)
    await gateway.printed('the file is written too slowly')
    expect(await statusOf(url, '/readyz')).toBe(503)
    const metrics = /metrics are at ([^"\s]+)/.exec(gateway.lines.join('\n'))?.[1] ?? ''
    const text = await (await fetch(metrics)).text()
    expect(text).toMatch(/^informerql_audit_failures_total 1$/m)
    const reading = promisify(execFile)('cat', [pipe], { maxBuffer: 1 << 26 })
    await gateway.printed('the audit log is written again')
    expect((await post(url, { query })).status).toBe(200)
    expect(await gateway.interrupt('SIGTERM')).toBe(0)
    const { stdout } = await reading
    expect(stdout.trim().split('\n').at(-1)).toContain('"event":"query"')
  })

  it('writes all lines to a full pipe at a stop, if its reader goes on', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    await using _reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    await using gateway = start(pipe)
    const url = await urlOf(gateway)
    // More lines than a pipe holds.
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 10 }, () => post(url, { query })))
    }
    gateway.signal('SIGTERM')
    await gateway.printed('stopping on SIGTERM')
    const { stdout: text } = await promisify(execFile)('cat', [pipe])
    expect(await gateway.ended).toBe(0)
    expect(gateway.lines.join('\n')).not.toContain('lines of the audit log are lost')
    expect(text.trim().split('\n')).toHaveLength(400)
  })

  it('stops on SIGTERM also while nobody reads its standard output', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    await using held = await open(pipe, 'r+')
    await using gateway = start('-', held.fd)
    const url = await urlOf(gateway)
    // More lines than a pipe holds.
    const long = `{ pods { totalCount ${'__typename '.repeat(200)} } }`
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 10 }, () => post(url, { query: long })))
    }
    expect(await gateway.interrupt('SIGTERM')).toBe(0)
    expect(gateway.lines.join('\n')).toContain('lines of the audit log are lost')
  })

  it('ends at once on a second signal, while a stop waits', async () => {
    const args = ['--drain-delay', '600000']
    await using gateway = start(join(folder, 'audit.log'), 'pipe', ...args)
    await urlOf(gateway)
    gateway.signal('SIGTERM')
    await gateway.printed('stopping on SIGTERM')
    expect(await gateway.interrupt('SIGINT')).toBe(130)
  })
})
