import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'
import { runningPod } from './running-pod.ts'

describeInBrowser('The shell of a pod', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ allowExec: true, asksWho: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const running = () => runningPod(portal)
  const open = async (
    viewer: 'ann' | 'ben',
    options: { readonly width?: number; readonly tab?: string } = {},
  ): Promise<PortalPage> => {
    const { name } = running().metadata
    const { tab = 'shell', ...size } = options
    const path = `/objects/${encodeURIComponent(`demo/Pod/payments/${name}`)}?tab=${tab}`
    return openPage(browser(), portal, { path, viewer, ...size })
  }
  /** What the terminal shows. */
  const text = (page: Page) => page.locator('.xterm-rows')
  const type = async (page: Page, line: string): Promise<void> => {
    await page.keyboard.type(line)
    await page.keyboard.press('Enter')
  }

  it('is opened, runs commands and ends, by the keyboard, within the policy of the page', async () => {
    await using opened = await open('ann')
    const { page } = opened
    expect(await page.locator('.xterm').count()).toBe(0)
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await page.getByText('Ctrl+] leaves the terminal').waitFor()
    await text(page).getByText('/ #').first().waitFor()
    await type(page, 'hostname')
    await text(page).getByText(running().metadata.name).first().waitFor()
    await type(page, 'ls /etc')
    await text(page).getByText('os-release').first().waitFor()
    await type(page, 'echo one two')
    await text(page).getByText('one two', { exact: true }).waitFor()
    await page.keyboard.press('Control+]')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('End the shell')
    await page.locator('.xterm-helper-textarea').focus()
    await type(page, 'exit 4')
    await page.getByText('The process has exited with 4.').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Open it again' }).click()
    await page.getByText('Ctrl+] leaves the terminal').waitFor()
    await page.getByRole('button', { name: 'End the shell' }).click()
    await expect.poll(() => page.locator('.xterm').count()).toBe(0)
  })

  it('takes the size of its place, also where that is small', async () => {
    await using opened = await open('ann', { width: 390 })
    const { page } = opened
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await text(page).getByText('/ #').first().waitFor()
    await type(page, 'stty size')
    const size = async (): Promise<readonly number[]> => {
      const all = await text(page).textContent()
      return (/(\d+) (\d+)/.exec(all ?? '') ?? []).slice(1).map(Number)
    }
    await expect.poll(async () => (await size()).length).toBe(2)
    const [rows = 0, columns = 0] = await size()
    expect(rows).toBeGreaterThan(5)
    expect(columns).toBeGreaterThan(30)
    expect(columns).toBeLessThan(56)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    await opened.audit()
  })

  it('runs in a debug container', async () => {
    await using opened = await open('ann')
    const { page } = opened
    await page.getByRole('checkbox', { name: 'In a new debug container' }).check()
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await page.getByText(/Open in debugger-[0-9a-f]+/).waitFor()
    await type(page, 'cat /etc/os-release')
    await text(page).getByText('busybox:1.37').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('takes what is pasted, and copies what is selected', async () => {
    await using opened = await open('ann')
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await text(page).getByText('/ #').first().waitFor()
    await page.evaluate(() => navigator.clipboard.writeText('echo pasted text'))
    await page.keyboard.press('Control+v')
    await page.keyboard.press('Enter')
    const printed = text(page).getByText('pasted text', { exact: true })
    await printed.waitFor()
    await printed.dblclick({ position: { x: 10, y: 5 }, force: true })
    await page.keyboard.press('Control+c')
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(copied).toBe('pasted')
    // What is selected has a colour of its own.
    expect(await text(page).locator('[style*="background-color"]').count()).toBeGreaterThan(0)
    // Without a selection it interrupts.
    await page.keyboard.type('sleep 1000')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Control+c')
    await text(page).getByText('^C').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('says who lacks the right, before it is tried', async () => {
    await using opened = await open('ben')
    const { page } = opened
    await page.getByText('needs the right to create pods/exec').waitFor()
    expect(await page.getByRole('button', { name: 'Open a shell' }).isDisabled()).toBe(true)
    await opened.audit()
  })

  it('says why it has ended, and is opened again', async () => {
    await using opened = await open('ann')
    const { page } = opened
    await page.getByRole('button', { name: 'Open a shell' }).click()
    await text(page).getByText('/ #').first().waitFor()
    portal.cluster.faults.inject({ fault: { type: 'drop-connections' } })
    await page.getByText(/The shell has ended: .*\(CLUSTER_UNREACHABLE\)/).waitFor()
    await page.getByRole('button', { name: 'Open it again' }).click()
    await page.getByText('Ctrl+] leaves the terminal').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('stands beside the command for a port-forward, with the right names', async () => {
    await using opened = await open('ann', { tab: 'summary' })
    const { page } = opened
    const { name } = running().metadata
    const command = page.getByText(/kubectl --context demo -n payments port-forward/)
    expect(await command.textContent()).toMatch(
      new RegExp(`^kubectl --context demo -n payments port-forward pod/${name} \\d+:\\d+`),
    )
  })
})
