import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const day = 86_400_000
const inDays = (days: number): Date => new Date(Date.now() + days * day)

describeInBrowser('The page of certificates', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ further: { secretData: true } })
    await using authority = await createCertificateAuthority()
    const { storage } = portal.cluster
    for (const [name, days] of [
      ['soon-tls', 3.5],
      ['later-tls', 40.5],
      ['spent-tls', -2.5],
    ] as const) {
      const hosts = [`${name}.example.com`]
      // oxlint-disable-next-line no-await-in-loop -- in order
      const issued = await authority.issue({ name, hosts, from: inDays(-50), to: inDays(days) })
      const data = { 'tls.crt': btoa(issued.cert), 'tls.key': btoa(issued.key) }
      storage.create(
        { group: '', version: 'v1', resource: 'secrets' },
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name, namespace: 'payments' },
          type: 'kubernetes.io/tls',
          data,
        },
      )
    }
    storage.create(
      { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'front-door', namespace: 'payments' },
        spec: { tls: [{ hosts: ['soon-tls.example.com'], secretName: 'soon-tls' }] },
      },
    )
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('has the soonest end first, with the names, the issuer and what uses it', async () => {
    await using opened = await openPage(browser(), portal, { path: '/certificates?ns=payments' })
    const { page } = opened
    const rows = page.getByRole('table', { name: 'Certificates' }).getByRole('row')
    await rows.nth(3).waitFor()
    const texts = await rows.allInnerTexts()
    expect(texts.slice(1).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^Ended 2d\w+ ago spent-tls\.example\.com spent-tls Secret/),
      expect.stringMatching(
        /^in 3d\w+ soon-tls\.example\.com soon-tls Secret · payments test-ca front-door$/,
      ),
      expect.stringMatching(/^in \d+d later-tls\.example\.com later-tls Secret/),
    ])
    await opened.audit()
    await page.getByRole('link', { name: 'front-door' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ingress front-door' }).waitFor()
  })

  it('fits a phone, and says that Secrets are not looked at where their data is not served', async () => {
    await using plain = await servePortal()
    const at = { path: '/certificates', width: 390, height: 800 }
    await using opened = await openPage(browser(), plain, at)
    const why = 'the gateway serves no data of Secrets: secretData is off (demo).'
    await opened.page.getByText(`Certificates in Secrets are not looked at: ${why}`).waitFor()
    await opened.page.getByText('No cluster here has cert-manager.').waitFor()
    await opened.page.getByText('There are no certificates that you may see.').waitFor()
    await opened.audit()
    await using full = await openPage(browser(), portal, at)
    await full.page.getByRole('link', { name: 'front-door' }).waitFor()
    const width = await full.page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    await full.audit()
  })
})
