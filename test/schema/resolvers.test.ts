import { type ExecutionResult, graphqlSync, parse, subscribe } from 'graphql'
import type { Unstructured } from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { createSchema } from '../../src/graphql/schema/create-schema.ts'
import { encodeObjectId } from '../../src/graphql/model/object-id.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import { capturedOpenApi, capturedResources } from './captured-cluster.ts'
import { type Asked, fixedReader } from './fixed-reader.ts'

const model = buildSchemaModel({
  resources: capturedResources,
  openapi: capturedOpenApi,
  sdl: await readPackageSdl(),
})
const schema = createSchema(model)

const pod: Unstructured = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    uid: 'pod-uid',
    labels: { app: 'web' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-uid', controller: true },
    ],
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'web', image: 'web:1' }] },
  status: { phase: 'Running' },
}
const replicaSet: Unstructured = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'shop', uid: 'rs-uid' },
}
const node: Unstructured = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', uid: 'n' },
}

const ask = (
  source: string,
  variableValues: Record<string, unknown> = {},
): [ExecutionResult, readonly Asked[]] => {
  const { context, asked } = fixedReader(model, [pod, replicaSet, node])
  return [graphqlSync({ schema, source, variableValues, contextValue: context }), asked]
}

const podId = encodeObjectId({
  cluster: 'test',
  group: '',
  kind: 'Pod',
  object: { uid: 'pod-uid' },
})
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('queries', () => {
  it('answer lists, edges, counts and nested fields', () => {
    const [{ data, errors }, asked] = ask(`{
      pods(namespace: "shop", where: { phase: { eq: "Running" }, restarts: { gte: 1 } }, first: 5) {
        totalCount resourceVersion pageInfo { hasNextPage endCursor }
        edges { cursor node { id clusterName cluster { name state } apiVersion kind } }
        nodes { metadata { name label(key: "app") } spec { containers { image } } node { metadata { name } } }
      }
    }`)
    expect(errors).toBeUndefined()
    expect(plain(data)).toEqual({
      pods: {
        totalCount: 1,
        resourceVersion: '7',
        pageInfo: { hasNextPage: false, endCursor: null },
        edges: [
          {
            cursor: '0',
            node: {
              id: podId,
              clusterName: 'test',
              cluster: { name: 'test', state: 'CONNECTED' },
              apiVersion: 'v1',
              kind: 'Pod',
            },
          },
        ],
        nodes: [
          {
            metadata: { name: 'web-1', label: 'web' },
            spec: { containers: [{ image: 'web:1' }] },
            node: { metadata: { name: 'node-1' } },
          },
        ],
      },
    })
    expect(plain(asked[0])).toEqual([
      'list',
      'Pod',
      { namespace: 'shop', where: { phase: { eq: 'Running' }, restarts: { gte: 1 } }, first: 5 },
    ])
    expect(asked[1]?.slice(0, 2)).toEqual(['followOne', 'Pod.node'])
  })

  it('follow relations with their own arguments', () => {
    const [{ errors }, asked] = ask(`{
      nodes { nodes { pods(namespace: "shop", labelSelector: "app=web", first: 2) { totalCount } } }
      replicaSet(namespace: "shop", name: "web") { pods(where: { phase: { in: ["Running"] } }) { totalCount } events { totalCount } }
    }`)
    expect(errors).toBeUndefined()
    expect(plain(asked)).toEqual([
      ['list', 'Node', {}],
      ['follow', 'Node.pods', { namespace: 'shop', labelSelector: 'app=web', first: 2 }],
      ['lookup', 'ReplicaSet', { namespace: 'shop', name: 'web' }],
      ['follow', 'ReplicaSet.pods', { where: { phase: { in: ['Running'] } } }],
      ['follow', 'ReplicaSet.events', { orderBy: [{ lastSeen: 'ASC' }] }],
    ])
  })

  it('find objects of any kind by their id, and their owners', () => {
    const [{ data, errors }] = ask(
      `query ($id: ID!, $gone: ID!) {
        object(id: $id) {
          __typename kind metadata { name }
          owners { __typename ... on ReplicaSet { owned { totalCount nodes { id } } } }
          ... on Pod { status { phase } }
        }
        objects(ids: [$id, $gone]) { id json(path: "spec.containers[*].image") }
        gatewayClusters { name state version resources { kind } }
      }`,
      {
        id: podId,
        gone: encodeObjectId({ cluster: 'test', group: '', kind: 'Pod', object: { uid: 'x' } }),
      },
    )
    expect(errors).toBeUndefined()
    expect(plain(data)).toEqual({
      object: {
        __typename: 'Pod',
        kind: 'Pod',
        metadata: { name: 'web-1' },
        owners: [{ __typename: 'ReplicaSet', owned: { totalCount: 1, nodes: [{ id: podId }] } }],
        status: { phase: 'Running' },
      },
      objects: [{ id: podId, json: ['web:1'] }, null],
      gatewayClusters: [{ name: 'test', state: 'CONNECTED', version: 'v1.36.3', resources: [] }],
    })
  })

  it('fail for the one id that is none, and not for the others', () => {
    const [{ data, errors }] = ask('query ($ids: [ID!]!) { objects(ids: $ids) { id } }', {
      ids: [podId, 'nonsense'],
    })
    expect(plain(data)).toEqual({ objects: [{ id: podId }, null] })
    expect(errors).toHaveLength(1)
    expect(errors?.[0]).toMatchObject({ path: ['objects', 1] })
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT', value: 'nonsense' })
  })

  it('name the argument of a path that cannot be read', () => {
    const [{ data, errors }] = ask('{ pods { nodes { id json(path: "a..b") } } }')
    expect(plain(data)).toEqual({ pods: { nodes: [{ id: podId, json: null }] } })
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'path' })
  })

  it.each([
    ['{ pods(where: { nope: { eq: "x" } }) { totalCount } }', 'nope'],
    ['{ pods(where: { restarts: { startsWith: "x" } }) { totalCount } }', 'startsWith'],
    ['{ pods(orderBy: [{ name: ASC, phase: DESC }]) { totalCount } }', 'PodOrder'],
    ['{ pods(orderBy: [{ nope: ASC }]) { totalCount } }', 'nope'],
    ['{ pods(where: { restarts: { gt: "many" } }) { totalCount } }', 'many'],
    ['{ pods(where: { creationTimestamp: { lt: "soon" } }) { totalCount } }', 'soon'],
    ['{ pod(name: "x") { id } }', 'namespace'],
  ])('refuse %s', (source, named) => {
    const [{ errors }] = ask(source)
    expect(errors?.[0]?.message).toContain(named)
  })
})

describe('subscriptions', () => {
  it.each([
    [
      'subscribe',
      'pods(where: { phase: { eq: "Running" } }, resumeFrom: "t", coalesceMs: 100)',
      { where: { phase: { eq: 'Running' } }, resumeFrom: 't', coalesceMs: 100 },
    ],
    ['subscribeOne', 'pod(namespace: "shop", name: "web-1")', { namespace: 'shop', name: 'web-1' }],
  ])('%s send frames', async (method, field, args) => {
    const { context, asked } = fixedReader(model, [pod])
    const document = parse(`subscription { frame: ${field} {
      reset synced resumeToken resourceVersion
      changes { type removal objectId finalStateKnown object { id status { phase } } previous(path: "status.phase") }
    } }`)
    const stream = await subscribe({ schema, document, contextValue: context })
    if (!(Symbol.asyncIterator in stream)) throw new Error('no stream', { cause: stream })
    const results: unknown[] = []
    for await (const result of stream) results.push(plain(result))
    expect(plain(asked)).toEqual([[method, 'Pod', args]])
    const change = {
      type: 'ADDED',
      removal: null,
      objectId: podId,
      finalStateKnown: true,
      object: { id: podId, status: { phase: 'Running' } },
      previous: 'Running',
    }
    const frame = {
      reset: true,
      synced: true,
      resumeToken: 'token',
      resourceVersion: '7',
      changes: [change],
    }
    expect(results).toEqual([{ data: { frame } }])
  })
})
