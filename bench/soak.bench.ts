/**
 * Fifty informers over one connection to a real API server that is killed, compacted and rotates their token, while
 * objects are written: the time until they equal the server again, and their memory.
 *
 *     npm run bench -- soak [--minutes 5] [--record]
 */
import { parseArgs } from 'node:util'
import { runSoak, type SoakLevel } from '../test/soak/soak.ts'
import { startControlPlane } from '../test/support/control-plane.ts'
import { type Figures, medianOf } from './support/measured-process.ts'
import { publish } from './support/results.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    record: { type: 'boolean', default: false },
  },
})

const memoryOf = ({ memory, writes }: SoakLevel): Figures => ({
  liveMB: memory.liveBytes / 1e6,
  rssMB: memory.rssBytes / 1e6,
  objects: memory.objects,
  sockets: memory.sockets,
  timers: memory.timers,
  writes,
  events: memory.events,
  failures: memory.failures,
})

await using plane = await startControlPlane()
const levels = await runSoak({
  plane,
  minutes: Number(options.minutes),
  writeMs: 2000,
  seed: Date.now() % 1_000_000,
  onLevel: (level) => console.error(JSON.stringify(level)),
})

const rounds = levels.at(-1)?.round ?? 0
const ends = new Map(levels.map((level) => [level.round, level]))
const shownRounds = new Set([0, 1, Math.ceil(rounds / 2), rounds])
const memory: Record<string, Figures> = {}
for (const [round, level] of ends) {
  if (shownRounds.has(round))
    memory[round === 0 ? 'at the start' : `after round ${round}`] = memoryOf(level)
}

const converged: Record<string, Figures> = {}
for (const [incident, all] of Map.groupBy(levels, ({ after }) => after)) {
  const { medianMs = 0 } = medianOf(all.map(({ convergedMs }) => ({ medianMs: convergedMs })))
  const slowestMs = Math.max(...all.map(({ convergedMs }) => convergedMs))
  converged[incident] = { times: all.length, medianMs, slowestMs }
}

publish(
  'soak',
  [
    { title: `${options.minutes} minutes, 50 informers of 10 kinds, at rest`, rows: memory },
    {
      title: 'From the end of the writes until every store was equal to its LIST',
      rows: converged,
    },
  ],
  [
    "The server's own leases are among the objects; a killed server costs failures until it is back.",
  ],
  { record: options.record },
)
