import { setTimeout as sleep } from 'node:timers/promises'
import { loadClusterConfig } from 'informerql/cluster'
import { expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import type { ControlPlane } from '../support/control-plane.ts'
import {
  foldingHandler,
  held,
  type InformerSetting,
  runInformer,
  shown,
  syncedInformer,
  type TestInformer,
  until,
} from '../support/informer.ts'

const limited = { token: 'limited-token', user: 'limited', uid: 'limited', groups: ['visitors'] }
const namespace = 'default'
const path = `/api/v1/namespaces/${namespace}/configmaps`
/** Not in the way of a server that is starting. */
const backoff = { initialMs: 50, factor: 1, maxMs: 50, resetAfterMs: 1000 }
const bareEnvironment = {
  variables: {},
  homeDir: '/nonexistent',
  serviceAccountDir: '/nonexistent',
}

const setting = (plane: ControlPlane, more: Partial<InformerSetting> = {}): InformerSetting => ({
  server: loadClusterConfig({ kubeconfig: plane.kubeconfigPath }, bareEnvironment),
  labelSelector: 'of=informer',
  namespace,
  backoff,
  shortWatchMs: 1000,
  ...more,
})

const write = async (plane: ControlPlane, name: string, data: object = {}): Promise<void> => {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { of: 'informer' } },
    data,
  }
  const created = await plane.request(path, { method: 'POST', body })
  const status =
    created.status === 409
      ? (await plane.request(`${path}/${name}`, { method: 'PUT', body })).status
      : created.status
  expect([200, 201]).toContain(status)
}

const remove = async (plane: ControlPlane, name: string): Promise<void> => {
  expect((await plane.request(`${path}/${name}`, { method: 'DELETE' })).status).toBe(200)
}

const listed = async (plane: ControlPlane): Promise<string[]> => {
  const answer = await plane.request(`${path}?labelSelector=of%3Dinformer`)
  const { items } = answer.json() as { readonly items: readonly Parameters<typeof shown>[0][] }
  return items.map(shown)
}

/** Waits until the store is what the server lists now. */
const equal = async (plane: ControlPlane, { informer }: TestInformer): Promise<void> => {
  const list = await listed(plane)
  await until(
    () => held(informer).join() === list.join(),
    () => `the store to be ${list.join()}: ${held(informer).join()}, ${String(informer.lastError)}`,
  )
}

const listsOf = (running: TestInformer): number => running.informer.failures.get('list') ?? 0

describeWithControlPlane(
  'An informer',
  (plane) => {
    it.each(['list', 'watchlist'] as const)(
      '[1] [2] [4] [7] syncs by %s, follows writes, and takes bookmarks for what they are',
      async (initialList) => {
        for (const name of ['a', 'b', 'c']) await write(plane(), name)
        await using running = await syncedInformer(setting(plane(), { initialList, pageSize: 2 }))
        const handler = foldingHandler()
        running.informer.addEventHandler(handler)
        await equal(plane(), running)
        await write(plane(), 'd', { text: 'line\u2028separator' })
        await write(plane(), 'a', { changed: 'yes' })
        await remove(plane(), 'b')
        await remove(plane(), 'd')
        await until(
          () => handler.events.length === 7,
          () => handler.events.join('\n'),
        )
        expect(handler.events.map((event) => event.split(' ')[0])).toEqual([
          'INITIAL',
          'INITIAL',
          'INITIAL',
          'ADDED',
          'MODIFIED',
          'DELETED',
          'DELETED',
        ])
        await equal(plane(), running)
        expect(running.failures).toEqual([])
        for (const name of ['a', 'c']) await remove(plane(), name)
      },
    )

    it('[8] watches on after the time that it asked for, without a list', async () => {
      await using running = await syncedInformer(
        setting(plane(), { watchTimeoutSeconds: { min: 1, max: 1 }, shortWatchMs: 100 }),
      )
      for (let round = 0; round < 3; round++) {
        await write(plane(), 'a', { round: String(round) })
        await equal(plane(), running)
        await sleep(700)
      }
      expect(running.failures).toEqual([])
    })

    it('[8] [9] survives a server that is killed and comes back, and repeats nothing', async () => {
      await write(plane(), 'a')
      await using running = await syncedInformer(setting(plane()))
      const handler = foldingHandler()
      running.informer.addEventHandler(handler)
      await plane().killServer()
      await until(() => running.failures.length > 3, 'attempts while nobody listens')
      expect(running.informer.lastError).toMatchObject({ code: 'CONNECTION_REFUSED' })
      await plane().startServer()
      await write(plane(), 'a', { after: 'restart' })
      await equal(plane(), running)
      await until(() => handler.events.length >= 2, 'the change')
      expect(handler.events).toHaveLength(2)
      expect(handler.events[1]).toMatch(/^MODIFIED /)
    })

    it('[3] [10] [16] [24] recovers from a compacted history: one difference, tombstones, no repetition', async () => {
      for (const name of ['a', 'gone', 'again']) await write(plane(), name)
      await using running = await syncedInformer(setting(plane()))
      const handler = foldingHandler()
      running.informer.addEventHandler(handler)
      await equal(plane(), running)
      const before = handler.events.length
      await plane().killServer()
      await until(() => running.informer.state === 'waiting', 'the loss of the connection')
      await plane().startServer()
      // Faster than the back-off allows the informer to be back would be chance: it is all the same in the end.
      await remove(plane(), 'gone')
      await remove(plane(), 'again')
      await write(plane(), 'again')
      await write(plane(), 'new')
      await plane().compact()
      await plane().killServer()
      await plane().startServer()
      await equal(plane(), running)
      await until(() => handler.objects.size === running.informer.store.size, 'the events')
      const later = handler.events.slice(before).map((event) => event.replace(/@\d+.*/, ''))
      expect(later.toSorted()).toEqual([
        'ADDED default/again',
        'ADDED default/new',
        expect.stringMatching(/^(DELETED|VANISHED) default\/again$/),
        expect.stringMatching(/^(DELETED|VANISHED) default\/gone$/),
      ])
    })

    it('[8] notices that a backup was restored, although the server says nothing', async () => {
      await write(plane(), 'kept')
      const snapshot = await plane().snapshotData()
      await using running = await syncedInformer(setting(plane()))
      const handler = foldingHandler()
      running.informer.addEventHandler(handler)
      // MissingRead what a starting server writes itself.
      for (let round = 0; round < 200; round++)
        await write(plane(), 'lost', { round: String(round) })
      await equal(plane(), running)
      const ahead = running.informer.store.resourceVersion
      await plane().restoreData(snapshot)
      await until(
        () => running.informer.store.idOf('default/lost') === undefined,
        () => `the older state, ${running.failures.map(({ error }) => String(error)).join()}`,
      )
      expect(Number(running.informer.store.resourceVersion)).toBeLessThan(Number(ahead))
      expect(handler.events.at(-1)).toMatch(/^VANISHED default\/lost@/)
      await write(plane(), 'after')
      await equal(plane(), running)
    })

    it('[9] tells that it is forbidden to list, tries on, and syncs once it is allowed to', async () => {
      const kubeconfig = await plane().kubeconfigFor(limited.token)
      await using running = runInformer(
        setting(plane(), { server: loadClusterConfig({ kubeconfig }, bareEnvironment) }),
      )
      await until(() => listsOf(running) > 2, 'some refusals')
      expect(running.informer.lastError).toMatchObject({ httpStatus: 403 })
      expect(running.informer.hasSynced()).toBe(false)
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const named = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reader' } }
      await plane().request(`${rbac}/clusterroles`, {
        method: 'POST',
        body: {
          ...named,
          kind: 'ClusterRole',
          rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
        },
      })
      await plane().request(`${rbac}/clusterrolebindings`, {
        method: 'POST',
        body: {
          ...named,
          kind: 'ClusterRoleBinding',
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: limited.user }],
        },
      })
      await running.informer.waitForSync({ deadlineMs: 10_000 })
      await equal(plane(), running)
      expect(running.informer.lastError).toBeUndefined()
    })
  },
  { tokens: [limited] },
)
