/**
 * A simulated API server for one benchmark, until its parent goes. Arguments: pods, updates of pods per second, and how many pods
 * these go to, each of which has restarted the most then (0: to all of them in turn). Tells its parent `{ url }`.
 */
import { population, startSimulator } from '../../src/simulator.ts'
import { serveParent } from '../support/service.ts'
import { restartPods, updatePods } from '../support/pod-updates.ts'

const [pods = '', updatesPerSecond = '0', hot = '0'] = process.argv.slice(2)
const simulator = await startSimulator({
  historyEvents: 100_000,
  populate(storage) {
    const now = new Date('2026-01-15T12:00:00Z')
    for (const { resource, object } of population({ seed: 'bench', pods: Number(pods), now })) {
      storage.create(resource, object)
    }
  },
})
const stopping = new AbortController()
const { storage } = simulator
const pace = { updatesPerSecond: Number(updatesPerSecond), hot: Number(hot) }
const updating =
  pace.hot > 0
    ? restartPods(storage, pace, stopping.signal)
    : updatePods(storage, pace.updatesPerSecond, stopping.signal)
await serveParent({ url: simulator.url })
stopping.abort()
await updating
await simulator[Symbol.asyncDispose]()
