import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created } from './created.ts'
import type { Fields } from './test-cluster.ts'

const containers = [{ name: 'main', image: 'nginx:1' }]
const at = (minute: number): string => `2026-01-01T10:${String(minute).padStart(2, '0')}:00Z`
const micro = (minute: number): string => at(minute).replace('Z', '.000000Z')

describe('the events of an object', () => {
  let simulator: Simulator
  let gateway: ServedGateway
  const objects = new Map<string, Fields>()

  const make = async (path: string, kind: string, name: string, spec: object): Promise<void> => {
    const { metadata } = await created(simulator, path, { metadata: { name }, spec })
    const { namespace, uid } = metadata
    const place = namespace === undefined ? {} : { namespace }
    objects.set(name, { apiVersion: 'v1', kind, name, uid, ...place })
  }

  const event = (name: string, fields: object): Promise<Fields> =>
    created(simulator, '/api/v1/namespaces/default/events', {
      metadata: { name, namespace: 'default' },
      ...fields,
    })

  const newEvent = (name: string, fields: object): Promise<Fields> =>
    created(simulator, '/apis/events.k8s.io/v1/namespaces/default/events', {
      metadata: { name, namespace: 'default' },
      action: 'Testing',
      reportingController: 'example.com/test',
      reportingInstance: 'test-1',
      ...fields,
    })

  beforeAll(async () => {
    simulator = await startSimulator()
    await make('/api/v1/namespaces/default/pods', 'Pod', 'p', { containers })
    await make('/api/v1/namespaces/default/pods', 'Pod', 'q', { containers })
    await make('/api/v1/nodes', 'Node', 'n', {})
    const [p, n] = [objects.get('p'), objects.get('n')]
    // The names are in another order than the times.
    await event('e', {
      involvedObject: p,
      type: 'Normal',
      reason: 'Pulled',
      firstTimestamp: at(1),
      lastTimestamp: at(2),
    })
    await newEvent('c', {
      regarding: p,
      type: 'Warning',
      reason: 'Once',
      note: 'n',
      eventTime: micro(3),
    })
    await newEvent('a', {
      regarding: p,
      type: 'Warning',
      reason: 'Often',
      note: 'n',
      eventTime: micro(0),
      series: { count: 5, lastObservedTime: micro(4) },
    })
    await event('d', {
      involvedObject: { ...p, uid: 'that-of-a-former-pod' },
      type: 'Warning',
      reason: 'Former',
      lastTimestamp: at(5),
    })
    await event('b', {
      involvedObject: { kind: 'Node', name: 'n', uid: 'n' },
      type: 'Warning',
      reason: 'Kubelet',
      lastTimestamp: at(6),
    })
    await newEvent('f', {
      regarding: objects.get('q'),
      related: n,
      type: 'Normal',
      reason: 'Moved',
      note: 'n',
      eventTime: micro(7),
    })
    gateway = await serveGateway({ clusters: [{ name: 'one', server: simulator.url }] })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await simulator[Symbol.asyncDispose]()
  })

  const reasons = async (object: string, args: string): Promise<readonly string[]> => {
    const query = `{ ${object} { events${args} { nodes { reason } totalCount } } }`
    const data = await gateway.data(query)
    expect(JSON.parse((await gateway.gateway.planned.answer({ query })) ?? '{}').data).toEqual(data)
    const [found] = Object.values<Fields>(data)
    return found.events.nodes.map(({ reason }: Fields) => reason)
  }
  const pod = 'pod(namespace: "default", name: "p")'
  const node = 'node(name: "n")'

  it('come in the order in which they were last seen, whichever API they were written by', async () => {
    expect(await reasons(pod, '')).toEqual(['Pulled', 'Once', 'Often'])
  })

  it('are the newest with last', async () => {
    expect(await reasons(pod, '(last: 2)')).toEqual(['Once', 'Often'])
    expect(await reasons(pod, '(first: 2, orderBy: [{ lastSeen: DESC }])')).toEqual([
      'Often',
      'Once',
    ])
  })

  it('are warnings where they are asked for', async () => {
    expect(await reasons(pod, '(last: 1, where: { type: { eq: "Warning" } })')).toEqual(['Often'])
    expect(await reasons(pod, '(where: { type: { eq: "Normal" } })')).toEqual(['Pulled'])
  })

  it('of a Node are those of its kubelet too', async () => {
    expect(await reasons(node, '')).toEqual(['Kubelet'])
  })

  it('are those that name it as related, where they are asked for', async () => {
    expect(await reasons(node, '(related: true)')).toEqual(['Kubelet', 'Moved'])
    expect(await reasons(node, '(related: false)')).toEqual(['Kubelet'])
  })

  it('have cursors that are good for the same events only', async () => {
    const cursors = async (args: string): Promise<Fields> =>
      (await gateway.data(`{ ${node} { events(${args}) { pageInfo { endCursor hasNextPage } } } }`))
        .node.events.pageInfo
    const { endCursor, hasNextPage } = await cursors('related: true, first: 1')
    expect(hasNextPage).toBe(true)
    expect(await reasons(node, `(related: true, first: 1, after: "${endCursor}")`)).toEqual([
      'Moved',
    ])
    const { errors } = await gateway.query(
      `{ ${node} { events(after: "${endCursor}") { totalCount } } }`,
    )
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'after' })
  })
})
