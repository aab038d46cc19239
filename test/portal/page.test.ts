import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

describeInBrowser('The page of the portal', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('loads at / and shows the clusters', async () => {
    await using opened = await openPage(browser(), portal)
    await opened.page.getByText('demo').first().waitFor()
    expect(opened.problems).toEqual([])
  })

  it('loads at the address of any view', async () => {
    await using opened = await openPage(browser(), portal, { path: '/kinds/deployments.apps' })
    await opened.page.getByRole('navigation').first().waitFor()
    expect(new URL(opened.page.url()).pathname).toBe('/kinds/deployments.apps')
    expect(opened.problems).toEqual([])
  })

  it('needs less than 250 KB of JavaScript for the first view', async () => {
    await using opened = await openPage(browser(), portal, { path: '/livez' })
    const sizes = new Map<string, number>()
    opened.page.on('response', (response) => {
      const { 'content-length': length, 'content-encoding': encoding } = response.headers()
      if (!response.url().endsWith('.js')) return
      expect(encoding).toBe('br')
      sizes.set(response.url(), Number(length))
    })
    await opened.page.goto('/')
    await opened.page.getByText('demo').first().waitFor()
    await opened.page.waitForLoadState('networkidle')
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(50_000)
    expect(total).toBeLessThan(250_000)
  })

  it('shows a viewer who is signed in what the viewer may see', async () => {
    await using opened = await openPortal(browser(), { viewer: 'ben' })
    await opened.page.getByText('demo').first().waitFor()
    expect(opened.problems).toEqual([])
  })

  it('works where only trusted documents run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-trusted-'))
    const trustedDocuments = join(folder, 'documents.json')
    await writeFile(trustedDocuments, '{}')
    await using opened = await openPortal(browser(), { server: { trustedDocuments } })
    await opened.page.getByText('demo').first().waitFor()
    expect(opened.problems).toEqual([])
    await rm(folder, { recursive: true })
  })

  it('runs no script that somebody put into it, and sends nothing elsewhere', async () => {
    await using opened = await openPage(browser(), portal)
    const ran = await opened.page.evaluate(async () => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.injected = true'
      document.body.append(script)
      const sent = await fetch('https://elsewhere.example/').then(
        () => true,
        () => false,
      )
      return { injected: 'injected' in globalThis, sent }
    })
    expect(ran).toEqual({ injected: false, sent: false })
    expect(opened.problems.join('\n')).toMatch(/script-src[\s\S]*connect-src/)
  })
})
