/**
 * Three gateways that share three simulated clusters out through a Postgres, all of them processes of this machine. docs/scale.md
 * explains what happens. Postgres is that of the machine's packages, with its data in a temporary folder, unless `--archive` names another.
 *
 *     npm exec -- node --conditions=informerql-source examples/fleet.ts [--port=4001] [--archive=postgres://…]
 *     node node_modules/informerql/dist/examples/fleet.js   # where the package is installed
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startSimulatedFleet } from 'informerql/simulator'

const { values: options } = parseArgs({
  options: { port: { type: 'string', default: '4001' }, archive: { type: 'string' } },
})
const first = Number(options.port)
const ports = [first, first + 1, first + 2]
const stopped = Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))

await using parts = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'informerql-fleet-'))
parts.defer(() => rm(folder, { recursive: true, force: true }))
const url = options.archive ?? (await startPostgres(join(folder, 'postgres'), first + 1_000))
const fleet = parts.use(await startSimulatedFleet())

const clusters = fleet.clusters.map(({ name, labels, simulator }) => ({
  name,
  labels,
  server: simulator.url,
}))
const config = join(folder, 'informerql.json')
await writeFile(config, JSON.stringify({ clusters, archive: { url }, logLevel: 'warn' }))
const gateways = ports.map((port) => startGateway(port))
for (const port of ports) {
  while (!(await isReady(port))) await sleep(100)
}

console.log('Three gateways share three clusters:\n')
for (const [at, port] of ports.entries()) {
  console.log(`  http://127.0.0.1:${port}/   process ${gateways[at]?.pid}`)
}
console.log(`
Any of them answers for all clusters. Who holds which:

  ${curl(first, '{ gatewayClusters { name holder } }')}

A question over all, which the holders answer together:

  ${curl(first + 1, '{ pods(clusters: ["*"], first: 3, orderBy: [{ restarts: DESC }]) { totalCount nodes { clusterName name } incomplete { cluster code } } }')}

Kill one, and ask another: within 15 seconds nothing is incomplete any more.

  kill -9 ${gateways[2]?.pid}

Ctrl-C stops everything.`)
await stopped

function curl(port: number, query: string): string {
  const body = JSON.stringify({ query })
  return `curl http://127.0.0.1:${port}/graphql -H 'content-type: application/json' -d '${body}'`
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
  return answer?.ok === true
}

/** `informerql serve`, by the program beside the package's entrance. */
function startGateway(port: number): ChildProcess {
  const entrance = fileURLToPath(import.meta.resolve('informerql'))
  const program = join(dirname(entrance), `main${extname(entrance)}`)
  const address = ['--port', String(port), '--share-address', `http://127.0.0.1:${port}`]
  const args = [...process.execArgv, program, 'serve', '--config', config, ...address]
  return untilTheEnd(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }))
}

/** Its server refuses to run as root, so root runs it as another user. */
async function startPostgres(data: string, port: number): Promise<string> {
  const [initdb] = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().toReversed()
  if (initdb === undefined) {
    throw new Error('there is no Postgres: install the package postgresql, or give --archive')
  }
  let user = {}
  if (userInfo().uid === 0) {
    const [uid = 0, gid = 0] = ['-u', '-g'].map((which) =>
      Number(execFileSync('id', [which, 'nobody'], { encoding: 'utf8' })),
    )
    user = { uid, gid }
    await chown(dirname(data), uid, gid)
  }
  const made = ['--auth', 'trust', '--username', 'informerql', '--encoding', 'UTF8', '--no-sync']
  execFileSync(initdb, ['--pgdata', data, ...made], { stdio: 'ignore', ...user })
  const places = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${data}`]
  const postgres = join(dirname(initdb), 'postgres')
  const args = ['-D', data, '-p', String(port), ...places]
  const server = untilTheEnd(spawn(postgres, args, { stdio: 'ignore', ...user }), 'SIGQUIT')
  const isUp = (): boolean => {
    try {
      execFileSync(join(dirname(initdb), 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)])
      return true
    } catch {
      return false
    }
  }
  while (!isUp()) {
    if (server.exitCode !== null) throw new Error('Postgres does not start')
    await sleep(100)
  }
  return `postgres://informerql@127.0.0.1:${port}/postgres`
}

function untilTheEnd(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): ChildProcess {
  const ended = once(child, 'exit')
  parts.defer(async () => {
    child.kill(signal)
    await ended
  })
  return child
}
