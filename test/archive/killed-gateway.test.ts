import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { startSimulator, type Storage } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { created, sent } from '../gateway/created.ts'
import { type HeldBehind, resume, type Resumed } from '../gateway/resumed-subscription.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { listsOf, startRequestProxy } from '../support/request-proxy.ts'
import { ascending, podOf, podsIn, podsPath } from './restarted-gateway.ts'

const asked = { field: 'pods(coalesceMs: 0', selection: 'metadata { name uid labels }' }

const placeOf = (step: number): string => (step === 1 ? 'shop' : 'default')

const urlOf = async (gateway: ExampleProcess): Promise<string> => {
  await gateway.printed('informerql answers at')
  const port = /answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.lines.join('\n'))?.[1]
  return `http://127.0.0.1:${port}/graphql`
}

const follow = (url: string, from?: HeldBehind): Resumed => {
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  })
  return resume(client, asked, from)
}

const names = ({ held }: Resumed): string =>
  Array.from(held().values(), ({ metadata }) => String(metadata.name))
    .toSorted(ascending)
    .join()

/** Resolves once the archive has the pods. */
const archived = async (url: string): Promise<void> => {
  const rows = async (): Promise<number> => {
    const text = await (await fetch(new URL('/metrics', url))).text()
    return Number(/^informerql_archive_rows_total (\d+)$/m.exec(text)?.[1])
  }
  await expect.poll(rows).toBeGreaterThan(0)
}

it.each([
  { of: 'all namespaces', options: {} },
  { of: 'some namespaces', options: { cache: { namespaces: ['default', 'shop'] } } },
])(
  'a gateway of $of that is killed starts again without a list, and its clients go on without a reset',
  async ({ options }) => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-killed-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true }))
    const populate = (storage: Storage): void => {
      const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
      for (const metadata of [{ name: 'kube-system', uid: randomUUID() }, { name: 'shop' }]) {
        storage.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
      }
    }
    const cluster = stack.use(await startSimulator({ populate }))
    const proxy = stack.use(await startRequestProxy(cluster.url))
    const config = join(folder, 'config.json')
    const archive = { url: `file:${join(folder, 'archive.db')}`, kinds: ['pods'] }
    const clusters = [{ name: 'one', server: proxy.url }]
    const server = { metricsOnApiPort: true }
    await writeFile(
      config,
      JSON.stringify({ clusters, archive, server, preload: ['pods'], ...options }),
    )
    const args = ['src/main.ts', 'serve', '--port', '0', '--config', config]
    const start = (): ExampleProcess =>
      stack.use(startProgram(process.execPath, args, { timeout: 170_000 }))
    await created(cluster, podsPath, podOf('first'))
    let gateway = start()
    let live = follow(await urlOf(gateway))
    await archived(await urlOf(gateway))
    await live.until(() => names(live) === 'first')
    const wanted = new Set(['first'])
    for (let round = 0; round < 4; round += 1) {
      for (const step of [0, 1, 2]) {
        const name = `pod-${round}-${step}`
        await created(cluster, podsIn(placeOf(step)), podOf(name, 'x', placeOf(step)))
        wanted.add(name)
      }
      const shown = [...wanted].toSorted(ascending).join()
      await live.until(() => names(live) === shown)
      const stood = live.seen.at(-1)
      gateway.signal('SIGKILL')
      await gateway.ended
      await sent(cluster, 'DELETE', `${podsPath}/pod-${round}-0?gracePeriodSeconds=0`)
      wanted.delete(`pod-${round}-0`)
      proxy.requests.length = 0
      gateway = start()
      live = follow(await urlOf(gateway), stood)
      const next = [...wanted].toSorted(ascending).join()
      await live.until(() => names(live) === next)
      expect(live.seen.map(({ frame }) => frame.reset)).not.toContain(true)
      for (const path of ['/api/v1/pods', podsPath, podsIn('shop')]) {
        expect(listsOf(proxy, path)).toEqual([])
      }
    }
  },
)
