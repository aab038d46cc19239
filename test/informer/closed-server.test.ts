import { createApiServer } from 'informerql/cluster'
import { createSharedInformer, resources, type SharedInformer } from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { startProgram } from '../support/example-process.ts'

const closed = { code: 'CONNECTION_CLOSED', message: expect.stringContaining('was closed') }

it('An informer whose ApiServer is disposed of stops: its run ends, its state and lastError say so, and whoever waits is told', async () => {
  await using simulator = await startSimulator()
  const match = { resource: 'configmaps' }
  simulator.faults.inject({ fault: { type: 'status', code: 500 }, match, times: 1_000_000 })
  const apiServer = createApiServer({ server: simulator.url })
  const observer = { failed: (): void => {} }
  const watching = createSharedInformer({ resource: resources.pods, apiServer, observer })
  const failing = createSharedInformer({ resource: resources.configMaps, apiServer, observer })
  const { signal } = new AbortController()
  const runs = [watching, failing].map((informer) => informer.run(signal))
  await watching.waitForSync()
  await expect.poll(() => failing.state).toBe('waiting')
  const waiting = failing.waitForSync().catch((error: unknown) => error)

  await apiServer[Symbol.asyncDispose]()
  await Promise.all(runs)
  expect(await waiting).toMatchObject({ code: 'INFORMER_STOPPED', cause: closed })
  const ended = ({ state, lastError }: SharedInformer): object => ({ state, lastError })
  for (const informer of [watching, failing]) {
    expect(ended(informer)).toEqual({
      state: 'stopped',
      lastError: expect.objectContaining(closed),
    })
    expect(informer.hasSynced()).toBe(informer === watching)
  }
})

/** Follows pods, ConfigMaps that cannot be listed, and the server itself; then only disposes of its `ApiServer`. */
const program = `
import { createApiServer } from 'informerql/cluster'
import { createSharedInformerFactory, resources } from 'informerql/informer'
const apiServer = createApiServer({ server: process.argv.at(-1) })
const factory = createSharedInformerFactory({ apiServer })
const pods = factory.informer(resources.pods)
const failing = factory.informer(resources.configMaps)
factory.start()
void apiServer.followReachability(new AbortController().signal)
await pods.waitForSync()
while (failing.state !== 'waiting') await new Promise(setImmediate)
process.once('SIGTERM', () => {
  console.log('disposes')
  void apiServer[Symbol.asyncDispose]()
})
console.log('follows')
`

it('A process whose only ApiServer is disposed of ends by itself, whatever its informers were doing', async () => {
  await using simulator = await startSimulator()
  const match = { resource: 'configmaps' }
  // Longer than the process may take: its informer waits for a back-off when the server is disposed of.
  const fault = { type: 'status', code: 429, retryAfterSeconds: 3_600 } as const
  simulator.faults.inject({ fault, match, times: 1_000_000 })
  const args = ['--conditions=informerql-source', '--input-type=module', '--eval', program]
  await using child = startProgram(process.execPath, [...args, '--', simulator.url], {})
  await child.printed('follows')
  expect(await child.interrupt('SIGTERM')).toBe(0)
})
