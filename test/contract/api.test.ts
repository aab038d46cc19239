import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
} from './contract-server.ts'

const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`

describeContract('The API about itself', (server) => {
  const get = async (path: string, accept?: string): Promise<Fields> =>
    (await ask(server(), path, accept === undefined ? {} : { accept })).json

  it.each(['/healthz', '/readyz', '/livez'])('%s is ok', async (path) => {
    const answer = await ask(server(), path)
    expect([answer.status, answer.text]).toEqual([200, 'ok'])
  })

  it('tells its version', async () => {
    expect(await get('/version')).toMatchObject({ major: '1', minor: '36' })
  })

  it('lists versions and groups', async () => {
    expect(await get('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
    const groups = await get('/apis')
    expect(groups).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' })
    const apps = groups.groups.find(({ name }: Fields) => name === 'apps')
    expect(apps.preferredVersion).toEqual({ groupVersion: 'apps/v1', version: 'v1' })
    expect(await get('/apis/apps')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...apps })
  })

  it('lists the resources of a version', async () => {
    const core = await get('/api/v1')
    expect(core).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
    const named = (name: string): Fields => core.resources.find((one: Fields) => one.name === name)
    expect(named('pods')).toMatchObject({
      singularName: 'pod',
      namespaced: true,
      kind: 'Pod',
      shortNames: ['po'],
    })
    expect(named('pods').verbs).toContain('watch')
    expect(named('pods/status').verbs).toEqual(['get', 'patch', 'update'])
    expect(named('nodes').namespaced).toBe(false)
    expect(await get('/apis/apps/v1')).toMatchObject({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'apps/v1',
    })
  })

  it('gives aggregated discovery to who asks for it, and the plain one otherwise', async () => {
    const answer = await ask(server(), '/apis', { accept: `${aggregated('v2')},application/json` })
    expect(answer.headers['content-type']).toBe(aggregated('v2'))
    expect(answer.headers.etag).toMatch(/^"[0-9A-F]+"$/)
    expect(answer.json).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
    })
    const apps = answer.json.items.find(({ metadata }: Fields) => metadata.name === 'apps')
    const deployments = apps.versions[0].resources.find(
      ({ resource }: Fields) => resource === 'deployments',
    )
    expect(deployments).toMatchObject({
      responseKind: { kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
    })
    expect((await get('/api', aggregated('v2'))).items).toHaveLength(1)
    expect((await get('/apis', `${aggregated('v9')},application/json`)).kind).toBe('APIGroupList')
    expect((await ask(server(), '/apis', { accept: aggregated('v9') })).status).toBe(406)
    expect((await ask(server(), '/apis', { accept: 'text/html' })).status).toBe(406)
    const known = { 'if-none-match': answer.headers.etag ?? '' }
    const again = await ask(server(), '/apis', { accept: aggregated('v2'), headers: known })
    expect(again.status).toBe(304)
  })

  it('serves OpenAPI v3, a document for each version under its hash', async () => {
    const { paths } = await get('/openapi/v3')
    const { serverRelativeURL: url } = paths['apis/apps/v1']
    expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/)
    const answer = await ask(server(), url)
    expect(answer.status).toBe(200)
    const hash = createHash('sha512').update(answer.text).digest('hex').toUpperCase()
    expect(url.endsWith(`?hash=${hash}`)).toBe(true)
    const schema = answer.json.components.schemas['io.k8s.api.apps.v1.Deployment']
    expect(Object.keys(schema.properties)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
      'status',
    ])
    expect((await ask(server(), '/openapi/v3/api/v9')).status).toBe(404)
  })

  describe('says what is not there', () => {
    const missing = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'the server could not find the requested resource',
      reason: 'NotFound',
      details: {},
      code: 404,
    }

    it.each([
      '/api/v9',
      '/api/v1/widgets',
      '/api/v1/namespaces/default/widgets',
      '/apis/apps/v1/widgets',
      '/api/v1/configmaps/a',
    ])('%s: a Status', async (path) => {
      const answer = await ask(server(), path)
      expect(answer.status).toBe(404)
      expect(answer.json).toEqual(missing)
    })

    it.each(['/nothing', '/apis/nothing', '/apis/nothing/v1', '/apis/nothing/v1/widgets'])(
      '%s: plain text',
      async (path) => {
        const answer = await ask(server(), path)
        expect([answer.status, answer.text]).toEqual([404, '404 page not found\n'])
      },
    )

    it('names the missing object', async () => {
      const answer = await get('/apis/apps/v1/namespaces/default/deployments/none')
      expect(answer).toMatchObject({
        message: 'deployments.apps "none" not found',
        details: { name: 'none', group: 'apps', kind: 'deployments' },
      })
      expect((await get('/api/v1/nodes/none')).message).toBe('nodes "none" not found')
    })

    it.each([
      ['PUT', '/api/v1/namespaces/default/configmaps'],
      ['POST', '/api/v1/namespaces/default/configmaps/a'],
      ['POST', '/api/v1/configmaps'],
      ['OPTIONS', '/api/v1/configmaps'],
    ])('%s %s: not allowed', async (method, path) => {
      const answer = await ask(server(), path, { method, body: {} })
      expect(answer.status).toBe(405)
      expect(answer.json).toMatchObject({ reason: 'MethodNotAllowed', details: {}, code: 405 })
    })
  })

  describe('GET', () => {
    let path = ''
    beforeAll(async () => {
      const namespace = await newNamespace(server())
      path = `/api/v1/namespaces/${namespace}/configmaps/a`
      await newConfigMap(server(), namespace, 'a', { labels: { x: 'y' } })
    })

    it('answers with the whole object, or with its metadata', async () => {
      expect(await get(path)).toMatchObject({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        data: { a: '1' },
      })
      const metadata = await get(
        path,
        'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      )
      expect(metadata).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', labels: { x: 'y' } },
      })
      expect(Object.keys(metadata)).toHaveLength(3)
    })

    it('refuses to show one object as a list', async () => {
      const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
      expect((await ask(server(), path, { accept })).status).toBe(406)
    })
  })

  it('serves one event in both of its versions', async () => {
    const namespace = await newNamespace(server())
    const body = {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace, name: 'p' },
      reason: 'Seen',
      message: 'it was seen',
      source: { component: 'test' },
      type: 'Normal',
      count: 3,
    }
    await ask(server(), `/api/v1/namespaces/${namespace}/events`, { method: 'POST', body })
    const other = await get(`/apis/events.k8s.io/v1/namespaces/${namespace}/events/e`)
    expect(other).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod', name: 'p' },
      note: 'it was seen',
      deprecatedSource: { component: 'test' },
      deprecatedCount: 3,
    })
    const selected = await get(
      `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.name%3Dp,source%3Dtest`,
    )
    expect(selected.items).toHaveLength(1)
  })

  it('lists every resource that has the verb', async () => {
    const lists = [await get('/api/v1'), ...(await versions())]
    for (const { groupVersion, resources } of lists) {
      const prefix = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`
      for (const { name, kind, verbs } of resources) {
        if (!verbs.includes('list')) continue
        const list = await get(`${prefix}/${name}?limit=1`)
        expect(list).toMatchObject({ kind: `${kind}List`, apiVersion: groupVersion })
      }
    }
  })

  const versions = async (): Promise<Fields[]> => {
    const { groups } = await get('/apis')
    const paths = groups.flatMap((group: Fields) =>
      group.versions.map((one: Fields) => one.groupVersion),
    )
    return Promise.all(paths.map(async (path: string) => get(`/apis/${path}`)))
  }
})
