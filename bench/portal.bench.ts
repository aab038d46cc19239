/**
 * The portal in headless Chromium (`CHROMIUM_PATH`) at a gateway with its pods cached, while pods change:
 *
 *     npm run bench -- portal [--pods 100000] [--updates 50] [--minutes 10] [--seconds 20] [--nodes 500] [--tabs 100] [--rounds 5]
 *       [--only first,scroll,memory,layout,tabs] [--record]
 *
 * - first: from the start of a navigation to the first rows of `/kinds/pods`, for a new profile and for one that has been there, and
 *   of the overview; and the scripts that are loaded until then, as they come (Brotli).
 * - scroll: the time between frames while a table of all pods is scrolled, slowly and by leaps.
 * - memory: a tab on that table for `minutes`; what it would have after an hour is the line through the last two thirds of that time.
 * - layout: the graph's worker lays out `nodes` nodes, and the longest time between frames meanwhile.
 * - tabs: what the gateway pays for so many tabs on the table, which send what one tab in Chromium has sent; beside it what the
 *   simulated API server pays for as many `kubectl get pods --watch`. Both without what they pay alone.
 */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { portalFolder } from '../src/index.ts'
import { type Figures, interleave, measure, medianOf } from './support/measured-process.ts'
import { framesWhileLayingOut, framesWhileScrolling } from './support/portal-frames.ts'
import { openTab, startChromium } from './support/portal-tab.ts'
import { trafficOf } from './support/portal-traffic.ts'
import { publish, ratio, type ResultTable } from './support/results.ts'
import { type Service, startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    updates: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    nodes: { type: 'string', default: '500' },
    tabs: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'first,scroll,memory,layout,tabs' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const durationMs = Number(options.seconds) * 1000
const rounds = Number(options.rounds)
const only = new Set(options.only.split(','))
const tables: ResultTable[] = []
const notes: string[] = []

await using simulator = await startService(`${processes}/simulator.ts`, [
  options.pods,
  options.updates,
])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url, 'portal'])
await using chromium = await startChromium()
const table = new URL('/kinds/pods', gateway.url).href
// The gateway has then read what else the page asks for.
await using _warm = await openTab(chromium, table)

if (only.has('first')) {
  const visited = (url: string, visits: number) => async (): Promise<Figures> => {
    await using tab = await openTab(chromium, url, visits)
    const { files, bytes } = tab.scripts
    return { firstRowsMs: tab.firstRowsMs, scripts: files, scriptKB: bytes / 1000 }
  }
  const rows = await interleave(
    {
      'all pods, a new profile': visited(table, 1),
      'all pods, a profile that has been there': visited(table, 2),
      'the overview, a new profile': visited(new URL('/', gateway.url).href, 1),
    },
    rounds,
  )
  tables.push({ title: 'From the start of the navigation to the first objects', rows })
}

if (only.has('scroll')) {
  const scrolled = (way: 'slowly' | 'by leaps') => async (): Promise<Figures> => {
    await using tab = await openTab(chromium, table)
    return await framesWhileScrolling(tab.page, way, durationMs)
  }
  const rows = await interleave(
    { 'three rows each frame': scrolled('slowly'), 'a leap each second': scrolled('by leaps') },
    rounds,
  )
  tables.push({ title: 'Frames while all pods are scrolled', rows })
}

if (only.has('memory')) {
  await using tab = await openTab(chromium, table)
  const levels: { readonly minute: number; readonly heapMB: number; readonly processMB: number }[] =
    []
  const startMs = performance.now()
  const minutes = Number(options.minutes)
  for (let minute = 0; minute < minutes;) {
    await delay((minutes * 60_000) / 30)
    minute = (performance.now() - startMs) / 60_000
    const { heapBytes, processBytes } = await tab.memory()
    levels.push({ minute, heapMB: heapBytes / 1e6, processMB: processBytes / 1e6 })
  }
  const settled = levels.slice(Math.floor(levels.length / 3))
  const { heapMB = 0, processMB = 0 } = levels.at(-1) ?? {}
  const anHour = (name: 'heapMB' | 'processMB', now: number): number =>
    now + slope(settled.map((level) => [level.minute, level[name]])) * (60 - minutes)
  const rows = {
    'after the first rows': medianOf(levels.slice(0, 1)),
    [`after ${options.minutes} minutes`]: { heapMB, processMB },
    'after an hour, extrapolated': {
      heapMB: anHour('heapMB', heapMB),
      processMB: anHour('processMB', processMB),
    },
  }
  tables.push({ title: 'A tab on all pods, after garbage collections', rows })
}

if (only.has('layout')) {
  const name = (await readdir(join(portalFolder, 'assets'))).find((file) =>
    /^layout-worker.*\.js$/u.test(file),
  )
  if (name === undefined) throw new Error(`${portalFolder} has no layout worker: build the portal`)
  await using tab = await openTab(chromium, table)
  const laidOut = async (): Promise<Figures> =>
    await framesWhileLayingOut(tab.page, `/assets/${name}`, Number(options.nodes))
  const rows = await interleave({ [`${options.nodes} nodes`]: laidOut }, rounds)
  tables.push({ title: "The graph's layout in its worker", rows })
}

if (only.has('tabs')) {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-tabs-'))
  const file = join(folder, 'traffic.json')
  const context = await chromium.newContext({ viewport: { width: 1280, height: 800 } })
  const traffic = await trafficOf(await context.newPage(), table, 10_000)
  await writeFile(file, JSON.stringify(traffic))
  await context.close()
  /** What a server pays in each second, without readers and with them. */
  const paid = async (service: Service, script: string, args: readonly string[]) => {
    const idleMs = await service.cpuMs()
    await delay(durationMs)
    const alone = (await service.cpuMs()) - idleMs
    let before = Promise.resolve(0)
    const figures = await measure(`${processes}/${script}`, [...args, options.tabs, durationMs], {
      onLine() {
        before = service.cpuMs()
      },
    })
    const used = (await service.cpuMs()) - (await before)
    const seconds = durationMs / 1000
    return {
      cpuMsPerSecond: (used - alone) / seconds,
      aloneMsPerSecond: alone / seconds,
      ...figures,
    }
  }
  const ours = `${options.tabs} tabs, the gateway`
  const theirs = `${options.tabs} kubectl get --watch, the simulated API server`
  const rows = await interleave(
    {
      [ours]: async () => paid(gateway, 'portal-tabs.ts', [gateway.url, file]),
      [theirs]: async () => paid(simulator, 'kubectl-watches.ts', [simulator.url]),
    },
    Math.min(rounds, 3),
  )
  await rm(folder, { recursive: true })
  const cpu = (name: string): number | undefined => rows[name]?.['cpuMsPerSecond']
  tables.push({ title: 'What readers of all pods cost', rows })
  notes.push(
    `a tab has ${traffic.subscriptions.length} subscriptions, and asks ${traffic.polls.length} queries in 10 s; a watch is told of ` +
      `every change, a tab of those in its rows: ${ratio(cpu(theirs), cpu(ours))} the CPU time for the watches`,
    'the simulated API server is not the real one: its watches stand for work of the same kind only',
  )
}

publish(
  'portal',
  tables,
  [`${options.pods} pods, ${options.updates} changes per second`, ...notes],
  { record: options.record },
)

/** The slope of the line through points, by least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number =>
    points.reduce((sum, point) => sum + point[at], 0) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const [above, below] = points.reduce(
    ([a, b], [x, y]) => [a + (x - meanX) * (y - meanY), b + (x - meanX) ** 2] as const,
    [0, 0] as const,
  )
  return below === 0 ? 0 : above / below
}
