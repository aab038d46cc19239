import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  watch,
} from './contract-server.ts'
import { defineGears, definitions, eventually, gears, version } from './custom-definition.ts'

const text = { type: 'string' }

describeContract('A custom resource definition', (server) => {
  const post = async (at: string, body: object): Promise<ContractAnswer> =>
    ask(server(), at, { method: 'POST', body })
  const merge = async (at: string, body: object): Promise<ContractAnswer> =>
    ask(server(), at, { method: 'PATCH', body, contentType: 'application/merge-patch+json' })

  describe('is refused', () => {
    const group = 'refused.example.com'
    const withSchema = (schema: object): Fields =>
      gears(group, [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
      ])
    const withProperty = (property: object): Fields =>
      withSchema({ type: 'object', properties: { a: property } })
    const good = version('v1', { a: text })
    const a = 'spec.validation.openAPIV3Schema.properties[a]'

    it.each<[string, Fields, string]>([
      ['another name', { ...gears(group, [good]), metadata: { name: 'x.y' } }, 'metadata.name'],
      ['no group', { ...gears('', [good]), metadata: { name: 'gears.x' } }, 'spec.group'],
      ['another scope', gears(group, [good], { scope: 'Elsewhere' }), 'spec.scope'],
      ['no kind', gears(group, [good], { names: { plural: 'gears' } }), 'spec.names.kind'],
      ['two storage versions', gears(group, [good, { ...good, name: 'v2' }]), 'spec.versions'],
      [
        'no schema',
        gears(group, [{ name: 'v1', served: true, storage: true }]),
        'spec.versions[0].schema.openAPIV3Schema',
      ],
      [
        'a protected group',
        gears('x.k8s.io', [good]),
        'metadata.annotations[api-approved.kubernetes.io]',
      ],
      [
        'a protected group that says nothing of its approval',
        {
          ...gears('x.k8s.io', [good]),
          metadata: {
            name: 'gears.x.k8s.io',
            annotations: { 'api-approved.kubernetes.io': 'yes' },
          },
        },
        'metadata.annotations[api-approved.kubernetes.io]',
      ],
      ['no type', withProperty({}), `${a}.type`],
      ['an unknown type', withProperty({ type: 'thing' }), `${a}.type`],
      ['a root that is no object', withSchema(text), 'spec.validation.openAPIV3Schema.type'],
      ['a list of nothing', withProperty({ type: 'array' }), `${a}.items`],
      ['a reference', withProperty({ $ref: '#/x' }), `${a}.$ref`],
      [
        'a default of another type',
        withProperty({ type: 'integer', default: 'x' }),
        `${a}.default`,
      ],
      [
        'members that are both listed and free',
        withProperty({ type: 'object', properties: { b: text }, additionalProperties: text }),
        `${a}.additionalProperties`,
      ],
      [
        'a type in an alternative',
        withProperty({ type: 'string', anyOf: [text] }),
        `${a}.anyOf[0].type`,
      ],
      [
        'a keyed list without keys',
        withProperty({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
        `${a}.x-kubernetes-list-map-keys`,
      ],
      [
        'a selectable field that there is not',
        gears(group, [{ ...good, selectableFields: [{ jsonPath: '.spec.none' }] }]),
        'spec.selectableFields[0].jsonPath',
      ],
      [
        'a column of another type',
        gears(group, [
          { ...good, additionalPrinterColumns: [{ name: 'A', type: 'thing', jsonPath: '.x' }] },
        ]),
        'spec.additionalPrinterColumns[0].type',
      ],
      [
        'a scale without paths',
        gears(group, [{ ...good, subresources: { scale: {} } }]),
        'spec.subresources.scale.specReplicasPath',
      ],
    ])('with %s', async (_, body, field) => {
      const answer = await post(`${definitions}?dryRun=All`, body)
      expect(answer.status).toBe(422)
      expect(answer.json.details.causes.map((cause: Fields) => cause.field)).toContain(field)
    })
  })

  it('keeps its names from others', async () => {
    const group = 'names.example.com'
    await defineGears(server(), group, [version('v1', {})])
    const other = gears(group, [version('v1', {})], { names: { plural: 'cogs', kind: 'Gear' } })
    await post(definitions, { ...other, metadata: { name: `cogs.${group}` } })
    const { json } = await eventually(
      server(),
      `${definitions}/cogs.${group}`,
      (answer) => (answer.json.status?.conditions ?? []).length > 0,
    )
    expect(json.status).toMatchObject({
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'False',
          reason: 'ListKindConflict',
          message: '"GearList" is already in use',
        },
        { type: 'Established', status: 'False', reason: 'NotAccepted' },
      ],
      acceptedNames: { plural: 'cogs', kind: '' },
    })
    expect((await ask(server(), `/apis/${group}/v1/namespaces/default/cogs`)).status).toBe(404)
  })

  it.each([
    ['unapproved, experimental-only', 'False', 'UnapprovedAnnotation'],
    ['https://example.com/approved', 'True', 'ApprovedAnnotation'],
  ])('says whether its group was approved: %s', async (said, status, reason) => {
    const group = `${reason.toLowerCase()}.contract.k8s.io`
    const body = gears(group, [version('v1', {})])
    body.metadata.annotations = { 'api-approved.kubernetes.io': said }
    expect((await post(definitions, body)).status).toBe(201)
    const of = ({ json }: ContractAnswer): Fields =>
      (json.status?.conditions ?? []).find(
        ({ type }: Fields) => type === 'KubernetesAPIApprovalPolicyConformant',
      )
    const path = `${definitions}/gears.${group}`
    const answer = await eventually(server(), path, (one) => of(one) !== undefined)
    expect(of(answer)).toMatchObject({ status, reason, message: expect.stringContaining(said) })
  })

  it('keeps the conditions that others have written, beside its own', async () => {
    const group = 'conditions.example.com'
    await defineGears(server(), group, [version('v1', {})])
    const path = `${definitions}/gears.${group}`
    const { json } = await ask(server(), path)
    const checked = {
      type: 'Checked',
      status: 'False',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'Broken',
      message: 'somebody has looked at it',
    }
    const conditions = [...json.status.conditions, checked]
    expect((await merge(`${path}/status`, { status: { conditions } })).status).toBe(200)
    await merge(path, { metadata: { labels: { touched: 'yes' } } })
    const { json: after } = await ask(server(), path)
    expect(after.status.conditions).toContainEqual(checked)
    expect(after.status.conditions).toHaveLength(conditions.length)
  })

  describe('with several versions', () => {
    const group = 'versions.example.com'
    const at = (name: string): string => `/apis/${group}/${name}/namespaces/default/gears`
    beforeAll(async () => {
      await defineGears(server(), group, [
        version('v1', { a: text, b: text }),
        version('v1beta1', { a: text }, { deprecated: true }),
        version('v2', { a: { type: 'string', default: 'filled' }, c: text }),
      ])
    })

    it('prefers the newest stable one', async () => {
      const { json } = await eventually(server(), `/apis/${group}`, ({ status }) => status === 200)
      expect(json.versions.map((one: Fields) => one.version)).toEqual(['v2', 'v1', 'v1beta1'])
      expect(json.preferredVersion.version).toBe('v2')
    })

    it('shows an object in each, as its schema has it', async () => {
      const object = { kind: 'Gear', metadata: { name: 'x' }, spec: { a: '1', b: '2' } }
      const created = await post(at('v1'), { ...object, apiVersion: `${group}/v1` })
      const { json } = await ask(server(), `${at('v2')}/x`)
      expect(json).toMatchObject({ apiVersion: `${group}/v2`, spec: { a: '1' } })
      expect(json.spec).not.toHaveProperty('b')
      expect(json.metadata.uid).toBe(created.json.metadata.uid)
    })

    it('stores what the storage version can hold', async () => {
      const object = { kind: 'Gear', metadata: { name: 'y' }, spec: { c: '3' } }
      const { json } = await post(at('v2'), { ...object, apiVersion: `${group}/v2` })
      expect(json.spec).toEqual({ a: 'filled' })
      expect((await ask(server(), `${at('v1')}/y`)).json.spec).toEqual({ a: 'filled' })
    })

    it('warns of a deprecated one', async () => {
      const warning = `299 - "${group}/v1beta1 Gear is deprecated; use ${group}/v2 Gear"`
      expect((await ask(server(), at('v1beta1'))).headers.warning).toBe(warning)
      expect((await ask(server(), at('v1'))).headers.warning).toBeUndefined()
    })
  })

  describe('that changes', () => {
    const group = 'changes.example.com'
    const name = `${definitions}/gears.${group}`
    let path = ''
    beforeAll(async () => {
      path = await defineGears(server(), group, [
        version('v1', { a: text, b: text }),
        version('v2', { a: text }),
      ])
      const object = { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name: 'x' } }
      await post(path, { ...object, spec: { a: 'long', b: '2' } })
    })

    it('ends the watches of its objects, which take on the new form', async () => {
      await using stream = await watch(server(), `${path}?watch=1`)
      expect((await stream.next())?.object.metadata.name).toBe('x')
      const { json } = await ask(server(), name)
      json.spec.versions[0] = version('v1', {
        a: { type: 'string', maxLength: 3 },
        d: { type: 'string', default: 'new' },
      })
      expect((await ask(server(), name, { method: 'PUT', body: json })).status).toBe(200)
      expect(await stream.rest()).toEqual([])
      await eventually(server(), `${path}/x`, (answer) => answer.json.spec?.d === 'new')
      expect((await ask(server(), `${path}/x`)).json.spec).toEqual({ a: 'long', d: 'new' })
    })

    it('lets pass what was there before and an update leaves as it was', async () => {
      const kept = await merge(`${path}/x`, { spec: { d: 'other' } })
      expect([kept.status, kept.json.spec]).toEqual([200, { a: 'long', d: 'other' }])
      expect((await merge(`${path}/x`, { spec: { a: 'longer' } })).status).toBe(422)
      expect((await merge(`${path}/x`, { spec: { a: 'abc' } })).status).toBe(200)
    })

    it('remembers the versions that were stored', async () => {
      const { json } = await ask(server(), name)
      json.spec.versions[0].storage = false
      json.spec.versions[1].storage = true
      await ask(server(), name, { method: 'PUT', body: json })
      const stored = (answer: ContractAnswer): boolean =>
        answer.json.status.storedVersions.length === 2
      const { json: next } = await eventually(server(), name, stored)
      expect(next.status.storedVersions).toEqual(['v1', 'v2'])
      next.spec.versions.shift()
      const dropped = await ask(server(), name, { method: 'PUT', body: next })
      expect(dropped.json.details.causes[0].field).toBe('status.storedVersions[0]')
      await eventually(
        server(),
        `/apis/${group}/v2/namespaces/default/gears/x`,
        ({ status }) => status === 200,
      )
    })

    it('keeps its scope and its kind', async () => {
      const { json } = await ask(server(), name)
      const scope = await ask(server(), name, {
        method: 'PUT',
        body: { ...json, spec: { ...json.spec, scope: 'Cluster' } },
      })
      expect(scope.json.details.causes).toMatchObject([
        { field: 'spec.scope', message: 'Invalid value: "Cluster": field is immutable' },
      ])
    })

    it('serves no version that it no longer serves', async () => {
      const { json } = await ask(server(), name)
      json.spec.versions[0].served = false
      await ask(server(), name, { method: 'PUT', body: json })
      await eventually(server(), path, ({ status }) => status === 404)
      const other = `/apis/${group}/v2/namespaces/default/gears`
      const { json: list } = await eventually(server(), other, ({ status }) => status === 200)
      expect(list.items).toHaveLength(1)
    })

    it('says that it is to end', async () => {
      const { json } = await ask(server(), name, { method: 'DELETE' })
      expect(json).toMatchObject({
        kind: 'CustomResourceDefinition',
        metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
      })
      expect(json.metadata.deletionTimestamp).toBeTypeOf('string')
      await eventually(server(), name, ({ status }) => status === 404)
    })
  })

  describe('with a scale', () => {
    const group = 'scale.example.com'
    let path = ''
    beforeAll(async () => {
      const scale = {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      }
      path = await defineGears(server(), group, [
        version('v1', { replicas: { type: 'integer' } }, { subresources: { status: {}, scale } }),
      ])
      await post(path, {
        apiVersion: `${group}/v1`,
        kind: 'Gear',
        metadata: { name: 'x' },
        spec: {},
      })
    })
    afterAll(async () => {
      await ask(server(), `${definitions}/gears.${group}`, { method: 'DELETE' })
    })

    it('stands in discovery', async () => {
      const { json } = await ask(server(), `/apis/${group}/v1`)
      expect(json.resources.find(({ name }: Fields) => name === 'gears/scale')).toEqual({
        name: 'gears/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      })
    })

    it('is read and written, the object with it', async () => {
      expect((await ask(server(), `${path}/x/scale`)).status).toBe(500)
      const body = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'x', namespace: 'default' },
        spec: { replicas: 3 },
      }
      const set = await ask(server(), `${path}/x/scale`, { method: 'PUT', body })
      expect(set.json).toMatchObject({
        kind: 'Scale',
        spec: { replicas: 3 },
        status: { replicas: 0 },
      })
      await merge(`${path}/x/status`, { status: { replicas: 2, selector: 'a=b' } })
      const patched = await merge(`${path}/x/scale`, { spec: { replicas: 4 } })
      expect(patched.json.status).toEqual({ replicas: 2, selector: 'a=b' })
      const { json } = await ask(server(), `${path}/x`)
      expect([json.spec.replicas, json.metadata.generation]).toEqual([4, 3])
      const negative = await merge(`${path}/x/scale`, { spec: { replicas: -1 } })
      expect(negative.json.details.causes).toEqual([
        {
          reason: 'FieldValueInvalid',
          field: '.spec.replicas',
          message: 'Invalid value: -1: should be a non-negative integer',
        },
      ])
    })
  })
})
