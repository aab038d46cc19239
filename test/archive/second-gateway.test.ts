import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { startSimulator, type Storage } from 'informerql/simulator'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { created, sent } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { podOf, podsPath } from './restarted-gateway.ts'

const patience = { timeout: 60_000 }

it(
  'a gateway that shares a Postgres follows what the other one writes, and writes itself once the other one is killed',
  needsPostgres,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-second-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true }))
    const postgres = stack.use(await startPostgres())
    const populate = (storage: Storage): void => {
      const metadata = { name: 'kube-system', uid: randomUUID() }
      const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
      storage.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
    }
    const cluster = stack.use(await startSimulator({ populate }))
    const config = join(folder, 'config.json')
    const archive = { url: await postgres.database(), kinds: ['pods'] }
    const clusters = [{ name: 'one', server: cluster.url }]
    await writeFile(config, JSON.stringify({ clusters, archive, preload: ['pods'] }))
    const start = async (): Promise<{ readonly process: ExampleProcess; readonly url: string }> => {
      const args = ['src/main.ts', 'serve', '--port', '0', '--config', config]
      const program = startProgram(process.execPath, args, { timeout: 170_000 })
      stack.use(program)
      await program.printed('informerql answers at')
      const port = /answers at http:\/\/127\.0\.0\.1:(\d+)/.exec(program.lines.join('\n'))?.[1]
      return { process: program, url: `http://127.0.0.1:${port}/graphql` }
    }
    const toldBy = async (url: string): Promise<Fields> => {
      const query =
        '{ changes(first: 500) { nodes { type after resourceVersion object { name } } incomplete { code to } } }'
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const { data }: Fields = await response.json()
      return data.changes
    }
    const names = ({ nodes }: Fields): readonly string[] =>
      nodes.map(({ type, object }: Fields) => `${type} ${object.name}`).toReversed()

    const first = await start()
    await created(cluster, podsPath, podOf('before'))
    const begun = async () =>
      (await toldBy(first.url)).incomplete.every(({ to }: Fields) => to !== null)
    await expect.poll(begun, patience).toBe(true)
    // The second one begins in the midst of changes, and has some of them waiting when it takes over.
    await created(cluster, podsPath, podOf('busy'))
    const starting = start()
    const started = new AbortController()
    const ended = starting.finally(() => started.abort())
    for (let changes = 0; !started.signal.aborted; changes++) {
      await sent(cluster, 'PATCH', `${podsPath}/busy`, {
        metadata: { labels: { change: String(changes) } },
      })
    }
    const second = await ended
    const frames: string[] = []
    const client = createClient({
      url: second.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    stack.defer(() => void client.dispose())
    client.subscribe(
      { query: 'subscription { changes(coalesceMs: 0) { changes { type object { name } } } }' },
      {
        next: ({ data }) => {
          const { changes } = (data ?? {}) as { readonly changes?: Fields }
          frames.push(...(changes === undefined ? [] : names({ nodes: changes['changes'] })))
        },
        error: () => {},
        complete: () => {},
      },
    )
    await created(cluster, podsPath, podOf('of-the-first'))
    await expect.poll(() => frames, patience).toContain('ADDED of-the-first')

    first.process.signal('SIGKILL')
    await first.process.ended
    await created(cluster, podsPath, podOf('after'))
    await sent(cluster, 'DELETE', `${podsPath}/of-the-first?gracePeriodSeconds=0`)
    await expect
      .poll(async () => names(await toldBy(second.url)), patience)
      .toContain('REMOVED of-the-first')
    await created(cluster, podsPath, podOf('of-the-second'))
    await expect.poll(() => frames, patience).toContain('ADDED of-the-second')
    const told = await toldBy(second.url)
    const added = names(told).filter((change) => change.startsWith('ADDED'))
    expect(added.filter((change) => change !== 'ADDED before')).toEqual([
      'ADDED busy',
      'ADDED of-the-first',
      'ADDED after',
      'ADDED of-the-second',
    ])
    expect(frames.filter((change) => change === 'ADDED after')).toHaveLength(1)
    const versions: readonly number[] = told.nodes.map(({ resourceVersion }: Fields) =>
      Number(resourceVersion),
    )
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => b - a))
  },
)
