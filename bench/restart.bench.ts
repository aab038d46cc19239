/**
 * The start of a gateway with all pods in memory: without an archive, for the first time with one, and again with it; on a
 * real API server, beside client-go's cold list. Without Go and the servers of `test/cluster/build.sh`, or with `--simulator`,
 * on the simulator, without client-go:
 *
 *     npm run bench -- restart [--pods 100000] [--rounds 3] [--simulator] [--record]
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findControlPlane } from '../test/support/control-plane.ts'
import { type Figures, mediansOf, measure, runRound } from './support/measured-process.ts'
import { publish, ratio } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    simulator: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const pods = Number(options.pods)

const without = 'without an archive'
const first = 'first start with an archive'
const again = 'start again with it'
const clientGo = "client-go's cold list, JSON"

/** The cluster: how it is reached, and the program that reads it with client-go. */
interface Place {
  readonly name: string
  readonly cluster: object
  readonly kubeconfig?: string
  readonly program?: string
}

async function compare(place: Place): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-restart-'))
  const file = join(folder, 'archive.db')
  const start = async (archive: string): Promise<Figures> => {
    const script = `${processes}/restart-gateway.ts`
    const args = [JSON.stringify(place.cluster), archive]
    const { pods: found, ...figures } = await measure(script, args)
    if (found !== pods) throw new Error(`${script}: ${found} pods of ${pods}`)
    return figures
  }
  const { kubeconfig, program } = place
  const contenders: Record<string, () => Promise<Figures>> = {
    [without]: () => start(''),
    [first]: async () => {
      for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true })
      return await start(file)
    },
    [again]: () => start(file),
  }
  if (program !== undefined && kubeconfig !== undefined) {
    contenders[clientGo] = async () => {
      const args = [kubeconfig, 'json', 0, program]
      const { syncMs = 0, cpuMs = 0 } = await measure(`${processes}/real-client-go.ts`, args)
      return { readyMs: syncMs, cpuMs }
    }
  }
  const runs: Record<string, Figures[]> = {}
  try {
    for (let round = 1; round <= Number(options.rounds); round++) {
      await runRound(contenders, round, runs)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  const rows = mediansOf(runs)
  const title = `${pods.toLocaleString('en')} pods, ${place.name}`
  const notes = [without, clientGo].flatMap((other) =>
    rows[other] === undefined
      ? []
      : [
          `${again}: ${ratio(rows[again]?.['readyMs'], rows[other]['readyMs'])} the time of ${other}`,
        ],
  )
  publish('restart', [{ title, rows }], notes, { record: options.record })
}

async function onRealServer(programs: string): Promise<void> {
  const args = [pods, `${programs}/writer`]
  await using service = await startService(`${processes}/real-control-plane.ts`, args)
  const kubeconfig = String(await (await fetch(`${service.url}/kubeconfig`)).json())
  const cluster = { kubeconfig }
  await compare({ name: 'kube-apiserver', cluster, kubeconfig, program: `${programs}/informer` })
}

/** The folder of the Go programs; `undefined` if something is missing. */
function build(): string | undefined {
  if (options.simulator || 'missing' in findControlPlane()) return undefined
  const script = `${import.meta.dirname}/client-go/build.sh`
  const { status, stdout } = spawnSync(script, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

const programs = build()
if (programs !== undefined) await onRealServer(programs)
else {
  await using simulator = await startService(`${processes}/simulator.ts`, [pods])
  await compare({ name: 'the simulator', cluster: { server: simulator.url } })
}
