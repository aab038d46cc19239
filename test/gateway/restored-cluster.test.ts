import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { type Held, resume } from './resumed-subscription.ts'
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
const inOrder = (held: Held): readonly Fields[] =>
  [...held.values()].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

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
  /** MissingRead what a starting server writes itself. */
  const writeMuch = async (name: string): Promise<void> => {
    for (let round = 0; round < 300; round += 1) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await write(name, { round: `${round}` })
    }
  }
  const serve = async (): Promise<ServedGateway> =>
    serveGateway({ clusters: [{ name: 'one', kubeconfig: plane().kubeconfigPath }] })
  const fresh = async (gateway: ServedGateway): Promise<readonly Fields[]> => {
    const live = resume(gateway.connect(), asked)
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    live.leave()
    return inOrder(live.held())
  }
  /** Follows from a position of before the end, which must not be taken for one of what is there now. */
  const expectAnew = async (gateway: ServedGateway, stood: Fields): Promise<void> => {
    const live = resume(gateway.connect(), asked, stood)
    await live.until(() => live.seen.at(-1)?.frame.synced === true)
    expect(live.seen[0]?.frame.reset).toBe(true)
    expect(inOrder(live.held())).toEqual(await fresh(gateway))
    live.leave()
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
    expect(inOrder(live.held())).toEqual(await fresh(gateway))
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
    await expect.poll(async () => inOrder(live.held())).toEqual(await fresh(gateway))
  })
})
