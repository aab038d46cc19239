import { beforeAll, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newNamespace,
} from './contract-server.ts'

const contentType = 'application/strategic-merge-patch+json'

describeContract('A strategic merge patch', (server) => {
  let path = ''
  beforeAll(async () => {
    const namespace = await newNamespace(server())
    path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  })

  let made = 0
  const deployment = async (): Promise<string> => {
    const name = `d${++made}`
    const containers = [
      { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }], args: ['1', '2'] },
      { name: 'b', image: 'b:1' },
      { name: 'c', image: 'c:1' },
    ]
    const volumes = [{ name: 'v', emptyDir: {} }]
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers, volumes } }
    const finalizers = ['x.y/1', 'x.y/2', 'x.y/3']
    const selector = { matchLabels: { a: 'b' } }
    const rollingUpdate = { maxSurge: 2, maxUnavailable: 1 }
    const strategy = { type: 'RollingUpdate', rollingUpdate }
    const body = {
      metadata: { name, finalizers, annotations: { a: '1', b: '2' } },
      spec: { selector, template, strategy },
    }
    const answer = await ask(server(), path, { method: 'POST', body })
    if (answer.status !== 201) throw new Error(answer.text)
    return name
  }
  const patch = async (body: object): Promise<ContractAnswer> =>
    ask(server(), `${path}/${await deployment()}`, { method: 'PATCH', body, contentType })
  const patchPod = async (spec: object): Promise<Fields> => {
    const { json } = await patch({ spec: { template: { spec } } })
    return json.spec.template.spec
  }
  const names = (items: readonly Fields[]): string[] => items.map(({ name }) => name)

  it('merges items by key, and in them again', async () => {
    const env = [{ name: 'Y', value: '2' }]
    const { containers } = await patchPod({ containers: [{ name: 'a', image: 'a:2', env }] })
    expect(names(containers)).toEqual(['a', 'b', 'c'])
    expect(containers[0]).toMatchObject({ image: 'a:2', args: ['1', '2'] })
    expect(names(containers[0].env).toSorted()).toEqual(['X', 'Y'])
  })

  it('replaces lists that have no key, and adds items that are new', async () => {
    const { containers } = await patchPod({
      containers: [
        { name: 'a', args: ['3'] },
        { name: 'd', image: 'd:1' },
      ],
    })
    expect(names(containers).toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(containers.find(({ name }: Fields) => name === 'a').args).toEqual(['3'])
  })

  it('deletes an item', async () => {
    const { containers } = await patchPod({ containers: [{ name: 'b', $patch: 'delete' }] })
    expect(names(containers)).toEqual(['a', 'c'])
  })

  it('replaces a whole list', async () => {
    const { containers } = await patchPod({
      containers: [{ name: 'z', image: 'z:1' }, { $patch: 'replace' }],
    })
    expect(names(containers)).toEqual(['z'])
  })

  it('puts items in order', async () => {
    const order = ['c', 'a', 'b'].map((name) => ({ name }))
    const { containers } = await patchPod({ '$setElementOrder/containers': order })
    expect(names(containers)).toEqual(['c', 'a', 'b'])
    const more = await patchPod({
      '$setElementOrder/containers': ['n', 'c', 'a', 'b'].map((name) => ({ name })),
      containers: [{ name: 'n', image: 'n:1' }],
    })
    expect(names(more.containers)).toEqual(['n', 'c', 'a', 'b'])
  })

  it('merges and shortens lists of plain values', async () => {
    const added = await patch({ metadata: { finalizers: ['x.y/4', 'x.y/1'] } })
    expect(added.json.metadata.finalizers.toSorted()).toEqual(['x.y/1', 'x.y/2', 'x.y/3', 'x.y/4'])
    const { json } = await patch({
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['x.y/2'],
        '$setElementOrder/finalizers': ['x.y/3', 'x.y/1'],
      },
    })
    expect(json.metadata.finalizers).toEqual(['x.y/3', 'x.y/1'])
  })

  it('keeps only some members of a map', async () => {
    const strategy = { $retainKeys: ['type'], type: 'Recreate' }
    expect((await patch({ spec: { strategy } })).json.spec.strategy).toEqual({ type: 'Recreate' })
    const volumes = [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }]
    const [volume] = (await patchPod({ volumes })).volumes
    expect(volume.emptyDir).toBeUndefined()
    expect(volume.hostPath.path).toBe('/x')
  })

  it('replaces or removes a map', async () => {
    const replaced = await patch({ metadata: { annotations: { $patch: 'replace', c: '3' } } })
    expect(replaced.json.metadata.annotations).toEqual({ c: '3' })
    const removed = await patch({ metadata: { annotations: null } })
    expect(removed.json.metadata.annotations).toBeUndefined()
  })

  it('takes a resource version for a condition', async () => {
    const answer = await patch({ metadata: { resourceVersion: '1' } })
    expect([answer.status, answer.json.reason]).toEqual([409, 'Conflict'])
  })
})
