import { startSimulator, type Simulator } from 'informerql/simulator'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { created, sent } from './created.ts'
import type { Fields } from './test-cluster.ts'

let cluster: Simulator
let gateway: ServedGateway
beforeAll(async () => {
  cluster = await startSimulator()
  for (const name of ['node-1', 'node-2']) {
    await created(cluster, '/api/v1/nodes', { metadata: { name } })
  }
})
afterAll(async () => cluster[Symbol.asyncDispose]())
afterEach(async () => gateway[Symbol.asyncDispose]())

const pods = '/api/v1/namespaces/default/pods'
const events = '/api/v1/namespaces/default/events'
const podOn = (nodeName: string): Fields => ({
  metadata: { name: 'twice' },
  spec: { nodeName, containers: [{ name: 'main', image: 'nginx:1' }] },
})
const eventAbout = (name: string, { metadata, kind }: Fields): Fields => ({
  metadata: { name },
  involvedObject: { kind, namespace: 'default', name: metadata.name, uid: metadata.uid },
  reason: name,
})

describe('identity', () => {
  it('the relations of a deleted object do not follow its namesake', async () => {
    gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    const former = await created(cluster, pods, podOn('node-1'))
    await created(cluster, events, eventAbout('about-the-former', former))
    const query = `subscription { pods(coalesceMs: 300) {
      changes { type objectId object {
        metadata { uid } node { metadata { name } } events { nodes { reason } }
      } }
    } }`
    const frames = gateway.connect().iterate<{ pods: { changes: Fields[] } }>({ query })
    const snapshot = (await frames.next()).value?.data?.pods.changes[0]
    expect(snapshot?.['object']).toEqual({
      metadata: { uid: former.metadata.uid },
      node: { metadata: { name: 'node-1' } },
      events: { nodes: [{ reason: 'about-the-former' }] },
    })
    // Both in one frame, so that the namesake is there when the deletion is told.
    await sent(cluster, 'DELETE', `${pods}/twice?gracePeriodSeconds=0`)
    const namesake = await created(cluster, pods, podOn('node-2'))
    await created(cluster, events, eventAbout('about-the-namesake', namesake))
    const changes = (await frames.next()).value?.data?.pods.changes ?? []
    expect(changes.map((change: Fields) => change.type)).toEqual(['REMOVED', 'ADDED'])
    expect(changes[0]).toMatchObject({
      objectId: snapshot?.['objectId'],
      // As it was last told.
      object: snapshot?.['object'],
    })
    expect(changes[1]).toMatchObject({
      object: { metadata: { uid: namesake.metadata.uid }, node: { metadata: { name: 'node-2' } } },
    })
    await frames.return?.()
  })

  it('Events without lastTimestamp are objects of their own', async () => {
    gateway = await serveGateway({ clusters: [{ name: 'one', server: cluster.url }] })
    const about = { kind: 'Node', metadata: { name: 'node-1', uid: 'node-1' } }
    for (const name of ['e-1', 'e-2', 'e-3']) {
      await created(cluster, events, eventAbout(name, about))
    }
    const { events: found } = await gateway.data(`{
      events(where: { reason: { startsWith: "e-" } }) { nodes { id reason lastTimestamp } }
    }`)
    expect(found.nodes.map((one: Fields) => [one.reason, one.lastTimestamp])).toEqual([
      ['e-1', null],
      ['e-2', null],
      ['e-3', null],
    ])
    expect(new Set(found.nodes.map(({ id }: Fields) => id)).size).toBe(3)
  })
})
