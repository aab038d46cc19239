import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { describeInBrowser } from '../support/browser.ts'
import {
  openPage,
  openPortal,
  type PortalPage,
  type ServedPortal,
  servePortal,
} from './portal-page.ts'
import { rowOf } from './table-page.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describeInBrowser('Export', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 40, hasMetrics: true })
    for (let at = 0; at < 250; at++) make(portal, `exported-${String(at).padStart(3, '0')}`)
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = async (path: string): Promise<PortalPage> => {
    const opened = await openPage(browser(), portal, { path })
    await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    return opened
  }

  it('writes all that the filter matches as CSV, with the columns that are shown', async () => {
    await using opened = await open('/kinds/configmaps?q=exported-*')
    const { page } = opened
    await rowOf(page, 'exported-000').waitFor()
    const { name, text } = await downloaded(page, 'Export 250 as CSV')
    expect(name).toBe('configmaps.csv')
    const lines = text.trimEnd().split('\r\n')
    expect(lines[0]).toBe('Name,Namespace,Data,Age')
    expect(lines).toHaveLength(251)
    expect(lines[1]).toMatch(/^exported-000,default,1,\d{4}-\d\d-\d\dT/)
    await page.getByText('250 exported.').waitFor()
    await opened.audit()
  })

  it('says how many it has written, until the table lists something else, or for a while', async () => {
    await using opened = await openPage(browser(), portal, { path: '/', isAlone: true })
    const { page } = opened
    await page.clock.install()
    await page.goto('/kinds/configmaps?q=exported-*')
    await rowOf(page, 'exported-000').waitFor()
    const said = page.getByText('250 exported.')
    // It is there before, so that screen readers tell what comes into it.
    const status = page.locator('header output').filter({ hasText: /^$/ })
    await status.waitFor({ state: 'attached' })
    await downloaded(page, 'Export 250 as CSV')
    await said.waitFor()
    await page.getByRole('combobox', { name: 'Filter' }).fill('exported-001')
    await page.keyboard.press('Enter')
    await said.waitFor({ state: 'detached' })
    await rowOf(page, 'exported-000').waitFor({ state: 'detached' })
    await downloaded(page, 'Export 1 as CSV')
    await page.getByText('1 exported.').waitFor()
    await page.clock.fastForward(60_000)
    await page.getByText('1 exported.').waitFor({ state: 'detached' })
    expect(opened.problems).toEqual([])
  })

  it.each(['pods', 'deployments.apps'])(
    'writes what %s use and request as numbers, with their units in the head',
    async (path) => {
      await using opened = await open(`/kinds/${path}?q=card-gateway-*|card-gateway`)
      const { page } = opened
      const cpu = page.locator('[role=gridcell][data-column=usageCpu]').first()
      await expect.poll(() => cpu.innerText()).toMatch(/^[\d.]+m?\/[\d.]+m?$/)
      const { text } = await downloaded(page, /^Export \d+ as CSV$/)
      const [head = '', first = ''] = text.split('\r\n')
      expect(head).toContain(
        ',CPU used (millicores),CPU requested (millicores),Memory used (bytes),Memory requested (bytes),',
      )
      const at = head.split(',').indexOf('CPU used (millicores)')
      const [used, requested, memory, asked] = first
        .split(',')
        .slice(at, at + 4)
        .map(Number)
      expect(used).toBeGreaterThan(0)
      expect(requested).toBeGreaterThan(0)
      for (const bytes of [memory, asked]) {
        expect(Number.isInteger(bytes)).toBe(true)
        expect(bytes).toBeGreaterThan(2 ** 20)
      }
      expect(opened.problems).toEqual([])
    },
  )

  it('writes restarts as a number, and the time of the last one beside it', async () => {
    await using opened = await open('/kinds/pods?q=restarts:>0')
    const { page } = opened
    await page.locator('[data-index]').first().waitFor()
    const { text } = await downloaded(page, /^Export \d+ as CSV$/)
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    const at = head.split(',').indexOf('Restarts')
    expect(head.split(',')[at + 1]).toBe('Restarts (last)')
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) {
      const [count, last] = row.split(',').slice(at, at + 2)
      expect(count).toMatch(/^[1-9]\d*$/)
      expect(last).toMatch(/^(?:\d{4}-\d\d-\d\dT[\d:.]+Z)?$/)
    }
    expect(rows.some((row) => row.split(',')[at + 1] !== '')).toBe(true)
  })

  it('writes what a node uses and has, and each amount once', async () => {
    await using opened = await open('/kinds/nodes?cols=cpuAllocatable,memoryLimits')
    const { page } = opened
    await page.locator('[data-index]').first().waitFor()
    const { text } = await downloaded(page, /^Export \d+ as CSV$/)
    const heads = (text.split('\r\n')[0] ?? '').split(',').filter((head) => /\(/.test(head))
    expect(heads).toEqual([
      'CPU used (millicores)',
      'CPU allocatable (millicores)',
      'Memory used (bytes)',
      'Memory allocatable (bytes)',
      'Memory limit (bytes)',
    ])
  })

  it('writes the namespace of each row also where one alone is in scope', async () => {
    await using opened = await open('/kinds/configmaps?ns=default&q=exported-00*')
    const { page } = opened
    await rowOf(page, 'exported-000').waitFor()
    expect(await page.getByRole('columnheader', { name: 'Namespace' }).count()).toBe(0)
    const { text } = await downloaded(page, 'Export 10 as CSV')
    const [head, first] = text.split('\r\n')
    expect(head).toBe('Name,Namespace,Data,Age')
    expect(first).toMatch(/^exported-000,default,1,/)
  })

  it('writes the cluster of each row of several clusters, also where its column is not shown', async () => {
    const path = '/kinds/pods?cluster=*&ns=payments'
    await using fleet = await openPortal(browser(), { isFleet: true, path })
    const { page } = fleet
    await page.locator('[data-index]').first().waitFor()
    const { text } = await downloaded(page, /^Export \d+ as CSV$/)
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    const at = head.split(',').indexOf('Cluster')
    expect(new Set(rows.map((row) => row.split(',')[at]))).toEqual(
      new Set(['prod-eu', 'prod-us', 'staging']),
    )
    await page.goto(`${path}&cols=-cluster`)
    await page.locator('[data-index]').first().waitFor()
    const narrow = await downloaded(page, /^Export \d+ as CSV$/)
    expect(narrow.text.split('\r\n')[0]?.split(',')).toContain('Cluster')
    expect(fleet.problems).toEqual([])
  })

  it('says a list of several clusters as a command for each, with its context', async () => {
    await using fleet = await openPortal(browser(), {
      isFleet: true,
      path: '/kinds/pods?cluster=*&ns=payments',
    })
    const { page } = fleet
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('[data-index]').first().waitFor()
    expect(await copied(page, 'Copy as kubectl')).toBe(
      ['prod-eu', 'prod-us', 'staging']
        .map((name) => `kubectl --context ${name} get pods -n payments\n`)
        .join(''),
    )
    await page.goto('/kinds/nodes')
    await page.locator('[data-index]').first().waitFor()
    expect(await copied(page, 'Copy as kubectl')).toBe('kubectl --context prod-eu get nodes\n')
    expect(fleet.problems).toEqual([])
  })

  it('writes a selection as YAML and as JSON, whole', async () => {
    await using opened = await open('/kinds/configmaps?q=exported-*')
    const { page } = opened
    for (const name of ['exported-000', 'exported-002']) {
      await rowOf(page, name).getByRole('checkbox').check()
    }
    const yaml = await downloaded(page, 'Export 2 selected as YAML')
    const documents = parseAllDocuments(yaml.text).map((document) => document.toJSON())
    expect(documents).toMatchObject([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'exported-000' }, data },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'exported-002' }, data },
    ])
    const json = await downloaded(page, 'Export 2 selected as JSON')
    expect(JSON.parse(json.text)).toMatchObject({ kind: 'List', items: documents })
    expect(opened.problems).toEqual([])
  })

  it('keeps a spreadsheet from running what somebody has named', async () => {
    const additionalPrinterColumns = [
      { name: 'Note', type: 'string', jsonPath: '.spec.note' },
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    ]
    const properties = { note: { type: 'string' }, size: { type: 'integer' } }
    const version = versionOf('v1', properties, { additionalPrinterColumns })
    await post(portal, definitionsPath, definitionOf('Widget', 'stable.example.com', [version]))
    await using opened = await open('/kinds/widgets.stable.example.com')
    const { page } = opened
    await page.getByText('There are no Widgets.').waitFor()
    await post(portal, '/apis/stable.example.com/v1/namespaces/default/widgets', {
      apiVersion: 'stable.example.com/v1',
      kind: 'Widget',
      metadata: { namespace: 'default', name: 'gear' },
      spec: { note: '=HYPERLINK("https://evil.example","a, b")', size: -3 },
    })
    await rowOf(page, 'gear').waitFor()
    const { text } = await downloaded(page, 'Export 1 as CSV')
    expect(text).toContain(`"'=HYPERLINK(""https://evil.example"",""a, b"")"`)
    expect(text).toContain(',-3,')
    const notes = {
      'line-feed': ['\n=1+1', `"'\n=1+1"`],
      tab: ['\t=1+1', `"'\t=1+1"`],
      return: ['\r=1+1', `"'\r=1+1"`],
      'full-width': ['＝1+1', `'＝1+1`],
      semicolon: ['harmless;=1+1', '"harmless;=1+1"'],
      'inner-tab': ['harmless\t=1+1', '"harmless\t=1+1"'],
      plain: ['a = b + c', 'a = b + c'],
    } as const
    for (const [name, [note]] of Object.entries(notes)) {
      await post(portal, '/apis/stable.example.com/v1/namespaces/default/widgets', {
        apiVersion: 'stable.example.com/v1',
        kind: 'Widget',
        metadata: { namespace: 'default', name },
        spec: { note, size: 1 },
      })
      await rowOf(page, name).waitFor()
    }
    const all = await downloaded(page, 'Export 8 as CSV')
    for (const [name, [, cell]] of Object.entries(notes)) {
      expect(all.text).toContain(`\r\n${name},default,,${cell},1,`)
    }
    expect(opened.problems).toEqual([])
  })

  it.each([
    {
      path: '/kinds/pods?ns=payments,storefront&q=phase%3ARunning+label%3Aapp%3Dweb,api+-label%3Aold&sort=name',
      says:
        `kubectl get pods -n payments -l 'app in (web,api),!old' --field-selector status.phase=Running --sort-by .metadata.name\n` +
        `kubectl get pods -n storefront -l 'app in (web,api),!old' --field-selector status.phase=Running --sort-by .metadata.name\n`,
    },
    {
      path: '/kinds/deployments.apps?cluster=demo&q=web*+-label%3Atier%3Ddb&sort=-replicas',
      says:
        '# kubectl cannot do: web*\n# kubectl cannot do: order by -replicas\n' +
        `kubectl --context demo get deployments.apps -A -l 'tier!=db'\n`,
    },
    { path: '/kinds/nodes', says: 'kubectl get nodes\n' },
  ])('says the list as kubectl: $path', async ({ path, says }) => {
    await using opened = await open(path)
    const { page } = opened
    expect(await copied(page, 'Copy as kubectl')).toBe(says)
    expect(opened.problems).toEqual([])
  })

  it('says a selection as kubectl, and a view as GraphQL', async () => {
    await using opened = await open('/kinds/configmaps?q=exported-*')
    const { page } = opened
    for (const name of ['exported-001', 'exported-003']) {
      await rowOf(page, name).getByRole('checkbox').check()
    }
    expect(await copied(page, 'Copy as kubectl')).toBe(
      'kubectl get configmaps -n default exported-001 exported-003\n',
    )
    await page.keyboard.press('Escape')
    const query = await copied(page, 'Copy as GraphQL')
    expect(query).toMatch(/^subscription TablePage/)
    expect(query).toMatch(/^# Variables\n# \{$/m)
    await page.keyboard.press('Escape')
    await opened.audit()
    await page.goto('/problems')
    await page.getByRole('button', { name: 'More', exact: true }).waitFor()
    expect(await copied(page, 'Copy as GraphQL')).toMatch(/^(query|subscription) Problems/)
  })

  it('says why it has failed', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/configmaps?q=exported-*',
      expected: [/status of 503/],
    })
    const { page } = opened
    await rowOf(page, 'exported-000').waitFor()
    await page.route('**/graphql', (route) => route.fulfill({ status: 503, body: 'no' }))
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Export 250 as YAML' }).click()
    const said = page.getByText(/^The export has failed: The gateway cannot be reached/)
    await said.waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await said.waitFor({ state: 'detached' })
    expect(opened.problems).toEqual([])
  })
})

const data = { colour: 'blue' }

function make({ cluster }: Pick<ServedPortal, 'cluster'>, name: string): void {
  cluster.storage.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name },
    data,
  })
}

async function downloaded(
  page: Page,
  item: string | RegExp,
): Promise<{ readonly name: string; readonly text: string }> {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item, exact: true }).click(),
  ])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

async function copied(page: Page, item: string): Promise<string> {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('menuitem', { name: 'Copied' }).waitFor()
  return await page.evaluate(() => navigator.clipboard.readText())
}

async function post({ cluster }: ServedPortal, path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, cluster.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
}
