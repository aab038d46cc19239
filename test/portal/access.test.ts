import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

const group = 'rbac.authorization.k8s.io'

/** Lets the group `oncall` delete pods of `payments`, and the account `payments/robot` everything everywhere. */
const grant = ({ storage }: ServedPortal['cluster']): void => {
  const create = (resource: string, kind: string, body: object): void => {
    const object = { apiVersion: `${group}/v1`, kind, ...body } as never
    storage.create({ group, version: 'v1', resource }, object)
  }
  create('roles', 'Role', {
    metadata: { name: 'pod-killer', namespace: 'payments' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'delete'] }],
  })
  create('rolebindings', 'RoleBinding', {
    metadata: { name: 'oncall-kills', namespace: 'payments' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'pod-killer' },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'oncall' }],
  })
  create('clusterroles', 'ClusterRole', {
    metadata: { name: 'does-all' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  })
  create('clusterrolebindings', 'ClusterRoleBinding', {
    metadata: { name: 'robot-does-all' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'does-all' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'payments' }],
  })
}

/** Lets the group `sre` open shells and scale in `payments`, and the user `mixed` watch all of three groups. */
const grantParts = ({ storage }: ServedPortal['cluster']): void => {
  const create = (resource: string, kind: string, body: object): void => {
    const object = { apiVersion: `${group}/v1`, kind, ...body } as never
    storage.create({ group, version: 'v1', resource }, object)
  }
  const namespace = 'payments'
  create('roles', 'Role', {
    metadata: { name: 'shell-opener', namespace },
    rules: [
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['get', 'create'] },
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['patch'] },
    ],
  })
  create('roles', 'Role', {
    metadata: { name: 'mixed', namespace },
    rules: [{ apiGroups: ['', 'apps', 'batch'], resources: ['*'], verbs: ['watch'] }],
  })
  for (const [name, role, subject] of [
    ['sre-shells', 'shell-opener', { apiGroup: group, kind: 'Group', name: 'sre' }],
    ['mixed', 'mixed', { apiGroup: group, kind: 'User', name: 'mixed' }],
  ] as const) {
    create('rolebindings', 'RoleBinding', {
      metadata: { name, namespace },
      roleRef: { apiGroup: group, kind: 'Role', name: role },
      subjects: [subject],
    })
  }
}

const rowsOf = async (page: Page, table: string): Promise<readonly string[]> => {
  const rows = page.getByRole('table', { name: table }).getByRole('row')
  await rows.nth(1).waitFor()
  const texts = await rows.allInnerTexts()
  return texts.slice(1).map((text) => text.replaceAll(/\s+/g, ' '))
}

describeInBrowser('Who may do what', (browser) => {
  let portal: ServedPortal
  let pod = ''
  beforeAll(async () => {
    portal = await servePortal({ hasMetrics: true })
    grant(portal.cluster)
    grantParts(portal.cluster)
    const { pods } = await portal
      .gateway()
      .data(`{ pods(namespace: "payments", first: 1) { nodes { id } } }`)
    pod = pods.nodes[0].id
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('is asked again when RBAC changes', async () => {
    await using opened = await openPage(browser(), portal, {
      path: `/access?verb=delete&type=Pod&ns=payments`,
    })
    const { page } = opened
    await page.getByText('oncall-kills').first().waitFor()
    const { storage } = portal.cluster
    const bindings = { group, version: 'v1', resource: 'rolebindings' }
    // Who comes back to the page asks, and may see a binding that goes before those who follow bindings have heard of it.
    const comeBack = () => document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    for (const name of ['first', 'second']) {
      // An answer is fresh for two seconds, and is not asked for meanwhile.
      await page.waitForTimeout(2_100)
      storage.create(bindings, {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { name, namespace: 'payments' },
        roleRef: { apiGroup: group, kind: 'Role', name: 'pod-killer' },
        subjects: [{ apiGroup: group, kind: 'User', name: `${name}-comer` }],
      })
      await page.evaluate(comeBack)
      await page.getByText(`${name}-comer`).first().waitFor()
      storage.delete(bindings, 'payments', name)
      await expect.poll(() => page.getByText(`${name}-comer`).count()).toBe(0)
    }
    expect(opened.problems).toEqual([])
  })

  it('is said of an object, with the role and the binding, and leads to what one of them may do', async () => {
    await using opened = await openPage(browser(), portal, { path: `/objects/${pod}?tab=access` })
    const { page } = opened
    const title = 'Who may do something with this Pod'
    await page.getByRole('heading', { name: title }).waitFor()
    await page.getByLabel('Verb').selectOption('delete')
    await expect
      .poll(() => rowsOf(page, title))
      .toEqual([
        'Group oncall delete, get pods payments pod-killer by oncall-kills',
        'ServiceAccount payments/robot everything everything everywhere does-all by robot-does-all',
      ])
    await page.getByText('Members of the group system:masters may do everything').waitFor()
    await page.getByRole('link', { name: 'pod-killer' }).waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'oncall' }).click()
    expect(await rowsOf(page, 'What oncall may do')).toContain(
      'Group oncall get, delete pods payments pod-killer by oncall-kills',
    )
    await page.getByRole('button', { name: 'Back to all' }).click()
    await page.getByRole('heading', { name: title }).waitFor()
  })

  it('is asked on a page of its own, whose address has the question', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/pods?ns=payments' })
    const { page } = opened
    await page.getByRole('link', { name: 'Who may', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Who may do what' }).waitFor()
    await page.getByText('In payments, in').waitFor()
    await page.getByLabel('Verb').selectOption('delete')
    await page.getByRole('button', { name: 'payments/robot' }).click()
    await expect
      .poll(() => new URL(page.url()).searchParams.get('who'))
      .toBe('SERVICE_ACCOUNT:payments/robot')
    expect(await rowsOf(page, 'Who may do what')).toContain(
      'ServiceAccount payments/robot everything everything everywhere does-all by robot-does-all',
    )
    await page.getByLabel('Whom').selectOption('Group')
    await page.getByRole('textbox', { name: 'Name' }).fill('nobody')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('No role grants this.').waitFor()
    await page.goBack()
    await opened.audit()
  })

  it('is asked of a part of an object, as one types it: who may open a shell, or scale', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/access?type=pods/exec&verb=create&ns=payments',
    })
    const { page } = opened
    const title = 'Who may do what'
    const shells = [
      'Group sre create, get pods/exec payments shell-opener by sre-shells',
      'ServiceAccount payments/robot everything everything everywhere does-all by robot-does-all',
    ]
    await expect.poll(() => rowsOf(page, title)).toEqual(shells)
    const field = page.getByLabel('Kind')
    expect(await field.inputValue()).toBe('pods/exec')
    // Each with its words, and of several groups with the group: two kinds have the plural "Pods".
    const options = page.locator('#access-kinds option')
    const offered = await options.evaluateAll((all) =>
      (all as HTMLOptionElement[]).map(({ value, label }) => `${value} ${label}`),
    )
    expect(offered.slice(0, 5)).toEqual([
      'pods/exec open a shell',
      'pods/log read logs',
      'pods/eviction evict',
      'pods/portforward forward ports',
      'deployments/scale scale',
    ])
    const labels = offered.map((one) => one.slice(one.indexOf(' ')))
    expect(labels.filter((label) => / (?:Pods|Nodes)/.test(label)).toSorted()).toEqual([
      ' Nodes',
      ' Nodes · metrics.k8s.io',
      ' Pods',
      ' Pods · metrics.k8s.io',
    ])
    await opened.audit()
    await page.getByLabel('Verb').selectOption('')
    for (const [typed, expected] of [
      ['deployments/scale', 'Group sre patch deployments/scale'],
      ['deployments.apps/scale', 'Group sre patch deployments/scale'],
      ['Pod/exec', 'Group sre get, create pods/exec'],
      ['pods', 'Group oncall get, delete pods'],
    ] as const) {
      await field.click()
      await page.keyboard.press('Control+a')
      await page.keyboard.type(typed)
      await page.keyboard.press('Enter')
      await expect.poll(() => new URL(page.url()).searchParams.get('type')).toBe(typed)
      await expect.poll(() => rowsOf(page, title)).toContainEqual(expect.stringContaining(expected))
    }
    // Typing a longer name does not choose the shorter one on the way.
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Pod')
    expect(new URL(page.url()).searchParams.get('type')).toBe('pods')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await page.keyboard.press('Tab')
    await expect.poll(() => new URL(page.url()).searchParams.get('type') ?? '').toBe('')
    await page.getByText('No role').or(page.getByText('oncall-kills')).first().waitFor()
    await page.goto(new URL('/access?type=Nonsense&ns=payments', portal.url).href)
    await page.getByText('there is no type "Nonsense"').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('is asked of a part of an object on its own page', async () => {
    await using opened = await openPage(browser(), portal, { path: `/objects/${pod}?tab=access` })
    const { page } = opened
    const title = 'Who may do something with this Pod'
    await page.getByLabel('Verb').selectOption('create')
    await page.getByLabel('Part').selectOption({ label: 'pods/exec: open a shell' })
    await expect
      .poll(() => rowsOf(page, title))
      .toEqual([
        'Group sre create, get pods/exec payments shell-opener by sre-shells',
        'ServiceAccount payments/robot everything everything everywhere does-all by robot-does-all',
      ])
    await opened.audit()
  })

  it('has what was asked for first in each rule, marked, before what is hidden', async () => {
    const { storage } = portal.cluster
    const others = Array.from({ length: 20 }, (_, at) => `thing${at}s`)
    storage.create(
      { group, version: 'v1', resource: 'roles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata: { name: 'wide', namespace: 'payments' },
        rules: [
          {
            apiGroups: ['example.com', ''],
            resources: [...others, 'pods'],
            verbs: ['get', 'watch', 'list'],
          },
        ],
      },
    )
    storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'wide', namespace: 'payments' },
        roleRef: { apiGroup: group, kind: 'Role', name: 'wide' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'wendy' }],
      },
    )
    await using opened = await openPage(browser(), portal, {
      path: '/access?type=Pod&verb=list&ns=payments',
    })
    const { page } = opened
    const wendy = page.getByRole('row', { name: 'wendy' })
    await expect
      .poll(() => wendy.locator('mark').allTextContents())
      .toEqual(['list', 'pods', 'core'])
    const text = (await wendy.innerText()).replaceAll(/\s+/g, ' ')
    expect(text).toContain('User wendy list, get, watch pods, thing0s, thing1s')
    await wendy.getByRole('button', { name: '15 more' }).waitFor()
    await opened.audit()
    await page.goto(`/objects/${pod}?tab=access`)
    await page.getByLabel('Verb').selectOption('watch')
    await expect
      .poll(() => wendy.locator('mark').allTextContents())
      .toEqual(['watch', 'pods', 'core'])
  })

  it('names the core group where a rule has others, too', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/access?type=Pod&verb=watch&ns=payments',
    })
    const { page } = opened
    await expect
      .poll(() => rowsOf(page, 'Who may do what'))
      .toContain('User mixed watch everything core, apps, batch payments mixed by mixed')
    await opened.audit()
  })

  it('says once on the page of an account what RBAC does not know', async () => {
    const { serviceAccounts } = await portal
      .gateway()
      .data(`{ serviceAccounts(namespace: "payments", first: 1) { nodes { id } } }`)
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${serviceAccounts.nodes[0].id}?tab=access`,
    })
    const { page } = opened
    await page.getByRole('heading', { name: 'What this account may do' }).waitFor()
    await page.getByRole('table', { name: 'Who may do something with this' }).waitFor()
    await expect.poll(() => page.getByText(/^Members of the group system:masters/).count()).toBe(1)
    expect(await page.getByText(/^Other authorizers/).count()).toBe(1)
    expect(opened.problems).toEqual([])
  })

  it('fits a phone', async () => {
    const at = { path: '/access?type=Pod&verb=delete&ns=payments', width: 390, height: 800 }
    await using opened = await openPage(browser(), portal, at)
    const { page } = opened
    await page.getByRole('button', { name: 'oncall' }).waitFor()
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('main')?.scrollWidth ?? 0,
    ])
    expect(Math.max(...widths)).toBeLessThanOrEqual(390)
    await opened.audit()
  })

  it('is refused to a caller who may not list roles', async () => {
    const expected = [/status of 4/]
    await using opened = await openPortal(browser(), {
      viewer: 'ben',
      path: '/access?ns=payments',
      expected,
    })
    await opened.page.getByText('You may not see this.').waitFor()
    const why = opened.page.getByRole('alert')
    expect(await why.innerText()).toContain('you may list no objects of RBAC')
    await opened.audit()
  })
})

describeInBrowser('Who may do what in several clusters', (browser) => {
  it('is one table with the cluster of each row, whose long rules open, and says what a lost cluster hides', async () => {
    const path = '/access?cluster=*&ns=payments&verb=delete'
    await using opened = await openPortal(browser(), { isFleet: true, pods: 60, path })
    const { page, clusters } = opened
    const [eu, us, staging] = clusters.map(({ simulator }) => simulator)
    if (eu === undefined || us === undefined || staging === undefined) throw new Error('no fleet')
    for (const one of [eu, staging]) grant(one)
    const title = 'Who may do what'
    await page.getByText('In payments, in all clusters. A role holds in its own').waitFor()
    await expect
      .poll(() => rowsOf(page, title))
      .toEqual(
        [
          'Group oncall delete, get pods payments pod-killer by oncall-kills',
          'ServiceAccount payments/robot everything everything everywhere does-all by robot-does-all',
        ].flatMap((row) => ['prod-eu', 'staging'].map((cluster) => `${row} ${cluster}`)),
      )
    const kinds = Array.from({ length: 9 }, (_, at) => `kind${at}s`)
    us.storage.create(
      { group, version: 'v1', resource: 'roles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata: { name: 'long', namespace: 'payments' },
        rules: [{ apiGroups: ['example.com'], resources: kinds, verbs: ['delete'] }],
      },
    )
    us.storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'long', namespace: 'payments' },
        roleRef: { apiGroup: group, kind: 'Role', name: 'long' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'amy' }],
      },
    )
    const amy = page.getByRole('row', { name: 'amy' })
    await amy.getByRole('button', { name: '3 more' }).click()
    expect((await amy.innerText()).replaceAll(/\s+/g, ' ')).toContain(kinds.join(', '))
    await opened.audit()
    await amy.getByRole('button', { name: 'amy' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('who')).toBe('USER:amy')
    await page.goBack()
    staging.faults.inject({ fault: { type: 'cut' } })
    await expect
      .poll(async () => {
        await page.reload()
        await page.getByRole('table', { name: title }).waitFor()
        return page.getByRole('main').getByRole('status').innerText()
      })
      .toContain('staging')
    await page.setViewportSize({ width: 390, height: 800 })
    const width = await page.evaluate(() => document.querySelector('main')?.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
  })
})

describeInBrowser('Scaling in the portal', (browser) => {
  it('names the autoscaler of a workload, whose namespace alone the user may list', async () => {
    await using portal = await servePortal({ asksWho: true, allowWrites: true })
    const [namespace, name] = ['storefront', 'scales']
    const metadata = { name, namespace }
    portal.cluster.storage.create(
      { group, version: 'v1', resource: 'roles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata,
        rules: [{ apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get', 'patch'] }],
      },
    )
    portal.cluster.storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: group, kind: 'Role', name },
        subjects: [{ apiGroup: group, kind: 'User', name: 'ben' }],
      },
    )
    const { data } = await portal
      .gateway()
      .as('ben-token')
      .query(
        `{ horizontalPodAutoscalers(namespace: "${namespace}", first: 1) { nodes { name target { id } } } }`,
      )
    const [scaler] = data?.horizontalPodAutoscalers.nodes ?? []
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${scaler.target.id}`,
      viewer: 'ben',
    })
    const { page } = opened
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Scale…' }).click()
    const consequences = page.getByRole('dialog').getByRole('region', { name: 'Consequences' })
    await consequences.getByRole('link', { name: scaler.name }).waitFor()
    expect(await consequences.getByText(/not known/).count()).toBe(0)
    expect(opened.problems).toEqual([])
  })
})
