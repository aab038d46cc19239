/**
 * The cost of stamping a cluster: the CPU time to make every object, or to make and store it, and the growth of the heap.
 *
 *     node --expose-gc bench/population.bench.ts [--pods 100000] [--rounds 3] [--stored]
 */
import { parseArgs } from 'node:util'
import { population, startSimulator } from '../src/simulator.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    stored: { type: 'boolean', default: false },
  },
})
const pods = Number(options.pods)
const now = new Date('2026-01-15T12:00:00Z')
const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** Seconds of CPU, which other work on the machine does not lengthen much. */
const cpuSeconds = (since?: NodeJS.CpuUsage): number => process.cpuUsage(since).user / 1e6

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

for (let round = 1; round <= Number(options.rounds); round++) {
  const before = heap()
  const start = process.cpuUsage()
  let objects = 0
  let most = 0
  for (const _ of population({ seed: 'bench', pods, now })) {
    objects += 1
    if (objects % 20_000 === 0) most = Math.max(most, heap() - before)
  }
  console.log(
    `stamp  ${objects} objects  ${cpuSeconds(start).toFixed(2)} s  ${mebibytes(most)} of heap at most`,
  )
}

if (options.stored) {
  const before = heap()
  const start = process.cpuUsage()
  await using simulator = await startSimulator({
    populate(storage) {
      for (const { resource, object } of population({ seed: 'bench', pods, now })) {
        storage.create(resource, object)
      }
    },
  })
  console.log(
    `store  ${simulator.storage.revision} writes  ${cpuSeconds(start).toFixed(2)} s  ${mebibytes(heap() - before)} of heap kept`,
  )
}
