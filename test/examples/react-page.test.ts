import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { populate, startSimulated } from '../access/access-cluster.ts'
import { makeNamespaces } from '../gateway/random-writes.ts'
import { must, startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { describeInBrowser, sentBy } from '../support/browser.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { serveFiles } from '../support/file-server.ts'
import { serveGateway } from '../support/gateway.ts'
import { apps, populateShop } from '../writes/shop.ts'

const root = resolve('examples', 'react-page')
const pods = '/api/v1/namespaces/shop/pods'

const addPod = (cluster: TestCluster, name: string) =>
  must(cluster, pods, {
    method: 'POST',
    body: { metadata: { name }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } },
  })

it('the React page compiles', async () => {
  const tsc = resolve('node_modules', '.bin', 'tsc')
  const { stdout } = await promisify(execFile)(tsc, ['-p', root])
  expect(stdout).toBe('')
})

describeInBrowser('the React page', (browser) => {
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'informerql-page-'))
    await build({
      root,
      configFile: false,
      logLevel: 'warn',
      // StrictMode mounts components twice in React's development build only.
      define: { 'process.env.NODE_ENV': '"development"' },
      build: { outDir: dir, emptyOutDir: true },
      resolve: { conditions: ['informerql-source', 'module', 'browser'] },
    })
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  it('shows the pods, live, and through a lost connection', async () => {
    await using cluster = await startSimulatedCluster()
    await makeNamespaces(cluster, ['shop'])
    await addPod(cluster, 'web-b')
    await using files = await serveFiles(dir)
    await using gateway = await serveGateway(
      { clusters: [{ name: 'default', ...cluster.selection }] },
      { allowedOrigins: [files.origin] },
    )
    await using proxy = await startCutProxy(Number(new URL(gateway.url).port))
    const page = await browser().newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    const sent = sentBy(page)
    await page.goto(`${files.origin}/?gateway=ws://127.0.0.1:${proxy.port}/graphql`)
    const status = page.getByRole('status')
    const names = page.locator('tr td:nth-child(2)')
    await status.getByText('live', { exact: true }).waitFor()
    expect(await names.allInnerTexts()).toEqual(['web-b'])
    // StrictMode has mounted all components twice.
    expect(sent).toEqual(['connected', 'subscribe 1', 'subscribe 2', 'subscribe 3'])
    await addPod(cluster, 'web-a')
    await names.getByText('web-a').waitFor()
    expect(await names.allInnerTexts()).toEqual(['web-a', 'web-b'])

    const { target } = proxy
    proxy.target = undefined
    proxy.cut()
    await status.getByText('reconnecting').waitFor()
    expect(await names.allInnerTexts()).toEqual(['web-a', 'web-b'])
    await must(cluster, `${pods}/web-b?gracePeriodSeconds=0`, { method: 'DELETE' })
    proxy.target = target
    await status.getByText('live', { exact: true }).waitFor()
    await names.getByText('web-b').waitFor({ state: 'detached' })
    expect(await names.allInnerTexts()).toEqual(['web-a'])

    const restarts = page.getByRole('region', { name: 'restarts' })
    await restarts.getByText('1 of 1').waitFor()
    for (const name of ['web-c', 'web-d', 'web-e']) await addPod(cluster, name)
    const containerStatuses = [{ name: 'main', restartCount: 4 }]
    const before = await must(cluster, `${pods}/web-d`)
    const body = { ...before, status: { ...before.status, containerStatuses } }
    await must(cluster, `${pods}/web-d/status`, { method: 'PUT', body })
    await restarts.getByText('3 of 4').waitFor()
    await restarts.locator('li:first-child').getByText('shop/web-d').waitFor()
    expect(await restarts.locator('li').allInnerTexts()).toEqual([
      'shop/web-d',
      'shop/web-a',
      'shop/web-c',
    ])

    sent.length = 0
    await page.getByRole('combobox').selectOption('Failed')
    await names.first().waitFor({ state: 'detached' })
    await status.getByText('live', { exact: true }).waitFor()
    await expect
      .poll(() => sent)
      .toEqual(['subscribe 4', expect.stringMatching(/^complete [123]$/)])
    expect(problems).toEqual([])
    await page.close()
  })

  it('restarts and scales where the user may, and disables the buttons where they may not', async () => {
    await using cluster = await startSimulated()
    await populate(cluster)
    await populateShop(cluster)
    await using files = await serveFiles(dir)
    await using gateway = await serveGateway(
      { clusters: [cluster.selection()], allowWrites: true },
      { allowedOrigins: [files.origin] },
      { auth: { mode: 'token-review' } },
    )
    const open = async (viewer: string) => {
      const page = await browser().newPage()
      await page.addInitScript((token) => sessionStorage.setItem('token', token), `${viewer}-token`)
      await page.goto(`${files.origin}/?gateway=${gateway.url.replace('http', 'ws')}`)
      const workloads = page.getByRole('region', { name: 'workloads' })
      await workloads.getByText('shop/web: 2').waitFor()
      const button = (name: string) => workloads.getByRole('button', { name })
      return { page, workloads, button }
    }
    const ben = await open('ben')
    expect(await ben.button('Scale up').isDisabled()).toBe(true)
    expect(await ben.button('Restart').isDisabled()).toBe(true)
    await ben.page.close()

    const { page, workloads, button } = await open('ann')
    await button('Scale up').click()
    await workloads.getByText('shop/web: 3').waitFor()
    await button('Restart').click()
    await page
      .getByRole('log')
      .getByText(/changed .*annotations/)
      .waitFor()
    const { spec } = await cluster.must(`${apps}/deployments/web`)
    expect(spec.replicas).toBe(3)
    expect(spec.template.metadata.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt'])
    await page.close()
  })
})
