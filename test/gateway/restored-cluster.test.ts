import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Held, type HeldBehind, type Resumed, resume } from './resumed-subscription.ts'
import type { Fields } from './test-cluster.ts'

const path = '/api/v1/namespaces/default/configmaps'
const asked = {
  field: 'configMaps(namespace: "default", coalesceMs: 0',
  selection: 'data metadata { name uid resourceVersion }',
}
const namesOf = (held: Held): string =>
  Array.from(held.values(), ({ metadata }) => String(metadata.name))
    .toSorted()
    .join()
/** What of an object is compared. */
const shownOf = ({ data, metadata: { name, uid, resourceVersion } }: Fields): Fields => ({
  data: data ?? null,
  metadata: { name, uid, resourceVersion },
})
const inOrder = (objects: Iterable<Fields>): readonly Fields[] =>
  Array.from(objects, shownOf).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

const uidOf = async (gateway: ServedGateway): Promise<string> => {
  const { gatewayClusters } = await gateway.data('{ gatewayClusters { uid } }')
  return gatewayClusters[0].uid
}

describeWithControlPlane('a cluster whose history ends', (plane) => {
  const write = async (name: string, data: Fields = {}): Promise<void> => {
    const { status } = await plane().request(`${path}/${name}`, {
      method: 'PATCH',
      body: { data },
      contentType: 'application/merge-patch+json',
    })
    if (status !== 404) return
    await plane().request(path, { method: 'POST', body: { metadata: { name }, data } })
  }
  /** More than a starting server writes itself. */
  const writeMuch = async (name: string): Promise<void> => {
    for (let round = 0; round < 300; round += 1) {
      await write(name, { round: `${round}` })
    }
  }
  const serve = async (): Promise<ServedGateway> =>
    serveGateway({ clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }] })
  /** What the server itself says is there. */
  const there = async (): Promise<readonly Fields[]> => {
    const { items } = (await plane().request(path)).json() as { readonly items: readonly Fields[] }
    return inOrder(items)
  }
  /** A write may still be on its way to the gateway. */
  const expectThere = async ({ held }: Resumed): Promise<void> => {
    await expect.poll(() => inOrder(held().values())).toEqual(await there())
  }
  /** Follows from a position of before the end, which must not be taken for one of what is there now. */
  const expectAnew = async (gateway: ServedGateway, stood?: HeldBehind): Promise<void> => {
    for (const from of [stood, undefined]) {
      const live = resume(gateway.connect(), asked, from)
      await live.until(() => live.seen.at(-1)?.frame.synced === true)
      expect(live.seen[0]?.frame.reset).toBe(true)
      await expectThere(live)
      live.leave()
    }
  }

  it('by a restored backup: is followed on, and a token of before begins anew, also when its version has been passed', async () => {
    await write('kept')
    const snapshot = await plane().snapshotData()
    await using gateway = await serve()
    const live = resume(gateway.connect(), asked)
    await live.until((held) => namesOf(held).includes('kept'))
    await writeMuch('lost')
    await live.until((held) => [...held.values()].some(({ data }) => data?.round === '299'))
    const stood = live.seen.at(-1)
    const uid = await uidOf(gateway)
    await plane().restoreData(snapshot)
    await live.until((held) => !namesOf(held).includes('lost'))
    await expectAnew(gateway, stood)
    await writeMuch('after')
    await writeMuch('after')
    await expectAnew(gateway, stood)
    await live.until((held) => namesOf(held).includes('after'))
    await expectThere(live)
    expect(await uidOf(gateway)).toBe(uid)
  })

  it('as another is made under its name: is followed on and told by its identity, and a token of before begins anew', async () => {
    await write('old')
    await using gateway = await serve()
    const live = resume(gateway.connect(), asked)
    await live.until((held) => namesOf(held).includes('old'))
    const stood = live.seen.at(-1)
    const uid = await uidOf(gateway)
    const dir = await mkdtemp(join(tmpdir(), 'informerql-empty-'))
    await plane().restoreData({ dir })
    await rm(dir, { recursive: true })
    await live.until((held) => !namesOf(held).includes('old'))
    await expect.poll(async () => uidOf(gateway)).not.toBe(uid)
    await writeMuch('new')
    await writeMuch('new')
    await expectAnew(gateway, stood)
    await live.until((held) => namesOf(held).includes('new'))
    await expectThere(live)
  })
})
