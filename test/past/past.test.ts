import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import { core, deploymentSpec, type PastGateway, startPast } from './past-gateway.ts'

const apps = '/apis/apps/v1/namespaces/default'
const pod = (labels: Fields = {}): Fields => ({
  metadata: { name: 'web', labels },
  spec: { containers: [{ name: 'main', image: 'web:1' }] },
})

describe.each(['memory', 'file'] as const)('the past, kept in a %s', (kept) => {
  let past: PastGateway
  /** The time before there was anything, and behind each step. */
  const times: string[] = []
  let first: Fields = {}
  let second: Fields = {}

  beforeAll(async () => {
    past = await startPast(kept)
    const { make, patch, remove, seen } = past
    const step = async (): Promise<void> => void times.push(await seen())
    await step()
    first = await make(`${core}/pods`, pod({ tier: 'a' }))
    await step()
    await patch(`${core}/pods/web`, { metadata: { labels: { tier: 'b' } } }, 'kubectl-label')
    await step()
    await remove(`${core}/pods/web`)
    await step()
    second = await make(`${core}/pods`, pod({ tier: 'z' }))
    await make(`${core}/configmaps`, { metadata: { name: 'settings' }, data: { color: 'red' } })
    await patch(`${core}/configmaps/settings`, { data: { color: 'blue' } })
    await step()
  })
  afterAll(async () => past[Symbol.asyncDispose]())

  const idOf = async ({ metadata }: Fields): Promise<string> => {
    const { changes } = await past.gateway.data(
      `query ($name: String) { changes(types: ["Pod"], where: { name: { eq: $name } }) {
        nodes { object { id name } } } }`,
      { name: metadata.name },
    )
    const ids = new Set<string>(changes.nodes.map(({ object }: Fields) => object.id))
    return (
      [...ids].find((id) => Buffer.from(id, 'base64url').toString().endsWith(metadata.uid)) ?? ''
    )
  }
  const shown = `nodes { type manager time after cluster object { kind namespace name } resourceVersion
    fieldCount repeats fields { path before after masked } } incomplete { code type from to }`

  it('tells what has changed, the newest first, with fields and managers', async () => {
    const { changes } = await past.gateway.data(
      `{ changes(types: ["Pod"], where: { name: { eq: "web" } }) { ${shown} } }`,
    )
    expect(changes.incomplete).toEqual([])
    const told = changes.nodes.filter(
      ({ type, fields }: Fields) =>
        type !== 'MODIFIED' || fields[0].path === '/metadata/labels/tier',
    )
    expect(told.map(({ type }: Fields) => type)).toEqual(['ADDED', 'REMOVED', 'MODIFIED', 'ADDED'])
    expect(told[2]).toMatchObject({
      type: 'MODIFIED',
      manager: 'kubectl-label',
      after: null,
      cluster: 'one',
      object: { kind: 'Pod', namespace: 'default', name: 'web' },
      fieldCount: 1,
      fields: [{ path: '/metadata/labels/tier', before: 'a', after: 'b', masked: false }],
    })
    expect(times[1]! < told[2].time && told[2].time < times[2]!).toBe(true)
  })

  it('has the history of an object, and not that of a namesake', async () => {
    const { pod: now } = await past.gateway.data(
      `{ pod(namespace: "default", name: "web") { uid history { nodes { type object { id } } } } }`,
    )
    expect(now.uid).toBe(second['metadata'].uid)
    expect(now.history.nodes.at(-1).type).toBe('ADDED')
    expect(now.history.nodes.map(({ type }: Fields) => type)).not.toContain('REMOVED')
    const gone = await idOf(first)
    const { changes } = await past.gateway.data(
      `query ($ids: [ID!]) { changes(ids: $ids) { nodes { type object { object { id } } } } }`,
      { ids: [gone] },
    )
    expect(changes.nodes[0]).toEqual({ type: 'REMOVED', object: { object: null } })
    expect(changes.nodes.at(-1).type).toBe('ADDED')
    const { changes: both } = await past.gateway.data(
      `{ changes(ids: ["one/Pod/default/web"]) { nodes { type } } }`,
    )
    expect(both.nodes.length).toBe(changes.nodes.length + now.history.nodes.length)
  })

  it('gives an object as it was, with its columns, health and JSON', async () => {
    const gone = await idOf(first)
    const { data, errors } = await past.gateway.query(
      `query ($id: ID!, $at: DateTime) {
        object(id: $id, at: $at) { id name uid labels json(path: "metadata.labels.tier") health { status }
          printerColumns { name value } ... on Pod { spec { containers { image } } } } }`,
      { id: gone, at: times[1] },
    )
    expect(errors).toBeUndefined()
    expect(data.object).toMatchObject({
      id: `${gone}@${times[1]}`,
      name: 'web',
      uid: first['metadata'].uid,
      labels: { tier: 'a' },
      json: 'a',
      spec: { containers: [{ image: 'web:1' }] },
    })
    expect(data.object.printerColumns.map(({ name }: Fields) => name)).toContain('Status')
  })

  it('means by an id the object itself, and by a name whatever had it then', async () => {
    const gone = await idOf(first)
    const tiers = async (id: string): Promise<readonly unknown[]> =>
      Promise.all(
        times.map(async (at) => {
          const { object } = await past.gateway.data(
            'query ($id: ID!, $at: DateTime) { object(id: $id, at: $at) { labels } }',
            { id, at },
          )
          return object?.labels.tier ?? null
        }),
      )
    expect(await tiers(gone)).toEqual([null, 'a', 'b', null, null])
    expect(await tiers('one/Pod/default/web')).toEqual([null, 'a', 'b', null, 'z'])
    const { objectByRef } = await past.gateway.data(
      `query ($at: DateTime) { objectByRef(apiVersion: "v1", kind: "Pod", namespace: "default", name: "web", at: $at) { uid } }`,
      { at: times[2] },
    )
    expect(objectByRef.uid).toBe(first['metadata'].uid)
  })

  it('gives an object in a version that a change has', async () => {
    const gone = await idOf(first)
    const { changes } = await past.gateway.data(
      `query ($ids: [ID!]) { changes(ids: $ids, where: { path: { startsWith: "/metadata/labels" }, type: { eq: MODIFIED } }) { nodes { resourceVersion } } }`,
      { ids: [gone] },
    )
    const [{ resourceVersion }] = changes.nodes
    const { object } = await past.gateway.data(
      'query ($id: ID!, $version: String) { object(id: $id, atVersion: $version) { labels metadata { resourceVersion } } }',
      { id: gone, version: resourceVersion },
    )
    expect(object).toEqual({ labels: { tier: 'b' }, metadata: { resourceVersion } })
  })

  it('leads from a past object to no others, and says so by field', async () => {
    const { data, errors } = await past.gateway.query(
      `query ($at: DateTime) { object(id: "one/Pod/default/web", at: $at) { name owners { name } events { totalCount }
        ... on Pod { node { name } usage { cpu } } history(first: 1) { nodes { type } } } }`,
      { at: times[1] },
    )
    expect(data.object).toMatchObject({
      name: 'web',
      owners: null,
      events: null,
      node: null,
      usage: null,
      history: { nodes: [{ type: 'REMOVED' }] },
    })
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['owners', 'UNSUPPORTED'],
      ['events', 'UNSUPPORTED'],
      ['node', 'UNSUPPORTED'],
      ['usage', 'UNSUPPORTED'],
    ])
  })

  it('says of a time before the archive that it is, and never that nothing has changed', async () => {
    const { data, errors } = await past.gateway.query(
      `{ object(id: "one/Pod/default/web", at: "2020-01-01T00:00:00Z") { id }
        changes(types: ["Pod"], since: "2020-01-01T00:00:00Z", until: "2020-01-02T00:00:00Z") { ${shown} } }`,
    )
    expect(data.object).toBeNull()
    expect(errors).toMatchObject([
      { path: ['object'], extensions: { code: 'BEFORE_ARCHIVE', type: 'Pod', from: null } },
    ])
    const [error] = (errors ?? []) as readonly Fields[]
    expect(Date.parse(error?.['extensions'].to)).toBeLessThan(Date.now())
    expect(data.changes).toMatchObject({
      nodes: [],
      incomplete: [{ code: 'BEFORE_ARCHIVE', type: 'Pod', from: null, to: expect.any(String) }],
    })
  })

  it('says of a kind that is not kept that it is not', async () => {
    const { changes } = await past.gateway.data(`{ changes(types: ["Lease"]) { ${shown} } }`)
    expect(changes).toMatchObject({
      nodes: [],
      incomplete: [{ code: 'NOT_ARCHIVED', type: 'Lease' }],
    })
    const { errors } = await past.gateway.query(
      '{ objectByRef(apiVersion: "coordination.k8s.io/v1", kind: "Lease", namespace: "default", name: "x", at: "2026-01-01T00:00:00Z") { id } }',
    )
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_ARCHIVED' } }])
  })

  it('tells what is net different between two times', async () => {
    const between = async (from?: string, to?: string): Promise<readonly string[]> => {
      const { differences } = await past.gateway.data(
        `query ($from: DateTime!, $to: DateTime) { differences(from: $from, to: $to, types: ["Pod", "ConfigMap"]) {
          nodes { type object { kind name } fields { path before after } } incomplete { code } } }`,
        { from, to },
      )
      expect(differences.incomplete).toEqual([])
      return differences.nodes
        .filter(({ object }: Fields) => !object.name.startsWith('mark-'))
        .map(({ type, object }: Fields) => `${type} ${object.kind} ${object.name}`)
    }
    expect(await between(times[0], times[3])).toEqual([])
    expect(await between(times[1], times[2])).toEqual(['MODIFIED Pod web'])
    expect((await between(times[1], times[4])).toSorted()).toEqual([
      'ADDED ConfigMap settings',
      'ADDED Pod web',
      'REMOVED Pod web',
    ])
  })

  it('goes on behind any row of the differences', async () => {
    const rowsBehind = async (after?: string): Promise<readonly Fields[]> => {
      const { differences } = await past.gateway.data(
        `query ($from: DateTime!, $to: DateTime, $after: String) {
          differences(from: $from, to: $to, types: ["Pod", "ConfigMap"], after: $after) {
            edges { cursor node { type object { kind name } } } } }`,
        { from: times[1], to: times[4], after },
      )
      return differences.edges
    }
    // On a busy machine, a gap that is told meanwhile may end the known times earlier.
    await vi.waitFor(async () => {
      const all = await rowsBehind()
      expect(all.length).toBeGreaterThan(2)
      for (const [at, { cursor }] of all.entries()) {
        const rest = (await rowsBehind(cursor)).map(({ node }) => node)
        expect(rest).toEqual(all.slice(at + 1).map(({ node }) => node))
      }
    }, 20_000)
  })

  it('filters by type, manager, path and name, by the words of other filters', async () => {
    const found = async (where: string): Promise<readonly string[]> => {
      const { changes } = await past.gateway.data(
        `{ changes(types: ["Pod", "ConfigMap"], where: ${where}) { nodes { type object { name } } } }`,
      )
      return changes.nodes
        .filter(({ object }: Fields) => !object.name.startsWith('mark-'))
        .map(({ type, object }: Fields) => `${type} ${object.name}`)
    }
    expect(await found('{ manager: { eq: "kubectl-label" } }')).toEqual(['MODIFIED web'])
    expect(await found('{ manager: { startsWith: "kubectl" } }')).toEqual(['MODIFIED web'])
    expect(await found('{ path: { eq: "/data" } type: { eq: MODIFIED } }')).toEqual([
      'MODIFIED settings',
    ])
    expect(
      await found('{ path: { eq: "/metadata/*/tier" } type: { not: { in: [ADDED, REMOVED] } } }'),
    ).toEqual(['MODIFIED web'])
    expect(await found('{ name: { eq: "settings" } }')).toEqual([
      'MODIFIED settings',
      'ADDED settings',
    ])
    expect(await found('{ name: { in: [] } }')).toEqual([])
    expect(
      await found('{ type: { in: [REMOVED] } name: { not: { startsWith: "mark" } } }'),
    ).toEqual(['REMOVED web'])
    const { errors } = await past.gateway.query(
      '{ changes(where: { name: { eq: null } }) { nodes { id } } }',
    )
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'where.name.eq' } },
    ])
  })

  it('leaves out what changes the status alone, or has nothing else, and keeps what changes more than that', async () => {
    const { make, seen, simulator, gateway } = past
    const pods = { group: '', version: 'v1', resource: 'pods' }
    const made = await make(`${core}/pods`, {
      ...pod(),
      metadata: { name: 'told', labels: { tier: 'z' } },
    })
    await seen()
    const write = async (phase: string, tier: string): Promise<void> => {
      const metadata = { ...made['metadata'], labels: { tier } }
      delete metadata.resourceVersion
      const written = { ...made, metadata, status: { ...made['status'], phase } }
      simulator.storage.update(pods, written as never)
      await seen()
    }
    await write('Running', 'z')
    await write('Unknown', 'a')
    await write('Failed', 'a')
    const found = async (where: string): Promise<readonly unknown[]> => {
      const { changes } = await gateway.data(
        `{ changes(types: ["Pod"], where: { name: { eq: "told" } ${where} }) { nodes { type fields { path after } } } }`,
      )
      return changes.nodes.map(({ type, fields }: Fields) =>
        type === 'MODIFIED' ? fields.map(({ after }: Fields) => after) : type,
      )
    }
    expect(await found('')).toEqual([['Failed'], ['a', 'Unknown'], ['Running'], 'ADDED'])
    expect(await found('statusOnly: false')).toEqual([['a', 'Unknown'], 'ADDED'])
    // One after the other, of those: they are one row.
    expect(await found('statusOnly: true')).toEqual([['Failed']])
  })

  it('turns pages by cursors that stay right while changes come', async () => {
    const { make, patch, seen, gateway } = past
    await make(`${core}/configmaps`, { metadata: { name: 'counted' }, data: { at: '0' } })
    for (let at = 1; at <= 12; at += 1) {
      // Each by another manager, so that none repeats the one before.
      await patch(`${core}/configmaps/counted`, { data: { at: `${at}` } }, `writer-${at}`)
    }
    await seen()
    const told: string[] = []
    let after: string | null = null
    let pages = 0
    do {
      const { changes } = await gateway.data(
        `query ($after: String) { changes(types: ["ConfigMap"], where: { name: { eq: "counted" } }, first: 5, after: $after) {
          edges { cursor node { id manager fields { after } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        { after },
      )
      const { edges, pageInfo } = changes
      expect(pageInfo.hasPreviousPage).toBe(after !== null)
      expect(pageInfo.endCursor).toBe(edges.at(-1).cursor)
      expect(pageInfo.startCursor).toBe(edges[0].cursor)
      told.push(...edges.map(({ node }: Fields) => node.fields.at(-1).after))
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null
      pages += 1
      await patch(`${core}/configmaps/counted`, { data: { at: `more ${pages}` } }, `late-${pages}`)
      await seen()
    } while (after !== null)
    expect(told.slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, at) => `${12 - at}`))
    expect(told).toHaveLength(13)
    expect(pages).toBe(3)
    const { errors } = await gateway.query(
      'query ($after: String) { changes(types: ["Pod"], after: $after) { nodes { id } } }',
      { after: 'WzEsIngiLCIxIl0' },
    )
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'after' } }])
  })

  it('finds what has changed around an object: owners, owned and referenced objects', async () => {
    const { make, patch, seen, gateway } = past
    const made = await make(`${apps}/deployments`, {
      metadata: { name: 'web' },
      ...deploymentSpec('web:1'),
    })
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: made['metadata'].uid,
      controller: true,
    }
    const { spec } = deploymentSpec('web:1')
    const set = await make(`${apps}/replicasets`, {
      metadata: { name: 'web-1', ownerReferences: [owner] },
      spec,
    })
    await make(`${core}/configmaps`, { metadata: { name: 'used' }, data: { a: '1' } })
    await make(`${core}/pods`, {
      metadata: {
        name: 'web-1-x',
        ownerReferences: [
          { ...owner, kind: 'ReplicaSet', name: 'web-1', uid: set['metadata'].uid },
        ],
      },
      spec: {
        containers: [
          { name: 'main', image: 'web:1', envFrom: [{ configMapRef: { name: 'used' } }] },
        ],
      },
    })
    await seen()
    await patch(`${core}/configmaps/used`, { data: { a: '2' } })
    await patch(`${core}/configmaps/settings`, { data: { color: 'green' } })
    await seen()
    const around = async (depth: number): Promise<ReadonlySet<string>> => {
      const { changes } = await gateway.data(
        'query ($depth: Int) { changes(around: "one/Deployment.apps/default/web", depth: $depth) { nodes { object { kind name } } } }',
        { depth },
      )
      return new Set(changes.nodes.map(({ object }: Fields) => `${object.kind} ${object.name}`))
    }
    expect(await around(0)).toEqual(new Set(['Deployment web']))
    expect(await around(1)).toEqual(new Set(['Deployment web', 'ReplicaSet web-1']))
    expect(await around(3)).toContain('ConfigMap used')
    expect(await around(3)).not.toContain('ConfigMap settings')
    const { errors } = await gateway.query(
      '{ changes(around: "one/Pod/default/web", depth: 100) { nodes { id } } }',
    )
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'depth' } }])
  })
})
