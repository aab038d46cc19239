import { expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { runSeed } from '../support/random.ts'
import { fleetMembers } from './fleet-member.ts'
import { runSoak, type SoakLevel } from './soak.ts'

/** One round unless given. */
const minutes = Number(process.env['SOAK_MINUTES'] ?? 0)

const shownLevel = ({ after, round, convergedMs, writes, memory }: SoakLevel): string =>
  `round ${round}, after ${after}: ${Math.round(convergedMs)} ms, ${writes} writes, ${JSON.stringify(memory)}`

describeWithControlPlane(`A soak, seed ${runSeed}`, (plane) => {
  it(
    '[8] [9] [10] [34] fifty informers survive a rotated token, a killed server and a compacted history, and keep nothing of it',
    { timeout: minutes * 60_000 + 240_000 },
    async () => {
      expect(fleetMembers).toHaveLength(50)
      const levels = await runSoak({
        plane: plane(),
        minutes,
        writeMs: 700,
        seed: runSeed,
        onLevel: (level) => console.log(shownLevel(level)),
      })
      const [start, ...later] = levels.map(({ memory }) => memory)
      const last = later.at(-1)
      if (start === undefined || last === undefined) throw new Error('a soak has two levels')
      expect(last.failures).toBeGreaterThan(0)
      expect(last.objects).toBeGreaterThanOrEqual(start.objects * 0.9)
      expect(last.liveBytes).toBeLessThan(start.liveBytes * 1.15)
      expect(last.sockets).toBeLessThanOrEqual(start.sockets + 10)
      expect(last.timers).toBeLessThanOrEqual(start.timers + 10)
    },
  )
})
