import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newNamespace,
} from './contract-server.ts'
import { defineGears, version } from './custom-definition.ts'

const applyPatch = 'application/apply-patch+yaml'
const mergePatch = 'application/merge-patch+json'

describeContract('Server-side apply', (server) => {
  let configMaps = ''
  let deployments = ''
  beforeAll(async () => {
    const namespace = await newNamespace(server())
    configMaps = `/api/v1/namespaces/${namespace}/configmaps`
    deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
  })

  const patch = async (at: string, body: unknown, contentType: string): Promise<ContractAnswer> =>
    ask(server(), at, { method: 'PATCH', body, contentType })
  const applyMap = async (name: string, query: string, more: object): Promise<ContractAnswer> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more }
    return patch(`${configMaps}/${name}?${query}`, body, applyPatch)
  }
  /** `manager operation`: the fields. */
  const owners = ({ json }: ContractAnswer): Fields =>
    Object.fromEntries(
      (json.metadata.managedFields ?? []).map((entry: Fields) => [
        [entry.manager, entry.operation, entry.subresource ?? ''].join(' ').trim(),
        entry.fieldsV1,
      ]),
    )

  it('makes an object that is not there, and names who owns its fields', async () => {
    const labels = { x: 'y' }
    const more = { metadata: { name: 'made', labels }, data: { a: '1', b: '2' } }
    const first = await applyMap('made', 'fieldManager=one', more)
    expect(first.status).toBe(201)
    expect(first.json).toMatchObject({ metadata: { labels }, data: { a: '1', b: '2' } })
    expect(first.json.metadata.managedFields).toMatchObject([
      { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' },
    ])
    expect(owners(first)['one Apply']).toEqual({
      'f:metadata': { 'f:labels': { 'f:x': {} } },
      'f:data': { 'f:a': {}, 'f:b': {} },
    })
    const again = await applyMap('made', 'fieldManager=one', more)
    expect([again.status, again.json.metadata.resourceVersion]).toEqual([
      200,
      first.json.metadata.resourceVersion,
    ])
  })

  it('reads YAML', async () => {
    const body = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata: {a: "1"}\n`
    const answer = await patch(`${configMaps}/yaml?fieldManager=one`, body, applyPatch)
    expect([answer.status, answer.json.data]).toEqual([201, { a: '1' }])
  })

  it('removes what its manager applies no longer, and nobody else owns', async () => {
    await applyMap('less', 'fieldManager=one', { data: { a: '1', b: '2', c: '3' } })
    const shared = await applyMap('less', 'fieldManager=two', { data: { b: '2', d: '4' } })
    expect(owners(shared)).toEqual({
      'one Apply': { 'f:data': { 'f:a': {}, 'f:b': {}, 'f:c': {} } },
      'two Apply': { 'f:data': { 'f:b': {}, 'f:d': {} } },
    })
    const less = await applyMap('less', 'fieldManager=one', { data: { c: '3' } })
    expect(less.json.data).toEqual({ b: '2', c: '3', d: '4' })
    expect(owners(less)['one Apply']).toEqual({ 'f:data': { 'f:c': {} } })
    const none = await applyMap('less', 'fieldManager=two', {})
    expect(none.json.data).toEqual({ c: '3' })
    expect(Object.keys(owners(none))).toEqual(['one Apply'])
  })

  it('refuses to change what others own, and names each field', async () => {
    await applyMap('held', 'fieldManager=one', { data: { a: '1', b: '2' } })
    const one = await applyMap('held', 'fieldManager=two', { data: { a: '9' } })
    expect(one.status).toBe(409)
    expect(one.json).toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      reason: 'Conflict',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
        ],
      },
    })
    const both = await applyMap('held', 'fieldManager=two', { data: { a: '9', b: '9' } })
    expect(both.json.message).toBe(
      'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b',
    )
    expect((await ask(server(), `${configMaps}/held`)).json.data).toEqual({ a: '1', b: '2' })
  })

  it('takes over what others own where it is forced', async () => {
    await applyMap('forced', 'fieldManager=one', { data: { a: '1', b: '2' } })
    const taken = await applyMap('forced', 'fieldManager=two&force=true', { data: { a: '9' } })
    expect([taken.status, taken.json.data]).toEqual([200, { a: '9', b: '2' }])
    expect(owners(taken)).toEqual({
      'one Apply': { 'f:data': { 'f:b': {} } },
      'two Apply': { 'f:data': { 'f:a': {} } },
    })
  })

  it('knows who has updated a field', async () => {
    await applyMap('updated', 'fieldManager=one', { data: { a: '1' } })
    const at = `${configMaps}/updated`
    const update = await patch(`${at}?fieldManager=other`, { data: { a: '2', b: '3' } }, mergePatch)
    expect(owners(update)).toEqual({ 'other Update': { 'f:data': { 'f:a': {}, 'f:b': {} } } })
    const conflict = await applyMap('updated', 'fieldManager=one', { data: { a: '1' } })
    expect(conflict.json.message).toBe(
      'Apply failed with 1 conflict: conflict with "other" using v1: .data.a',
    )
    const put = { metadata: { name: 'updated' }, data: { z: '1' } }
    const replaced = await ask(server(), `${at}?fieldManager=third`, { method: 'PUT', body: put })
    expect(owners(replaced)).toEqual({ 'third Update': { 'f:data': { 'f:z': {} } } })
    const reset = { metadata: { name: 'updated', managedFields: [{}] }, data: { z: '1' } }
    const nobody = await ask(server(), at, { method: 'PUT', body: reset })
    expect(nobody.json.metadata.managedFields).toBeUndefined()
    const first = await applyMap('updated', 'fieldManager=one', { data: { z: '2' } })
    expect(first.json.message).toContain('conflict with "before-first-apply" using v1: .data.z')
  })

  it('names a writer by its program unless it says who it is', async () => {
    const body = { metadata: { name: 'named' }, data: { a: '1' } }
    const made = await ask(server(), configMaps, { method: 'POST', body })
    expect(made.json.metadata.managedFields).toMatchObject([
      {
        manager: 'informerql-contract',
        operation: 'Update',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ])
  })

  describe('of lists', () => {
    const apply = async (manager: string, spec: object, query = ''): Promise<ContractAnswer> => {
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }
      return patch(`${deployments}/d?fieldManager=${manager}${query}`, body, applyPatch)
    }
    const withContainers = (containers: readonly object[]): object => ({
      template: { spec: { containers } },
    })
    const containersOf = ({ json }: ContractAnswer): string[] =>
      json.spec.template.spec.containers.map(
        ({ name, image, env = [] }: Fields) =>
          `${name} ${image} ${env.map((one: Fields) => one.name).join(',')}`,
      )

    it('merges items by their keys, each owned by who applies it', async () => {
      const selector = { matchLabels: { a: 'b' } }
      const env = [{ name: 'X', value: '1' }]
      const containers = [{ name: 'a', image: 'a:1', env, ports: [{ containerPort: 80 }] }]
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
      const made = await apply('one', { replicas: 2, selector, template })
      expect(made.status).toBe(201)
      expect(owners(made)['one Apply']['f:spec']['f:template']['f:spec']).toEqual({
        'f:containers': {
          'k:{"name":"a"}': {
            '.': {},
            'f:name': {},
            'f:image': {},
            'f:env': { 'k:{"name":"X"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
            'f:ports': {
              'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
            },
          },
        },
      })
      const more = await apply(
        'two',
        withContainers([
          { name: 'b', image: 'b:1' },
          { name: 'a', env: [{ name: 'Y', value: '2' }] },
        ]),
      )
      expect(containersOf(more)).toEqual(['b b:1 ', 'a a:1 X,Y'])
    })

    it('names a field in an item by the keys', async () => {
      const answer = await apply('two', withContainers([{ name: 'a', image: 'z' }]))
      expect(answer.json.details.causes).toEqual([
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "one"',
          field: '.spec.template.spec.containers[name="a"].image',
        },
      ])
    })

    it('removes the items that are applied no longer', async () => {
      const less = await apply('two', withContainers([{ name: 'a' }]))
      expect(containersOf(less)).toEqual(['a a:1 X'])
    })

    it('applies to the status apart', async () => {
      const status = { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] }
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }
      const at = `${deployments}/d/status`
      const given = { ...body, spec: { replicas: 8 }, status }
      const answer = await patch(`${at}?fieldManager=st`, given, applyPatch)
      expect(answer.json).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1 } })
      expect(owners(answer)['st Apply status']).toEqual({
        'f:status': {
          'f:replicas': {},
          'f:conditions': { 'k:{"type":"Available"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
        },
      })
      const other = { ...body, status: { ...status, replicas: 2 } }
      const conflict = await patch(`${at}?fieldManager=other`, other, applyPatch)
      expect(conflict.json.message).toBe(
        'Apply failed with 1 conflict: conflict with "st" with subresource "status": .status.replicas',
      )
    })
  })

  it('follows the schema of a custom resource', async () => {
    const text = { type: 'string' }
    const keyed = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: text, v: { type: 'integer' } } },
    }
    const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: text }
    const group = 'apply.example.com'
    const path = await defineGears(server(), group, [
      version('v1', { keyed, set, whole: { type: 'array', items: text } }),
    ])
    const apply = async (manager: string, spec: object): Promise<ContractAnswer> => {
      const body = { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'x' }, spec }
      return patch(`${path}/x?fieldManager=${manager}`, body, applyPatch)
    }
    const wrong = await apply('one', { extra: 1 })
    expect([wrong.status, wrong.json.message]).toEqual([
      500,
      `failed to create typed patch object (/x; ${group}/v1, Kind=Gear): .spec.extra: field not declared in schema`,
    ])
    await apply('one', { keyed: [{ k: 'a', v: 1 }], set: ['x'], whole: ['t'] })
    const both = await apply('two', { keyed: [{ k: 'b', v: 2 }], set: ['y'] })
    expect(both.json.spec).toEqual({
      keyed: [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
      set: ['x', 'y'],
      whole: ['t'],
    })
    const conflict = await apply('two', { keyed: [{ k: 'a', v: 3 }], whole: ['u'] })
    expect(conflict.json.details.causes.map(({ field }: Fields) => field).toSorted()).toEqual([
      '.spec.keyed[k="a"].v',
      '.spec.whole',
    ])
    const less = await apply('two', {})
    expect(less.json.spec).toEqual({ keyed: [{ k: 'a', v: 1 }], set: ['x'], whole: ['t'] })
  })

  it.each<[string, object | string, string, number, RegExp]>([
    ['no manager', { data: {} }, '', 422, /fieldManager: Required value: is required for apply/],
    [
      'another kind',
      'apiVersion: v1\nkind: Secret',
      'fieldManager=one',
      400,
      /^invalid object type: \/v1, Kind=Secret$/,
    ],
    ['no kind', 'data: {a: b}', 'fieldManager=one', 400, /^invalid object type: \/, Kind=$/],
    ['no YAML', '{{', 'fieldManager=one', 400, /^error decoding YAML: /],
    [
      'owners',
      { metadata: { name: 'refused', managedFields: [] } },
      'fieldManager=one',
      400,
      /^metadata.managedFields must be nil$/,
    ],
    [
      'another name',
      { metadata: { name: 'other' } },
      'fieldManager=one',
      400,
      /^the name of the object \(other\) does not match the name on the URL/,
    ],
    [
      'an unknown field',
      { bogus: 1 },
      'fieldManager=one',
      500,
      /\.bogus: field not declared in schema$/,
    ],
    [
      'an old version',
      { metadata: { name: 'refused', resourceVersion: '1' } },
      'fieldManager=one',
      409,
      /the object has been modified/,
    ],
  ])('refuses %s', async (_, given, query, code, message) => {
    await applyMap('refused', 'fieldManager=first', {})
    const answer =
      typeof given === 'string'
        ? await patch(`${configMaps}/refused?${query}`, given, applyPatch)
        : await applyMap('refused', query, given)
    expect(answer.status).toBe(code)
    expect(answer.json.message).toMatch(message)
  })

  it('is the only patch that can be forced', async () => {
    const answer = await patch(`${configMaps}/made?force=true`, { data: {} }, mergePatch)
    expect(answer.status).toBe(422)
    expect(answer.json.details.causes[0].field).toBe('force')
  })
})
