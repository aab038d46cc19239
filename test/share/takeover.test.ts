import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { serveGateway } from '../support/gateway.ts'
import { needsPostgres } from '../support/postgres.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { agreedHolders, heldAt, type Holders, sharedBetween } from './settled-holders.ts'
import {
  behind,
  freePort,
  holdersBy,
  SharedGateways,
  type SharingGateway,
  type SharingProgram,
} from './shared-gateways.ts'

const patience = { timeout: 120_000, interval: 200 }
const count = 12
const all =
  '{ pods(clusters: ["*"], first: 500) { staleSince nodes { name clusterName } incomplete { cluster code } } }'
/** A gateway that has handed a cluster over goes on having it for a moment. */
const handOverMs = 6_000

describe('gateways that share clusters, when one of them is gone', needsPostgres, () => {
  let shared: SharedGateways
  let gateways: SharingGateway[]

  beforeAll(async () => {
    shared = await SharedGateways.start(count)
    gateways = [await shared.serve(), await shared.serve()]
  }, 240_000)

  afterAll(() => shared[Symbol.asyncDispose]())

  /** Starts a gateway as a process, which holds something, and as the only one what it holds. */
  const startedProgram = async (): Promise<SharingProgram> => {
    const program = await shared.program()
    const held = await agreedHolders([...gateways, program])
    if (heldAt(program, held).length === 0) {
      await program[Symbol.asyncDispose]()
      return await startedProgram()
    }
    await sleep(handOverMs)
    return program
  }

  /** Asks a gateway for all pods. No row is wrong, and none is missing without a word. Returns the clusters that it lacks. */
  const asked = async (gateway: SharingGateway): Promise<readonly string[]> => {
    const { data } = await gateway.query(all)
    const { nodes, incomplete } = data.pods
    const found = nodes.map(({ name, clusterName }: Fields) => {
      expect(name).toBe(`pod-of-${clusterName}`)
      return clusterName
    })
    expect(found).toHaveLength(new Set(found).size)
    const named = incomplete.map(({ cluster, code }: Fields) => {
      expect(code).toBe('CLUSTER_UNREACHABLE')
      return cluster
    })
    const lacking = shared.names.filter((name) => !found.includes(name))
    expect(named).toEqual(expect.arrayContaining(lacking))
    return lacking
  }

  /** Asks all again and again, until all answers are whole and nobody says that the address holds anything. */
  const untilTakenOver = async (address: string): Promise<readonly (readonly string[])[]> => {
    const answers: (readonly string[])[] = []
    const isOver = async (): Promise<boolean> => {
      const lacking = await Promise.all(gateways.map(asked))
      answers.push(...lacking)
      const holders = await Promise.all(gateways.map(holdersBy))
      return (
        lacking.every(({ length }) => length === 0) &&
        holders.every((held) => heldAt({ address }, held).length === 0)
      )
    }
    await expect.poll(isOver, { ...patience, interval: 20 }).toBe(true)
    return answers
  }

  const logged = (): string => gateways.flatMap(({ log }) => log).join('\n')
  const refusals = (address: string): number =>
    logged().split(`the gateway ${address} refuses connections`).length - 1

  it('a killed one is noticed by its refusals, and questions wait for what it held', async () => {
    const first: (readonly string[] | undefined)[] = []
    // On a busy machine it may take longer than they wait.
    for (let times = 0; times < 3 && !first.some((lacking) => lacking?.length === 0); times += 1) {
      const { program, address } = await startedProgram()
      program.signal('SIGKILL')
      await program.ended
      const [lacking] = await untilTakenOver(address)
      first.push(lacking)
      expect(refusals(address)).toBeGreaterThan(0)
    }
    expect(first).toContainEqual([])
  }, 240_000)

  it('a suspended one is not gone by refusals, and comes back', async () => {
    const { program, address, url } = await startedProgram()
    const before = await holdersBy({ url })
    program.suspend()
    await untilTakenOver(address)
    expect(refusals(address)).toBe(0)
    program.resume()
    const isBefore = (held: Holders): boolean =>
      heldAt({ address }, held).join() === heldAt({ address }, before).join()
    await agreedHolders([...gateways, { address, url }], isBefore)
    await untilNothingLacks()
    program.signal('SIGTERM')
    await program.ended
  }, 240_000)

  it('one that starts again at its address gets back what it had', async () => {
    const { program, address, url } = await startedProgram()
    const before = heldAt({ address }, await holdersBy({ url }))
    program.signal('SIGKILL')
    await program.ended
    const again = await shared.program(Number(new URL(address).port))
    const isBefore = (held: Holders): boolean => heldAt({ address }, held).join() === before.join()
    for (let times = 0; times < 50; times += 1) {
      for (const gateway of gateways) await asked(gateway)
    }
    await agreedHolders([...gateways, again], isBefore)
    await untilNothingLacks()
    // The process that started was not taken for the one that had ended.
    expect(again.program.lines.join('\n')).not.toContain('another gateway has the address')
    again.program.signal('SIGTERM')
    await again.program.ended
  }, 240_000)

  async function untilNothingLacks(): Promise<void> {
    for (const gateway of gateways) {
      await expect.poll(() => asked(gateway), patience).toEqual([])
    }
  }
})

describe('a gateway that is taken for gone, and lives', needsPostgres, () => {
  it('comes back, is not taken for gone again, and nothing is told twice or lost', async () => {
    await using shared = await SharedGateways.start(count)
    const here = await shared.serve()
    let refuse = (): Promise<void> => Promise.resolve()
    let listen = refuse
    const { there, held } = await sharedBetween(here, async () => {
      const port = await freePort()
      const proxy = await startCutProxy(port)
      ;({ refuse, listen } = proxy)
      const share = { address: `http://127.0.0.1:${proxy.port}` }
      return behind(await serveGateway({ ...shared.options, share }, { port }), proxy)
    })
    await using _ = there
    const sql = (text: string): string => shared.postgres.sql(text, shared.archive)
    await expect
      .poll(() => sql('SELECT COUNT(*) FROM kinds WHERE begins > 0'), patience)
      .toBe(String(count))
    const gaps = sql('SELECT COUNT(*) FROM gaps')
    const made: string[] = []
    const make = async (): Promise<void> => {
      for (const [at, simulator] of shared.simulators.entries()) {
        const name = `moving-${made.length}`
        await created(simulator, podsPath, podOf(name))
        made.push(`${shared.names[at]} ${name}`)
      }
    }
    const times = (text: string): number => here.log.join('\n').split(text).length - 1
    const frames: Fields[] = []
    const query =
      'subscription { pods(clusters: ["*"], coalesceMs: 0) { reset changes { type object { name clusterName } } } }'
    const leave = here
      .connect()
      .subscribe<Fields>(
        { query },
        { next: ({ data }) => void frames.push(data?.pods), error() {}, complete() {} },
      )
    const changes = (): readonly Fields[] => frames.flatMap((frame) => frame.changes)
    await expect.poll(() => changes().length, patience).toBe(count)
    await make()
    await refuse()
    await make()
    await expect.poll(() => times(`${there.address} refuses connections`), patience).toBe(1)
    await make()
    // It prolongs its row several times, and is tried many times.
    await sleep(5_000)
    expect(times(`${there.address} refuses connections`)).toBe(1)
    await listen()
    expect(await agreedHolders([here, there], (now) => isAs(held, now))).toEqual(held)
    await make()
    const told = (): readonly string[] =>
      sql(`SELECT cluster || ' ' || name FROM changes JOIN kinds ON kinds.id = kind_id
           WHERE name LIKE 'moving-%' ORDER BY changes.id`).split('\n')
    await expect.poll(() => told().toSorted(), patience).toEqual(made.toSorted())
    expect(sql('SELECT COUNT(*) FROM gaps')).toBe(gaps)
    const shown = (): readonly string[] =>
      changes()
        .map(({ type, object }) => `${type} ${object?.clusterName} ${object?.name}`)
        .toSorted()
    const wanted = [...made, ...shared.names.map((name) => `${name} pod-of-${name}`)]
    await expect.poll(shown, patience).toEqual(wanted.map((one) => `ADDED ${one}`).toSorted())
    expect(frames.filter(({ reset }) => reset)).toHaveLength(1)
    leave()
  }, 240_000)
})

const isAs = (held: Holders, now: Holders): boolean => JSON.stringify(held) === JSON.stringify(now)
