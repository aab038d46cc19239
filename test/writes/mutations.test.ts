import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeAccess } from '../access/access-cluster.ts'
import { firstAnswer, type GatewayCaller, type ServedGateway } from '../support/gateway.ts'
import {
  after,
  apps,
  batch,
  core,
  guardPod,
  idOf,
  namespace,
  populateShop,
  refused,
  Reports,
  serveShop,
  write,
  written,
} from './shop.ts'

const at = (name: string): string => `(namespace: "${namespace}", name: "${name}")`
const configMap = (name: string, data: object, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
  data,
})
const apply = `apply(manifest: $manifest, namespace: "${namespace}"`

describeAccess('mutations, made as the caller', (cluster, isReal) => {
  let gateway: ServedGateway
  let ann: GatewayCaller
  let ben: GatewayCaller
  const reports = new Reports()
  beforeAll(async () => {
    await populateShop(cluster())
    gateway = await serveShop(cluster(), { audit: reports })
    ann = gateway.as('ann-token')
    ben = gateway.as('ben-token')
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const applied = async (manifest: unknown, more = ''): Promise<unknown> =>
    written(ann, `${apply}${more})`, { manifest })

  describe('apply', () => {
    it('reads YAML as kubectl does', async () => {
      const template = `{metadata: {labels: {app: octal}, annotations: {on: "2026-01-01"}}, spec: {containers: [{name: main, image: a}]}}`
      const spec = `{replicas: 010, selector: {matchLabels: {app: octal}}, template: ${template}}`
      const manifest = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: octal}, spec: ${spec}}`
      const [octal] = (await applied(manifest, ', dryRun: true')) as readonly never[]
      expect(octal).toMatchObject({ preview: { json: { spec: { replicas: 8 } } } })
    })

    it('creates and changes several documents, and names each field with its former manager', async () => {
      const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: "1"}\n---\n# none\n---\n${JSON.stringify(configMap('two', { b: '2' }))}`
      const [one, two] = (await applied(manifest)) as readonly never[]
      expect(after(one)).toMatchObject({ '/data/a': '1', '/metadata/name': 'one' })
      expect(two).toMatchObject({
        object: { name: 'two', namespace, json: { data: { b: '2' } } },
        dryRun: false,
        behind: false,
      })
      const [again] = (await applied(configMap('one', { a: '2', c: '3' }))) as readonly never[]
      expect(again).toMatchObject({
        changes: [
          { path: '/data/a', before: '1', after: '2', manager: 'informerql', masked: false },
          { path: '/data/c', before: null, after: '3', manager: null },
        ],
      })
      const { json } = await cluster().ask(`${core}/configmaps/one`)
      expect(json.data).toEqual({ a: '2', c: '3' })
      expect(json.metadata.managedFields).toMatchObject([
        { manager: 'informerql', operation: 'Apply' },
      ])
    })

    it('is a CONFLICT with each manager and field where others own them, unless it is forced', async () => {
      await applied(configMap('held', { a: '1', b: '1' }))
      const other = { manifest: configMap('held', { a: '2', b: '2' }) }
      const error = await refused(ann, `${apply}, fieldManager: "other")`, other)
      expect(error).toMatchObject({
        code: 'CONFLICT',
        path: ['apply', 0],
        type: 'ConfigMap',
        conflicts: [
          { manager: 'informerql', field: '.data.a', subresource: null },
          { manager: 'informerql', field: '.data.b', subresource: null },
        ],
      })
      const [forced] = await written(ann, `${apply}, fieldManager: "other", force: true)`, other)
      expect(forced.changes).toMatchObject([{ manager: 'informerql' }, { manager: 'informerql' }])
    })

    it('answers each document apart: one that fails does not stop the others', async () => {
      const manifest = [
        configMap('fine', {}),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'No Name' } },
        { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { name: 'x' } },
        configMap('fine-too', {}),
      ]
      const { data, errors } = await write(ann, `${apply})`, { manifest })
      expect(data.apply.map((one: unknown) => one !== null)).toEqual([true, false, false, true])
      expect(errors).toMatchObject([
        {
          path: ['apply', 1],
          extensions: { code: 'INVALID', causes: [{ field: 'metadata.name' }] },
        },
        { path: ['apply', 2], extensions: { code: 'BAD_USER_INPUT', argument: 'manifest' } },
      ])
    })

    it('stores nothing as a dry run, and shows what it would store', async () => {
      const manifest = configMap('dry', { a: '1' })
      const [dry] = await written(ann, `${apply}, dryRun: true)`, { manifest })
      expect(dry).toMatchObject({
        dryRun: true,
        behind: false,
        object: null,
        preview: { kind: 'ConfigMap', name: 'dry', namespace, json: { data: { a: '1' } } },
      })
      expect((await cluster().ask(`${core}/configmaps/dry`)).status).toBe(404)
    })

    it('refuses unknown fields unless it is told to warn of them', async () => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'odd' },
        spec: { containers: [{ name: 'a', image: 'a' }], colour: 'red' },
      }
      const create = `create(manifest: $manifest, namespace: "${namespace}"`
      const strict = await refused(ann, `${create})`, { manifest: pod })
      expect(strict).toMatchObject({ code: 'BAD_USER_INPUT' })
      expect(strict.message).toContain('unknown field "spec.colour"')
      const warned = await written(ann, `${create}, fieldValidation: WARN)`, { manifest: pod })
      // The simulator keeps unknown fields of built-in kinds.
      expect(warned.warnings).toEqual(isReal ? ['unknown field "spec.colour"'] : [])
    })
  })

  it('create makes one object, and is ALREADY_EXISTS where there is one', async () => {
    const create = `create(manifest: $manifest, namespace: "${namespace}")`
    const manifest = configMap('made', { a: '1' })
    const made = await written(ann, create, { manifest })
    expect(made).toMatchObject({ object: { name: 'made' }, changes: expect.any(Array) })
    expect(await refused(ann, create, { manifest })).toMatchObject({ code: 'ALREADY_EXISTS' })
    const generated = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'made-' } }
    expect((await written(ann, create, { manifest: generated })).object.name).toMatch(/^made-./)
  })

  describe('of one object', () => {
    const objectOf = async (path: string): Promise<never> => (await cluster().must(path)) as never

    it('patch, in three formats', async () => {
      await applied(configMap('patched', { a: '1', b: '2' }))
      const id = await idOf(ann, `configMap${at('patched')}`)
      const patch = `patch(id: "${id}", type:`
      expect(after(await written(ann, `${patch} MERGE, patch: { data: { a: null } })`))).toEqual({
        '/data/a': null,
      })
      const steps = [{ op: 'add', path: '/data/c', value: '3' }]
      await written(ann, `${patch} JSON, patch: $steps)`, { steps })
      await written(ann, `${patch} STRATEGIC, patch: "data: {d: '4'}")`)
      expect(await objectOf(`${core}/configmaps/patched`)).toMatchObject({
        data: { b: '2', c: '3', d: '4' },
      })
    })

    it('scale, by the subresource', async () => {
      const id = await idOf(ann, `deployment${at('web')}`)
      const dry = await written(ann, `scale(id: "${id}", replicas: 5, dryRun: true)`)
      expect([after(dry), dry.object, dry.preview.json.spec.replicas]).toEqual([
        { '/spec/replicas': 5 },
        null,
        5,
      ])
      const scaled = await written(ann, `scale(id: "${id}", replicas: 4)`)
      expect(scaled).toMatchObject({
        preview: null,
        object: { json: { spec: { replicas: 4 } } },
        behind: false,
      })
      expect(await refused(ann, `scale(id: "${id}", replicas: -1)`)).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'replicas',
      })
    })

    it.each(['deployment', 'statefulSet', 'daemonSet'])('restart of a %s', async (kind) => {
      const id = await idOf(ann, `${kind}${at('web')}`)
      const restarted = await written(ann, `restart(id: "${id}")`)
      const changes = Object.entries(after(restarted))
      const [, value] = changes.find(([path]) => path.startsWith('/spec/template/metadata')) ?? []
      expect(JSON.stringify(value)).toMatch(/\d{4}-\d\d-\d\dT/)
    })

    it('pauseRollout and resumeRollout; a paused one is not restarted', async () => {
      const id = await idOf(ann, `deployment${at('web')}`)
      const paused = await written(ann, `pauseRollout(id: "${id}")`)
      expect(after(paused)).toEqual({ '/spec/paused': true })
      expect(await refused(ann, `restart(id: "${id}")`)).toMatchObject({
        code: 'BAD_USER_INPUT',
        hint: 'resume it first: resumeRollout',
      })
      expect(after(await written(ann, `resumeRollout(id: "${id}")`))).toEqual({
        '/spec/paused': null,
      })
    })

    it('rollback to an earlier revision', async () => {
      const { metadata, spec } = (await objectOf(`${apps}/deployments/web`)) as {
        metadata: { uid: string }
        spec: { selector: object; template: { spec: object } }
      }
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', controller: true }
      for (const revision of [1, 2, 3]) {
        const labels = { app: 'web', 'pod-template-hash': `h${revision}` }
        const containers = [{ name: 'main', image: `web:v${revision}` }]
        await cluster().must(`${apps}/replicasets`, {
          method: 'POST',
          body: {
            metadata: {
              name: `web-${revision}`,
              labels,
              annotations: { 'deployment.kubernetes.io/revision': `${revision}` },
              ownerReferences: [{ ...owner, uid: metadata.uid }],
            },
            spec: {
              replicas: 0,
              selector: { matchLabels: labels },
              template: { metadata: { labels }, spec: { containers } },
            },
          },
        })
      }
      expect(spec.template.spec).toBeDefined()
      const id = await idOf(ann, `deployment${at('web')}`)
      const back = await written(ann, `rollback(id: "${id}", toRevision: 1)`)
      const { template } = back.object.json.spec
      expect(template.spec.containers).toMatchObject([{ name: 'main', image: 'web:v1' }])
      expect(template.metadata.labels).toEqual({ app: 'web' })
      const previous = await written(ann, `rollback(id: "${id}", dryRun: true)`)
      expect(previous.preview.json.spec.template.spec.containers[0].image).toBe('web:v2')
      expect(await refused(ann, `rollback(id: "${id}", toRevision: 9)`)).toMatchObject({
        code: 'NOT_FOUND',
        argument: 'toRevision',
        hint: 'there are 3, 2, 1',
      })
    })

    it('rollback finds revisions by expressions, and sets annotations one by one', async () => {
      const labels = { app: 'expressed', tier: 'front' }
      const matchExpressions = [
        { key: 'app', operator: 'In', values: ['expressed', 'other'] },
        { key: 'tier', operator: 'Exists' },
        { key: 'canary', operator: 'DoesNotExist' },
      ]
      const template = (image: string): object => ({
        metadata: { labels },
        spec: { containers: [{ name: 'main', image }] },
      })
      const { metadata } = await cluster().must(`${apps}/deployments`, {
        method: 'POST',
        body: {
          metadata: { name: 'expressed', annotations: { 'example.com/kept': 'yes' } },
          spec: { replicas: 0, selector: { matchExpressions }, template: template('web:v2') },
        },
      })
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'expressed' }
      for (const revision of [1, 2]) {
        const annotations = {
          'deployment.kubernetes.io/revision': `${revision}`,
          'example.com/of.revision': `${revision}`,
        }
        await cluster().must(`${apps}/replicasets`, {
          method: 'POST',
          body: {
            metadata: {
              name: `expressed-${revision}`,
              labels,
              annotations,
              ownerReferences: [{ ...owner, uid: metadata.uid, controller: true }],
            },
            spec: {
              replicas: 0,
              selector: { matchLabels: labels },
              template: template(`web:v${revision}`),
            },
          },
        })
      }
      const id = await idOf(ann, `deployment${at('expressed')}`)
      const back = await written(ann, `rollback(id: "${id}", toRevision: 1)`)
      expect(after(back)).toMatchObject({
        '/metadata/annotations/example.com~1of.revision': '1',
        '/spec/template/spec/containers/0/image': 'web:v1',
      })
      expect(back.object.json.metadata.annotations).toMatchObject({ 'example.com/kept': 'yes' })
    })

    it('rollback of a StatefulSet, by its ControllerRevisions', async () => {
      const { metadata } = (await objectOf(`${apps}/statefulsets/web`)) as {
        metadata: { uid: string }
      }
      for (const revision of [1, 2]) {
        const container = { name: 'main', image: `set:v${revision}`, imagePullPolicy: 'Always' }
        await cluster().must(`${apps}/controllerrevisions`, {
          method: 'POST',
          body: {
            metadata: {
              name: `web-r${revision}`,
              labels: { app: 'web' },
              ownerReferences: [
                {
                  apiVersion: 'apps/v1',
                  kind: 'StatefulSet',
                  name: 'web',
                  uid: metadata.uid,
                  controller: true,
                },
              ],
            },
            data: {
              spec: {
                template: {
                  $patch: 'replace',
                  metadata: { labels: { app: 'web' } },
                  spec: { containers: [container] },
                },
              },
            },
            revision,
          },
        })
      }
      const id = await idOf(ann, `statefulSet${at('web')}`)
      const { object } = await written(ann, `rollback(id: "${id}")`)
      expect(object.json.spec.template.spec.containers).toMatchObject([{ image: 'set:v1' }])
    })

    it('suspend, resume and runNow of a CronJob', async () => {
      const id = await idOf(ann, `cronJob${at('nightly')}`)
      expect(after(await written(ann, `suspend(id: "${id}")`))).toEqual({ '/spec/suspend': true })
      expect(after(await written(ann, `resume(id: "${id}")`))).toEqual({ '/spec/suspend': false })
      const { object } = await written(ann, `runNow(id: "${id}", name: "now")`)
      expect(object.json).toMatchObject({
        kind: 'Job',
        metadata: {
          name: 'now',
          labels: { from: 'nightly' },
          annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
          ownerReferences: [{ kind: 'CronJob', name: 'nightly', controller: true }],
        },
      })
      expect((await cluster().ask(`${batch}/jobs/now`)).status).toBe(200)
    })

    it('cordon and uncordon', async () => {
      const id = await idOf(ann, 'node(name: "worker")')
      expect(after(await written(ann, `cordon(id: "${id}")`))).toMatchObject({
        '/spec/unschedulable': true,
      })
      const { object } = await written(ann, `uncordon(id: "${id}")`)
      expect(object.json.spec?.unschedulable).toBeUndefined()
    })

    it('setImage of a container, which has to be there', async () => {
      const id = await idOf(ann, `daemonSet${at('web')}`)
      const set = await written(ann, `setImage(id: "${id}", container: "side", image: "side:2")`)
      expect(after(set)).toMatchObject({ '/spec/template/spec/containers/1/image': 'side:2' })
      const missing = `setImage(id: "${id}", container: "none", image: "x")`
      expect(await refused(ann, missing)).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'container',
        value: 'none',
        hint: 'there are main, side',
      })
      const cronJob = await idOf(ann, `cronJob${at('nightly')}`)
      const job = await written(
        ann,
        `setImage(id: "${cronJob}", container: "main", image: "job:2")`,
      )
      expect(Object.values(after(job))).toEqual(['job:2'])
    })

    it('label and annotate, where null removes', async () => {
      await applied(configMap('marked', {}))
      const id = await idOf(ann, `configMap${at('marked')}`)
      await written(ann, `label(id: "${id}", labels: { a: "1", b: "2" })`)
      expect(after(await written(ann, `label(id: "${id}", labels: { a: null })`))).toEqual({
        '/metadata/labels/a': null,
      })
      const noted = await written(ann, `annotate(id: "${id}", annotations: $notes)`, {
        notes: { 'example.com/why': 'because' },
      })
      expect(after(noted)).toEqual({ '/metadata/annotations/example.com~1why': 'because' })
      expect(await refused(ann, `label(id: "${id}", labels: { a: 1 })`)).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'labels',
      })
    })

    it('delete, at once or when its finalizers are gone', async () => {
      await applied(configMap('left', {}))
      const id = await idOf(ann, `configMap${at('left')}`)
      const dry = await written(ann, `delete(id: "${id}", dryRun: true)`)
      expect(dry).toMatchObject({ dryRun: true, object: null, preview: null })
      const gone = await written(ann, `delete(id: "${id}", propagation: BACKGROUND)`)
      expect(gone).toMatchObject({
        object: null,
        resourceVersion: null,
        behind: false,
        changes: [{ path: '', after: null }],
      })
      expect(await refused(ann, `delete(id: "${id}")`)).toMatchObject({ code: 'NOT_FOUND' })
      await applied(configMap('kept', {}, { finalizers: ['example.com/wait'] }))
      const kept = await idOf(ann, `configMap${at('kept')}`)
      const asked = await written(ann, `delete(id: "${kept}")`)
      expect(Object.keys(after(asked))).toContain('/metadata/deletionTimestamp')
    })

    it('evict, unless a budget forbids it', async () => {
      const labels = { app: 'evicted' }
      const pod = async (name: string): Promise<string> => {
        const made = await written(ann, `create(manifest: $manifest, namespace: "${namespace}")`, {
          manifest: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name, labels },
            spec: { containers: [{ name: 'a', image: 'a' }] },
          },
        })
        return made.object.id
      }
      const free = await pod('free')
      expect(await written(ann, `evict(id: "${free}", gracePeriodSeconds: 0)`)).toMatchObject({
        object: null,
        behind: false,
      })
      const held = await pod('held')
      await guardPod(cluster(), { pod: 'held', labels })
      expect(await refused(ann, `evict(id: "${held}")`)).toMatchObject({
        code: 'DISRUPTION_BUDGET',
        causes: [{ reason: 'DisruptionBudget' }],
        retryAfterMs: expect.any(Number),
      })
    })

    it('is for the kinds that it makes sense for', async () => {
      const id = await idOf(ann, 'node(name: "worker")')
      for (const name of ['restart', 'pauseRollout', 'rollback', 'suspend', 'runNow', 'evict']) {
        expect(await refused(ann, `${name}(id: "${id}")`)).toMatchObject({
          code: 'BAD_USER_INPUT',
          argument: 'id',
          type: 'Node',
        })
      }
      expect(await refused(ann, 'restart(id: "nonsense")')).toMatchObject({
        code: 'BAD_USER_INPUT',
        value: 'nonsense',
      })
    })
  })

  it('a state that the caller has not looked at is a PRECONDITION_FAILED', async () => {
    await applied(configMap('looked', { a: '1' }))
    const id = await idOf(ann, `configMap${at('looked')}`)
    const { resourceVersion } = await written(ann, `label(id: "${id}", labels: { a: "1" })`)
    await written(ann, `label(id: "${id}", labels: { a: "2" })`)
    for (const mutation of [
      `label(id: "${id}", labels: { a: "3" }, resourceVersion: "${resourceVersion}")`,
      `delete(id: "${id}", resourceVersion: "${resourceVersion}")`,
    ]) {
      expect(await refused(ann, mutation)).toMatchObject({
        code: 'PRECONDITION_FAILED',
        precondition: 'resourceVersion',
      })
    }
  })

  it('another object of the same name is never written', async () => {
    const path = `${core}/configmaps`
    await applied(configMap('again', { a: '1' }))
    const id = await idOf(ann, `configMap${at('again')}`)
    await cluster().must(`${path}/again`, { method: 'DELETE' })
    const body = { metadata: { name: 'again' }, data: { a: 'new' } }
    await cluster().must(path, { method: 'POST', body })
    const { code } = await refused(
      ann,
      `patch(id: "${id}", type: MERGE, patch: { data: { a: "x" } })`,
    )
    // Depends on whether the cache has the new object yet.
    expect(['NOT_FOUND', 'PRECONDITION_FAILED']).toContain(code)
    expect((await cluster().must(`${path}/again`)).data).toEqual({ a: 'new' })
    const uid = 'aaaaaaaa-0000-4000-8000-000000000000'
    const manifest = configMap('again', {}, { uid })
    expect(await refused(ann, `${apply})`, { manifest })).toMatchObject({
      code: 'PRECONDITION_FAILED',
      precondition: 'uid',
    })
  })

  it('who may not write is told the verb and the resource, and nothing is written', async () => {
    const id = await idOf(ben, `deployment${at('web')}`)
    expect(await refused(ben, `restart(id: "${id}")`)).toMatchObject({
      code: 'FORBIDDEN',
      verb: 'patch',
      resource: 'deployments.apps',
      subresource: '',
      namespace,
      name: 'web',
    })
    expect(await refused(ben, `scale(id: "${id}", replicas: 0)`)).toMatchObject({
      code: 'FORBIDDEN',
      verb: 'patch',
      resource: 'deployments.apps',
      subresource: 'scale',
      hint: 'ask for patch on deployments/scale.apps in namespace shop',
    })
    const manifest = configMap('bens', {})
    expect(await refused(ben, `${apply})`, { manifest })).toMatchObject({ code: 'FORBIDDEN' })
    expect((await cluster().ask(`${core}/configmaps/bens`)).status).toBe(404)
  })

  it('Secrets are written, but their values are not shown', async () => {
    const manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'door', labels: { a: 'b' } },
      stringData: { password: 'hunter2' },
    }
    const answer = await write(ann, `${apply})`, { manifest })
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|aHVudGVyMg/)
    expect(answer.data.apply[0].changes).toContainEqual({
      path: '/data/password',
      before: null,
      after: null,
      manager: null,
      masked: true,
    })
    const { json } = await cluster().ask(`${core}/secrets/door`)
    expect(json.data).toEqual({ password: 'aHVudGVyMg==' })
  })

  it('by WebSocket too, in the order of the document, and a failure stops none', async () => {
    const id = await idOf(ann, `configMap${at('one')}`)
    const text = `mutation {
      first: label(id: "${id}", labels: { step: "1" }) { resourceVersion }
      bad: restart(id: "${id}") { resourceVersion }
      second: label(id: "${id}", labels: { step: "2" }) { changes { before after } object { labels } }
    }`
    const { data, errors } = await firstAnswer(ann.connect(), text)
    expect(data).toMatchObject({
      bad: null,
      second: { changes: [{ before: '1', after: '2' }], object: { labels: { step: '2' } } },
    })
    expect(errors).toMatchObject([{ path: ['bad'] }])
  })

  it('each write is reported: who, what, whether it was dry, how it ended, and no value', async () => {
    reports.writes.length = 0
    const manifest = configMap('reported', { a: 'top-secret' })
    await written(ann, `${apply}, dryRun: true)`, { manifest })
    await refused(ben, `${apply})`, { manifest })
    expect(reports.writes).toMatchObject([
      {
        mutation: 'apply',
        viewer: { username: 'ann' },
        type: 'ConfigMap',
        name: 'reported',
        dryRun: true,
        code: '',
      },
      { viewer: { username: 'ben' }, namespace, dryRun: false, code: 'FORBIDDEN' },
    ])
    expect(JSON.stringify([reports.writes, gateway.log])).not.toMatch(/top-secret|ann-token/)
    expect(reports.operations.at(-1)?.operation).toBe('mutation')
  })
})
