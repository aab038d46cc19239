import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads pods in `three`, and a node that is not there by its name. */
const carol = caller('carol')

let world: SmallWorld
let served: ViewedGateway

beforeAll(async () => {
  world = await startSmallWorld()
  await world.make('/api/v1/namespaces', { metadata: { name: 'three' } })
  for (const [name, nodeName] of [
    ['on-hidden', 'worker'],
    ['on-absent', 'nowhere'],
    ['on-allowed', 'gone'],
  ]) {
    await world.make('/api/v1/namespaces/three/pods', {
      metadata: { name },
      spec: { nodeName, containers: [{ name: 'main', image: 'example/main' }] },
    })
  }
  await world.allow('three', 'carol', 'carol', [reads('', 'pods')])
  await world.allowEverywhere('carol-node', 'carol', [gets('nodes', 'gone')])
  served = await serveViewers({ clusters: [world.selection] })
})

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe.each(['query', 'unplanned', 'explained'] as const)('By %s', (way) => {
  it('a refused name is answered alike whether or not there is an object, and an allowed one is null where there is none', async () => {
    const query = (name: string): string =>
      `{ pod(namespace: "three", name: "${name}") { metadata { name } node { metadata { name } } } }`
    const answers = await Promise.all(
      ['on-hidden', 'on-absent', 'on-allowed'].map(async (name) => served[way](carol, query(name))),
    )
    expect(answers.map(({ data }) => data.pod.node)).toEqual([null, null, null])
    const [hidden, absent, allowed] = answers.map(({ errors }) => errors)
    expect(hidden).toMatchObject([{ path: ['pod', 'node'], extensions: { code: 'FORBIDDEN' } }])
    expect(hidden).toEqual(absent)
    expect(allowed).toBeUndefined()
  })
})
