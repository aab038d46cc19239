import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { describeInBrowser } from '../support/browser.ts'
import { openPage } from './portal-page.ts'
import { startViews, type ViewedWorld } from './views.ts'

/** What has the focus, as people read it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document
    return (element?.getAttribute('title') ?? element?.textContent ?? '').trim()
  })

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

const twoFrames = () =>
  new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))

describeInBrowser('By the keyboard alone', (browser) => {
  let world: ViewedWorld
  beforeAll(async () => {
    world = await startViews(180)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  it('each view of the rail is reached and shows its heading, which has the focus', async () => {
    await using opened = await openPage(browser(), world, { path: '/problems' })
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: 'Problems' }).waitFor()
    const rail = page.getByRole('navigation', { name: 'Menu' })
    await rail.getByRole('link', { name: /^Pods/ }).waitFor()
    const entries = await rail
      .locator('li a')
      .evaluateAll((all) => all.map((link) => link.getAttribute('title') ?? ''))
    expect(entries).toEqual(
      expect.arrayContaining([
        'Overview',
        'Problems',
        'Changes',
        'Applications',
        'Delivery',
        'Certificates',
        'Who may do what',
        'Pods',
        'Nodes',
      ]),
    )
    for (const entry of entries) {
      await rail.getByRole('link', { name: 'informerql', exact: true }).focus()
      await tabTo(page, entry)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: entry, exact: true }).waitFor()
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.tagName))
        .toMatch(/^H1$|^A$/)
    }
    expect(opened.problems).toEqual([])
  })

  it.each([
    ['g o', 'Overview'],
    ['g b', 'Problems'],
    ['g h', 'Changes'],
    ['g a', 'Applications'],
    ['g p', 'Pods'],
    ['g d', 'Deployments'],
    ['g s', 'Services'],
    ['g n', 'Nodes'],
    ['g e', 'Events'],
    ['g c', 'ConfigMaps'],
  ])('%s leads to %s', async (keys, title) => {
    await using opened = await openPage(browser(), world, { path: '/certificates' })
    const { page } = opened
    await page.getByRole('heading', { level: 1, name: 'Certificates' }).waitFor()
    for (const key of keys.split(' ')) await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it.each([
    'Deployment.apps/payments/card-gateway',
    'ConfigMap/payments/card-gateway-config',
    'Namespace//payments',
  ])(
    'the actions of %s open by their key, are walked by arrows, and close by Escape',
    async (name) => {
      const path = `/objects/${encodeURIComponent(`prod-eu/${name}`)}`
      await using opened = await openPage(browser(), world, { path })
      const { page } = opened
      await page.getByRole('button', { name: 'Actions', exact: true }).waitFor()
      await page.keyboard.press('a')
      await page.getByRole('menuitem', { name: 'Delete…' }).waitFor()
      const chosen = page.locator('[role=menuitem][data-highlighted]')
      const items = await page.getByRole('menuitem').count()
      for (let at = 0; at < items; at++) await page.keyboard.press('ArrowDown')
      await expect.poll(() => chosen.count()).toBe(1)
      // The focus, which takes Enter, goes with the next frame.
      const focusedItem = page.locator('[role=menuitem]:focus')
      await page.evaluate(twoFrames)
      await page.keyboard.press('Home')
      await focusedItem.filter({ hasNotText: 'Delete…' }).waitFor()
      await page.keyboard.press('ArrowUp')
      await focusedItem.filter({ hasText: 'Delete…' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: /^Delete: / }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toMatch(/^Actions/)
      expect(opened.problems).toEqual([])
    },
  )

  it('the actions of a selection open by their key, and those of the inspector by theirs', async () => {
    await using opened = await openPage(browser(), world, {
      path: '/kinds/deployments.apps?cluster=prod-eu&ns=payments',
    })
    const { page } = opened
    await page.locator('[data-index]').nth(1).waitFor()
    await page.keyboard.press('f')
    // The first arrow down is for what the filter proposes.
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press(' ')
    await page.getByRole('complementary').getByRole('article').waitFor()
    await page.keyboard.press('a')
    await page.getByRole('menuitem', { name: 'Scale…' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('button', { name: /selected ×$/ }).waitFor()
    await page.keyboard.press('A')
    await page.getByRole('menuitem', { name: 'Restart…' }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('each tab of an object is reached by its number', async () => {
    const path = `/objects/${encodeURIComponent('prod-eu/Deployment.apps/payments/card-gateway')}`
    await using opened = await openPage(browser(), world, { path })
    const { page } = opened
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
    const tabs = await page.getByRole('tab').allInnerTexts()
    for (const [at, tab] of tabs.entries()) {
      await page.keyboard.press(String(at + 1))
      await page.getByRole('tab', { name: tab, selected: true }).waitFor()
    }
    expect(tabs.length).toBeGreaterThan(6)
  })

  it('a key that is pressed while its object loads is taken when that is there', async () => {
    const path = `/objects/${encodeURIComponent('prod-eu/Deployment.apps/payments/card-gateway')}`
    await using opened = await openPage(browser(), world, { path: '/livez', isAlone: true })
    const { page } = opened
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.routeWebSocket(/graphql/, (socket) => {
      const server = socket.connectToServer()
      socket.onMessage((message) => server.send(message))
      server.onMessage((message) => void held.then(() => socket.send(message)))
    })
    await page.goto(path)
    await page.getByRole('status', { name: 'Loading the object' }).waitFor()
    await page.keyboard.press('2')
    answer()
    await page.getByRole('tab', { name: 'Related', selected: true }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('`?` lists the keys of a table and of an object, each once', async () => {
    await using opened = await openPage(browser(), world, {
      path: '/kinds/deployments.apps?cluster=prod-eu&ns=payments',
    })
    const { page } = opened
    await page.locator('[data-index]').nth(1).waitFor()
    const listed = async (): Promise<Record<string, string>> => {
      await page.keyboard.press('?')
      const dialog = page.getByRole('dialog', { name: 'Keys' })
      await dialog.waitFor()
      const rows = await dialog.locator('dl > div').evaluateAll((all) =>
        all.map((row) => {
          const keys = Array.from(row.querySelectorAll('kbd'), (key) => key.textContent)
          return [keys.join(' '), row.querySelector('dt')?.textContent ?? '']
        }),
      )
      await opened.audit()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(new Set(rows.map(([keys]) => keys)).size).toBe(rows.length)
      return Object.fromEntries(rows)
    }
    expect(await listed()).toMatchObject({
      'j ↓': 'Next row',
      '↵': 'Open the page of the row',
      Space: 'Show the row beside the table, or not',
      'Ctrl A': 'Select all',
      Esc: 'Close what is beside the table, then select nothing',
      f: 'Filter the table',
    })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
    const keys = await listed()
    expect(keys).toMatchObject({ 1: 'Show the tab Summary', 6: 'Show the tab YAML' })
    expect(keys['a']).toBe('Show the actions')
    expect(keys).not.toHaveProperty('j ↓')
  })

  it('keys go on after a click on a checkbox, and `a` is for what is selected', async () => {
    await using opened = await openPage(browser(), world, {
      path: '/kinds/deployments.apps?cluster=prod-eu&ns=payments',
    })
    const { page } = opened
    await page.locator('[data-index]').nth(1).waitFor()
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByRole('button', { name: /selected ×$/ }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('checkbox')
    for (const key of ['a', 'A']) {
      await page.keyboard.press(key)
      await page.getByRole('menuitem', { name: 'Restart…' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await page
        .getByRole('checkbox', { name: /^Select/ })
        .first()
        .focus()
    }
    await page.keyboard.press('f')
    await expect.poll(() => page.evaluate(() => document.activeElement?.role)).toBe('combobox')
    // A field of text keeps its letters.
    await page.keyboard.type('ga?')
    expect(await page.getByRole('combobox', { name: 'Filter' }).inputValue()).toBe('ga?')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(opened.problems).toEqual([])
  })
})
