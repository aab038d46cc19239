import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
  sendTo,
} from './contract-server.ts'

const mergePatch = 'application/merge-patch+json'
const applyPatch = 'application/apply-patch+yaml'

describeContract('The options of a write', (server) => {
  let path = ''
  let namespace = ''

  beforeAll(async () => {
    namespace = await newNamespace(server())
    path = `/api/v1/namespaces/${namespace}/configmaps`
  })

  const send = sendTo(server)
  const make = async (name: string): Promise<Fields> => newConfigMap(server(), namespace, name)
  const causes = ({ json }: ContractAnswer): Fields => json.details?.causes
  const exists = async (name: string): Promise<boolean> =>
    (await ask(server(), `${path}/${name}`)).status === 200

  it.each([
    ['dryRun=Some', 'dryRun'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager'],
    ['fieldValidation=Loose', 'fieldValidation'],
  ])('are refused where they are none: %s, and nothing is written', async (option, field) => {
    const created = await send('POST', `${path}?${option}`, { metadata: { name: 'unwritten' } })
    expect(created.status).toBe(422)
    expect(created.json).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(/^CreateOptions\.meta\.k8s\.io "" is invalid: /) as string,
      details: { group: 'meta.k8s.io', kind: 'CreateOptions' },
    })
    expect(causes(created)).toMatchObject([{ field }])
    expect(await exists('unwritten')).toBe(false)
    await make(`option-${field.toLowerCase()}`)
    const at = `${path}/option-${field.toLowerCase()}?${option}`
    const patched = await send('PATCH', at, { data: { a: '1' } }, mergePatch)
    expect(patched.json.details).toMatchObject({ kind: 'PatchOptions', causes: causes(created) })
    const put = await send('PUT', at, { metadata: { name: `option-${field.toLowerCase()}` } })
    expect(put.json.details).toMatchObject({ kind: 'UpdateOptions', causes: causes(created) })
  })

  it('are those of the body of a DELETE: one that is a dry run deletes nothing', async () => {
    await make('stays')
    const dry = await send('DELETE', `${path}/stays`, { dryRun: ['All'] })
    expect(dry.json).toMatchObject({ status: 'Success', details: { name: 'stays' } })
    expect(await exists('stays')).toBe(true)
    expect((await send('DELETE', `${path}/stays?dryRun=All`)).status).toBe(200)
    expect(await exists('stays')).toBe(true)
    const all = `${path}?fieldSelector=metadata.name%3Dstays`
    expect((await send('DELETE', all, { dryRun: ['All'] })).json.items).toHaveLength(1)
    expect(await exists('stays')).toBe(true)
    expect((await send('DELETE', all)).json.items).toHaveLength(1)
    expect(await exists('stays')).toBe(false)
  })

  it.each<[string, object, string]>([
    ['a policy that there is not', { propagationPolicy: 'Never' }, 'propagationPolicy'],
    [
      'two policies',
      { propagationPolicy: 'Background', orphanDependents: false },
      'propagationPolicy',
    ],
    ['a dry run of something', { dryRun: ['Some'] }, 'dryRun'],
  ])('are refused for a DELETE: %s', async (_, options, field) => {
    await make(`kept-${Object.keys(options).length}${field.toLowerCase()}`)
    const name = `kept-${Object.keys(options).length}${field.toLowerCase()}`
    const answer = await send('DELETE', `${path}/${name}`, options)
    expect(answer.status).toBe(422)
    expect(answer.json.details).toMatchObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' })
    expect(causes(answer)).toMatchObject([{ field }])
    expect(await exists(name)).toBe(true)
  })

  it('are no object of another kind, and no text', async () => {
    await make('other')
    const pod = await send('DELETE', `${path}/other`, { kind: 'Pod', apiVersion: 'v1' })
    expect(pod.json).toMatchObject({ code: 400, reason: 'BadRequest' })
    expect(pod.json.message).toMatch(/^no kind "Pod" is registered for version "v1"/)
    const soon = await send('DELETE', `${path}/other?gracePeriodSeconds=soon`)
    expect(soon.json.message).toBe('strconv.ParseInt: parsing "soon": invalid syntax')
    const empty = await send('DELETE', `${path}/other?gracePeriodSeconds=`)
    expect(empty.json.message).toBe('strconv.ParseInt: parsing "": invalid syntax')
    expect(await exists('other')).toBe(true)
  })

  it('show in a dry run what would be there, with an identity of its own', async () => {
    const answers = [
      await send('POST', `${path}?dryRun=All`, { metadata: { name: 'would' } }),
      await send(
        'PATCH',
        `${path}/would?dryRun=All&fieldManager=m`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'would' } },
        applyPatch,
      ),
    ]
    for (const { status, json } of answers) {
      expect(status).toBe(201)
      expect(json.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
      expect(json.metadata.creationTimestamp).toBeTypeOf('string')
      expect(json.metadata).not.toHaveProperty('resourceVersion')
    }
    expect(await exists('would')).toBe(false)
  })
})

describeContract('Metadata', (server) => {
  let path = ''

  beforeAll(async () => {
    path = `/api/v1/namespaces/${await newNamespace(server())}/configmaps`
  })

  const owner = { apiVersion: 'v1', kind: 'A', name: 'a', uid: '1', controller: true }

  describe('that breaks a rule is refused', () => {
    it.each<[string, object, readonly string[]]>([
      ['labels', { labels: { 'a b': 'c d' } }, ['metadata.labels', 'metadata.labels']],
      ['a long label', { labels: { a: 'x'.repeat(64) } }, ['metadata.labels']],
      ['an annotation', { annotations: { 'a b': '' } }, ['metadata.annotations']],
      ['big ones', { annotations: { a: 'x'.repeat(300_000) } }, ['metadata.annotations']],
      ['a finalizer', { finalizers: ['bad'] }, ['metadata.finalizers[0]']],
      [
        'an owner',
        { ownerReferences: [{ ...owner, kind: '', name: '', uid: '' }] },
        ['kind', 'name', 'uid'].map((member) => `metadata.ownerReferences.${member}`),
      ],
      [
        'two controllers',
        { ownerReferences: [owner, { ...owner, uid: '2' }] },
        ['metadata.ownerReferences'],
      ],
    ])('%s', async (_, metadata, fields) => {
      const post = await ask(server(), path, {
        method: 'POST',
        body: { metadata: { name: 'refused', ...metadata } },
      })
      expect(post.status).toBe(422)
      const found = post.json.details.causes as readonly Fields[]
      expect(found.map(({ field }) => field)).toEqual(fields)
      expect((await ask(server(), `${path}/refused`)).status).toBe(404)
      await ask(server(), path, { method: 'POST', body: { metadata: { name: 'there' } } })
      const patch = await ask(server(), `${path}/there`, {
        method: 'PATCH',
        contentType: mergePatch,
        body: { metadata },
      })
      // A real server looks at what a patch makes more than once.
      const causesOfPatch = patch.json.details.causes as readonly Fields[]
      const texts = new Set(causesOfPatch.map((cause) => JSON.stringify(cause)))
      expect(texts).toEqual(new Set(found.map((cause) => JSON.stringify(cause))))
    })
  })

  it('that only the server writes is not taken from who creates', async () => {
    const { json } = await ask(server(), path, {
      method: 'POST',
      body: {
        metadata: {
          name: 'fresh',
          uid: 'mine',
          selfLink: '/mine',
          creationTimestamp: '2020-01-01T00:00:00Z',
          deletionTimestamp: '2020-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
        },
      },
    })
    expect(json.metadata.uid).not.toBe('mine')
    expect(json.metadata.creationTimestamp).not.toMatch(/^2020/)
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
      expect(json.metadata).not.toHaveProperty(field)
    }
  })

  it('has a body around it: nothing is no object', async () => {
    const answer = await ask(server(), path, { method: 'POST', body: '' })
    expect(answer.status).toBe(400)
    expect(answer.json.message).toMatch(/^the object provided is unrecognized/)
  })

  it.each(['default', 'kube-system', 'kube-public'])('keeps the namespace %s', async (name) => {
    const answer = await ask(server(), `/api/v1/namespaces/${name}`, { method: 'DELETE' })
    expect(answer.status).toBe(403)
    expect(answer.json).toMatchObject({
      reason: 'Forbidden',
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})
