import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from 'graphql-ws'
import { population, type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { GraphQLAnswer } from '../support/gateway.ts'

const mebibyte = 1 << 20

/** Small pods and ConfigMaps of 100 KB each, beside a small cluster. */
const startLargeCluster = (pods: number, configMaps: number): Promise<Simulator> =>
  startSimulator({
    populate(storage) {
      const small = [...population({ seed: 'heap', pods: 50, now: new Date() })]
      for (const { resource, object } of small) storage.create(resource, object)
      const resourceOf = (kind: string) => {
        const found = small.find(({ resource }) => resource.kind === kind)
        if (found === undefined) throw new Error(`the population has no ${kind}`)
        return found.resource
      }
      const nodes = small.filter(({ resource }) => resource.kind === 'Node')
      for (let at = 0; at < pods; at += 1) {
        storage.create(resourceOf('Pod'), {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: `p-${at}`,
            namespace: `team-${at % 50}`,
            labels: { app: `a-${at % 500}` },
          },
          spec: {
            nodeName: nodes[at % nodes.length]?.object.metadata.name,
            containers: [{ name: 'main', image: `registry.example.com/a-${at % 500}:${at % 7}` }],
          },
          status: {
            phase: at % 20 === 0 ? 'Failed' : 'Running',
            podIP: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
          },
        })
      }
      for (let at = 0; at < configMaps; at += 1) {
        storage.create(resourceOf('ConfigMap'), {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `c-${at}`, namespace: 'large' },
          data: { text: `${at} `.repeat(100_000 / `${at} `.length) },
        })
      }
    },
  })

/** As the chart has it of a container's memory: test/deployment holds that. */
const heapFlags = (limitBytes: number): readonly string[] => [
  `--max-old-space-size=${Math.floor((limitBytes * 60) / 100 / mebibyte)}`,
  '--max-semi-space-size=16',
]

interface ServeProcess extends AsyncDisposable {
  readonly child: ChildProcess
  readonly client: Client
  readonly ask: (query: string) => Promise<GraphQLAnswer>
}

const names = ['one', 'two', 'three', 'four', 'five']

/** `informerql serve` with the large cluster under five names, in a process with that heap. */
const serve = async (url: string, limitBytes: number): Promise<ServeProcess> => {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-heap-'))
  const config = join(folder, 'informerql.yaml')
  // A busy machine may take long for a list of 100,000.
  const deadlines = { syncDeadlineMs: 120_000, operationDeadlineMs: 120_000 }
  const clusters = names.map((name) => ({ name, server: url }))
  await writeFile(config, JSON.stringify({ clusters, ...deadlines }))
  const args = [...heapFlags(limitBytes), 'src/main.ts', 'serve', '--config', config, '--port', '0']
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, args, {
    env: { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent', NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let output = ''
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, found] = /answers at (\S+?)"?[\s,]/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error(`it ended: ${output}`)))
  })
  const client = createClient({
    url: address.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  })
  return {
    child,
    client,
    async ask(query) {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      return (await response.json()) as GraphQLAnswer
    },
    async [Symbol.asyncDispose]() {
      await client.dispose()
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true })
    },
  }
}

/** The resident memory of a process, where the system tells it. */
const residentBytes = async ({ pid }: ChildProcess): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024
}

const questions = (cluster: string): readonly string[] => [
  `{ pods(cluster: "${cluster}", first: 1) { totalCount } }`,
  `{ problems(cluster: "${cluster}", first: 20) { totalCount nodes { reason } } }`,
  `{ search(cluster: "${cluster}", text: "p-999", first: 5) { totalCount } }`,
  `{ pods(cluster: "${cluster}", where: { image: { contains: "a-33" } }, first: 10) { totalCount } }`,
  `{ nodes(cluster: "${cluster}") { nodes { metadata { name } pods(first: 5) { totalCount nodes { json } } } } }`,
  `{ configMaps(cluster: "${cluster}", first: 50) { totalCount nodes { data } } }`,
]

describe('a gateway that is asked for more than its heap takes', () => {
  let cluster: Simulator
  beforeAll(async () => {
    cluster = await startLargeCluster(100_000, 2_000)
  }, 120_000)
  afterAll(() => cluster[Symbol.asyncDispose]())

  it.each([
    ['512 MiB', 512 * mebibyte],
    ['2 GiB', 2_048 * mebibyte],
  ])(
    'in a container of %s refuses further kinds with CACHE_FULL, and goes on answering from those in use',
    async (_, limitBytes) => {
      await using served = await serve(cluster.url, limitBytes)
      const codes: string[] = []
      const ask = async (query: string): Promise<void> => {
        const { errors = [] } = await served.ask(query)
        codes.push(...errors.map(({ extensions }) => extensions.code))
        expect(await residentBytes(served.child)).toBeLessThan(limitBytes)
      }
      /** Keeps the kind in memory for as long as the process runs, unless there is no room for it. */
      const follow = async (counts: string, name: string): Promise<void> => {
        const query = `subscription { ${counts}(cluster: "${name}") { totalCount } }`
        const first = Promise.withResolvers<GraphQLAnswer>()
        const error = (errors: unknown): void =>
          first.resolve({ errors: errors as GraphQLAnswer['errors'] & object })
        const next = (answer: object): void => first.resolve(answer)
        served.client.subscribe({ query }, { next, error, complete() {} })
        const { errors = [] } = await first.promise
        codes.push(...errors.map(({ extensions }) => extensions.code))
      }
      for (const name of names) {
        await follow('podFacets', name)
        for (const question of questions(name)) await ask(question)
        await follow('configMapFacets', name)
        if (codes.includes('CACHE_FULL')) break
      }
      expect(codes).toContain('CACHE_FULL')
      // As clients do that ask again.
      for (let round = 0; round < 2; round += 1) {
        await Promise.all(
          names.map((name) => ask(`{ configMaps(cluster: "${name}") { totalCount } }`)),
        )
      }
      // NOT_SYNCED: stopped to make room while somebody waited for it.
      expect(['CACHE_FULL', 'NOT_SYNCED']).toEqual(expect.arrayContaining([...new Set(codes)]))
      const { data } = await served.ask(questions('one')[3] ?? '')
      expect(data.pods.totalCount).toBe(2_200)
      expect(served.child.exitCode).toBeNull()
      expect(await residentBytes(served.child)).toBeLessThan(limitBytes)
    },
    240_000,
  )

  it('lists anew what fills its caches without a second copy of it', async () => {
    await using large = await startLargeCluster(0, 1_600)
    await using served = await serve(large.url, 512 * mebibyte)
    const question =
      '{ configMaps { totalCount } gatewayClusters { resources(loaded: true) { resourceVersion } } }'
    const versionNow = async (): Promise<string> => {
      const { data, errors } = await served.ask(question)
      expect(errors).toBeUndefined()
      expect(data.configMaps.totalCount).toBeGreaterThan(1_600)
      return data.gatewayClusters[0].resources[0].resourceVersion
    }
    let before = await versionNow()
    for (let round = 0; round < 3; round += 1) {
      large.faults.inject({ fault: { type: 'compact-history' } })
      // A write elsewhere, so that the next list has another version.
      const body = JSON.stringify({ metadata: { name: `round-${round}` } })
      const headers = { 'content-type': 'application/json' }
      await fetch(`${large.url}/api/v1/namespaces`, { method: 'POST', headers, body })
      large.faults.inject({ fault: { type: 'end-watches', code: 410 } })
      await expect.poll(versionNow, { timeout: 60_000 }).not.toBe(before)
      before = await versionNow()
    }
    expect(await residentBytes(served.child)).toBeLessThan(512 * mebibyte)
  }, 240_000)
})
