import type { Unstructured } from 'informerql/kubernetes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' } as const
const pods = { group: '', version: 'v1', resource: 'pods' } as const
const replicaSets = { group: 'apps', version: 'v1', resource: 'replicasets' } as const

describeInBrowser('The applications', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 120 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('are listed with the broken ones first, and lead to their pods by revision', async () => {
    await using opened = await openPage(browser(), portal, { path: '/applications' })
    const { page } = opened
    const first = page.getByRole('row').nth(1)
    await first.getByText('Degraded').waitFor()
    await opened.audit()
    await page
      .getByRole('row', { name: /invoice-worker payments / })
      .getByRole('link', { name: 'invoice-worker' })
      .click()
    await page.getByRole('heading', { name: 'invoice-worker', level: 1 }).waitFor()
    const current = page.getByRole('region', { name: 'Revision 35' })
    await current.getByText('current').waitFor()
    await current.getByText(/exit code|crash|restart/i).waitFor()
    await page.getByRole('region', { name: 'Revision 34' }).getByText('2 of 2 healthy').waitFor()
    await page.getByRole('link', { name: 'invoice-worker-config', exact: true }).waitFor()
    await page.getByText('BackOff', { exact: true }).waitFor()
    expect(await current.getByRole('listitem').count()).toBe(1)
    await opened.audit()
  })

  it('show a rollout as it goes: both revisions, then the new one alone', async () => {
    const { storage } = portal.cluster
    const before = storage.get(deployments, 'identity', 'auth-api')
    const { uid } = before?.metadata ?? {}
    const own = [...storage.list(replicaSets)].filter(({ metadata }) =>
      metadata?.ownerReferences?.some((owner) => owner.uid === uid),
    )
    const newest = own.toSorted((a, b) => revisionOf(b) - revisionOf(a))[0]
    if (before === undefined || newest === undefined || uid === undefined) {
      throw new Error('auth-api has no ReplicaSet')
    }
    await using opened = await openPage(browser(), portal, { path: `/applications` })
    const { page } = opened
    await page
      .getByRole('row', { name: /auth-api identity / })
      .getByRole('link', { name: 'auth-api' })
      .click()
    const old = page.getByRole('region', { name: `Revision ${revisionOf(newest)}` })
    await old.getByText('current').waitFor()
    // What the controller does for another image: a ReplicaSet of the next revision, and its first pod.
    const { metadata, ...spec } = newest
    const labels = { ...metadata?.labels, 'pod-template-hash': 'next' }
    const annotations = { 'deployment.kubernetes.io/revision': String(revisionOf(newest) + 1) }
    const { namespace, ownerReferences } = metadata ?? {}
    storage.create(replicaSets, {
      ...spec,
      metadata: { name: 'auth-api-next', namespace, ownerReferences, labels, annotations },
    } as Unstructured)
    const created = storage.get(replicaSets, 'identity', 'auth-api-next')
    const pod = [...storage.list(pods)].find(({ metadata: of }) =>
      of?.ownerReferences?.some((owner) => owner.uid === metadata?.uid),
    )
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'auth-api-next',
      controller: true,
    }
    storage.create(pods, {
      ...pod,
      metadata: {
        name: 'auth-api-next-1',
        namespace,
        labels: { ...pod?.metadata?.labels, 'pod-template-hash': 'next' },
        ownerReferences: [{ ...owner, uid: created?.metadata?.uid }],
      },
    } as Unstructured)
    const next = page.getByRole('region', { name: `Revision ${revisionOf(newest) + 1}` })
    await next.getByRole('link', { name: 'auth-api-next-1' }).waitFor()
    await next.getByText('current').waitFor()
    await old.getByText('old').waitFor()
    for (const one of Array.from(storage.list(pods))) {
      const isOld = one.metadata?.ownerReferences?.some((of) => of.uid === metadata?.uid)
      if (isOld === true) storage.delete(pods, 'identity', one.metadata?.name ?? '')
    }
    storage.update(replicaSets, { ...newest, spec: { ...(newest['spec'] as object), replicas: 0 } })
    await old.waitFor({ state: 'detached' })
    expect(await next.getByRole('listitem').count()).toBe(1)
    await opened.audit()
  })
})

function revisionOf({ metadata }: Unstructured): number {
  return Number(metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
}
