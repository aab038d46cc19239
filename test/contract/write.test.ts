import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
  sendTo,
} from './contract-server.ts'

const mergePatch = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const strategicMergePatch = 'application/strategic-merge-patch+json'

describeContract('Writes', (server) => {
  let namespace = ''
  let path = ''

  beforeAll(async () => {
    namespace = await newNamespace(server())
    path = `/api/v1/namespaces/${namespace}/configmaps`
  })

  const send = sendTo(server)
  const make = async (name: string, more: object = {}): Promise<Fields> =>
    newConfigMap(server(), namespace, name, more)

  describe('POST', () => {
    it('fills in what only the server knows', async () => {
      const answer = await send('POST', path, { metadata: { name: 'created' }, data: { a: '1' } })
      expect(answer.status).toBe(201)
      expect(answer.json).toMatchObject({
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'created', namespace },
        data: { a: '1' },
      })
      const { uid, resourceVersion, creationTimestamp } = answer.json.metadata
      expect(uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      expect(resourceVersion).toMatch(/^[1-9]\d*$/)
      expect(creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect((await ask(server(), `${path}/created`)).json).toEqual(answer.json)
    })

    it('makes a name from a prefix', async () => {
      const answer = await send('POST', path, { metadata: { generateName: 'made-' } })
      expect(answer.json.metadata.name).toMatch(/^made-[a-z0-9]{5}$/)
      expect(answer.json.metadata.generateName).toBe('made-')
    })

    it('stores nothing in a dry run', async () => {
      const answer = await send('POST', `${path}?dryRun=All`, { metadata: { name: 'dry' } })
      expect(answer.status).toBe(201)
      expect((await ask(server(), `${path}/dry`)).status).toBe(404)
    })

    it('labels a namespace with its name', async () => {
      const { json } = await ask(server(), `/api/v1/namespaces/${namespace}`)
      expect(json.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': namespace })
      expect(json.status).toEqual({ phase: 'Active' })
    })

    it('refuses a name that is taken', async () => {
      await make('taken')
      const answer = await send('POST', path, { metadata: { name: 'taken' } })
      expect(answer.status).toBe(409)
      expect(answer.json).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "taken" already exists',
        reason: 'AlreadyExists',
        details: { name: 'taken', kind: 'configmaps' },
        code: 409,
      })
    })

    it('refuses a namespace that is not there', async () => {
      const answer = await send('POST', '/api/v1/namespaces/nowhere/configmaps', {
        metadata: { name: 'a' },
      })
      expect(answer.status).toBe(404)
      expect(answer.json.message).toBe('namespaces "nowhere" not found')
    })

    it.each([
      [{ metadata: { name: 'a', namespace: 'other' } }, 400, 'BadRequest'],
      [{ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }, 400, 'BadRequest'],
      [{ kind: 'ConfigMap', apiVersion: 'v9', metadata: { name: 'a' } }, 400, 'BadRequest'],
      [[], 400, 'BadRequest'],
      ['{"metadata":', 400, 'BadRequest'],
      [{ metadata: { name: 'Bad_Name' } }, 422, 'Invalid'],
      [{ metadata: {} }, 422, 'Invalid'],
      [{ metadata: { name: 'a', resourceVersion: '5' } }, 500, undefined],
    ])('refuses %j: %i', async (body, code, reason) => {
      const answer = await send('POST', path, body)
      expect(answer.status).toBe(code)
      expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code })
      expect(answer.json.reason).toBe(reason)
    })

    it('says which field is invalid', async () => {
      const { json } = await send('POST', path, { metadata: { name: 'Bad_Name' } })
      expect(json.details).toMatchObject({
        name: 'Bad_Name',
        kind: 'ConfigMap',
        causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }],
      })
      expect(json.message).toMatch(
        /^ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase/,
      )
    })

    it('refuses media types that it cannot read', async () => {
      const answer = await send('POST', path, 'a', 'application/foo')
      expect(answer.status).toBe(415)
      expect(answer.json.reason).toBe('UnsupportedMediaType')
    })
  })

  describe('PUT', () => {
    it('replaces at the version that was read, and at any where none is given', async () => {
      const first = await make('replaced')
      const second = await send('PUT', `${path}/replaced`, { ...first, data: { a: '2' } })
      expect(second.status).toBe(200)
      expect(second.json.data).toEqual({ a: '2' })
      expect(Number(second.json.metadata.resourceVersion)).toBeGreaterThan(
        Number(first.metadata.resourceVersion),
      )
      expect(second.json.metadata.uid).toBe(first.metadata.uid)
      const third = await send('PUT', `${path}/replaced`, {
        metadata: { name: 'replaced' },
        data: { b: '3' },
      })
      expect(third.json.data).toEqual({ b: '3' })
      expect(third.json.metadata.creationTimestamp).toBe(first.metadata.creationTimestamp)
    })

    it('refuses a version that is no longer current', async () => {
      const first = await make('contended')
      await send('PUT', `${path}/contended`, { ...first, data: { a: '2' } })
      const answer = await send('PUT', `${path}/contended`, { ...first, data: { a: '3' } })
      expect(answer.status).toBe(409)
      expect(answer.json).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message:
          'Operation cannot be fulfilled on configmaps "contended": the object has been modified; please apply your changes to the latest version and try again',
        reason: 'Conflict',
        details: { name: 'contended', kind: 'configmaps' },
        code: 409,
      })
    })

    it('writes nothing where nothing changes', async () => {
      const first = await make('same')
      const again = await send('PUT', `${path}/same`, {
        metadata: { name: 'same' },
        data: { a: '1' },
      })
      expect(again.json.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    })

    it.each([
      [{ metadata: { name: 'other' } }, 400, 'BadRequest'],
      [{ metadata: {} }, 400, 'BadRequest'],
      [{ metadata: { name: 'put', uid: 'another' } }, 409, 'Conflict'],
    ])('refuses %j: %i', async (body, code, reason) => {
      await send('POST', path, { metadata: { name: 'put' } })
      const answer = await send('PUT', `${path}/put`, body)
      expect(answer.status).toBe(code)
      expect(answer.json.reason).toBe(reason)
    })

    it('refuses an object that is not there', async () => {
      const answer = await send('PUT', `${path}/absent`, { metadata: { name: 'absent' } })
      expect(answer.status).toBe(404)
      expect(answer.json.message).toBe('configmaps "absent" not found')
    })
  })

  describe('PATCH', () => {
    it('merges (RFC 7396): null removes', async () => {
      await make('merged', { data: { a: '1', b: '2' } })
      const answer = await send(
        'PATCH',
        `${path}/merged`,
        { data: { a: null, c: '3' } },
        mergePatch,
      )
      expect(answer.status).toBe(200)
      expect(answer.json.data).toEqual({ b: '2', c: '3' })
    })

    it('takes a resource version in the patch for a condition', async () => {
      await make('conditional')
      const answer = await send(
        'PATCH',
        `${path}/conditional`,
        { metadata: { resourceVersion: '1' } },
        mergePatch,
      )
      expect(answer.status).toBe(409)
      expect(answer.json.reason).toBe('Conflict')
    })

    it('applies the operations of a JSON patch (RFC 6902), all or none', async () => {
      await make('operated', {
        data: { a: '1' },
        annotations: { 'example.com/x': '2', 'example.com/y': '2' },
      })
      const operations = [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'move', from: '/data/a', path: '/data/b' },
        { op: 'replace', path: '/metadata/annotations/example.com~1x', value: '3' },
        { op: 'remove', path: '/metadata/annotations/example.com~1y' },
        { op: 'add', path: '/data/c', value: '4' },
      ]
      const answer = await send('PATCH', `${path}/operated`, operations, jsonPatch)
      expect(answer.json.data).toEqual({ b: '1', c: '4' })
      expect(answer.json.metadata.annotations).toEqual({ 'example.com/x': '3' })
      const failing = [
        { op: 'remove', path: '/data/c' },
        { op: 'test', path: '/data/b', value: 'other' },
      ]
      expect((await send('PATCH', `${path}/operated`, failing, jsonPatch)).status).toBe(422)
      expect((await ask(server(), `${path}/operated`)).json.data).toHaveProperty('c')
    })

    it.each([
      [[{ op: 'remove', path: '/data/nope' }], jsonPatch, 422, 'Invalid'],
      [[{ op: 'unheard', path: '/data/a' }], jsonPatch, 422, 'Invalid'],
      [{ op: 'add' }, jsonPatch, 400, 'BadRequest'],
      ['{"data":', mergePatch, 400, 'BadRequest'],
      [{ metadata: { name: 'other' } }, mergePatch, 400, 'BadRequest'],
      [{ data: {} }, 'application/json', 415, 'UnsupportedMediaType'],
    ])('refuses %j as %s: %i', async (body, type, code, reason) => {
      await send('POST', path, { metadata: { name: 'patched' } })
      const answer = await send('PATCH', `${path}/patched`, body, type)
      expect(answer.status).toBe(code)
      expect(answer.json.reason).toBe(reason)
    })

    it('merges lists by key in a strategic merge patch', async () => {
      const pods = `/api/v1/namespaces/${namespace}/pods`
      const containers = [
        { name: 'a', image: 'a:1' },
        { name: 'b', image: 'b:1' },
      ]
      await send('POST', pods, { metadata: { name: 'strategic' }, spec: { containers } })
      const change = { spec: { containers: [{ name: 'b', image: 'b:2' }] } }
      const answer = await send('PATCH', `${pods}/strategic`, change, strategicMergePatch)
      const images = answer.json.spec.containers.map(
        ({ name, image }: Fields) => `${name} ${image}`,
      )
      expect(images).toEqual(['a a:1', 'b b:2'])
    })

    it('answers 404 for an object that is not there', async () => {
      expect((await send('PATCH', `${path}/absent`, {}, mergePatch)).status).toBe(404)
    })
  })

  describe('status and generation', () => {
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }
    const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template }

    it('keeps status and the rest apart, and counts changes of the rest', async () => {
      const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
      const created = await send('POST', deployments, {
        metadata: { name: 'counted' },
        spec,
        status: { replicas: 9 },
      })
      expect(created.json.metadata.generation).toBe(1)
      expect(created.json.status.replicas).toBeUndefined()
      const at = `${deployments}/counted`

      const status = { spec: { replicas: 7 }, status: { observedGeneration: 1, replicas: 1 } }
      const reported = await send('PATCH', `${at}/status`, status, mergePatch)
      expect(reported.json.status).toMatchObject({ observedGeneration: 1, replicas: 1 })
      expect(reported.json.spec.replicas).toBe(1)
      expect(reported.json.metadata.generation).toBe(1)

      const scaled = await send(
        'PATCH',
        at,
        { spec: { replicas: 3 }, status: { replicas: 8 } },
        mergePatch,
      )
      expect(scaled.json.spec.replicas).toBe(3)
      expect(scaled.json.status.replicas).toBe(1)
      expect(scaled.json.metadata.generation).toBe(2)

      const labelled = await send('PATCH', at, { metadata: { labels: { x: 'y' } } }, mergePatch)
      expect(labelled.json.metadata.generation).toBe(2)
      expect((await ask(server(), `${at}/status`)).json).toEqual(labelled.json)
    })

    it('has no status where the kind has none', async () => {
      await make('plain')
      const answer = await ask(server(), `${path}/plain/status`)
      expect(answer.status).toBe(404)
      expect(answer.json.message).toBe('the server could not find the requested resource')
    })
  })

  describe('DELETE', () => {
    it('says what is gone', async () => {
      const { metadata } = await make('gone')
      const answer = await send('DELETE', `${path}/gone`)
      expect(answer.status).toBe(200)
      expect(answer.json).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'gone', kind: 'configmaps', uid: metadata.uid },
      })
      const again = await send('DELETE', `${path}/gone`)
      expect(again.status).toBe(404)
      expect(again.json).toMatchObject({
        message: 'configmaps "gone" not found',
        reason: 'NotFound',
        details: { name: 'gone', kind: 'configmaps' },
      })
    })

    it('answers with the pod where it deletes one', async () => {
      const pods = `/api/v1/namespaces/${namespace}/pods`
      await send('POST', pods, {
        metadata: { name: 'p' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      })
      const answer = await send('DELETE', `${pods}/p`)
      expect(answer.json).toMatchObject({
        kind: 'Pod',
        metadata: { name: 'p', deletionGracePeriodSeconds: 0 },
      })
      expect((await ask(server(), `${pods}/p`)).status).toBe(404)
    })

    it.each([{ uid: 'another' }, { resourceVersion: '1' }])(
      'refuses where %j is not so',
      async (preconditions) => {
        const { metadata } = await make(`kept-${Object.keys(preconditions)[0]?.toLowerCase()}`)
        const at = `${path}/${metadata.name}`
        const answer = await send('DELETE', at, { preconditions })
        expect(answer.status).toBe(409)
        expect(answer.json).toMatchObject({
          reason: 'Conflict',
          details: { name: metadata.name, kind: 'ConfigMap' },
        })
        expect((await ask(server(), at)).status).toBe(200)
      },
    )

    it('waits for finalizers', async () => {
      await make('held', { finalizers: ['example.com/hold'] })
      const at = `${path}/held`
      const marked = await send('DELETE', at)
      expect(marked.status).toBe(200)
      expect(marked.json).toMatchObject({
        kind: 'ConfigMap',
        metadata: { deletionGracePeriodSeconds: 0 },
      })
      expect(marked.json.metadata.deletionTimestamp).toBeTypeOf('string')
      expect((await send('DELETE', at)).json).toEqual(marked.json)

      const taken = await send('POST', path, { metadata: { name: 'held' } })
      expect(taken.json.message).toBe('object is being deleted: configmaps "held" already exists')
      const added = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }
      expect((await send('PATCH', at, added, mergePatch)).status).toBe(422)

      const released = await send('PATCH', at, { metadata: { finalizers: null } }, mergePatch)
      expect(released.status).toBe(200)
      expect((await ask(server(), at)).status).toBe(404)
    })

    it('deletes what a selector selects, and answers with it', async () => {
      await make('set-1', { labels: { set: 'x' } })
      await make('set-2', { labels: { set: 'x' } })
      await make('set-3', { labels: { set: 'y' } })
      const answer = await send('DELETE', `${path}?labelSelector=set%3Dx`)
      expect(answer.json.kind).toBe('ConfigMapList')
      expect(answer.json.items.map(({ metadata }: Fields) => metadata.name)).toEqual([
        'set-1',
        'set-2',
      ])
      const left = await ask(server(), `${path}?labelSelector=set`)
      expect(left.json.items.map(({ metadata }: Fields) => metadata.name)).toEqual(['set-3'])
    })

    it('marks a namespace that is to end, and lets nothing new in', async () => {
      const ending = await newNamespace(server())
      const answer = await send('DELETE', `/api/v1/namespaces/${ending}`)
      expect(answer.json.status.phase).toBe('Terminating')
      const late = await send('POST', `/api/v1/namespaces/${ending}/configmaps`, {
        metadata: { name: 'late' },
      })
      expect(late.status).toBe(403)
      expect(late.json).toMatchObject({
        reason: 'Forbidden',
        details: { causes: [{ reason: 'NamespaceTerminating' }] },
      })
    })
  })
})
