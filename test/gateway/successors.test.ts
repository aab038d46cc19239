import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import type { Fields } from './test-cluster.ts'

const pods = '/api/v1/namespaces/default/pods'
const podNamed = (name: string): Fields => ({
  metadata: { name },
  spec: { nodeName: 'node', containers: [{ name: 'main', image: 'nginx:1' }] },
})

describe('the id of a deleted object finds no namesake, and every field that takes it names the successor', () => {
  let cluster: Simulator
  let gateway: ServedGateway
  const ids: Record<'former' | 'successor' | 'other', string> = {
    former: '',
    successor: '',
    other: '',
  }
  const podIs = async (name: string): Promise<string> => {
    const { pod } = await gateway.data(`{ pod(namespace: "default", name: "${name}") { id } }`)
    return pod?.id ?? ''
  }
  beforeAll(async () => {
    cluster = await startSimulator()
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      federation: true,
      allowWrites: true,
    })
    await created(cluster, pods, podNamed('other'))
    await created(cluster, pods, podNamed('again'))
    ids.former = await podIs('again')
    ids.other = await podIs('other')
    await sent(cluster, 'DELETE', `${pods}/again?gracePeriodSeconds=0`)
    await created(cluster, pods, podNamed('again'))
    await vi.waitUntil(
      async () => {
        ids.successor = await podIs('again')
        return !['', ids.former].includes(ids.successor)
      },
      { timeout: 60_000 },
    )
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  const other = { name: 'other' }
  const frame = 'changes { object { name } }'
  it.each([
    ['object(id: $id) { name }', 'id', null],
    ['objects(ids: [$other, $id]) { name }', 'ids[1]', [other, null]],
    [
      '_entities(representations: [{ __typename: "Pod", id: $other }, { __typename: "Pod", id: $id }]) { ... on Pod { name } }',
      'representations',
      [other, null],
    ],
    ['graph(roots: [$other, $id], depth: 0) { nodes { name } }', 'roots[1]', { nodes: [other] }],
    ['podLogs(ids: [$id]) { streams { pod } }', 'ids[0]', null],
    ['podLogs(ids: [$other, $id]) { streams { pod } }', 'ids[1]', { streams: [{ pod: 'other' }] }],
    ['label(id: $id, labels: { a: "b" }) { object { name } }', 'id', null, 'mutation'],
    [`object(id: $id) { ${frame} }`, 'id', { changes: [] }, 'subscription'],
    [
      `objects(ids: [$other, $id]) { ${frame} }`,
      'ids[1]',
      { changes: [{ object: other }] },
      'subscription',
    ],
    ['podLogs(ids: [$id]) { streams { pod } }', 'ids[0]', undefined, 'subscription'],
    [
      'podLogs(ids: [$other, $id]) { streams { pod } }',
      'ids[1]',
      { streams: [{ pod: 'other' }] },
      'subscription',
    ],
  ])('%s', async (field, argument, found, operation = 'query') => {
    const needs = field.includes('$other') ? '($id: ID!, $other: ID!)' : '($id: ID!)'
    const query = `${operation} ${needs} { found: ${field} }`
    const asked = { query, variables: { id: ids.former, other: ids.other } }
    const answer =
      operation === 'subscription'
        ? await firstOf(asked)
        : await gateway.query(query, asked.variables)
    expect(answer.errors).toHaveLength(1)
    expect(answer.errors?.[0]?.extensions).toMatchObject({
      code: 'NOT_FOUND',
      argument,
      successor: ids.successor,
    })
    expect(answer.data?.['found']).toEqual(found)
  })

  const firstOf = async (asked: {
    query: string
    variables: Record<string, unknown>
  }): Promise<Fields> => {
    const frames = gateway.connect().iterate<Fields>(asked)
    try {
      return (await frames.next()).value ?? {}
    } catch (errors) {
      return { errors }
    } finally {
      await frames.return?.()
    }
  }
})
