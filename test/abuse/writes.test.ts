import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccessCluster, populate, startSimulated } from '../access/access-cluster.ts'
import type { GatewayCaller, ServedGateway } from '../support/gateway.ts'
import { core, idOf, namespace, populateShop, Reports, serveShop, written } from '../writes/shop.ts'

const mebibyte = 1 << 20
const large = 'x'.repeat(mebibyte - 1_000)
const configMap = (name: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const times = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ')

describe('somebody who writes without an end', () => {
  let cluster: AccessCluster & AsyncDisposable
  let gateway: ServedGateway
  const reports = new Reports()
  beforeAll(async () => {
    cluster = await startSimulated()
    await populate(cluster)
    await populateShop(cluster)
    for (const name of ['large', 'small']) {
      await cluster.must(`${core}/configmaps`, {
        method: 'POST',
        body: configMap(name, { a: name === 'large' ? large : 'b' }),
      })
    }
    const writes = { maxHeldBytesPerUser: 10 * mebibyte, writesPerMinute: 100_000 }
    gateway = await serveShop(cluster, { writes, audit: reports })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })
  const idOfMap = async (caller: GatewayCaller, name: string): Promise<string> =>
    idOf(caller, `configMap(namespace: "${namespace}", name: "${name}")`)

  it('by dry runs of a large object is refused once the answers hold too much; others write, and it may again', async () => {
    const ann = gateway.as('ann-token')
    const id = await idOfMap(ann, 'large')
    const small = await idOfMap(gateway.as('root-token'), 'small')
    const flood = `mutation { ${times(30, (at) => `d${at}: delete(id: "${id}", dryRun: true) { dryRun changes { before } object { name } }`)} }`
    const answers = Promise.all([1, 2].map(async () => ann.query(flood)))
    const [labelled] = await Promise.all([
      written(gateway.as('root-token'), `label(id: "${small}", labels: { by: "another" })`),
      answers,
    ])
    expect(labelled.object.json.metadata.labels).toEqual({ by: 'another' })
    for (const { errors } of await answers) {
      expect(errors?.length).toBeGreaterThan(20)
      expect(errors?.at(-1)).toMatchObject({
        message: `the writes of this user would hold more than ${10 * mebibyte} bytes`,
        extensions: {
          code: 'QUERY_TOO_COSTLY',
          value: 10 * mebibyte,
          hint: 'write fewer or smaller objects in one operation, or try again later',
        },
      })
    }
    const again = await written(ann, `label(id: "${id}", labels: { written: "later" })`)
    expect(again.changes).toMatchObject([{ path: '/metadata/labels/written', after: 'later' }])
  }, 120_000)

  it('by previews of a large object is refused as well, and so is the reading of one again and again', async () => {
    const ann = gateway.as('ann-token')
    const id = await idOfMap(ann, 'large')
    const flood = `mutation { ${times(30, (at) => `d${at}: label(id: "${id}", labels: { at: "${at}" }, dryRun: true) { preview { name } errors { code } }`)} }`
    const { data, errors } = await ann.query(flood)
    expect(errors?.length).toBeGreaterThan(10)
    expect(data.d29).toEqual({ preview: null, errors: [{ code: 'QUERY_TOO_COSTLY' }] })
    const again = `mutation { label(id: "${id}", labels: { a: "b" }, dryRun: true) { preview { ${times(100, (at) => `j${at}: json`)} } } }`
    const answer = await ann.query(again)
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }])
  }, 120_000)

  it('by YAML of nothing but tags is refused before it is parsed, and a patch before that by the right to it', async () => {
    const tags = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: [${'!a b,'.repeat(12_000)}]\n`
    const ben = gateway.as('ben-token')
    const text = 'mutation ($it: JSON!) { apply(manifest: $it, namespace: "shop") { behind } }'
    const { errors } = await ben.query(text, { it: tags })
    expect(errors).toMatchObject([
      { message: 'manifest: its YAML has more than 100 tags and directives' },
    ])
    const id = await idOfMap(ben, 'small')
    const patch = `mutation ($it: JSON!) { patch(id: "${id}", type: MERGE, patch: $it) { behind } }`
    expect((await ben.query(patch, { it: tags })).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', verb: 'patch' } },
    ])
  })

  it('by YAML that is long to parse takes turns with a neighbour, who is answered in between', async () => {
    const keys = times(2_700, (at) => `k${at}: "1",`)
    const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: long}\ndata: {${keys}}\n`
    const ben = gateway.as('ben-token')
    const neighbour = gateway.as('root-token')
    const question = '{ pods(first: 1) { nodes { name } } }'
    await neighbour.data(question)
    const over = new AbortController()
    const attack = Promise.all(
      Array.from({ length: 30 }, async () => {
        const text = 'mutation ($it: JSON!) { apply(manifest: $it, namespace: "shop") { behind } }'
        const { errors } = await ben.query(text, { it: manifest })
        expect(errors).toMatchObject([{ path: ['apply', 0], extensions: { code: 'FORBIDDEN' } }])
      }),
    ).finally(() => over.abort())
    let answered = 0
    while (!over.signal.aborted) {
      await neighbour.data(question)
      answered += 1
    }
    await attack
    // Parsed at once, the thirty manifests would let three in between.
    expect(answered).toBeGreaterThan(15)
  }, 120_000)

  it('is audited with the name that the API server made', async () => {
    reports.writes.length = 0
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } }
    const create = `create(manifest: $manifest, namespace: "${namespace}")`
    const { object } = await written(gateway.as('ann-token'), create, { manifest: made })
    expect(object.name).toMatch(/^made-./)
    expect(reports.writes).toMatchObject([{ mutation: 'create', namespace, name: object.name }])
  })
})
