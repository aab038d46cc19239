import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ExampleProcess, startProgram } from '../support/example-process.ts'
import { post } from './small-api.ts'

interface Answered {
  readonly gatewayClusters: readonly { readonly name: string; readonly state: string }[]
  readonly pods: { readonly totalCount: number; readonly staleSince: string | null }
}

interface Refused {
  readonly errors: readonly [
    { readonly message: string; readonly extensions: { readonly hint: string } },
  ]
}

const args = ['src/main.ts', 'demo', '--port', '0', '--pods', '60']

describe('informerql demo, a fleet', () => {
  let demo: ExampleProcess
  let url = ''
  let faults = ''
  beforeAll(async () => {
    demo = startProgram(process.execPath, args, { timeout: 120_000 })
    await demo.printed('Ctrl-C')
    url = /http:\S+\/graphql/.exec(demo.lines.join('\n'))?.[0] ?? ''
    faults = url.replace('graphql', 'faults')
  })
  afterAll(() => demo[Symbol.asyncDispose]())

  const data = async (query: string): Promise<Answered> =>
    ((await (await post(url, { query })).json()) as { readonly data: Answered }).data
  const order = async (body: unknown): Promise<Response> =>
    await fetch(faults, { method: 'POST', body: JSON.stringify(body) })
  const stateOf = async (cluster: string): Promise<unknown> => {
    const { gatewayClusters } = await data('{ gatewayClusters { name state } }')
    return gatewayClusters.find(({ name }) => name === cluster)?.state
  }

  it('serves three clusters with labels, and prints how to cut one off', async () => {
    expect(await data('{ gatewayClusters { name labels } }')).toEqual({
      gatewayClusters: [
        { name: 'prod-eu', labels: { env: 'production', region: 'eu-north-1' } },
        { name: 'prod-us', labels: { env: 'production', region: 'us-east-1' } },
        { name: 'staging', labels: { env: 'staging', region: 'eu-north-1' } },
      ],
    })
    expect(demo.lines.join('\n')).toContain(
      `curl ${faults} -d '{"cluster":"prod-us","fault":"cut"}'`,
    )
    // There is no terminal to press a key at.
    expect(demo.lines.join('\n')).not.toContain('A key cuts')
  })

  it('answers of the first cluster where none is named', async () => {
    const query = (cluster: string): string =>
      `{ deployment(${cluster}namespace: "payments", name: "invoice-worker") { id cluster } }`
    expect(await data(query(''))).toEqual(await data(query('cluster: "prod-eu", ')))
  })

  it('cuts a cluster off: what it held stays, marked as stale, until it is mended', async () => {
    const held = '{ pods(cluster: "prod-us", first: 1) { totalCount staleSince } }'
    const before = await data(held)
    expect(before.pods.staleSince).toBeNull()
    expect((await order({ cluster: 'prod-us', fault: 'cut' })).status).toBe(200)
    await vi.waitFor(async () => expect(await stateOf('prod-us')).toBe('UNREACHABLE'), 20_000)
    await vi.waitFor(async () => {
      const { pods } = await data(held)
      expect(pods.staleSince).not.toBeNull()
      expect(pods.totalCount).toBe(before.pods.totalCount)
    }, 20_000)
    expect(await stateOf('prod-eu')).toBe('CONNECTED')
    expect((await order({ cluster: 'prod-us', fault: 'mend' })).status).toBe(200)
    await vi.waitFor(async () => {
      expect((await data(held)).pods.staleSince).toBeNull()
      expect(await stateOf('prod-us')).toBe('CONNECTED')
    }, 60_000)
  })

  it('takes the orders of the simulator for one cluster, and tells what waits', async () => {
    const fault = { type: 'status', code: 503 }
    const answer = await order({ cluster: 'staging', fault, match: { resource: 'leases' } })
    expect(await answer.json()).toMatchObject({
      clusters: [
        { name: 'prod-eu', connections: 'served', pending: [] },
        { name: 'prod-us', connections: 'served', pending: [] },
        { name: 'staging', connections: 'served', pending: [{ fault, remaining: 1 }] },
      ],
    })
    expect(await (await fetch(faults)).json()).toMatchObject({ clusters: [{}, {}, {}] })
  })

  it.each([
    [{ cluster: 'prod-as', fault: 'cut' }, /"prod-as"/, /prod-eu, prod-us, staging/],
    [{ fault: 'cut' }, /cluster is missing/, /prod-eu, prod-us, staging/],
    [{ cluster: 'prod-us' }, /fault is missing/, /cut, hang or mend/],
    [{ cluster: 'prod-us', fault: 'cutt' }, /cutt/, /docs\/simulator\.md/],
    [{ cluster: 'prod-us', fault: 7 }, /no fault 7/, /cut, hang or mend/],
    ['prod-us', /not a JSON object: .*prod-us/, /POST/],
  ])('refuses the order %j, and says the way out', async (body, says, wayOut) => {
    const answer = await order(body)
    expect(answer.status).toBe(400)
    const { errors } = (await answer.json()) as Refused
    expect(errors[0].message).toMatch(says)
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(errors[0].extensions.hint).toMatch(wayOut)
  })

  it('takes no orders from web pages of other origins', async () => {
    const headers = { origin: 'http://evil.example' }
    const body = JSON.stringify({ cluster: 'prod-us', fault: 'cut' })
    expect((await fetch(faults, { method: 'POST', headers, body })).status).toBe(403)
  })
})

describe('informerql demo, beyond loopback', () => {
  it('takes no faults', async () => {
    const flags = ['--host', '0.0.0.0', '--insecure-no-auth']
    await using demo = startProgram(process.execPath, [...args, ...flags], { timeout: 120_000 })
    await demo.printed('Ctrl-C')
    const said = demo.lines.join('\n')
    expect(said).not.toContain('/faults')
    const url = /http:\S+\/graphql/.exec(said)?.[0] ?? ''
    expect((await fetch(url.replace('graphql', 'faults'), { method: 'POST' })).status).toBe(404)
  })
})

const pseudoTerminal = '/usr/bin/script'

describe.skipIf(!existsSync(pseudoTerminal))('informerql demo, at a terminal', () => {
  let child: ChildProcess
  afterAll(() => child.kill('SIGKILL'))

  it('cuts a cluster off by a key, mends it by the same, and stops on Ctrl-C', async () => {
    const command = [process.execPath, ...args, '--log-level', 'silent'].join(' ')
    child = spawn(pseudoTerminal, ['-qec', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    let said = ''
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const saying = (text: string): Promise<void> =>
      vi.waitFor(() => expect(said).toContain(text), { timeout: 60_000 })
    await saying('1 prod-eu, 2 prod-us, 3 staging')
    child.stdin?.write('2')
    await saying('prod-us is cut off')
    child.stdin?.write('2')
    await saying('prod-us is mended')
    child.stdin?.write('\u0003')
    expect(await ended).toEqual([0, null])
  })
})
