import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
} from './contract-server.ts'

const names = (list: Fields): string[] => list.items.map((item: Fields) => item.metadata.name)

describeContract('LIST', (server) => {
  let namespace = ''
  let path = ''
  let last: Fields

  beforeAll(async () => {
    namespace = await newNamespace(server())
    path = `/api/v1/namespaces/${namespace}/configmaps`
    for (const [name, tier] of [
      ['c', 'web'],
      ['a', 'web'],
      ['e', 'db'],
      ['b', 'db'],
      ['d', 'web'],
    ]) {
      last = await newConfigMap(server(), namespace, name ?? '', {
        labels: { tier, [`only-${name}`]: '' },
      })
    }
  })

  const list = async (query = '', options = {}): Promise<Fields> =>
    (await ask(server(), `${path}${query}`, options)).json

  it('answers with a list of the kind, its items without kind and in order', async () => {
    const found = await list()
    expect(found).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' })
    expect(names(found)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(found.items[0].kind).toBeUndefined()
    expect(found.items[0].apiVersion).toBeUndefined()
    expect(Number(found.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(last.metadata.resourceVersion),
    )
    expect(found.metadata.continue).toBeUndefined()
  })

  it('lists all namespaces in the order of namespace, then name', async () => {
    const found = (await ask(server(), '/api/v1/configmaps')).json
    const keys = found.items.map(({ metadata }: Fields) => `${metadata.namespace}/${metadata.name}`)
    expect(keys).toEqual(keys.toSorted())
    expect(keys).toContain(`${namespace}/a`)
  })

  it('pages, every page at the resource version of the first, whatever changes meanwhile', async () => {
    const own = await newNamespace(server())
    const ownPath = `/api/v1/namespaces/${own}/configmaps`
    for (const name of ['a', 'b', 'c', 'd', 'e']) await newConfigMap(server(), own, name)
    const first = (await ask(server(), `${ownPath}?limit=2`)).json
    expect(names(first)).toEqual(['a', 'b'])
    expect(first.metadata.remainingItemCount).toBe(3)

    await ask(server(), `${ownPath}/d`, { method: 'DELETE' })
    await newConfigMap(server(), own, 'ca')
    await ask(server(), `${ownPath}/c`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { data: { a: 'changed' } },
    })
    const next = encodeURIComponent(first.metadata.continue)
    const second = (await ask(server(), `${ownPath}?limit=2&continue=${next}`)).json
    expect(names(second)).toEqual(['c', 'd'])
    expect(second.items[0].data).toEqual({ a: '1' })
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    expect(second.metadata.remainingItemCount).toBe(1)

    const final = encodeURIComponent(second.metadata.continue)
    const third = (await ask(server(), `${ownPath}?limit=2&continue=${final}`)).json
    expect(names(third)).toEqual(['e'])
    expect(third.metadata.continue).toBeUndefined()
    expect(third.metadata.remainingItemCount).toBeUndefined()
  })

  it('does not count what remains behind a selector', async () => {
    const found = await list('?limit=1&labelSelector=tier%3Dweb')
    expect(names(found)).toEqual(['a'])
    expect(found.metadata.continue).toBeTypeOf('string')
    expect(found.metadata.remainingItemCount).toBeUndefined()
  })

  it('ignores a limit at resource version 0', async () => {
    const found = await list('?limit=1&resourceVersion=0')
    expect(names(found)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('shows an exact resource version as it was', async () => {
    const before = await list()
    await newConfigMap(server(), namespace, 'zz')
    const { resourceVersion } = before.metadata
    const found = await list(`?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
    expect(names(found)).toEqual(names(before))
    expect(found.metadata.resourceVersion).toBe(resourceVersion)
    const newer = await list(
      `?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`,
    )
    expect(names(newer)).toContain('zz')
    await ask(server(), `${path}/zz`, { method: 'DELETE' })
  })

  it.each([
    ['tier=web', ['a', 'c', 'd']],
    ['tier!=web', ['b', 'e']],
    ['tier in (db)', ['b', 'e']],
    ['tier notin (db),!only-a', ['c', 'd']],
    ['only-b', ['b']],
    ['!tier', []],
  ])('selects by label: %s', async (selector, expected) => {
    expect(names(await list(`?labelSelector=${encodeURIComponent(selector)}`))).toEqual(expected)
  })

  it('selects by name and by namespace', async () => {
    expect(names(await list('?fieldSelector=metadata.name%3Db'))).toEqual(['b'])
    const everywhere = await ask(
      server(),
      `/api/v1/configmaps?fieldSelector=metadata.namespace%3D${namespace},metadata.name!%3Da`,
    )
    expect(names(everywhere.json)).toEqual(['b', 'c', 'd', 'e'])
  })

  it('selects pods by phase and node', async () => {
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await ask(server(), pods, { method: 'POST', body: { metadata: { name: 'free' }, spec } })
    await ask(server(), pods, {
      method: 'POST',
      body: { metadata: { name: 'bound' }, spec: { ...spec, nodeName: 'n1' } },
    })
    const select = async (selector: string): Promise<string[]> =>
      names((await ask(server(), `${pods}?fieldSelector=${encodeURIComponent(selector)}`)).json)
    expect(await select('spec.nodeName=n1')).toEqual(['bound'])
    expect(await select('spec.nodeName=')).toEqual(['free'])
    expect(await select('status.phase=Pending,spec.nodeName!=n1')).toEqual(['free'])
    expect(await select('status.phase=Running')).toEqual([])
  })

  const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

  it('lists metadata alone', async () => {
    const found = await list('?limit=2', { accept: `${metadataList},application/json` })
    expect(found).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' })
    expect(Object.keys(found.items[0]).toSorted()).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(found.items[0]).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', namespace, labels: { tier: 'web' } },
    })
  })

  it.each(['text/plain', 'application/cbor', 'application/json;as=Nothing;g=meta.k8s.io;v=v1'])(
    'refuses to answer in %s',
    async (accept) => {
      const answer = await ask(server(), path, { accept })
      expect(answer.status).toBe(406)
      expect(answer.json).toMatchObject({ kind: 'Status', reason: 'NotAcceptable', code: 406 })
    },
  )

  describe('refuses with a Status', () => {
    it.each([
      ['?limit=x', 400, 'BadRequest'],
      ['?continue=abc', 400, 'BadRequest'],
      ['?resourceVersion=abc', 400, 'BadRequest'],
      ['?labelSelector=a%20in', 400, 'BadRequest'],
      ['?fieldSelector=data.a%3Db', 400, 'BadRequest'],
      ['?resourceVersionMatch=Exact', 422, 'Invalid'],
      ['?resourceVersion=0&resourceVersionMatch=Exact', 422, 'Invalid'],
      ['?resourceVersion=5&resourceVersionMatch=Other', 422, 'Invalid'],
      ['?sendInitialEvents=true', 422, 'Invalid'],
    ])('%s: %i', async (query, code, reason) => {
      const answer = await ask(server(), path + query)
      expect(answer.status).toBe(code)
      expect(answer.headers['content-type']).toBe('application/json')
      expect(answer.json).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        reason,
        code,
      })
    })

    it('names an unsupported field', async () => {
      const configMaps = await ask(server(), `${path}?fieldSelector=data.a%3Db`)
      expect(configMaps.json.message).toBe(
        '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
      )
      const pods = await ask(server(), '/api/v1/pods?fieldSelector=spec.foo%3Db')
      expect(pods.json.message).toBe('field label not supported: spec.foo')
    })

    it.concurrent.each(['', '&resourceVersionMatch=Exact', '&resourceVersionMatch=NotOlderThan'])(
      'a resource version of the future%s: 504',
      async (match) => {
        const answer = await ask(server(), `${path}?resourceVersion=99999999${match}`)
        expect(answer.status).toBe(504)
        expect(answer.headers['retry-after']).toBe('1')
        expect(answer.json).toMatchObject({
          reason: 'Timeout',
          details: {
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          },
        })
        expect(answer.json.message).toMatch(
          /^Timeout: Too large resource version: 99999999, current: \d+$/,
        )
      },
    )

    it('a resource version next to a continue token: 400', async () => {
      const first = await list('?limit=1')
      const token = encodeURIComponent(first.metadata.continue)
      const answer = await ask(server(), `${path}?limit=1&continue=${token}&resourceVersion=5`)
      expect(answer.status).toBe(400)
      expect(answer.json.message).toBe(
        'specifying resource version is not allowed when using continue',
      )
    })
  })

  describe('once its history is gone', () => {
    let token = ''
    let resourceVersion = ''
    beforeAll(async () => {
      const first = await list('?limit=2')
      token = encodeURIComponent(first.metadata.continue)
      resourceVersion = first.metadata.resourceVersion
      await newConfigMap(server(), namespace, 'later')
      await server().expireHistory()
    })

    it('answers an old continue token with 410 and a token that goes on from now', async () => {
      const answer = await ask(server(), `${path}?limit=2&continue=${token}`)
      expect(answer.status).toBe(410)
      expect(answer.json).toMatchObject({ reason: 'Expired', code: 410, status: 'Failure' })
      expect(answer.json.message).toMatch(/^The provided continue parameter is too old/)
      const next = encodeURIComponent(answer.json.metadata.continue)
      const rest = await ask(server(), `${path}?continue=${next}`)
      expect(names(rest.json)).toEqual(['c', 'd', 'e', 'later'])
    })

    it.each(['resourceVersionMatch=Exact', 'limit=1'])(
      'answers an old resource version with 410: %s',
      async (more) => {
        const answer = await ask(server(), `${path}?resourceVersion=${resourceVersion}&${more}`)
        expect(answer.status).toBe(410)
        expect(answer.json).toMatchObject({
          reason: 'Expired',
          message: 'The resourceVersion for the provided list is too old.',
        })
      },
    )

    it('still answers where any newer state will do', async () => {
      const answer = await ask(server(), `${path}?resourceVersion=${resourceVersion}`)
      expect(names(answer.json)).toContain('later')
    })
  })
})
