import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'graphql-ws'
import { beforeAll, describe, expect, it } from 'vitest'
import { type FollowedPage, followPage } from '../gateway/followed-page.ts'
import { runSeed } from '../support/random.ts'
import { caughtUp, listFieldOf } from './caught-up.ts'
import { keyOf } from './filtered-client.ts'
import { type Fields, type Type, types } from './random-cluster.ts'
import { randomClusterForTests } from './random-cluster-for-tests.ts'
import { asksOfOthers, randomFilter } from './random-filter.ts'
import { meets, relations, World } from './recomputed.ts'

const batches = Number(process.env['BATCHES'] ?? 8)
const pages = 24
const size = 4
const deadlineMs = 15_000
const selection = 'metadata { name namespace resourceVersion }'

/** A filtered page that somebody follows, and the query that it is to be equal to. */
class FilteredPage {
  readonly type: Type
  readonly where: Fields
  readonly page: string
  live: FollowedPage

  constructor(type: Type, where: Fields, socket: Client) {
    this.type = type
    this.where = where
    const literal = JSON.stringify(where).replaceAll(/"(\w+)":/g, '$1:')
    this.page = `first: ${size}, orderBy: [{ name: DESC }], where: ${literal}`
    this.live = this.follow(socket)
  }

  /** Begins, or goes on from where it left. */
  follow(socket: Client, from?: FollowedPage['seen'][number]): FollowedPage {
    const field = `${listFieldOf(this.type)}Page(${this.page}, coalesceMs: 5`
    return (this.live = followPage(socket, { field, selection }, from))
  }

  toString(): string {
    return `${this.type} ${JSON.stringify(this.where)}`
  }
}

describe(`Live pages that are filtered by related objects, seed ${runSeed}`, () => {
  const served = randomClusterForTests(500)
  let socket: Client
  beforeAll(() => {
    socket = served.gateway.connect()
  })

  const newPage = (): FilteredPage => {
    for (;;) {
      const type = served.cluster.pick(types.filter((one) => relations[one] !== undefined))
      const where = randomFilter(served.cluster, type, 3)
      if (asksOfOthers(where, type)) return new FilteredPage(type, where, socket)
    }
  }

  const expectInStep = async (one: FilteredPage, world: World): Promise<void> => {
    const matching = world
      .objects(one.type)
      .filter((object) => meets(one.where, one.type, object, world))
    const { page } = await served.gateway.data(
      `{ page: ${listFieldOf(one.type)}(${one.page}) { totalCount nodes { id ${selection} } } }`,
    )
    expect(page.totalCount, String(one)).toBe(matching.length)
    const keys = new Set(matching.map(keyOf))
    expect(page.nodes.filter((node: Fields) => !keys.has(keyOf(node)))).toEqual([])
    const isThere = (): boolean => {
      const { rows, totalCount } = one.live.held()
      return totalCount === page.totalCount && JSON.stringify(rows) === JSON.stringify(page.nodes)
    }
    const endMs = performance.now() + deadlineMs
    while (!isThere() && one.live.problems.length === 0 && performance.now() < endMs) {
      await sleep(5)
    }
    expect(one.live.problems, String(one)).toEqual([])
    const wanted = { rows: page.nodes, totalCount: page.totalCount }
    expect(one.live.held(), String(one)).toEqual(wanted)
  }

  it(`hold what a query answers, after each of ${batches} batches of edits`, async () => {
    const all = Array.from({ length: pages }, () => newPage())
    for (const one of all) await one.live.until(({ totalCount }) => totalCount >= 0)
    for (let batch = 0; batch < batches; batch += 1) {
      const away = batch % 3 === 2 ? all.filter((_, at) => at % 3 === 1) : []
      for (const { live } of away) live.leave()
      served.cluster.edit(served.cluster.pick([1, 5, 40]))
      await caughtUp(served.gateway, served.cluster)
      for (const one of away) one.follow(socket, one.live.seen.at(-1))
      const world = new World(served.cluster)
      for (const one of all) await expectInStep(one, world)
    }
    const { groups } = served.gateway.gateway.planned.liveState()
    expect(groups).toBeGreaterThanOrEqual(pages / 3)
    for (const { live } of all) live.leave()
  })
})
