import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { needsPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { core, type PastGateway, startPast } from './past-gateway.ts'

const wait = { timeout: 60_000, interval: 50 }

const everything = `query ($id: ID!, $since: DateTime!, $at: DateTime!) {
  changes(since: $since, types: ["ConfigMap"]) { nodes { type object { name } } incomplete { type code from to } }
  configMap(namespace: "default", name: "settings") { history(since: $since) { nodes { type } incomplete { code from to } } }
  differences(from: $since, types: ["ConfigMap"]) { nodes { type } incomplete { code from to } }
  object(id: $id, at: $at) { name }
}`

describe('What is not known of the past, over HTTP', needsPostgres, () => {
  let postgres: PostgresServer
  let past: PastGateway
  let url = ''
  let id = ''

  beforeAll(async () => {
    postgres = await startPostgres()
    url = await postgres.database()
    past = await startPast('memory', {
      archive: { url, kinds: ['pods', 'configMaps', 'deployments', 'replicaSets'] },
    })
    await past.make(`${core}/configmaps`, { metadata: { name: 'settings' }, data: { at: '0' } })
    await past.seen()
    const { configMap } = await past.gateway.data(
      '{ configMap(namespace: "default", name: "settings") { id } }',
    )
    ;({ id } = configMap)
  })
  afterAll(async () => {
    await past[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  })

  const asked = async (since: string): Promise<Fields> =>
    past.gateway.query(everything, { id, since, at: new Date().toISOString() })
  const set = async (at: string): Promise<unknown> =>
    past.patch(`${core}/configmaps/settings`, { data: { at } })
  const known = async (since: string): Promise<void> => {
    await vi.waitFor(async () => {
      const { data, errors } = await asked(since)
      if (errors !== undefined) throw new Error(JSON.stringify(errors))
      if (data.changes.nodes.length === 0) throw new Error('not seen')
      for (const { incomplete } of [data.changes, data.differences]) {
        if (incomplete.length > 0) throw new Error(JSON.stringify(incomplete))
      }
    }, wait)
  }

  it('what cannot be written for a while is a gap from then on, and is told afterwards', async () => {
    const name = url.split('/').at(-1) ?? ''
    const readOnly = (value: string): void => {
      postgres.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
      postgres.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      )
    }
    const since = new Date().toISOString()
    readOnly('on')
    await set('1')
    await vi.waitFor(async () => {
      const { data, errors = [] } = await asked(since)
      const gap = { code: 'ARCHIVE_GAP', from: expect.any(String), to: null }
      for (const { nodes, incomplete } of [
        data.changes,
        data.configMap.history,
        data.differences,
      ]) {
        expect(nodes).toEqual([])
        expect(incomplete).toMatchObject([gap])
      }
      expect(data.object).toBeNull()
      expect(errors).toMatchObject([{ path: ['object'], extensions: gap }])
    }, wait)
    readOnly('off')
    await known(since)
  })

  it('a database that is away is an error, and a row of what is incomplete; what happened meanwhile is told afterwards', async () => {
    const since = new Date().toISOString()
    await postgres.stop()
    await set('2')
    const { data, errors = [] } = await asked(since)
    for (const { nodes, incomplete } of [data.changes, data.configMap.history, data.differences]) {
      expect(nodes).toEqual([])
      expect(incomplete).toMatchObject([{ code: 'ARCHIVE_UNREACHABLE', from: since, to: null }])
    }
    expect(data.object).toBeNull()
    expect(new Set(errors.map(({ extensions }: Fields) => extensions.code))).toEqual(
      new Set(['ARCHIVE_UNREACHABLE']),
    )
    expect(errors.map(({ path }: Fields) => path.join('.')).toSorted()).toEqual([
      'changes',
      'configMap.history',
      'differences',
      'object',
    ])
    await postgres.start()
    await known(since)
  })

  it('a time before the archive, and a kind that is not kept, have their codes in rows and in errors', async () => {
    const at = '2001-01-01T00:00:00Z'
    const { data, errors = [] } = await past.gateway.query(
      `query ($id: ID!, $at: DateTime!) {
        changes(since: $at, types: ["ConfigMap"], where: { name: { eq: "none" } }) { incomplete { code from to } }
        kept: changes(types: ["Node"]) { nodes { id } incomplete { type code } }
        object(id: $id, at: $at) { name }
        node: object(id: "one/Node//none", at: $at) { name } }`,
      { id, at },
    )
    expect(data.changes.incomplete).toMatchObject([
      { code: 'BEFORE_ARCHIVE', from: null, to: expect.any(String) },
    ])
    expect(data.kept).toEqual({ nodes: [], incomplete: [{ type: 'Node', code: 'NOT_ARCHIVED' }] })
    expect(errors.map(({ path, extensions }: Fields) => [path[0], extensions.code])).toEqual([
      ['object', 'BEFORE_ARCHIVE'],
      ['node', 'NOT_ARCHIVED'],
    ])
  })

  it('changes of some kinds are left out before they are counted', async () => {
    const { changes } = await past.gateway.data(
      '{ changes(first: 50, where: { kind: { not: { eq: "ConfigMap" } } }) { nodes { object { kind } } } }',
    )
    const kinds = new Set(changes.nodes.map(({ object }: Fields) => object.kind))
    expect(kinds).not.toContain('ConfigMap')
    expect(kinds).toContain('Pod')
  })
})
