import { beforeAll, expect, it } from 'vitest'
import { ask, type ContractAnswer, describeContract, newNamespace } from './contract-server.ts'

describeContract('Logs of pods', (server) => {
  let pods = ''

  beforeAll(async () => {
    const namespace = await newNamespace(server())
    pods = `/api/v1/namespaces/${namespace}/pods`
    await made(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
  })

  const made = async (path: string, body: object): Promise<void> => {
    const { status, text } = await ask(server(), path, { method: 'POST', body })
    if (status !== 201 && status !== 409) throw new Error(text)
  }
  const newPod = async (name: string, spec: object): Promise<void> =>
    made(pods, { metadata: { name }, spec: { automountServiceAccountToken: false, ...spec } })
  const containers = (...names: readonly string[]): object[] =>
    names.map((name) => ({ name, image: 'app:1' }))
  const log = (of: string): Promise<ContractAnswer> => ask(server(), `${pods}/${of}`)

  it('a pod that does not exist has none', async () => {
    const { status, json } = await log('absent/log')
    expect([status, json.reason, json.message]).toEqual([
      404,
      'NotFound',
      'pods "absent" not found',
    ])
  })

  it('a pod of several containers needs the name of one', async () => {
    await newPod('two', {
      containers: containers('app', 'proxy'),
      initContainers: containers('prepare'),
    })
    const { status, json } = await log('two/log')
    expect([status, json.reason, json.message]).toEqual([
      400,
      'BadRequest',
      'a container name must be specified for pod two, choose one of: [prepare app proxy]',
    ])
    const other = await log('two/log?container=other')
    expect([other.status, other.json.message]).toEqual([
      400,
      'container other is not valid for pod two',
    ])
  })

  it('a pod of one container needs no name, whatever runs before that', async () => {
    await newPod('prepared', {
      containers: containers('app'),
      initContainers: containers('prepare'),
    })
    const { status, text } = await log('prepared/log')
    expect([status, text]).toEqual([204, ''])
  })

  it('a pod without a node has nothing to say yet', async () => {
    await newPod('unscheduled', { containers: containers('app') })
    const { status, text } = await log('unscheduled/log')
    expect([status, text]).toEqual([204, ''])
  })

  it('options that contradict are invalid, with a cause for each', async () => {
    await newPod('options', { containers: containers('app') })
    const query = 'tailLines=-1&limitBytes=0&sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z'
    const { status, json } = await log(`options/log?${query}`)
    expect([status, json.reason]).toEqual([422, 'Invalid'])
    expect(json.message).toContain('PodLogOptions "options" is invalid')
    const causes = json.details.causes as { readonly field: string; readonly reason: string }[]
    expect(causes.map(({ field, reason }) => `${field}: ${reason}`).toSorted()).toEqual([
      '[]: FieldValueForbidden',
      'limitBytes: FieldValueInvalid',
      'tailLines: FieldValueInvalid',
    ])
  })

  it('a number that is none is a bad request', async () => {
    await newPod('number', { containers: containers('app') })
    const { status, json } = await log('number/log?tailLines=many')
    expect([status, json.reason]).toEqual([400, 'BadRequest'])
  })

  it('a node that does not exist cannot be asked', async () => {
    await newPod('lost', { containers: containers('app'), nodeName: 'no-such-node' })
    const { status, json } = await log('lost/log')
    expect([status, json.reason, json.message]).toEqual([
      404,
      'NotFound',
      'pods "no-such-node" not found',
    ])
  })

  it('a node without a kubelet does not answer', async () => {
    await made('/api/v1/nodes', { metadata: { name: 'log-node' } })
    const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] }
    await ask(server(), '/api/v1/nodes/log-node/status', {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { status },
    })
    await newPod('silent', { containers: containers('app'), nodeName: 'log-node' })
    const answer = await log('silent/log')
    expect(answer.status).toBe(500)
    expect(answer.json.message).toContain('dial tcp 127.0.0.1:10250: connect: connection refused')
  })
})
