import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gets, reads, type SmallWorld, startSmallWorld } from '../access/small-world.ts'
import type { GraphQLAnswer, Variables } from '../support/gateway.ts'
import { caller, type Caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'

const clerk = caller('clerk')
/** Reads pods in `one`, and a node by its name, in the first cluster only. */
const alice = caller('alice')

const representation = (typeName: string, clusterName: string, ...names: readonly string[]) => {
  const [name, namespace] = names.toReversed()
  return { __typename: typeName, clusterName, name, ...(namespace && { namespace }) }
}
const podOf = (namespace: string, clusterName = 'test') =>
  representation('Pod', clusterName, namespace, 'shop-1-x')

const entities = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Pod { id name namespace status { phase } node { name } }
    ... on Deployment { id name clusterName }
    ... on Node { name pods { totalCount } }
    ... on KubernetesObject { kind }
  }
}`

let world: SmallWorld
let other: SmallWorld
let served: ViewedGateway
let ids: Readonly<Record<string, string>>

beforeAll(async () => {
  world = await startSmallWorld()
  other = await startSmallWorld()
  await world.allow('one', 'alice', 'alice', [reads('', 'pods')])
  await world.allowEverywhere('alice-node', 'alice', [gets('nodes', 'worker')])
  await Promise.all(
    [world, other].map(async (one) =>
      one.allowEverywhere('clerk', 'clerk', [
        reads('', 'pods', 'nodes'),
        reads('apps', 'deployments'),
      ]),
    ),
  )
  served = await serveViewers({
    clusters: [world.selection, { ...other.selection, name: 'other' }],
    federation: true,
    limits: { work: { rows: 900 } },
  })
  const { data } = await served.query(
    clerk,
    '{ pod(namespace: "one", name: "shop-1-x") { id } node(name: "worker") { id } other: pod(cluster: "other", namespace: "two", name: "shop-1-x") { id } }',
  )
  ids = { pod: data.pod.id, node: data.node.id, other: data.other.id }
})
afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await Promise.all([world, other].map(async (one) => one[Symbol.asyncDispose]()))
})

const ask = async (
  who: Caller,
  representations: readonly unknown[],
  query = entities,
): Promise<GraphQLAnswer> => {
  const variables: Variables = { representations }
  return await served.query(who, query, variables)
}

describe('_entities', () => {
  it('answers objects by id and by key, of several kinds and clusters, in the order of their representations', async () => {
    const { data, errors } = await ask(clerk, [
      podOf('one'),
      { __typename: 'Pod', id: ids['other'] },
      representation('Deployment', 'other', 'two', 'shop'),
      representation('Node', 'test', 'worker'),
      { __typename: 'KubernetesObject', id: ids['node'] },
      podOf('one'),
    ])
    expect(errors).toBeUndefined()
    const pod = {
      __typename: 'Pod',
      kind: 'Pod',
      id: ids['pod'],
      name: 'shop-1-x',
      namespace: 'one',
      status: { phase: 'Pending' },
      node: { name: 'worker' },
    }
    const node = { __typename: 'Node', kind: 'Node', name: 'worker', pods: { totalCount: 2 } }
    expect(data._entities).toEqual([
      { ...pod, status: expect.anything() },
      { ...pod, id: ids['other'], namespace: 'two', status: expect.anything() },
      {
        __typename: 'Deployment',
        kind: 'Deployment',
        id: expect.any(String),
        name: 'shop',
        clusterName: 'other',
      },
      node,
      node,
      { ...pod, status: expect.anything() },
    ])
  })

  it('answers as much of a fragment on _Entity and of constant representations as of others', async () => {
    const { data, errors } = await ask(
      clerk,
      [],
      `{ _entities(representations: [{ __typename: "Pod", id: "${ids['pod']}" }]) { ...on _Entity { ...on Pod { name } } } }`,
    )
    expect(errors).toBeUndefined()
    expect(data._entities).toEqual([{ name: 'shop-1-x' }])
  })

  it('is null for an object that is not there, without an error', async () => {
    const gone = Buffer.from(
      ['1', 'test', '', 'Pod', '00000000-0000-4000-8000-000000000000'].join('\0'),
    ).toString('base64url')
    const { data, errors } = await ask(clerk, [
      representation('Pod', 'test', 'one', 'nobody'),
      { __typename: 'Pod', id: gone },
      podOf('one'),
    ])
    expect(errors).toBeUndefined()
    expect(data._entities).toEqual([null, null, expect.objectContaining({ name: 'shop-1-x' })])
  })

  it('is null and FORBIDDEN where the caller may not look, whether or not there is an object, and the others are answered', async () => {
    const { data, errors } = await ask(alice, [
      podOf('one'),
      podOf('two'),
      representation('Pod', 'test', 'two', 'nobody'),
      podOf('one', 'other'),
      representation('Deployment', 'test', 'one', 'shop'),
      { __typename: 'Pod', id: ids['pod'] },
      { __typename: 'Pod', id: ids['other'] },
    ])
    expect(data._entities.map((one: object | null) => one !== null)).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
      false,
    ])
    const refused = (errors ?? []).map(({ path, extensions: { code } }) => [path?.join('.'), code])
    expect(refused).toEqual([1, 2, 3, 4].map((at) => [`_entities.${at}`, 'FORBIDDEN']))
  })

  it.each([
    ['no object', 'Pod', /is not an object/],
    ['an unknown type', { __typename: 'Pood', id: 'x' }, /names no type/],
    ['no type', { id: 'x' }, /names no type/],
    ['no key', { __typename: 'Pod', name: 'x' }, /no key/],
    [
      'an interface by name',
      { __typename: 'KubernetesObject', clusterName: 'test', name: 'x' },
      /no key/,
    ],
    ['a key without its namespace', representation('Pod', 'test', 'x'), /lacks the namespace/],
    ['an unknown cluster', representation('Node', 'nowhere', 'x'), /nowhere/],
    ['a wrong id', { __typename: 'Pod', id: 'x' }, /"x" is not the id/],
    ['an id that is no string', { __typename: 'Pod', id: 7 }, /not a string/],
  ])('is null and BAD_USER_INPUT for a representation with %s', async (_what, one, says) => {
    const { data, errors } = await ask(clerk, [one, podOf('one')])
    expect(data._entities).toEqual([null, expect.objectContaining({ name: 'shop-1-x' })])
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(says),
        path: ['_entities', 0],
        extensions: expect.objectContaining({ code: 'BAD_USER_INPUT', hint: expect.any(String) }),
      }),
    ])
  })

  it('is null and BAD_USER_INPUT for the id of another kind', async () => {
    const { errors } = await ask(clerk, [{ __typename: 'Deployment', id: ids['pod'] }])
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', value: ids['pod'] } }])
  })

  it('has a price, as look-ups have', async () => {
    const many = Array.from({ length: 1_250 }, (_, at) => representation('Node', 'test', `n${at}`))
    const { data, errors } = await served.query(clerk, entities, { representations: many })
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
    const nested = await ask(
      clerk,
      Array.from({ length: 400 }, () => representation('Node', 'test', 'worker')),
      'query ($representations: [_Any!]!) { _entities(representations: $representations) { ...on Node { pods(first: 500) { nodes { name } } } } }',
    )
    expect(nested.errors).toMatchObject([
      { message: expect.stringContaining('_entities'), extensions: { code: 'QUERY_TOO_COSTLY' } },
    ])
  })

  it('pays for what is wrong, however much there is', async () => {
    const { data, errors } = await served.query(clerk, entities, {
      representations: Array.from({ length: 20_000 }, () => 1),
    })
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
  })

  it('is a plan', async () => {
    const { extensions } = await served.explained(clerk, entities, {
      representations: [podOf('one')],
    })
    expect(JSON.stringify(extensions.explain)).toContain('_entities')
  })
})
