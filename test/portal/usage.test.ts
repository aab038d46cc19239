import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const unmeasured =
  'The use of CPU and memory is not measured here: the cluster has no metrics-server.'

describeInBrowser('The use of CPU and memory', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ hasMetrics: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = (path: string, width = 1600) => openPage(browser(), portal, { path, width })

  it('is a column of pods, by which the table is sorted', async () => {
    await using opened = await open('/kinds/pods')
    const { page } = opened
    const cells = page.locator('[role=gridcell][data-column=usageCpu]')
    await page.getByRole('columnheader', { name: 'CPU', exact: true }).getByText('CPU').click()
    await expect.poll(() => page.url()).toContain('sort=-usageCpu')
    await expect.poll(() => cells.first().innerText()).toMatch(/^[\d.]+m?\/(?:[\d.]+m?|–)$/)
    const used = async (): Promise<number[]> => {
      const texts = await cells.allInnerTexts()
      const numbers = texts.map((text) => /^([\d.]+)(m?)/.exec(text))
      return numbers.flatMap((found) =>
        found === null ? [] : [Number(found[1]) / (found[2] === 'm' ? 1000 : 1)],
      )
    }
    await expect
      .poll(async () => {
        const numbers = await used()
        return numbers.length > 10 && (numbers[0] ?? 0) > (numbers.at(-1) ?? 0)
      })
      .toBe(true)
    await opened.audit()
  })

  it('is a column of nodes and workloads, and requests and limits are chosen', async () => {
    await using opened = await open('/kinds/deployments.apps?cols=memoryRequests,memoryLimits')
    const { page } = opened
    const cell = (column: string) => page.locator(`[role=gridcell][data-column=${column}]`).first()
    await expect
      .poll(() => cell('usageMemory').innerText())
      .toMatch(/^[\d.]+ [MG]iB\/[\d.]+ [MG]iB$/)
    await expect.poll(() => cell('memoryLimits').innerText()).toMatch(/^[\d.]+ [MG]iB$/)
    const head = page.getByRole('columnheader', { name: 'CPU', exact: true })
    expect(await head.getAttribute('title')).toBe('Used, and requested')
    await opened.audit()
    await page.goto('/kinds/nodes')
    await expect.poll(() => cell('usageCpu').innerText()).toMatch(/^[\d.]+\/7\.89$/)
    expect(await head.getAttribute('title')).toBe('Used, and allocatable to pods')
    await opened.audit()
  })

  it.each(['Node//worker-a-001', 'Namespace//payments', 'Deployment.apps/payments/card-gateway'])(
    'is in the head of %s, as bars with a legend in words',
    async (name) => {
      await using opened = await open(`/objects/${encodeURIComponent(`demo/${name}`)}`, 390)
      const part = opened.page.getByRole('heading', { name: 'Use', exact: true }).locator('..')
      await part.waitFor()
      const text = (await part.innerText()).replaceAll(/\s+/g, ' ')
      expect(text).toMatch(/CPU [\d.]+m? used [\d.]+m? requested .*limit/)
      expect(text).toMatch(/Memory [\d.]+ [MG]iB used [\d.]+ [MG]iB requested limit/)
      await opened.audit()
    },
  )

  it('has no sum of limits where some pods have none, but says of how many it is', async () => {
    const { data } = await portal
      .gateway()
      .query(
        '{ pods(namespace: "payments", first: 0, where: { phase: { not: { in: ["Succeeded", "Failed"] } } }) { totalCount sum(of: ["cpuLimits"]) { count } } }',
      )
    const { totalCount, sum } = data?.pods ?? {}
    const limited = sum[0].count
    expect(limited).toBeGreaterThan(0)
    expect(limited).toBeLessThan(totalCount)
    await using opened = await open(`/objects/${encodeURIComponent('demo/Namespace//payments')}`)
    await opened.page
      .getByText(new RegExp(`^limit [\\d.]+m? for ${limited} of ${totalCount} pods$`))
      .waitFor()
    await opened.audit()
  })

  it('is in the head of a pod, and beside each of its containers', async () => {
    const { data } = await portal
      .gateway()
      .query(
        '{ pods(namespace: "payments", where: { name: { contains: "card-gateway" } }, first: 1) { nodes { id } } }',
      )
    const { nodes } = (data as { pods: { nodes: { id: string }[] } }).pods
    await using opened = await open(`/objects/${nodes[0]?.id}`)
    await opened.page.getByText(/^Uses: cpu \d+m, memory \d+ MiB · Requests: /).waitFor()
    await opened.page.getByText('100m requested').waitFor()
    await opened.page.getByText('no limit').waitFor()
    expect(await opened.page.getByText('Uses:').count()).toBe(1)
    await opened.audit()
  })
})

describeInBrowser('The use of CPU and memory without metrics-server', (browser) => {
  it('is said once to be unknown, and requests are there', async () => {
    await using portal = await servePortal()
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods', width: 1600 })
    const { page } = opened
    await page.getByText(unmeasured).waitFor()
    expect(await page.getByText(unmeasured).count()).toBe(1)
    const cells = page.locator('[role=gridcell][data-column=usageMemory]')
    await expect.poll(() => cells.first().innerText()).toMatch(/^–\/\d+ MiB$/)
    const heading = page.getByRole('columnheader', { name: 'CPU', exact: true })
    expect(await heading.getByRole('button', { name: 'CPU', exact: true }).count()).toBe(0)
    await opened.audit()
    await page.goto(`/objects/${encodeURIComponent('demo/Namespace//payments')}`)
    await page.getByText(unmeasured).waitFor()
    await page.getByText('use unknown').first().waitFor()
    await opened.audit()
  })
})

describeInBrowser('The use of CPU and memory for a limited user', (browser) => {
  it('is said to be hidden where the user may list pods only', async () => {
    await using portal = await servePortal({ hasMetrics: true, asksWho: true })
    const group = 'rbac.authorization.k8s.io'
    const metadata = { name: 'pods-only', namespace: 'insights' }
    const { storage } = portal.cluster
    storage.create(
      { group, version: 'v1', resource: 'roles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata,
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
      },
    )
    storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: group, kind: 'Role', name: 'pods-only' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'ben' }],
      },
    )
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/pods?ns=insights',
      viewer: 'ben',
      width: 1600,
    })
    const { page } = opened
    await page.getByText('You may not see what these pods use of CPU and memory.').waitFor()
    const cells = page.locator('[role=gridcell][data-column=usageMemory]')
    await expect.poll(() => cells.first().innerText()).toMatch(/^–\/\d+ MiB$/)
    await opened.audit()
  })
})

describeInBrowser('The use of a node by a user who may list some pods', (browser) => {
  it('is said to be of their pods, and no cell has it as that of the node', async () => {
    await using portal = await servePortal({ hasMetrics: true, asksWho: true })
    const group = 'rbac.authorization.k8s.io'
    const { storage } = portal.cluster
    const metadata = { name: 'nodes-only' }
    storage.create(
      { group, version: 'v1', resource: 'clusterroles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'ClusterRole',
        metadata,
        rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] }],
      },
    )
    storage.create(
      { group, version: 'v1', resource: 'clusterrolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'nodes-only' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'ben' }],
      },
    )
    const path = `/objects/${encodeURIComponent('demo/Node//worker-a-001')}`
    await using opened = await openPage(browser(), portal, { path, viewer: 'ben', width: 1600 })
    const { page } = opened
    await page.getByText('Of your pods alone: you may not list the others.').waitFor()
    await page.getByText(/^[\d.]+m? requested by your pods$/).waitFor()
    await page.getByText(/^[\d.]+ [MG]iB requested by your pods$/).waitFor()
    await page.getByText('You may not see what nodes use of CPU and memory.').waitFor()
    await page.getByRole('heading', { name: /^Your pods \d+$/ }).waitFor()
    await opened.audit()
    await page.goto('/kinds/nodes?cols=cpuRequests,memoryLimits')
    const cell = (column: string) => page.locator(`[role=gridcell][data-column=${column}]`)
    await expect.poll(() => cell('usageCpu').first().innerText()).toBe('–/7.89')
    await expect.poll(() => cell('cpuRequests').first().innerText()).toBe('–')
    const titles = cell('usageCpu').locator('[title*="by your pods"]')
    await titles.first().waitFor()
    await page.getByRole('columnheader', { name: 'CPU', exact: true }).waitFor()
    await opened.audit()
  })
})

describeInBrowser('The use of CPU and memory in a small profile of the schema', (browser) => {
  it('is a column of the workloads that it has', async () => {
    const kinds = ['Pod', 'Namespace', 'Deployment', 'ReplicaSet', 'PodMetrics']
    await using portal = await servePortal({
      hasMetrics: true,
      further: { profile: { include: { kinds } } },
    })
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/deployments.apps',
      width: 1600,
    })
    const cells = opened.page.locator('[role=gridcell][data-column=usageMemory]')
    await expect.poll(() => cells.first().innerText()).toMatch(/^[\d.]+ [MG]iB\/[\d.]+ [MG]iB$/)
    await opened.page.goto('/kinds/pods')
    await expect.poll(() => cells.first().innerText()).toMatch(/^[\d.]+ [MG]iB\/[\d.]+ [MG]iB$/)
  })
})
