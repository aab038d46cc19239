import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GraphQLAnswer } from '../support/gateway.ts'

/** Of a process that may open 300 files, some fifty are its own. Twenty clusters have 440 kinds that can have problems. */
const openFiles = 300

describe('A gateway that may open few files', () => {
  const stack = new AsyncDisposableStack()
  let url = ''

  beforeAll(async () => {
    const simulator = stack.use(await startSimulator())
    const clusters = Array.from({ length: 20 }, (_, at) => ({
      name: `c${at}`,
      server: simulator.url,
    }))
    const folder = await mkdtemp(join(tmpdir(), 'informerql-open-files-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const config = join(folder, 'config.json')
    const cache = { maxInformers: 10_000 }
    await writeFile(
      config,
      JSON.stringify({ clusters, cache, logLevel: 'error', server: { port: 0 } }),
    )
    const child: ChildProcess = spawn(
      'sh',
      [
        '-c',
        `ulimit -n ${openFiles}; exec "$0" "$@"`,
        process.execPath,
        'src/main.ts',
        'serve',
        '--config',
        config,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(child, 'exit')
    stack.defer(async () => {
      child.kill('SIGKILL')
      await ended
    })
    let printed = ''
    for await (const chunk of child.stdout ?? []) {
      printed += String(chunk)
      url = /http:\S+\/graphql/.exec(printed)?.[0] ?? ''
      if (url !== '') break
    }
  })
  afterAll(() => stack.disposeAsync())

  const ask = async (query: string): Promise<GraphQLAnswer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(90_000),
    })
    return (await response.json()) as GraphQLAnswer
  }

  it('follows as many kinds as leave room for its callers, and names those that it does not', async () => {
    const answer = await ask('{ problems(clusters: ["*"], first: 1) { nodes { type message } } }')
    expect(answer.data.problems.nodes).toEqual([])
    expect(answer.errors?.[0]).toMatchObject({
      message: expect.stringContaining(`of ${openFiles / 2} informers run`),
      extensions: { code: 'CACHE_FULL', hint: expect.stringContaining('ulimit -n') },
    })
    const pods = await ask('{ pods(cluster: "c0", first: 1) { totalCount } }')
    expect(pods).toEqual({ data: { pods: { totalCount: 0 } } })
  })
})
