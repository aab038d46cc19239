import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const wait = { timeout: 60_000, interval: 50 }

interface Told {
  readonly names: string[]
  readonly errors: object[]
}

describe('a subscription that is filtered by what is used', () => {
  let directory: string
  let cluster: Simulator
  let gateway: ServedGateway
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'informerql-users-'))
    await writeFile(
      join(directory, 'own.graphql'),
      'extend type RelExampleWidget { settings: ConfigMap @reference(path: "spec.settings", uses: true) }',
    )
    cluster = await startSimulator({ bookmarkIntervalMs: 0 })
    await created(cluster, configMaps, { metadata: { name: 'unused' } })
    gateway = await serveGateway({
      clusters: [{ name: 'one', server: cluster.url }],
      schema: directory,
      retryMs: 100,
    })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  const follow = (frames: string, variables: Record<string, unknown> = {}): Told => {
    const told: Told = { names: [], errors: [] }
    const query = `subscription ($where: ConfigMapWhere) { frame: ${frames} }`
    gateway
      .connect()
      .subscribe<{ frame: { changes: { object: { metadata: { name: string } } }[] } }>(
        { query, variables },
        {
          next({ data, errors }) {
            if (errors !== undefined) told.errors.push(...errors)
            for (const { object } of data?.frame.changes ?? [])
              told.names.push(object.metadata.name)
          },
          error: (error) => void told.errors.push(...(error as object[])),
          complete() {},
        },
      )
    return told
  }

  it('ends when a kind comes that may use it, and no other does', async () => {
    const changes = '{ changes { object { metadata { name } } } }'
    const alone = '{ changes { object { metadata { name } } other: object { id } } }'
    const unused = { where: { usedBy: { none: {} } } }
    const ended = [
      follow(`configMaps(where: $where) ${changes}`, unused),
      follow(`configMaps(where: $where) ${alone}`, unused),
      follow(`configMapsPage(where: $where, first: 5) ${changes}`, unused),
    ]
    const shown = (selection: string): string =>
      `{ changes { object { metadata { name } ${selection} } } }`
    const users = '{ totalCount nodes { object { kind name } } }'
    const endedByWhatTheyShow = [
      follow(`configMaps(where: $where) ${shown(`usedBy ${users}`)}`),
      follow(`configMaps(where: $where) ${shown(`usedBy ${users} cluster { state }`)}`),
      follow(`configMapsPage(where: $where, first: 5) ${shown(`usedBy ${users}`)}`),
    ]
    const going = [
      follow(`configMaps(where: $where) ${changes}`),
      follow(`configMaps(where: $where) ${changes}`, { where: { name: { eq: 'unused' } } }),
      follow(`configMaps(where: $where) ${changes}`, {
        where: { usedBy: { none: { types: ['Pod'] } } },
      }),
      follow(`configMaps(where: $where) ${shown(`usedBy(types: ["Pod"]) ${users}`)}`),
    ]
    for (const { names, errors } of [...ended, ...endedByWhatTheyShow, ...going])
      await expect.poll(() => [errors, names], wait).toEqual([[], ['unused']])
    const widget = definitionOf('Widget', 'rel.example', [
      versionOf('v1', { settings: { type: 'string' } }),
    ])
    await created(cluster, definitionsPath, widget)
    for (const { errors } of [...ended, ...endedByWhatTheyShow]) {
      await expect
        .poll(() => errors, wait)
        .toMatchObject([
          {
            message: 'the schema has changed: the subscription also depends on RelExampleWidget',
            extensions: { code: 'SCHEMA_CHANGED', cluster: 'one', type: 'RelExampleWidget' },
          },
        ])
    }
    await created(cluster, '/apis/rel.example/v1/namespaces/default/widgets', {
      apiVersion: 'rel.example/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { settings: 'unused' },
    })
    await created(cluster, configMaps, { metadata: { name: 'new' } })
    // Who subscribes anew is told by all that may use it.
    const again = follow(`configMaps(where: $where) ${changes}`, unused)
    await expect.poll(() => again.names, wait).toContain('new')
    expect(again.names).not.toContain('unused')
    expect(going.map(({ errors }) => errors)).toEqual([[], [], [], []])
  })
})
