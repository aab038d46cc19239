/**
 * Our informer beside client-go's and client-node's, on a real API server: the sync of a cache of pods, then updates at
 * an even pace, written straight into etcd:
 *
 *     npm run bench -- client-go [--pods 10000] [--rounds 3] [--updates 1000] [--seconds 15] [--record]
 *
 * Needs Go, and the servers of `test/cluster/build.sh`. client-node runs at up to 10,000 pods: its LIST is one string,
 * which V8 limits to 512 MiB.
 */
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findControlPlane } from '../test/support/control-plane.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    updates: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '15' },
    record: { type: 'boolean', default: false },
  },
})
const mostClientNodePods = 10_000
const processes = `${import.meta.dirname}/process`
const pods = Number(options.pods)
const rounds = Number(options.rounds)
const durationMs = Number(options.seconds) * 1000

const ours = 'informerql'
const protobuf = 'client-go, protobuf'
const json = 'client-go, JSON'
const clientNode = 'client-node makeInformer'
const floor = 'the bytes alone, JSON'

/** A control plane, and the commands for it. */
interface Plane {
  readonly kubeconfig: string
  readonly tell: (order: string) => Promise<unknown>
}

/** Measures the sync if `durationMs` is 0, and otherwise updates for that time. */
type Contender = (plane: Plane, durationMs: number, synced?: () => void) => Promise<Figures>

const script =
  (sync: string, events: string): Contender =>
  ({ kubeconfig }, forMs, synced) =>
    forMs === 0
      ? measure(`${processes}/${sync}`, [kubeconfig])
      : measure(`${processes}/${events}`, [kubeconfig, forMs], onFirstLine(synced))

const clientGo =
  (program: string, encoding: string): Contender =>
  ({ kubeconfig }, forMs, synced) =>
    measure(
      `${processes}/real-client-go.ts`,
      [kubeconfig, encoding, forMs, program],
      onFirstLine(synced),
    )

function onFirstLine(call: (() => void) | undefined): { readonly onLine?: () => void } {
  let isFirst = true
  if (call === undefined) return {}
  return {
    onLine: () => {
      if (isFirst) call()
      isFirst = false
    },
  }
}

const contendersWith = (program: string): Readonly<Record<string, Contender>> => ({
  [ours]: script('real-sync-informer.ts', 'real-events-informer.ts'),
  [protobuf]: clientGo(program, 'protobuf'),
  [json]: clientGo(program, 'json'),
  ...(pods <= mostClientNodePods
    ? { [clientNode]: script('real-sync-client-node.ts', 'real-events-client-node.ts') }
    : {}),
})

async function syncs(
  plane: Plane,
  contenders: Readonly<Record<string, Contender>>,
): Promise<ResultTable> {
  const all: Record<string, () => Promise<Figures>> = {}
  for (const [name, run] of Object.entries(contenders)) {
    all[name] = async () => {
      const { pods: found, ...figures } = await run(plane, 0)
      if (found !== pods) throw new Error(`${name}: ${found} pods of ${pods}`)
      return figures
    }
  }
  all[floor] = async () => {
    const args = [plane.kubeconfig, pods]
    const {
      pods: _,
      bytesPerPod: __,
      ...figures
    } = await measure(`${processes}/real-sync-bytes.ts`, args)
    return figures
  }
  return { title: `Sync of ${pods.toLocaleString('en')} pods`, rows: await interleave(all, rounds) }
}

async function updates(
  plane: Plane,
  contenders: Readonly<Record<string, Contender>>,
): Promise<ResultTable> {
  const all: Record<string, () => Promise<Figures>> = {}
  const bytesAlone = script('real-sync-bytes.ts', 'real-events-bytes.ts')
  for (const [name, run] of Object.entries({ ...contenders, [floor]: bytesAlone })) {
    all[name] = async () => {
      await plane.tell(`prepare?rate=${options.updates}`)
      const figures = await run(plane, durationMs, () => void plane.tell('update'))
      return { ...figures, 'writes/s': Number(await plane.tell('pause')) }
    }
  }
  // Every pod once, so that etcd has them all as an API server stores them: that is cheaper to read for the server.
  await plane.tell(`prepare?rate=${options.updates}`)
  await plane.tell('update')
  await delay((1000 * pods) / Number(options.updates))
  await plane.tell('pause')
  const title = `${options.updates} updates per second of ${pods.toLocaleString('en')} pods`
  return { title, rows: await interleave(all, rounds) }
}

const notesOn = (
  { title, rows }: ResultTable,
  figures: readonly (readonly [figure: string, words: string])[],
): string[] =>
  Object.keys(rows)
    .filter((name) => name !== ours && name !== floor)
    .map((name) => {
      const ratios = figures.map(
        ([figure, words]) => `${ratio(rows[ours]?.[figure], rows[name]?.[figure])} ${words}`,
      )
      return `${title}: ${ours} takes ${ratios.join(', ')} of ${name}`
    })

async function compare(programs: string): Promise<void> {
  await using service = await startService(`${processes}/real-control-plane.ts`, [
    pods,
    `${programs}/writer`,
  ])
  const tell = async (order: string): Promise<unknown> => {
    const response = await fetch(`${service.url}/${order}`)
    if (!response.ok) throw new Error(`${order}: ${await response.text()}`)
    return await response.json()
  }
  const plane: Plane = { kubeconfig: String(await tell('kubeconfig')), tell }
  const contenders = contendersWith(`${programs}/informer`)
  const tables: ResultTable[] = []
  if (rounds > 0) tables.push(await syncs(plane, contenders))
  if (durationMs > 0) tables.push(await updates(plane, contenders))
  const [sync, events] = tables
  const notes = [
    'kube-apiserver, etcd and whoever writes run on the same cores. informerql holds pods as rows against templates of their siblings.',
    ...(sync === undefined
      ? []
      : notesOn(sync, [
          ['syncMs', 'the time'],
          ['cpuMs', 'the CPU'],
          ['bytesPerPod', 'the live memory'],
        ])),
    ...(events === undefined
      ? []
      : notesOn(events, [
          ['cpuUsPerEvent', 'the CPU per event'],
          ['p50Ms', 'the p50'],
          ['p99Ms', 'the p99'],
        ])),
  ]
  publish('client-go', tables, notes, { record: options.record })
}

/** The folder of the Go programs, or what is missing. */
function build(): { readonly programs: string } | { readonly missing: string } {
  const found = findControlPlane()
  if ('missing' in found) return found
  const { status, stdout, stderr } = spawnSync(`${import.meta.dirname}/client-go/build.sh`, {
    encoding: 'utf8',
  })
  return status === 0 ? { programs: stdout.trim() } : { missing: stderr.trim() }
}

const built = build()
if ('programs' in built) await compare(built.programs)
else console.log(`client-go: skipped: ${built.missing}`)
