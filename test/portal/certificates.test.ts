import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { created } from '../gateway/created.ts'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type ServedPortal, servePortal } from './portal-page.ts'

const day = 86_400_000
const inDays = (days: number): Date => new Date(Date.now() + days * day)

/** Makes a Certificate of cert-manager whose renewal is due, which an Ingress uses, and one that is not issued, in `storefront`. */
const manage = async ({ cluster, gateway }: ServedPortal): Promise<void> => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  for (const [kind, scope] of [
    ['Certificate', 'Namespaced'],
    ['ClusterIssuer', 'Cluster'],
  ] as const) {
    const version = versionOf('v1', {})
    version.schema.openAPIV3Schema.properties.spec = open
    const definition = definitionOf(kind, 'cert-manager.io', [version], { scope })
    await created(cluster, definitionsPath, definition)
  }
  const api = { apiVersion: 'cert-manager.io/v1' }
  await created(cluster, '/apis/cert-manager.io/v1/clusterissuers', {
    ...api,
    kind: 'ClusterIssuer',
    metadata: { name: 'letsencrypt' },
  })
  const certificate = (name: string, status: object): object => ({
    ...api,
    kind: 'Certificate',
    metadata: { name, namespace: 'storefront' },
    spec: {
      secretName: `${name}-tls`,
      commonName: `${name}.example.com`,
      dnsNames: [`${name}.example.com`, `www.${name}.example.com`],
      issuerRef: { kind: 'ClusterIssuer', name: 'letsencrypt' },
    },
    status,
  })
  const ready = [{ type: 'Ready', status: 'True', reason: 'Ready' }]
  const times = { notAfter: inDays(4.97), renewalTime: inDays(-1.5) }
  const certificates = '/apis/cert-manager.io/v1/namespaces/storefront/certificates'
  await created(cluster, certificates, certificate('web', { ...times, conditions: ready }))
  await created(cluster, certificates, certificate('waiting', {}))
  await created(cluster, '/api/v1/namespaces/storefront/secrets', {
    metadata: { name: 'web-tls', annotations: { 'cert-manager.io/certificate-name': 'web' } },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': '', 'tls.key': '' },
  })
  await created(cluster, '/apis/networking.k8s.io/v1/namespaces/storefront/ingresses', {
    metadata: { name: 'web-door' },
    spec: { tls: [{ secretName: 'web-tls' }], defaultBackend: { service: { name: 'shop-web' } } },
  })
  const query = '{ tlsCertificates(namespaces: ["storefront"]) { totalCount } }'
  await vi.waitFor(
    async () => {
      const { tlsCertificates } = await gateway().data(query)
      expect(tlsCertificates.totalCount).toBe(2)
    },
    { timeout: 60_000, interval: 200 },
  )
}

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
    await manage(portal)
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  it('has the soonest end first, with the names, the issuer and what uses it', async () => {
    await using opened = await openPage(browser(), portal, { path: '/certificates?ns=payments' })
    const { page } = opened
    const rows = page.getByRole('table', { name: 'Certificates' }).getByRole('row')
    await rows.nth(3).waitFor()
    const texts = await rows.allInnerTexts()
    expect(texts.slice(1).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^▲ Critical Ended 2d\w+ ago spent-tls\.example\.com spent-tls Secret/),
      expect.stringMatching(
        /^△ Warning in 3d\w+ soon-tls\.example\.com soon-tls Secret · payments test-ca Ingress front-door$/,
      ),
      expect.stringMatching(/^in \d+d later-tls\.example\.com later-tls Secret/),
    ])
    await opened.audit()
    await page.getByRole('link', { name: 'front-door' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ingress front-door' }).waitFor()
  })

  it('has those that are not issued first, and warns where a renewal is due', async () => {
    await using opened = await openPage(browser(), portal, { path: '/certificates?ns=storefront' })
    const rows = opened.page.getByRole('table', { name: 'Certificates' }).getByRole('row')
    await rows.nth(2).waitFor()
    const texts = await rows.allInnerTexts()
    expect(texts.slice(1).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^▲ Critical Not issued waiting\.example\.com/),
      expect.stringMatching(
        /^△ Warning in 4d23h renewal is due web\.example\.com.*Ingress web-door$/,
      ),
    ])
    await opened.audit()
  })

  it('leads to a Certificate, which says its end, renewal, names, issuer, Secret and what uses that', async () => {
    await using opened = await openPage(browser(), portal, { path: '/certificates?ns=storefront' })
    const { page } = opened
    await page.getByRole('link', { name: 'web', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Certificate web' }).waitFor()
    const fact = (label: string) =>
      page.locator('dl > div').filter({ has: page.locator('dt').getByText(label, { exact: true }) })
    const textOf = (label: string) => fact(label).locator('dd').innerText()
    await fact('Ends')
      .getByText(/, in 4d\d+h$/)
      .waitFor()
    expect(await textOf('Ends')).not.toContain('ago')
    expect(await textOf('Renewal')).toMatch(/^due since .+, 1d1\dh ago$/)
    expect(await textOf('For')).toBe('web.example.com, www.web.example.com')
    await fact('Cluster issuer').getByRole('link', { name: 'letsencrypt' }).waitFor()
    const users = page.locator('section').filter({ hasText: /^Its Secret is used by/ })
    await users.getByRole('link', { name: 'web-door' }).waitFor()
    expect(await users.getByRole('listitem').count()).toBe(1)
    expect(await users.getByRole('heading').innerText()).toMatch(/^Its Secret is used by\s*1$/)
    await opened.audit()
    await page.getByRole('tab', { name: 'Related' }).click()
    await users.getByRole('link', { name: 'web-door' }).waitFor()
    await page.getByRole('tab', { name: 'Summary' }).click()
    await fact('Secret').getByRole('link', { name: 'web-tls' }).click()
    await page.getByRole('heading', { level: 1, name: 'Secret web-tls' }).waitFor()
    const name = encodeURIComponent('demo/Certificate.cert-manager.io/storefront/waiting')
    await page.goto(`/objects/${name}`)
    await fact('Ends').getByText('not issued').waitFor()
    await page.getByText('There is no such Secret, or you may not see it.').waitFor()
    expect(await fact('Renewal').count()).toBe(0)
    await opened.audit()
  })

  it('fits a phone, and says that Secrets are not looked at where their data is not served', async () => {
    await using plain = await servePortal()
    const at = { path: '/certificates', width: 390, height: 800 }
    await using opened = await openPage(browser(), plain, at)
    const why = 'this gateway does not read what Secrets hold (demo).'
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
