import { expect, it } from 'vitest'
import { freshForEachTest } from '../support/served-simulator.ts'
import { firstAnswer } from '../support/gateway.ts'

const podsOf = { group: '', version: 'v1', resource: 'pods' } as const

const fresh = freshForEachTest()

/** Objects that no API server of today would take: an earlier version of their definition allowed them. */
const createPods = (): void => {
  const kind = { apiVersion: 'v1', kind: 'Pod' }
  const metadata = { namespace: 'default', labels: { app: 'web' } }
  fresh.cluster.storage.create(podsOf, {
    ...kind,
    metadata: { ...metadata, name: 'good' },
    spec: { priority: 1, containers: [{ name: 'main', image: 'nginx:1' }] },
  })
  fresh.cluster.storage.create(podsOf, {
    ...kind,
    metadata: { ...metadata, name: 'wrong' },
    spec: {
      priority: 'high',
      nodeName: ['a', 'b'],
      containers: [{ name: 'main', image: { tag: 1 } }, 'none', { name: 7, image: 'nginx:2' }],
      volumes: 'all',
    },
  })
}

const selection = `
  name
  metadata { labels app: label(key: "app") }
  spec { priority nodeName containers { name image } volumes { name } }
`
const wrong = {
  name: 'wrong',
  metadata: { labels: { app: 'web' }, app: 'web' },
  spec: {
    priority: null,
    nodeName: null,
    containers: [
      { name: 'main', image: null },
      { name: null, image: null },
      { name: '7', image: 'nginx:2' },
    ],
    volumes: null,
  },
}
const messages = [
  ['priority', 'Int cannot represent non-integer value: "high"'],
  ['nodeName', 'String cannot represent value: ["a", "b"]'],
  ['containers.0.image', 'String cannot represent value: { tag: 1 }'],
  ['containers.1.name', 'Container.name is required, and this object has none.'],
  ['volumes', expect.any(String)],
]

it('a value that the schema forbids fails alone, and the other fields and objects have theirs', async () => {
  createPods()
  const query = `{ pods(orderBy: [{ name: ASC }]) { nodes { ${selection} } } __typename }`
  const answer = await fresh.gateway.query(query)
  expect(answer.data.pods.nodes[0].spec.priority).toBe(1)
  expect(answer.data.pods.nodes[1]).toEqual(wrong)
  expect(answer.data.__typename).toBe('Query')
  const prefix = 'pods.nodes.1.spec.'
  expect(answer.errors?.map(({ path, message }) => [path?.join('.'), message])).toEqual(
    messages.map(([path, message]) => [prefix + String(path), message]),
  )
  const again = await fresh.gateway.query(query)
  expect(again.data).toEqual(answer.data)
  expect(again.errors).toHaveLength(messages.length)
})

it('nor does it end a subscription to the object', async () => {
  createPods()
  const client = fresh.gateway.connect()
  const { data, errors } = await firstAnswer(
    client,
    `subscription { pod(namespace: "default", name: "wrong") { changes { object { ${selection} } } } }`,
  )
  expect(data.pod.changes[0].object).toEqual(wrong)
  expect(errors).toHaveLength(messages.length)
})

it('a path that cannot be read fails alone, whether it is written in the document or a variable', async () => {
  createPods()
  const query = `query ($path: String!) {
    pod(namespace: "default", name: "good") { name a: json(path: "spec[") b: json(path: $path) c: json(path: "spec.priority") }
  }`
  const { data, errors } = await fresh.gateway.query(query, { path: 'spec..' })
  expect(data.pod).toEqual({ name: 'good', a: null, b: null, c: 1 })
  expect(errors?.map(({ path, extensions }) => [path?.join('.'), extensions.code])).toEqual([
    ['pod.a', 'BAD_USER_INPUT'],
    ['pod.b', 'BAD_USER_INPUT'],
  ])
})

it('fields of introspection and of objects in one document are answered at once', async () => {
  createPods()
  const { data, errors } = await fresh.gateway.query(
    '{ __type(name: "Pod") { name } pods { totalCount } __schema { queryType { name } } }',
  )
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    __type: { name: 'Pod' },
    pods: { totalCount: 2 },
    __schema: { queryType: { name: 'Query' } },
  })
})
