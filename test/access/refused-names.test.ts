import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, serveViewers, type ViewedGateway } from '../support/viewed-gateway.ts'
import { gets, reads, type SmallWorld, startSmallWorld } from './small-world.ts'

/** Reads pods in `three`, and a node that is not there by its name. */
const carol = caller('carol')

let world: SmallWorld
let cached: ViewedGateway
let uncached: ViewedGateway
/** Forgets at once that a viewer may not get something. */
let forgetful: ViewedGateway

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
  cached = await serveViewers({ clusters: [world.selection] })
  uncached = await serveViewers({ clusters: [world.selection], uncached: ['Node'] })
  const access = { denyMs: 1 }
  forgetful = await serveViewers({ clusters: [world.selection], uncached: ['Node'], access })
})

afterAll(async () => {
  await cached[Symbol.asyncDispose]()
  await uncached[Symbol.asyncDispose]()
  await forgetful[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

describe.each([
  ['query', 'in memory'],
  ['explained', 'in memory'],
  ['query', 'read live'],
  ['query', 'read live, and whose refusals expire while it is read'],
] as const)('By %s, of a kind that is %s', (way, where) => {
  it('a refused name is answered alike whether or not there is an object, and an allowed one is null where there is none', async () => {
    const query = (name: string): string =>
      `{ pod(namespace: "three", name: "${name}") { metadata { name } node { metadata { name } } } }`
    const served = where === 'in memory' ? cached : where === 'read live' ? uncached : forgetful
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
