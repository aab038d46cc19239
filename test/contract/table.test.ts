import { beforeAll, describe, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newConfigMap,
  newNamespace,
  watch,
} from './contract-server.ts'
import { defineGears, version } from './custom-definition.ts'

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

describeContract('A table', (server) => {
  const table = async (path: string, how = accept): Promise<ContractAnswer> =>
    ask(server(), path, { accept: how })
  const columnsOf = ({ json }: ContractAnswer): string[] =>
    json.columnDefinitions.map(({ name, type }: Fields) => `${name} ${type}`)
  const cellsOf = ({ json }: ContractAnswer): Fields[] =>
    json.rows.map(({ cells }: Fields) => cells)

  describe('of custom resources', () => {
    const group = 'table.example.com'
    let path = ''
    beforeAll(async () => {
      const text = { type: 'string' }
      const conditions = {
        type: 'array',
        items: { type: 'object', properties: { type: text, status: text } },
      }
      const columns = [
        { name: 'Color', type: 'string', jsonPath: '.spec.color', description: 'the color' },
        { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
        { name: 'First', type: 'string', jsonPath: '.spec.list[0]' },
        {
          name: 'Ready',
          type: 'string',
          jsonPath: '.spec.conditions[?(@.type=="Ready")].status',
        },
        { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
        { name: 'Made', type: 'date', jsonPath: '.spec.made' },
      ]
      const properties = {
        color: text,
        size: { type: 'integer' },
        list: { type: 'array', items: text },
        conditions,
        on: { type: 'boolean' },
        made: text,
      }
      const v2 = version('v2', { color: text })
      path = await defineGears(server(), group, [
        version('v1', properties, { additionalPrinterColumns: columns }),
        v2,
      ])
      const spec = {
        color: 'red',
        size: 3,
        list: ['x', 'y'],
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
        on: true,
        made: new Date(Date.now() - 100 * 86_400_000).toISOString(),
      }
      for (const [name, own] of Object.entries({ full: spec, none: {} })) {
        const body = { apiVersion: `${group}/v1`, kind: 'Gear', metadata: { name }, spec: own }
        await ask(server(), path, { method: 'POST', body })
      }
    })

    it('has the columns of its definition', async () => {
      const answer = await table(path)
      expect(answer.headers['content-type']).toBe('application/json')
      expect(answer.json).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' })
      expect(answer.json.metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
      expect(answer.json.columnDefinitions[0]).toMatchObject({
        name: 'Name',
        type: 'string',
        format: 'name',
        priority: 0,
      })
      expect(answer.json.columnDefinitions.slice(1, 3)).toEqual([
        { name: 'Color', type: 'string', format: '', description: 'the color', priority: 0 },
        {
          name: 'Size',
          type: 'integer',
          format: '',
          description: 'Custom resource definition column (in JSONPath format): .spec.size',
          priority: 1,
        },
      ])
      expect(cellsOf(answer)).toEqual([
        ['full', 'red', 3, 'x', 'True', true, '100d'],
        ['none', null, null, null, null, null, null],
      ])
    })

    it('has the name and the age where its definition has no columns', async () => {
      const answer = await table(path.replace('/v1/', '/v2/'))
      expect(columnsOf(answer)).toEqual(['Name string', 'Age date'])
      expect(cellsOf(answer)[0]).toEqual(['full', expect.stringMatching(/^\d+s$/)])
    })

    it('shows one object, and pages', async () => {
      expect(cellsOf(await table(`${path}/full`))).toHaveLength(1)
      const page = await table(`${path}?limit=1`)
      expect(cellsOf(page)).toHaveLength(1)
      const { metadata } = page.json
      expect(metadata.remainingItemCount).toBe(1)
      const next = await table(`${path}?limit=1&continue=${encodeURIComponent(metadata.continue)}`)
      expect(cellsOf(next)[0][0]).toBe('none')
    })

    it('has the metadata of its objects, the whole of them, or nothing', async () => {
      const [row] = (await table(`${path}/full`)).json.rows
      expect(row.object).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'full' },
      })
      const whole = (await table(`${path}/full?includeObject=Object`)).json.rows[0]
      expect(whole.object).toEqual((await ask(server(), `${path}/full`)).json)
      const none = (await table(`${path}/full?includeObject=None`)).json.rows[0]
      expect(none.object).toBeNull()
      expect((await table(`${path}?includeObject=Some`)).status).toBe(400)
    })

    it('comes piece by piece in a watch, the columns once', async () => {
      await using stream = await watch(server(), `${path}?watch=1`, { accept })
      const [first, second] = [await stream.next(), await stream.next()]
      expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table' } })
      expect(first?.object.columnDefinitions).toHaveLength(7)
      expect(first?.object.rows).toHaveLength(1)
      expect(second?.object.columnDefinitions).toBeNull()
      expect(second?.object.rows).toHaveLength(1)
    })

    it('is not given in versions that there are not', async () => {
      const only = 'application/json;as=Table;v=v9;g=meta.k8s.io'
      expect((await table(path, only)).status).toBe(406)
      expect((await table(path, `${only},application/json`)).json.kind).toBe('GearList')
      const older = await table(path, 'application/json;as=Table;v=v1beta1;g=meta.k8s.io')
      expect(older.json.apiVersion).toBe('meta.k8s.io/v1beta1')
    })
  })

  it('of built-in kinds has a name first', async () => {
    const namespace = await newNamespace(server())
    await newConfigMap(server(), namespace, 'a')
    const answer = await table(`/api/v1/namespaces/${namespace}/configmaps`)
    const columns = columnsOf(answer)
    expect(columns[0]).toBe('Name string')
    expect(columns.map((column) => column.split(' ')[0])).toContain('Age')
    expect(answer.json.rows[0].cells[0]).toBe('a')
    expect(answer.json.rows[0].object.metadata.name).toBe('a')
  })

  it('of built-in kinds has the columns of kubectl get, those of -o wide with a priority', async () => {
    const namespace = await newNamespace(server())
    const path = `/api/v1/namespaces/${namespace}/pods`
    const body = {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'main', image: 'nginx:1' }], nodeName: 'somewhere' },
    }
    await ask(server(), path, { method: 'POST', body })
    const answer = await table(path)
    expect(
      answer.json.columnDefinitions.map(({ name, type, priority }: Fields) => [
        name,
        type,
        priority,
      ]),
    ).toEqual([
      ['Name', 'string', 0],
      ['Ready', 'string', 0],
      ['Status', 'string', 0],
      ['Restarts', 'string', 0],
      ['Age', 'string', 0],
      ['IP', 'string', 1],
      ['Node', 'string', 1],
      ['Nominated Node', 'string', 1],
      ['Readiness Gates', 'string', 1],
    ])
    expect(cellsOf(answer)).toEqual([
      [
        'p',
        '0/1',
        'Pending',
        '0',
        expect.stringMatching(/^\d+s$/),
        '<none>',
        'somewhere',
        '<none>',
        '<none>',
      ],
    ])
  })
})
