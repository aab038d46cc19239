/**
 * Simulated API servers for one benchmark, until its parent goes. Arguments: the pods of each, updates of pods per second (of all
 * servers together), how many pods of a server these go to, each of which has restarted the most then (0: to all of them in
 * turn), and the number of servers (1). Tells its parent `{ url, urls }`.
 */
import { population, type Simulator, startSimulator } from '../../src/simulator.ts'
import { serveParent } from '../support/service.ts'
import { restartPods, updatePods } from '../support/pod-updates.ts'

const [pods = '', updatesPerSecond = '0', hot = '0', servers = '1'] = process.argv.slice(2)
const pace = { updatesPerSecond: Number(updatesPerSecond) / Number(servers), hot: Number(hot) }
const stopping = new AbortController()
const simulators: Simulator[] = []
for (let index = 0; index < Number(servers); index++) simulators.push(await start(index))
const urls = simulators.map(({ url }) => url)
const updating = simulators.map(({ storage }) =>
  pace.hot > 0
    ? restartPods(storage, pace, stopping.signal)
    : updatePods(storage, pace.updatesPerSecond, stopping.signal),
)
await serveParent({ url: urls[0] ?? '', urls })
stopping.abort()
await Promise.all(updating)
await Promise.all(simulators.map((simulator) => simulator[Symbol.asyncDispose]()))

/** Other pods and UIDs in each server. The first one is the same whatever their number. */
async function start(index: number): Promise<Simulator> {
  const seed = index === 0 ? 'bench' : `bench/${index}`
  return await startSimulator({
    historyEvents: Math.ceil(100_000 / Number(servers)),
    populate(storage) {
      const now = new Date('2026-01-15T12:00:00Z')
      for (const { resource, object } of population({ seed, pods: Number(pods), now })) {
        storage.create(resource, object)
      }
    },
  })
}
