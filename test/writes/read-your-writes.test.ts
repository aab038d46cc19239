import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeAccess } from '../access/access-cluster.ts'
import type { GatewayCaller, ServedGateway } from '../support/gateway.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { core, namespace, populateShop, serveShop, written } from './shop.ts'

const writes = 300
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

describeAccess('a list that is asked right after a write', (cluster) => {
  let gateway: ServedGateway
  let ann: GatewayCaller
  beforeAll(async () => {
    await populateShop(cluster())
    gateway = await serveShop(cluster(), { writes: { writesPerMinute: 1_000_000 } })
    ann = gateway.as('ann-token')
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  it(`is never older, over ${writes} random writes (seed ${runSeed})`, async () => {
    const random = seededRandom(runSeed)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
    /** What has been written: the value and the `id` by name. */
    const expected = new Map<string, { readonly value: string; readonly id: string }>()
    const list = `{ configMaps(namespace: "${namespace}", where: { name: { in: ${JSON.stringify(names)} } }) { nodes { name data } } }`
    for (let at = 0; at < writes; at += 1) {
      const name = pick(names)
      const value = String(at)
      const known = expected.get(name)
      let behind: boolean
      const form = known === undefined ? 'apply' : pick(['apply', 'patch', 'patch', 'delete'])
      if (form === 'apply') {
        const manifest = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name },
          data: { value },
        }
        const [payload] = await written(
          ann,
          `apply(manifest: $manifest, namespace: "${namespace}", force: true)`,
          { manifest },
        )
        behind = payload.behind
        expected.set(name, { value, id: payload.object.id })
      } else if (form === 'patch') {
        const patch = { data: { value } }
        const args = `id: "${known?.id}", type: MERGE, patch: $patch`
        ;({ behind } = await written(ann, `patch(${args})`, { patch }))
        expected.set(name, { value, id: known?.id ?? '' })
      } else {
        ;({ behind } = await written(ann, `delete(id: "${known?.id}")`))
        expected.delete(name)
      }
      expect(behind).toBe(false)
      const { configMaps } = await ann.data(list)
      const found = Object.fromEntries(
        configMaps.nodes.map((one: { name: string; data: { value: string } }) => [
          one.name,
          one.data.value,
        ]),
      )
      const right = Object.fromEntries([...expected].map(([key, one]) => [key, one.value]))
      expect(found, `after write ${at}, ${form} of ${name}`).toEqual(right)
    }
    const left = await cluster().must(`${core}/configmaps`)
    expect(left.items.length).toBeGreaterThanOrEqual(expected.size)
  }, 240_000)
})
