import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { populate, startSimulated } from '../access/access-cluster.ts'
import { idOf, populateShop, refused, Reports, write, written } from './shop.ts'

const apply = 'apply(manifest: $manifest, namespace: "default")'
const named = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
})

describe('writes beyond the bounds', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  const serve = (more: object = {}, server: object = {}): Promise<ServedGateway> =>
    serveGateway(
      { clusters: [{ name: 'test', server: simulator.url }], allowWrites: true, ...more },
      server,
    )
  beforeAll(async () => {
    simulator = await startSimulator()
    gateway = await serve({}, { maxBodyBytes: 8 << 20 })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  /** No write of a refused manifest was made, and others are served. */
  const isUnhurt = async (): Promise<void> => {
    const { configMaps } = await gateway.data('{ configMaps { totalCount } }')
    expect(configMaps.totalCount).toBe(0)
  }

  it('10,000 documents are refused before any is parsed, whether as text or as a list', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n'.repeat(10_000)
    const list = Array.from({ length: 10_000 }, (_, at) => named(`a${at}`))
    for (const manifest of [text, list.slice(0, 500)]) {
      expect(await refused(gateway, apply, { manifest })).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'manifest',
        message: expect.stringContaining('one operation writes at most 100'),
        hint: 'write them in several operations; nothing was written',
      })
    }
    expect((await refused(gateway, apply, { manifest: list })).code).toBe('BAD_USER_INPUT')
    await isUnhurt()
  })

  it('so are YAML bombs: aliases of aliases, and nesting without an end', async () => {
    const levels = Array.from({ length: 9 }, (_, at) => {
      const items = Array.from({ length: 9 }, () => (at === 0 ? 'x' : `*a${at - 1}`))
      return `a${at}: &a${at} [${items.join(', ')}]`
    })
    const bomb = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${levels.join('\n')}\n`
    expect(await refused(gateway, apply, { manifest: bomb })).toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining('alias'),
    })
    const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"data":${'['.repeat(5_000)}${']'.repeat(5_000)}}`
    for (const manifest of [deep, `a: ${'['.repeat(20_000)}`, `- &a [*a]`]) {
      expect(await refused(gateway, apply, { manifest })).toMatchObject({ code: 'BAD_USER_INPUT' })
    }
    await isUnhurt()
  })

  it('and YAML that would block other callers: too many keys, tags or aliases', async () => {
    const map = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `k${at}: 1`).join(', ')}}`
    const of = (data: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: ${data}\n`
    const fields = Array.from({ length: 100 }, (_, at) => `m${at}: ${apply} { behind }`)
    const query = `mutation ($manifest: JSON!) { ${fields.join('\n')} }`
    const { errors = [] } = await gateway.query(query, { manifest: of(map(3_200)) })
    expect(errors).toHaveLength(100)
    expect(errors.at(-1)).toMatchObject({
      message: 'manifest: its YAML has more than 25000 keys, values and signs',
      extensions: {
        code: 'BAD_USER_INPUT',
        hint: 'send it as JSON, or in several operations; nothing was written',
      },
    })
    const tags = of(`{a: [${'!a b,'.repeat(12_000)}]}`)
    const tagged = await refused(gateway, apply, { manifest: tags })
    expect(tagged.message).toBe('manifest: its YAML has more than 100 tags and directives')
    const aliases = `{a: &a x, b: [${Array.from({ length: 101 }, () => '*a').join(', ')}]}`
    const aliased = await refused(gateway, apply, { manifest: of(aliases) })
    expect(aliased.message).toBe('manifest: its YAML has more than 100 aliases')
    const dryRun = 'apply(manifest: $manifest, namespace: "default", dryRun: true)'
    const [{ dryRun: isDry }] = await written(gateway, dryRun, { manifest: of(map(3_000)) })
    expect(isDry).toBe(true)
    const twice = await refused(gateway, apply, { manifest: of('{a: x, b: y, a: z}') })
    expect(twice.message).toContain('the key "a" appears twice')
    await isUnhurt()
  })

  it('a version that is none becomes no part of a URL', async () => {
    const apiVersion = 'v1/namespaces/default/secrets/other?x='
    for (const manifest of [`apps/${apiVersion}`, 'apps/', 'apps/..'].map((version) => ({
      apiVersion: version,
      kind: 'Deployment',
      metadata: { name: 'web' },
    }))) {
      expect(await refused(gateway, apply, { manifest })).toMatchObject({
        code: 'BAD_USER_INPUT',
        message: `apiVersion: ${JSON.stringify(manifest.apiVersion)} is not a group and version`,
        hint: 'write it as in apps/v1; nothing was written',
      })
    }
  })

  it('and labels of a megabyte: by the body, by the manifest, or by the API server', async () => {
    const manifest = (length: number): object => ({
      ...named('labelled'),
      metadata: { name: 'labelled', labels: { a: 'x'.repeat(length) } },
    })
    const large = await refused(gateway, apply, { manifest: manifest(1 << 20) })
    expect(large).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'manifest' })
    const long = await refused(gateway, apply, { manifest: manifest(100_000) })
    expect(long).toMatchObject({ code: 'INVALID', causes: [{ field: 'metadata.labels' }] })
    expect(JSON.stringify(long).length).toBeLessThan(10_000)
    await using byDefault = await serve()
    const body = JSON.stringify({ query: '{ __typename }', variables: manifest(1 << 20) })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(byDefault.url, { method: 'POST', headers, body })
    expect(response.status).toBe(413)
    await isUnhurt()
  })

  it('a manifest that is none is an error that says why', async () => {
    for (const [manifest, problem] of [
      ['', 'it contains no document'],
      ['a: [', 'it is not YAML'],
      [{ kind: 'ConfigMap' }, 'document 1 has no apiVersion, no metadata.name'],
      [[named('a'), 5], 'document 2 has no apiVersion, no kind, no metadata.name'],
    ] as const) {
      const error = await refused(gateway, apply, { manifest })
      expect(error).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'manifest' })
      expect(error.message).toContain(problem)
    }
    const nowhere = await refused(gateway, 'apply(manifest: $manifest)', { manifest: named('a') })
    expect(nowhere).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'namespace' })
    await isUnhurt()
  })

  it('nothing is written by GET, or where an operation has too many writes', async () => {
    const one =
      'create(manifest: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } }) { behind }'
    const url = `${gateway.url}?query=${encodeURIComponent(`mutation { ${one} }`)}`
    const byGet = await fetch(url, { headers: { 'graphql-require-preflight': '1' } })
    expect([byGet.status, byGet.headers.get('allow')]).toEqual([405, 'POST'])
    const accept = 'text/event-stream'
    const stream = await fetch(url, { headers: { 'graphql-require-preflight': '1', accept } })
    expect(await stream.text()).toContain('never by GET')
    const many = Array.from({ length: 101 }, (_, at) => `m${at}: ${one}`).join('\n')
    const { errors } = await gateway.query(`mutation { ${many} }`)
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', value: 101 } }])
    await isUnhurt()
  })

  it('the bound of writes is that of the operation: of all mutations and documents together', async () => {
    const manifest = Array.from({ length: 34 }, (_, at) => named(`a${at}`))
    for (const further of ['label(id: "none", labels: {}) { behind }', `c: ${apply} { behind }`]) {
      const fields = `a: ${apply} { behind } b: ${apply} { behind } ${further}`
      const text = `mutation ($manifest: JSON!) { ${fields} }`
      const list = further.startsWith('c') ? manifest : [...manifest, ...manifest.slice(0, 17)]
      const { data, errors } = await gateway.query(text, { manifest: list })
      expect(data ?? undefined).toBeUndefined()
      const value = further.startsWith('c') ? 102 : 103
      expect(errors).toMatchObject([
        {
          message: `the operation has ${value} writes, and at most 100 are made`,
          extensions: { code: 'BAD_USER_INPUT', value },
        },
      ])
    }
    await isUnhurt()
  })

  it('a manifest names its namespace and what it was looked at as by texts', async () => {
    const metadata = { name: 'a', namespace: 'default' }
    for (const [path, wrong] of [
      ['metadata.namespace', { a: 'b' }],
      ['metadata.namespace', 7],
      ['metadata.namespace', 'not/a/name'],
      ['metadata.name', '../secrets/other'],
      ['metadata.uid', []],
      ['metadata.resourceVersion', 'abc'],
      ['metadata.resourceVersion', 5],
    ] as const) {
      const field = path.replace('metadata.', '')
      const manifest = { ...named('a'), metadata: { ...metadata, [field]: wrong } }
      for (const mutation of ['apply', 'create']) {
        const error = await refused(gateway, `${mutation}(manifest: $manifest)`, { manifest })
        expect(error).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'manifest' })
        expect(error.message).toContain(`document 1 has ${path} ${JSON.stringify(wrong)}`)
      }
    }
    const versioned = { ...named('a'), metadata: { ...metadata, resourceVersion: '5' } }
    const made = await refused(gateway, 'create(manifest: $manifest)', { manifest: versioned })
    expect(made).toMatchObject({ code: 'BAD_USER_INPUT', value: '5' })
    const id = await idOf(gateway, 'namespace(name: "default")')
    const looked = `label(id: "${id}", labels: { a: "b" }, resourceVersion: "abc")`
    expect(await refused(gateway, looked)).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'resourceVersion',
      value: 'abc',
    })
    await isUnhurt()
  })

  it('a user who writes too often has to wait, and reads go on', async () => {
    await using limited = await serve({ writes: { writesPerMinute: 3 } })
    const manifest = [named('a'), named('b'), named('c'), named('d')]
    const { data, errors } = await write(limited, apply, { manifest })
    expect(data.apply.at(-1)).toBeNull()
    expect(errors).toMatchObject([
      {
        path: ['apply', 3],
        extensions: { code: 'TOO_MANY_WRITES', value: 3, retryAfterMs: expect.any(Number) },
      },
    ])
    expect((await limited.data('{ configMaps { totalCount } }')).configMaps.totalCount).toBe(3)
  })

  it('a refused manifest counts as a write, and is reported', async () => {
    const reports = new Reports()
    await using limited = await serve({ writes: { writesPerMinute: 2 }, audit: reports })
    const codes: string[] = []
    codes.push((await refused(limited, apply, { manifest: 'a: [' })).code)
    codes.push((await refused(limited, 'delete(id: "none")')).code)
    codes.push((await refused(limited, apply, { manifest: named('e') })).code)
    expect(codes[0]).toBe('BAD_USER_INPUT')
    expect(codes[2]).toBe('TOO_MANY_WRITES')
    expect(reports.writes.map(({ mutation, code }) => [mutation, code])).toEqual([
      ['apply', codes[0]],
      ['delete', codes[1]],
      ['apply', codes[2]],
    ])
  })

  it('without the option there are no mutations, and the error says so', async () => {
    await using readOnly = await serve({ allowWrites: false })
    const { errors } = await readOnly.query('mutation { restart(id: "x") { behind } }')
    expect(errors).toMatchObject([
      {
        message: 'this gateway serves no mutations',
        extensions: { code: 'UNSUPPORTED', hint: expect.stringContaining('--allow-writes') },
      },
    ])
    const { __schema: schema } = await readOnly.data('{ __schema { mutationType { name } } }')
    expect(schema.mutationType).toBeNull()
  })

  it('what a caller may do beforehand: without authentication, what the gateway allows', async () => {
    const question = '{ can(verb: "patch", type: "Deployment", subresource: "scale") }'
    expect(await gateway.data(question)).toEqual({ can: true })
    await using readOnly = await serve({ allowWrites: false })
    expect(await readOnly.data(question)).toEqual({ can: false })
  })

  it('JSON keeps integers that a double cannot hold', async () => {
    const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: exact\n  generation: 9007199254740993\n`
    const [payload] = await written(gateway, apply, { manifest })
    expect(payload.object.name).toBe('exact')
  })
})

describe('writes without credentials of the caller', () => {
  it('are TOKEN_NEEDED: the gateway never lends its own', async () => {
    await using simulator = await startSimulator()
    const viewer = { username: 'ann', uid: '', groups: [], extra: {} }
    await using gateway = await serveGateway(
      { clusters: [{ name: 'test', server: simulator.url }], allowWrites: true },
      {},
      { context: () => ({ viewer }) },
    )
    expect(await refused(gateway, apply, { manifest: named('a') })).toMatchObject({
      code: 'TOKEN_NEEDED',
      cluster: 'test',
      hint: expect.stringContaining('the gateway does not impersonate callers'),
    })
  })

  it('go only to the clusters that the token is for', async () => {
    await using one = await startSimulated('c0')
    await using other = await startSimulated('c1')
    for (const cluster of [one, other]) {
      await populate(cluster)
      await populateShop(cluster)
    }
    const clusters = [one.selection(), other.selection()]
    const serve = (tokenClusters: readonly string[]): Promise<ServedGateway> => {
      const auth = { mode: 'token-review', tokenClusters } as const
      return serveGateway({ clusters, allowWrites: true }, {}, { auth })
    }
    const there = 'apply(manifest: $manifest, namespace: "shop", cluster: "c1")'
    await using strict = await serve([])
    expect(await refused(strict.as('ann-token'), there, { manifest: named('a') })).toMatchObject({
      code: 'TOKEN_NEEDED',
      message: 'your token is not for cluster c1',
    })
    await using wide = await serve(['*'])
    const [payload] = await written(wide.as('ann-token'), there, { manifest: named('a') })
    expect(payload.object.name).toBe('a')
  })
})
