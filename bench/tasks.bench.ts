/**
 * The tasks of docs/tasks.md in headless Chromium (`CHROMIUM_PATH`), by a script, at the portal of a gateway on the simulated fleet:
 *
 *     npm run bench -- tasks [--pods 180] [--rounds 3] [--record]
 *
 * Interactions are clicks, presses of keys and typed texts. Seconds count from the first page, with its problems shown, until what was
 * wanted is seen; the script does not think or read, so they are the time for which somebody waits. Each round has a fleet of its own.
 */
import { parseArgs } from 'node:util'
import { medianOf, type Figures } from './support/measured-process.ts'
import { startChromium } from './support/portal-tab.ts'
import { Hand, type PortalTask, portalTasks } from './support/portal-tasks.ts'
import { publish, type ResultTable } from './support/results.ts'
import { startTaskWorld } from './support/task-world.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '180' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const done = new Map<string, Figures[]>()

await using chromium = await startChromium()
for (let round = 0; round < rounds; round++) {
  await using world = await startTaskWorld(Number(options.pods))
  for (const task of portalTasks) {
    if (task.run === undefined) continue
    const figures = await figuresOf(task.run, world.url)
    console.error(`${task.name}: ${JSON.stringify(figures)}`)
    done.set(task.name, [...(done.get(task.name) ?? []), figures])
  }
}

const tableOf = (title: string, group: PortalTask['group']): ResultTable => ({
  title,
  rows: Object.fromEntries(
    portalTasks
      .filter((task) => task.group === group)
      .map(({ name }) => [name, medianOf(done.get(name) ?? [])]),
  ),
})
const missing = portalTasks.filter(({ run }) => run === undefined)
publish(
  'tasks',
  [tableOf('Fifteen daily tasks', 'daily'), tableOf('Nine more', 'further')],
  [
    `${options.pods} pods in three clusters, medians of ${options.rounds} rounds, each with a new profile`,
    ...missing.map(({ name }) => `not built yet: ${name}`),
  ],
  { record: options.record },
)

async function figuresOf(run: NonNullable<PortalTask['run']>, url: string): Promise<Figures> {
  const context = await chromium.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('region', { name: 'Problems' }).getByRole('link').first().waitFor()
  const hand = new Hand(page)
  const startMs = performance.now()
  await run(hand)
  const seconds = (performance.now() - startMs) / 1000
  await context.close()
  return { interactions: hand.interactions, seconds }
}
