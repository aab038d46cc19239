import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { firstAnswer } from '../support/gateway.ts'
import { needsPostgres, startPostgres } from '../support/postgres.ts'
import { core, type PastGateway, startPast, wait } from './past-gateway.ts'

describe('who asks too much of the past', () => {
  let past: PastGateway
  beforeAll(async () => {
    past = await startPast()
    const { make, seen } = past
    await make(`${core}/configmaps`, { metadata: { name: 'one' }, data: { a: '1' } })
    await seen()
  })
  afterAll(async () => past[Symbol.asyncDispose]())

  const refusal = async (query: string): Promise<Fields> => {
    const { errors } = await past.gateway.query(query)
    return (errors?.[0]?.extensions ?? {}) as Fields
  }

  it('is refused pages, walks and lists of fields beyond their bounds', async () => {
    expect(await refusal('{ changes(first: 1000000000) { nodes { id } } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'first',
    })
    expect(
      await refusal(
        '{ changes(around: "one/ConfigMap/default/one", depth: 100) { nodes { id } } }',
      ),
    ).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'depth' })
    expect(await refusal('{ changes { nodes { fields(first: 201) { path } } } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'first',
    })
    const ids = Array.from({ length: 501 }, (_, at) => `"one/ConfigMap/default/no-${at}"`)
    expect(await refusal(`{ changes(ids: [${ids.join()}]) { nodes { id } } }`)).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'ids',
    })
    expect(
      await refusal(
        '{ changes(since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z") { nodes { id } } }',
      ),
    ).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'until' })
  })

  it('is refused hundreds of questions in one operation, and has the same one asked once', async () => {
    const aliases = (count: number, of: (at: number) => string): string =>
      `{ configMap(namespace: "default", name: "one") { ${Array.from({ length: count }, (_, at) => `h${at}: history(${of(at)}) { nodes { type } }`).join(' ')} } }`
    expect(await refusal(aliases(300, (at) => `first: ${at + 1}`))).toMatchObject({
      code: 'QUERY_TOO_COSTLY',
    })
    const { errors, data } = await past.gateway.query(aliases(300, () => 'first: 1'))
    expect(errors).toBeUndefined()
    expect(data.configMap.h299).toEqual({ nodes: [{ type: 'ADDED' }] })
  })

  it.each(['changes', 'differences(from: "2026-01-01T00:00:00Z")'])(
    'is refused a cursor of %s that the gateway has not made',
    async (field) => {
      const list = `${field.replace(')', ', ').replace(/s$/, 's(')}first: 1`
      const { data } = await past.gateway.query(`{ ${list}) { pageInfo { endCursor } } }`)
      const [page] = Object.values(data as Record<string, Fields>)
      const endCursor: string = page?.pageInfo.endCursor
      const fields = JSON.parse(Buffer.from(endCursor, 'base64url').toString()) as unknown[]
      for (const place of [
        'one',
        '-1',
        '1e999',
        '1.5',
        '[]',
        '["one","","configmaps",{},"",false]',
      ]) {
        const forged = JSON.stringify([...fields.slice(0, -1), place])
        const after = Buffer.from(forged).toString('base64url')
        expect(
          await refusal(`{ ${list}, after: "${after}") { nodes { id } } }`),
          place,
        ).toMatchObject({
          code: 'BAD_USER_INPUT',
          argument: 'after',
        })
      }
    },
  )

  it('is refused conditions of more values than a change is compared with', async () => {
    const many = Array.from({ length: 501 }, (_, at) => `/value-${at}`)
    for (const field of ['path', 'name', 'manager', 'kind']) {
      const query = `query ($in: [String!]) { changes(where: { ${field}: { in: $in } }) { nodes { id } } }`
      const { errors } = await past.gateway.query(query, { in: many })
      expect(errors, field).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', argument: `where.${field}` } },
      ])
      const { changes } = await past.gateway.data(query, { in: many.slice(1) })
      expect(changes.nodes, field).toEqual([])
    }
  })

  it('does not keep others waiting', async () => {
    const { gateway } = past
    const heavy = Array.from({ length: 200 }, (_, at) =>
      gateway.query(
        `{ changes(first: 500, where: { path: { contains: "no such place ${at}" } }) { nodes { id } } }`,
      ),
    )
    const { pods } = await gateway.data('{ pods { totalCount } }')
    expect(pods.totalCount).toBeGreaterThanOrEqual(0)
    const codes = (await Promise.all(heavy)).flatMap(({ errors = [] }) =>
      errors.map(({ extensions }) => extensions.code),
    )
    expect(codes.filter((code) => code === 'INTERNAL')).toEqual([])
  })
})

it(
  'A text that Postgres cannot hold is found nowhere, and is no failure of the archive',
  { ...needsPostgres, timeout: 120_000 },
  async () => {
    await using postgres = await startPostgres()
    await using past = await startPast('memory', { archive: { url: await postgres.database() } })
    await past.make(`${core}/configmaps`, { metadata: { name: 'one' }, data: { a: '1' } })
    await past.seen()
    const nul = 'a\u0000b'
    for (const list of [
      'changes(where: { name: { eq: $text } })',
      'changes(where: { manager: { eq: $text } })',
      'changes(namespace: $text)',
      'changes(ids: [$id])',
    ]) {
      const [name, type] = list.includes('$id') ? ['id', 'ID!'] : ['text', 'String']
      const value = name === 'id' ? `one/ConfigMap/default/${nul}` : nul
      const answer = await past.gateway.query(
        `query ($${name}: ${type}) { ${list} { nodes { id } } }`,
        { [name]: value },
      )
      expect(answer, list).toEqual({ data: { changes: { nodes: [] } } })
    }
  },
)

it(
  'A resume token that the gateway has not made asks Postgres for nothing that it cannot read',
  { ...needsPostgres, timeout: 120_000 },
  async () => {
    await using postgres = await startPostgres()
    await using past = await startPast('memory', { archive: { url: await postgres.database() } })
    const query =
      'subscription ($resumeFrom: String) { changes(types: ["ConfigMap"], resumeFrom: $resumeFrom) { reset resumeToken incomplete { code } } }'
    const first = async (resumeFrom?: string): Promise<Fields> => {
      const { data } = await firstAnswer(past.gateway.connect(), query, { resumeFrom })
      return data.changes
    }
    const { resumeToken } = await first()
    const fields = JSON.parse(Buffer.from(resumeToken, 'base64url').toString()) as unknown[]
    for (const ms of [1e300, -1e300, 0.5]) {
      const forged = JSON.stringify([...fields.slice(0, -1), ms])
      const frame = await first(Buffer.from(forged).toString('base64url'))
      expect(frame, String(ms)).toMatchObject({ reset: true, incomplete: [] })
    }
  },
)

it('keeps the changes of a kind whose definition is gone', async () => {
  await using past = await startPast('memory', {
    archive: {
      url: 'memory:',
      kinds: ['configMaps', 'pods', 'deployments', 'replicaSets', 'exampleComWidgets'],
    },
  })
  const { make, remove, gateway, seen } = past
  await make(
    definitionsPath,
    definitionOf('Widget', 'example.com', [versionOf('v1', { size: { type: 'integer' } })]),
  )
  const path = '/apis/example.com/v1/namespaces/default/widgets'
  const changes = async (): Promise<Fields> => {
    const { data } = await gateway.query(
      '{ changes(types: ["Widget"]) { nodes { type object { kind name object { id } } } incomplete { code to } } }',
    )
    return data?.changes ?? {}
  }
  await vi.waitFor(async () => {
    const { data } = await gateway.query(
      '{ changes(types: ["ExampleComWidget"]) { incomplete { code to } } }',
    )
    if (data?.changes?.incomplete[0]?.to === undefined) throw new Error('not served yet')
    if (data.changes.incomplete.some(({ to }: Fields) => to === null))
      throw new Error('not begun yet')
  }, wait)
  await make(path, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size: 1 },
  })
  await vi.waitFor(async () => {
    const { data } = await gateway.query(
      '{ changes(types: ["ExampleComWidget"]) { nodes { type } } }',
    )
    if (data.changes.nodes.length === 0) throw new Error('not seen yet')
  }, wait)
  await remove(`${definitionsPath}/widgets.example.com`)
  await vi.waitFor(async () => {
    const { nodes = [] } = await changes()
    if (nodes.length === 0) throw new Error('the definition is still served')
  }, wait)
  await seen()
  const { nodes } = await changes()
  expect(nodes.at(-1)).toMatchObject({
    type: 'ADDED',
    object: { kind: 'Widget', name: 'w', object: null },
  })
  const { changes: named } = await gateway.data(
    '{ changes(ids: ["one/Widget.example.com/default/w"]) { nodes { type } } }',
  )
  expect(named.nodes.at(-1)).toEqual({ type: 'ADDED' })
})
