import { createServer } from 'node:net'
import { once } from 'node:events'
import { expect, it, vi } from 'vitest'
import type { GraphQLAnswer } from '../support/gateway.ts'
import { startProgram } from '../support/example-process.ts'
import { needsPostgres } from '../support/postgres.ts'

/** The first of three ports in a row that are free, as is the one of Postgres, 1,000 above. */
async function freePorts(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const probes = [0, 1, 2, 1_000].map((at) => createServer().listen(first + at, '127.0.0.1'))
    const listening = await Promise.allSettled(probes.map((probe) => once(probe, 'listening')))
    await Promise.all(
      probes.map((probe) => new Promise((closed) => probe.close(() => closed(undefined)))),
    )
    if (listening.every(({ status }) => status === 'fulfilled')) return first
  }
}

it(
  'fleet: three gateways answer for all clusters, and two of them once one is killed',
  { ...needsPostgres, timeout: 180_000 },
  async () => {
    const first = await freePorts()
    const args = ['--conditions=informerql-source', 'examples/fleet.ts', `--port=${first}`]
    await using example = startProgram(process.execPath, args, { timeout: 170_000 })
    await example.printed('Ctrl-C stops everything')
    const text = example.lines.join('\n')
    const ask = async (port: number, body: string): Promise<GraphQLAnswer> => {
      const headers = { 'content-type': 'application/json' }
      const url = `http://127.0.0.1:${port}/graphql`
      return (await (await fetch(url, { method: 'POST', headers, body })).json()) as GraphQLAnswer
    }
    const [clusters = '', pods = ''] = Array.from(text.matchAll(/ -d '(.*)'/g), ([, body]) => body)
    // They come and go, about 700 of them.
    const whole = { totalCount: expect.toSatisfy((count: number) => count > 600), incomplete: [] }
    for (const port of [first, first + 1, first + 2]) {
      await vi.waitFor(
        async () => expect((await ask(port, pods)).data?.pods).toMatchObject(whole),
        { timeout: 60_000, interval: 500 },
      )
    }
    const { data } = await ask(first, clusters)
    expect(data.gatewayClusters.map(({ name }: { name: string }) => name)).toEqual([
      'prod-eu',
      'prod-us',
      'staging',
    ])
    process.kill(Number(/kill -9 (\d+)/.exec(text)?.[1]), 'SIGKILL')
    const gone = `http://127.0.0.1:${first + 2}`
    await vi.waitFor(
      async () => {
        expect(JSON.stringify(await ask(first, clusters))).not.toContain(gone)
        expect((await ask(first, pods)).data?.pods).toMatchObject(whole)
      },
      { timeout: 60_000, interval: 500 },
    )
    expect(await example.interrupt(), example.lines.join('\n')).toBe(0)
  },
)
