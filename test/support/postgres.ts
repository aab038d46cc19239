/*
 * A Postgres of its own for tests: the server of the machine's packages, in a temporary folder, on a free port of loopback.
 * It refuses to run as root, so root runs it as an unprivileged user.
 */

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { once } from 'node:events'

export interface PostgresServer extends AsyncDisposable {
  /** Of the database `postgres`, over TCP. */
  readonly url: string
  readonly port: number
  /** Makes an empty database, and returns its URL. */
  database(): Promise<string>
  /** Runs SQL in a database by `psql`. */
  sql(text: string, url?: string): string
  /** At once, with all connections; as a server that dies. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** The folder of `postgres` and `initdb`; `undefined`: not installed. */
const binaries = findBinaries()

/** Options for `describe` and `it`: skips tests without a Postgres, but not in CI, where there has to be one. */
export const needsPostgres: { readonly skip: boolean } = {
  skip: binaries === undefined && process.env['CI'] === undefined,
}
if (needsPostgres.skip) {
  console.warn('no Postgres (package postgresql): its tests are skipped')
}

function findBinaries(): string | undefined {
  const packaged = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().at(-1)
  if (packaged !== undefined) return dirname(packaged)
  const paths = (process.env['PATH'] ?? '').split(':')
  return paths.find(
    (path) => existsSync(join(path, 'initdb')) && existsSync(join(path, 'postgres')),
  )
}

const isRoot = userInfo().uid === 0
const user = 'nobody'

/** A command as the unprivileged user. */
function unprivileged(command: string, args: readonly string[]): [string, string[]] {
  return isRoot
    ? ['setpriv', ['--reuid', user, '--regid', 'nogroup', '--clear-groups', command, ...args]]
    : [command, [...args]]
}

export async function startPostgres(): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error('Postgres is missing: install the package postgresql')
  const dir = await mkdtemp(join(tmpdir(), 'informerql-postgres-'))
  if (isRoot) chownSync(dir, idOf('-u'), idOf('-g'))
  const data = join(dir, 'data')
  execFileSync(
    ...unprivileged(join(binaries, 'initdb'), [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-N',
      '-E',
      'UTF8',
    ]),
    { stdio: 'pipe' },
  )
  const port = await freePort()
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  let server: ChildProcess | undefined
  let databases = 0

  const psql = (text: string, url = urlOf('postgres')) => {
    const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', text]
    // The one of the path is a script of Debian's, which starts Perl first.
    return execFileSync(join(binaries, 'psql'), [url, ...options], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  }

  async function start(): Promise<void> {
    const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${dir}`]
    server = spawn(
      ...unprivileged(join(binaries ?? '', 'postgres'), [
        '-D',
        data,
        '-p',
        String(port),
        ...settings.flatMap((setting) => ['-c', setting]),
      ]),
      { stdio: 'ignore' },
    )
    for (const giveUpMs = Date.now() + 60_000; ;) {
      try {
        psql('SELECT 1')
        return
      } catch (error) {
        if (Date.now() > giveUpMs || server.exitCode !== null) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  async function stop(): Promise<void> {
    const running = server
    server = undefined
    if (running === undefined || running.exitCode !== null) return
    const exit = once(running, 'exit')
    running.kill('SIGQUIT')
    await exit
  }

  await start()
  return {
    url: urlOf('postgres'),
    port,
    sql: psql,
    start,
    stop,
    database() {
      const name = `test_${databases++}`
      psql(`CREATE DATABASE ${name}`)
      return Promise.resolve(urlOf(name))
    },
    async [Symbol.asyncDispose]() {
      await stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

function idOf(option: '-u' | '-g'): number {
  return Number(execFileSync('id', [option, user], { encoding: 'utf8' }))
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
