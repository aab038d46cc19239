import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccessCluster, describeAccess } from '../access/access-cluster.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import {
  firstAnswer,
  type GatewayCaller,
  type GraphQLAnswer,
  type ServedGateway,
} from '../support/gateway.ts'
import { guardPod, core, idOf, namespace, populateShop, Reports, serveShop } from './shop.ts'

const errors = 'errors { code field message argument reason manager hint retryAfterMs }'
const at = (name: string): string => `(namespace: "${namespace}", name: "${name}")`
const deployment = (name: string, spec: object): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec,
})

describeAccess('failures of writes as data', (cluster: () => AccessCluster, isReal) => {
  const reports = new Reports()
  let gateway: ServedGateway
  let ann: GatewayCaller
  let ben: GatewayCaller
  let id: string

  beforeAll(async () => {
    await populateShop(cluster())
    gateway = await serveShop(cluster(), { audit: reports })
    ann = gateway.as('ann-token')
    ben = gateway.as('ben-token')
    id = await idOf(ann, `deployment${at('web')}`)
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const told = async (
    caller: GatewayCaller,
    mutation: string,
    variables: Fields = {},
  ): Promise<GraphQLAnswer> => {
    const names = Object.keys(variables).map((name) => `$${name}: JSON!`)
    const declared = names.length === 0 ? '' : `(${names.join(', ')})`
    const selection = `{ object { id } preview { name } changes { path } dryRun behind ${errors} }`
    return await caller.query(`mutation ${declared} { it: ${mutation} ${selection} }`, variables)
  }

  it('a write that fails has a payload with its errors, beside the error of the answer', async () => {
    const answer = await told(ann, `scale(id: "${id}", replicas: -1, dryRun: true)`)
    const [error] = answer.errors ?? []
    expect(answer.errors).toHaveLength(1)
    expect(error).toMatchObject({ path: ['it'], extensions: { code: 'BAD_USER_INPUT' } })
    expect(answer.data.it).toEqual({
      object: null,
      preview: null,
      changes: [],
      dryRun: true,
      behind: false,
      errors: [
        {
          code: 'BAD_USER_INPUT',
          field: null,
          message: error?.message,
          argument: 'replicas',
          reason: null,
          manager: null,
          hint: 'give 0 or more',
          retryAfterMs: null,
        },
      ],
    })
  })

  it('a write that is made has no errors', async () => {
    const { data, errors: none } = await told(ann, `scale(id: "${id}", replicas: 2)`)
    expect(none).toBeUndefined()
    expect(data.it).toMatchObject({ object: { id }, errors: [] })
  })

  it('who does not select them gets null, also through fragments and conditions', async () => {
    const scale = (selection: string): string =>
      `mutation ($no: Boolean = false, $yes: Boolean = true) { it: scale(id: "${id}", replicas: -1) { dryRun ${selection} behind @include(if: $no) behind @skip(if: $yes) } }`
    const dataOf = async (selection: string): Promise<unknown> =>
      (await ann.query(scale(selection))).data.it
    expect(await dataOf('')).toBeNull()
    expect(await dataOf('errors @include(if: $no) { code }')).toBeNull()
    expect(await dataOf('errors @skip(if: $yes) { code }')).toBeNull()
    const failed = { dryRun: false, why: [{ code: 'BAD_USER_INPUT' }] }
    expect(await dataOf('why: errors @include(if: $yes) { code }')).toEqual(failed)
    expect(await dataOf('... on WritePayload { why: errors { code } }')).toEqual(failed)
    expect(await dataOf('errors: dryRun')).toBeNull()
  })

  it('each field that is invalid has an error of its own', async () => {
    const labels = { app: 'odd' }
    const container = { name: 'Not A Name', image: '' }
    const template = { metadata: { labels }, spec: { containers: [container] } }
    const spec = { replicas: -2, selector: { matchLabels: labels }, template }
    const manifest = deployment('odd', spec)
    const create = `create(manifest: $manifest, namespace: "${namespace}")`
    const { data } = await told(ann, create, { manifest })
    if (!isReal) return
    expect(data.it.errors.length).toBeGreaterThan(1)
    expect(data.it.errors).toContainEqual(
      expect.objectContaining({
        code: 'INVALID',
        field: 'spec.replicas',
        reason: 'FieldValueInvalid',
        message: expect.stringContaining('-2'),
      }),
    )
  })

  it('each field of another manager has one, with the manager', async () => {
    const labels = { app: 'shared' }
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'web:1' }] },
    }
    const manifest = (replicas: number): object =>
      deployment('shared', { replicas, selector: { matchLabels: labels }, template })
    const apply = (manager: string): string =>
      `apply(manifest: $manifest, namespace: "${namespace}", fieldManager: "${manager}")`
    await told(ann, apply('first'), { manifest: manifest(1) })
    const { data, errors: beside } = await told(ann, apply('second'), { manifest: manifest(3) })
    expect(beside).toMatchObject([{ path: ['it', 0], extensions: { code: 'CONFLICT' } }])
    expect(data.it).toMatchObject([
      { errors: [{ code: 'CONFLICT', field: 'spec.replicas', manager: 'first' }] },
    ])
  })

  it('the documents of an apply fail one by one', async () => {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fine' } }
    const manifest = [
      configMap,
      { ...configMap, kind: 'Nothing' },
      { ...configMap, metadata: { generateName: 'a-' } },
    ]
    const apply = `apply(manifest: $manifest, namespace: "${namespace}")`
    const { data, errors: beside } = await told(ann, apply, { manifest })
    expect(beside?.map(({ path }) => path)).toEqual([
      ['it', 1],
      ['it', 2],
    ])
    expect(data.it).toMatchObject([
      { object: { id: expect.any(String) }, errors: [] },
      { object: null, errors: [{ code: 'BAD_USER_INPUT' }] },
      { object: null, errors: [{ code: 'BAD_USER_INPUT', argument: 'manifest' }] },
    ])
    const nothing = await told(ann, apply, { manifest: 'a: [' })
    expect(nothing.errors).toHaveLength(1)
    expect(nothing.data.it).toMatchObject([
      { object: null, errors: [{ code: 'BAD_USER_INPUT', argument: 'manifest' }] },
    ])
  })

  it('a refusal, a precondition, a budget and an unknown object say what to do', async () => {
    const forbidden = await told(ben, `restart(id: "${id}")`)
    expect(forbidden.data.it.errors).toMatchObject([
      { code: 'FORBIDDEN', hint: expect.stringContaining('patch') },
    ])
    const stale = await told(ann, `restart(id: "${id}", resourceVersion: "1")`)
    expect(stale.data.it.errors).toMatchObject([
      { code: 'PRECONDITION_FAILED', field: 'metadata.resourceVersion' },
    ])
    await cluster().must(`${core}/pods`, {
      method: 'POST',
      body: {
        metadata: { name: 'guarded', labels: { app: 'guarded' } },
        spec: { containers: [{ name: 'main', image: 'web:1' }] },
      },
    })
    await guardPod(cluster(), { pod: 'guarded', labels: { app: 'guarded' } })
    const pod = await idOf(ann, `pod${at('guarded')}`)
    const evicted = await told(ann, `evict(id: "${pod}")`)
    expect(evicted.data.it.errors).toMatchObject([
      { code: 'DISRUPTION_BUDGET', retryAfterMs: expect.any(Number) },
    ])
    const unknown = await told(ann, 'restart(id: "nothing")')
    expect(unknown.data.it.errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
  })

  it('the same by WebSocket, and of an unserved version a dry run has a preview', async () => {
    const text = `mutation { it: scale(id: "${id}", replicas: -1) { object { id } errors { code } } }`
    const { data, errors: beside } = await firstAnswer(ann.connect(), text)
    expect(beside).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect(data).toEqual({ it: { object: null, errors: [{ code: 'BAD_USER_INPUT' }] } })
    const manifest = {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'older' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    }
    const create = `create(manifest: $manifest, namespace: "${namespace}", dryRun: true)`
    const older = await told(ann, create, { manifest })
    expect(older.errors).toBeUndefined()
    expect(older.data.it).toMatchObject({ object: null, preview: { name: 'older' }, errors: [] })
  })

  it('is audited and counted as a write that failed', async () => {
    reports.writes.length = 0
    reports.operations.length = 0
    await told(ben, `restart(id: "${id}")`)
    expect(reports.writes).toMatchObject([{ mutation: 'restart', code: 'FORBIDDEN' }])
    expect(reports.operations).toMatchObject([{ operation: 'mutation', codes: ['FORBIDDEN'] }])
  })
})
