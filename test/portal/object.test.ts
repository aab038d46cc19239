import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const broken = 'where: { waitingReason: { eq: "CrashLoopBackOff" } }'
const invoices = 'namespace: "payments", where: { name: { eq: "invoice-worker" } }'

describeInBrowser('An object', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = async (id: string, tab = 'summary') =>
    openPage(browser(), portal, { path: `/objects/${id}?tab=${tab}` })

  it('says how it is and why in a sentence, with the word to search for', async () => {
    await using opened = await open(await idOf(portal, 'pods', broken))
    const { page } = opened
    await page
      .getByText(/^Its container crashes (at start|after \d+ minutes): exit code 1, \d+ times in /)
      .waitFor()
    const header = page.getByRole('article').locator('header')
    expect(await header.innerText()).toMatch(/Degraded/)
    expect(await header.innerText()).toMatch(/CrashLoopBackOff/)
    await page.getByRole('heading', { name: 'Containers' }).waitFor()
    await page.getByRole('heading', { name: 'Conditions' }).waitFor()
    await opened.audit()
  })

  it.each([
    [
      'pods',
      'where: { health: { eq: DEGRADED }, phase: { eq: "Pending" } }, namespace: "logistics"',
      /nodes are available/,
    ],
    ['pods', 'where: { phase: { eq: "Failed" } }', /Its container has failed: exit code 2/],
    ['nodes', 'where: { health: { eq: DEGRADED } }', /Kubelet stopped posting node status/],
  ])('says in words what is broken: %s with %s', async (list, filter, sentence) => {
    await using opened = await open(await idOf(portal, list, filter))
    const header = opened.page.getByRole('article').locator('header')
    expect(await header.innerText()).toMatch(sentence)
    await opened.audit()
  })

  it('says in words how each container of a pod is', async () => {
    const name = 'has-everything'
    const ended = { startedAt: '2026-01-01T10:00:00Z', finishedAt: '2026-01-01T10:03:00Z' }
    const oom = { terminated: { exitCode: 137, reason: 'OOMKilled', ...ended } }
    const states = {
      killed: { state: { running: ended }, ready: true, restartCount: 2, lastState: oom },
      absent: {
        state: { waiting: { reason: 'ErrImagePull', message: 'no such image: not found' } },
      },
      unset: {
        state: { waiting: { reason: 'CreateContainerConfigError', message: 'no key "port"' } },
      },
      coming: { state: { waiting: { reason: 'ContainerCreating' } } },
      looping: {
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        restartCount: 4,
        lastState: { terminated: { exitCode: 2, ...ended } },
      },
    }
    const containers = Object.keys(states).map((container) => ({
      name: container,
      image: `registry.example/${container}:1`,
      resources: { limits: { memory: '64Mi' } },
    }))
    portal.cluster.storage.create(
      { group: '', version: 'v1', resource: 'pods' },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'storefront' },
        spec: { containers, initContainers: [{ name: 'prepare', image: 'registry.example/p:1' }] },
        status: {
          phase: 'Pending',
          startTime: '2026-01-01T09:03:00Z',
          containerStatuses: Object.entries(states).map(([container, state]) => ({
            name: container,
            ...state,
          })),
          initContainerStatuses: [
            { name: 'prepare', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
          ],
        },
      },
    )
    await using opened = await open(
      await idOf(portal, 'pods', `namespace: "storefront", where: { name: { eq: "${name}" } }`),
    )
    const { page } = opened
    const items = page
      .getByRole('heading', { name: /^Containers/ })
      .locator('..')
      .getByRole('listitem')
    await items.first().waitFor()
    const said = await items.allInnerTexts()
    expect(said.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/prepare init \S+ has done its work Completed/),
      expect.stringMatching(
        /killed .* runs and is ready, \S+, restarted 2 times .*Last exit: killed for its memory \(limit 64Mi\), /,
      ),
      expect.stringContaining('cannot start: the image registry.example/absent:1 does not exist'),
      expect.stringContaining('cannot start: no key "port" CreateContainerConfigError'),
      expect.stringContaining('is being created ContainerCreating'),
      expect.stringContaining('crashes after 3 minutes: exit code 2, 4 times in 60 minutes'),
    ])
    await opened.audit()
  })

  it('names the pods of a workload, and what is wrong with them', async () => {
    await using opened = await open(await idOf(portal, 'deployments', invoices))
    const pods = opened.page
      .getByRole('heading', { name: /^Pods/ })
      .locator('..')
      .getByRole('listitem')
    expect(await pods.first().innerText()).toMatch(/crashes (at start|after)/)
    await opened.audit()
  })

  it('shows the events about it and about what it owns, the newest first', async () => {
    await using opened = await open(await idOf(portal, 'deployments', invoices), 'events')
    const { page } = opened
    const first = page.getByRole('tabpanel').getByRole('listitem').first()
    expect(await first.innerText()).toMatch(/BackOff[^]*\d+ times, first/)
    await page.getByRole('checkbox').uncheck()
    await page.getByText('There are no events about it.').waitFor()
    await opened.audit()
  })

  it('has cluster, namespace, kind and name in its address, which opens what has the name by then', async () => {
    const pods = { group: '', version: 'v1', resource: 'pods' }
    const made = (): void => {
      portal.cluster.storage.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'made-anew', namespace: 'payments' },
        spec: { containers: [{ name: 'main', image: 'busybox:1' }] },
      })
    }
    made()
    const named = 'namespace: "payments", where: { name: { eq: "made-anew" } }'
    const first = await idOf(portal, 'pods', named)
    await using opened = await open(first, 'events')
    const { page } = opened
    const heading = page.getByRole('heading', { level: 1, name: 'Pod made-anew' })
    await heading.waitFor()
    await page.waitForURL('**/objects/demo/Pod/payments/made-anew?tab=events')
    const link = page.url()
    portal.cluster.storage.delete(pods, 'payments', 'made-anew')
    made()
    // Its page stays with what it shows, and offers the new one.
    await page.getByRole('link', { name: 'Open it' }).waitFor()
    await page.goto('/livez')
    await page.goto(link)
    await heading.waitFor()
    expect(await page.getByRole('link', { name: 'Open it' }).count()).toBe(0)
    expect(await idOf(portal, 'pods', named)).not.toBe(first)
    await opened.audit()
    // Nothing has the name: it comes when something has.
    portal.cluster.storage.delete(pods, 'payments', 'made-anew')
    await page.goto('/livez')
    await page.goto(link)
    await page.getByText(/^No object has this name now/).waitFor()
    made()
    await heading.waitFor()
    portal.cluster.storage.delete(pods, 'payments', 'made-anew')
    await page.goto(
      `/objects/${await idOf(portal, 'namespaces', 'where: { name: { eq: "payments" } }')}`,
    )
    await page.waitForURL('**/objects/demo/Namespace/-/payments')
    await page.goto('/livez')
    await page.goto('/objects/demo/Namespace/-/payments')
    await page.getByRole('heading', { level: 1, name: 'Namespace payments' }).waitFor()
  })

  it('leads to its owners', async () => {
    await using opened = await open(await idOf(portal, 'pods', broken))
    const { page } = opened
    const path = page.getByRole('navigation', { name: 'Where the object belongs' })
    expect(await path.innerText()).toMatch(/^demo\s+payments\s+Deployment invoice-worker\s+Replica/)
    await path.getByRole('link', { name: 'Deployment invoice-worker' }).click()
    await page.getByRole('heading', { level: 1, name: 'Deployment invoice-worker' }).waitFor()
    await opened.audit()
  })

  it('changes its tab by a number key, and keeps it in the address', async () => {
    await using opened = await open(await idOf(portal, 'deployments', invoices))
    const { page } = opened
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
    await page.keyboard.press('2')
    await page.getByRole('tab', { name: 'Related', selected: true }).waitFor()
    await page.getByRole('heading', { name: 'Owns' }).waitFor()
    expect(new URL(page.url()).searchParams.get('tab')).toBe('related')
    await page.reload()
    await page.getByRole('tab', { name: 'Related', selected: true }).waitFor()
    await opened.audit()
  })

  it('shows a change made through the API without being asked', async () => {
    const cart = 'namespace: "storefront", where: { name: { eq: "cart-api" } }'
    await using opened = await open(await idOf(portal, 'deployments', cart))
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: 'Deployment cart-api' }).waitFor()
    const path = '/apis/apps/v1/namespaces/storefront/deployments/cart-api'
    await api(portal, 'PATCH', path, { spec: { replicas: 9 } })
    await page.getByText(/\d of 9 pods are ready/).waitFor()
    expect(
      await page.getByRole('term').filter({ hasText: 'Ready' }).locator('..').innerText(),
    ).toMatch(/of 9$/)
    await opened.audit()
  })

  it('shows in YAML what kubectl shows, and marks what has changed since', async () => {
    const path = '/api/v1/namespaces/payments/configmaps/card-gateway-config'
    const before = await api(portal, 'GET', path)
    // kubectl leaves them out, too.
    delete (before['metadata'] as Record<string, unknown>)['managedFields']
    await using opened = await open(
      await idOf(
        portal,
        'configMaps',
        'namespace: "payments", where: { name: { eq: "card-gateway-config" } }',
      ),
      'yaml',
    )
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const panel = page.getByRole('tabpanel')
    await panel.getByText('No change since you opened it.').waitFor()
    await panel.getByRole('button', { name: 'Copy' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(parse(copied)).toEqual(before)
    await api(portal, 'PATCH', path, { data: { 'log-level': 'as loud as it goes' } })
    await panel.getByText(/^2 places changed since /).waitFor()
    await panel.getByText('log-level: as loud as it goes').waitFor()
    await panel.getByRole('checkbox', { name: 'Changes only' }).check()
    await panel
      .getByText(/\d+ unchanged lines/)
      .first()
      .waitFor()
    await opened.audit()
    await panel.getByRole('button', { name: 'Forget the marks' }).click()
    await panel.getByText('No change since you opened it.').waitFor()
  })

  it('says who uses it, and where', async () => {
    const cards = 'namespace: "payments", where: { name: { eq: "card-gateway-config" } }'
    await using opened = await open(await idOf(portal, 'configMaps', cards), 'related')
    const { page } = opened
    const users = page
      .getByRole('heading', { name: /^Used by/ })
      .locator('..')
      .getByRole('listitem')
    const deployment = users.filter({ hasText: 'Deployment' })
    expect(await deployment.innerText()).toMatch(/card-gateway\s+volumes\[0\], containers\[0\]/)
    await opened.audit()
  })

  it('says that nothing uses it, of how many kinds, beside what is not known', async () => {
    const unused = 'namespace: "default", where: { name: { eq: "kube-root-ca.crt" } }'
    await using opened = await open(await idOf(portal, 'configMaps', unused), 'related')
    const { page } = opened
    await page.getByText(/^Nothing uses it, of the \d+ kinds that can\.$/).waitFor()
    const unknown = page.getByText(/^Its other relations to \d+ kinds are not known/)
    await unknown.waitFor()
    expect(await page.getByText('not looked into').allTextContents()).toEqual([
      await unknown.textContent(),
    ])
    await opened.audit()
  })

  it('stays when it is deleted, says so, and offers the new one of its name', async () => {
    const path = '/api/v1/namespaces/payments/configmaps'
    const configMap = { metadata: { name: 'short-lived' }, data: { key: 'value' } }
    await api(portal, 'POST', path, configMap)
    const short = 'namespace: "payments", where: { name: { eq: "short-lived" } }'
    await using opened = await open(await idOf(portal, 'configMaps', short))
    const { page } = opened
    const heading = page.getByRole('heading', { level: 1, name: 'ConfigMap short-lived' })
    await heading.waitFor()
    await api(portal, 'DELETE', `${path}/short-lived`)
    await page.getByText(/^Deleted at .* This is its last state\./).waitFor()
    await opened.audit()
    await api(portal, 'POST', path, configMap)
    await page.getByText('A new one has its name.').waitFor()
    await page.getByRole('link', { name: 'Open it' }).click()
    await page.getByText('Deleted at').waitFor({ state: 'detached' })
    expect(await heading.innerText()).toBe('ConfigMap short-lived')
    await opened.audit()
    await api(portal, 'DELETE', `${path}/short-lived`)
  })

  it('says what the user may do with it', async () => {
    await using opened = await open(await idOf(portal, 'pods', broken), 'access')
    const panel = opened.page.getByRole('tabpanel')
    await panel.getByText('You may see it.').waitFor()
    expect(await panel.innerText()).toMatch(/You may not delete it\.[^]*You may list them\./)
    await opened.audit()
  })
})

describeInBrowser('An object for a limited user', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ asksWho: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('leaves out what the user may not see, and says so', async () => {
    await using opened = await openPage(browser(), portal, { viewer: 'ben' })
    const { page } = opened
    await page.goto(`/objects/${await idOf(portal, 'pods', broken)}`)
    const node = page.getByRole('definition').filter({ hasText: /^worker-/ })
    await node.waitFor()
    expect(await node.getByRole('link').count()).toBe(0)
    await page.getByRole('link', { name: 'invoice-worker', exact: true }).waitFor()
    await page.goto(`/objects/${await idOf(portal, 'serviceAccounts', invoices)}?tab=related`)
    // Users of the kinds that he may list are named all the same.
    const heading = page.getByRole('heading', { name: /^Used by/ })
    const users = page.locator('section').filter({ has: heading })
    await users
      .getByText(/^It is not known whether more objects use it\. Not looked into: .*ClusterRole/)
      .waitFor()
    await users
      .getByRole('link', { name: /^invoice-worker-/ })
      .first()
      .waitFor()
    expect(await page.getByText('Nothing uses it').count()).toBe(0)
    await opened.audit()
  })

  it('says calmly that the user may not see it', async () => {
    await using opened = await openPage(browser(), portal, { viewer: 'ben' })
    const { page } = opened
    // Whether there is such a pod is nothing for those who may not see it.
    await page.goto(`/objects/${await idOf(portal, 'pods', 'namespace: "identity"')}`)
    await page.getByRole('heading', { name: 'There is nothing here that you may see.' }).waitFor()
    // A kind that is refused as a whole.
    await page.goto(`/objects/${await idOf(portal, 'nodes', 'labelSelector: ""')}`)
    await page.getByRole('heading', { name: 'You may not see this.' }).waitFor()
    expect(await page.getByRole('alert').innerText()).toMatch(/FORBIDDEN/)
    await opened.audit()
  })
})

/** Asks the API server, as kubectl does. */
async function api(
  { cluster }: Pick<ServedPortal, 'cluster'>,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const response = await fetch(new URL(path, cluster.url), {
    method,
    headers: { 'content-type': type, authorization: 'Bearer gateway-token' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Record<string, unknown>
  expect(response.ok, JSON.stringify(answer)).toBe(true)
  return answer
}

/** The `id` of the first object of a list. */
async function idOf(
  { gateway }: Pick<ServedPortal, 'gateway'>,
  list: string,
  filter: string,
): Promise<string> {
  const { query } = gateway().as('ann-token')
  const { data } = await query(`{ ${list}(${filter}, first: 1) { nodes { id } } }`)
  const { nodes } = (
    data as Record<string, { readonly nodes: readonly { readonly id: string }[] }>
  )[list] ?? { nodes: [] }
  const [node] = nodes
  if (node === undefined) throw new Error(`no ${list} match ${filter}`)
  return node.id
}
