import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Unstructured } from 'informerql/kubernetes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { define, definitionOf, versionOf } from '../gateway/definitions.ts'
import { makeNamespaces } from '../gateway/random-writes.ts'
import {
  type Fields,
  inParallel,
  listAll,
  must,
  startSimulatedCluster,
  type TestCluster,
} from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway, type Variables } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import {
  matchesSelector,
  matchesWhere,
  namespaces,
  podIndexes,
  RandomPods,
  valuesOf,
  type Where,
} from './random-pods.ts'

/** The arguments of a list that say what is in it, and in which order. */
interface Arguments {
  readonly namespace?: string | null
  readonly namespaces?: readonly string[] | null
  readonly labelSelector?: string | null
  readonly where?: Where | null
  readonly orderBy?: readonly Readonly<Record<string, 'ASC' | 'DESC'>>[]
}

const group = 'query.example'
const list = { type: 'array' }
const properties = {
  phase: { type: 'string' },
  images: { ...list, items: { type: 'string' } },
  restarts: { ...list, items: { type: 'integer', format: 'int64' } },
  memory: { type: 'string' },
  ready: { type: 'boolean' },
}
const declared = podIndexes
  .slice(3)
  .map(
    ({ name, paths, type }) =>
      `@index(name: "${name}", path: "${paths[0]}", type: ${type.toUpperCase()})`,
  )

const keyOf = ({ metadata }: Pick<Unstructured, 'metadata'>): string =>
  `${metadata.namespace}/${metadata.name}`

/** What a list has to be, from the raw objects. */
function expectedOf(pods: readonly Unstructured[], args: Arguments): readonly string[] {
  const { namespace, namespaces: some, labelSelector, where, orderBy = [] } = args
  const terms = orderBy.flatMap((term) => Object.entries(term))
  const placeOf = (pod: Unstructured) =>
    terms.map(([name, direction]) => {
      const values = valuesOf(name, pod).toSorted(compare)
      return direction === 'DESC' ? values.at(-1) : values[0]
    })
  return pods
    .filter(
      (pod) =>
        pod.metadata.namespace === (namespace ?? pod.metadata.namespace) &&
        some?.includes(pod.metadata.namespace ?? '') !== false &&
        (typeof labelSelector !== 'string' || matchesSelector(labelSelector, pod)) &&
        matchesWhere(where ?? {}, pod),
    )
    .map((pod) => ({ pod, place: placeOf(pod) }))
    .toSorted((a, b) => {
      for (const [at, [, direction]] of terms.entries()) {
        const [left, right] = [a.place[at], b.place[at]]
        if (left === right) continue
        if (left === undefined) return 1
        if (right === undefined) return -1
        return direction === 'DESC' ? compare(right, left) : compare(left, right)
      }
      return (
        compare(a.pod.metadata.namespace ?? '', b.pod.metadata.namespace ?? '') ||
        compare(a.pod.metadata.name, b.pod.metadata.name)
      )
    })
    .map(({ pod }) => keyOf(pod))
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : Number(a > b))

describe(`Lists of random arguments, seed ${runSeed}`, () => {
  const random = new RandomPods(seededRandom(runSeed))
  let cluster: TestCluster
  let gateway: ServedGateway
  let folder: string
  let pods: readonly Unstructured[]

  const path = (namespace: string): string => `/apis/${group}/v1/namespaces/${namespace}/items`
  const make = async (pod: Unstructured): Promise<void> => {
    const { uid: _, ...metadata } = pod.metadata
    const body = { ...pod, apiVersion: `${group}/v1`, kind: 'Item', metadata }
    await must(cluster, path(metadata.namespace ?? ''), { method: 'POST', body })
  }

  beforeAll(async () => {
    cluster = await startSimulatedCluster()
    await makeNamespaces(
      cluster,
      namespaces.filter((name) => name.startsWith('team')),
    )
    await define(cluster, definitionOf('Item', group, [versionOf('v1', properties)]))
    const made = Array.from({ length: 600 }, () => random.pod())
    await inParallel(new Map(made.map((pod) => [keyOf(pod), pod])).values(), make)
    pods = await listAll(cluster, `/apis/${group}/v1/items`)
    folder = await mkdtemp(join(tmpdir(), 'informerql-lists-'))
    const file = join(folder, 'items.graphql')
    await writeFile(file, `extend type QueryExampleItem ${declared.join(' ')}`)
    gateway = await serveGateway({
      clusters: [{ name: 'one', ...cluster.selection }],
      schemaFiles: [file],
      limits: { work: { tests: 1e9, examined: 1e9 } },
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const randomArguments = (): Arguments => ({
    namespace: random.chance(0.2) ? random.namespace() : null,
    namespaces: random.chance(0.2) ? [random.namespace(), random.namespace()] : null,
    labelSelector: random.chance(0.3) ? random.labelSelector() : null,
    where: random.chance(0.7) ? random.where() : null,
    orderBy: [
      ...new Set(Array.from({ length: random.below(4) }, () => random.pick(podIndexes).name)),
    ].map((name) => ({ [name]: random.chance(0.5) ? 'ASC' : 'DESC' })),
  })

  const ask = async (variables: Variables): Promise<Fields> => {
    const data = await gateway.data(
      `query (
        $namespace: String, $namespaces: [String!], $labelSelector: String, $where: QueryExampleItemWhere,
        $orderBy: [QueryExampleItemOrder!], $first: Int, $after: String, $last: Int, $before: String, $offset: Int
      ) {
        queryExampleItems(
          namespace: $namespace, namespaces: $namespaces, labelSelector: $labelSelector, where: $where,
          orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before, offset: $offset
        ) {
          totalCount
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
          facets(by: ["phase", "image"], sum: ["memory"]) { values { value count sums { of number count } } distinctCount missingCount }
          sum(of: ["memory"]) { of number count }
          nodes { metadata { namespace name } }
        }
      }`,
      variables,
    )
    return data.queryExampleItems
  }

  it('have what a scan of the raw objects chooses, in its order, page by page both ways', async () => {
    for (let round = 0; round < 150; round += 1) {
      const args = randomArguments()
      const expected = expectedOf(pods, args)
      const size = random.pick([1, 3, 50, 400])
      const isBackwards = random.chance(0.5)
      const about = JSON.stringify({ args, size, isBackwards })
      const wanted = isBackwards ? expected.toReversed() : expected
      const seen: string[] = []
      let cursor: string | undefined
      for (let pages = 0; pages < 8; pages += 1) {
        const bounds = isBackwards ? { last: size, before: cursor } : { first: size, after: cursor }
        const { totalCount, pageInfo, nodes } = await ask({ ...args, ...bounds })
        expect(totalCount, about).toBe(expected.length)
        seen.push(...(isBackwards ? nodes.toReversed() : nodes).map(keyOf))
        const more = isBackwards ? pageInfo.hasPreviousPage : pageInfo.hasNextPage
        expect(more, about).toBe(seen.length < expected.length)
        if (more !== true) break
        cursor = isBackwards ? pageInfo.startCursor : pageInfo.endCursor
      }
      expect(seen, about).toEqual(wanted.slice(0, seen.length))
    }
  })

  it('jump to any place by an offset, and go on both ways from there', async () => {
    for (let round = 0; round < 60; round += 1) {
      const args = randomArguments()
      const expected = expectedOf(pods, args)
      const first = random.pick([0, 1, 7, 60])
      const offset = random.below(expected.length + 3)
      const about = JSON.stringify({ args, first, offset })
      const { totalCount, pageInfo, nodes } = await ask({ ...args, first, offset })
      expect(totalCount, about).toBe(expected.length)
      expect(nodes.map(keyOf), about).toEqual(expected.slice(offset, offset + first))
      expect(pageInfo, about).toMatchObject({
        hasNextPage: offset + first < expected.length,
        hasPreviousPage: offset > 0 && expected.length > 0,
      })
      if (nodes.length === 0) continue
      const next = await ask({ ...args, first: 5, after: pageInfo.endCursor })
      expect(next.nodes.map(keyOf), about).toEqual(
        expected.slice(offset + first, offset + first + 5),
      )
      const previous = await ask({ ...args, last: 5, before: pageInfo.startCursor })
      expect(previous.nodes.map(keyOf), about).toEqual(
        expected.slice(Math.max(0, offset - 5), offset),
      )
    }
  })

  const sumOf = (some: readonly Unstructured[]): Fields => {
    const values = some.flatMap((pod) => valuesOf('memory', pod))
    const number = values.reduce<number>((sum, value) => sum + Number(value), 0)
    return [{ of: 'memory', number, count: values.length }]
  }

  it('count in facets what every object of the list has, and add up its numbers', async () => {
    for (let round = 0; round < 50; round += 1) {
      const args = { where: random.where() }
      const keys = new Set(expectedOf(pods, args))
      const chosen = pods.filter((pod) => keys.has(keyOf(pod)))
      const facets = ['phase', 'image'].map((name) => {
        const having = new Map<string, Unstructured[]>()
        let missingCount = 0
        for (const pod of chosen) {
          const values = new Set(valuesOf(name, pod).map(String))
          if (values.size === 0) missingCount += 1
          for (const value of values) having.set(value, [...(having.get(value) ?? []), pod])
        }
        const values = Array.from(having, ([value, some]) => {
          return { value, count: some.length, sums: sumOf(some) }
        }).toSorted((a, b) => b.count - a.count || compare(a.value, b.value))
        return { values, distinctCount: having.size, missingCount }
      })
      const answer = await ask({ ...args, first: 0 })
      expect(answer.facets, JSON.stringify(args)).toEqual(facets)
      expect(answer.sum, JSON.stringify(args)).toEqual(sumOf(chosen))
    }
  })

  it('have what stands between two cursors, which are good however the same arguments are written', async () => {
    const args = { namespaces: ['default', 'team'], orderBy: [{ memory: 'DESC' }] }
    const { pageInfo } = await ask({ ...args, first: 10 })
    const expected = expectedOf(pods, { ...args, orderBy: [{ memory: 'DESC' }] })
    const same = { ...args, namespaces: args.namespaces.toReversed(), where: null }
    const { pageInfo: next } = await ask({ ...same, first: 20, after: pageInfo.endCursor })
    const between = await ask({ ...args, after: pageInfo.endCursor, before: next.endCursor })
    expect(between.nodes.map(keyOf)).toEqual(expected.slice(10, 29))
    expect(between.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const last = await ask({ ...args, last: 5, before: next.endCursor })
    expect(last.nodes.map(keyOf)).toEqual(expected.slice(24, 29))
  })

  it('walked to the end have each object that stays once, while others come and go', async () => {
    const args = { orderBy: [{ phase: 'ASC' }, { restarts: 'DESC' }] }
    const stayed = new Set(pods.map(keyOf))
    const left = pods.map(keyOf)
    const seen: string[] = []
    for (let after: string | undefined, more = true; more;) {
      const { pageInfo, nodes } = await ask({ ...args, first: 50, after })
      seen.push(...nodes.map(keyOf))
      more = pageInfo.hasNextPage
      after = pageInfo.endCursor
      for (let change = 0; change < 5; change += 1) {
        const [key = ''] = left.splice(random.below(left.length), 1)
        const [namespace = '', name = ''] = key.split('/')
        await must(cluster, `${path(namespace)}/${name}`, { method: 'DELETE' })
        stayed.delete(key)
        await make(random.pod(`late-${seen.length}-${change}`))
      }
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect([...stayed].filter((key) => !seen.includes(key))).toEqual([])
  })
})
