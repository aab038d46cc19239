import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeNamespaces } from '../gateway/random-writes.ts'
import { must, startSimulatedCluster, type TestCluster } from '../gateway/test-cluster.ts'
import { describeInBrowser } from '../support/browser.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { serveGateway } from '../support/gateway.ts'

const root = resolve('examples', 'react-page')
const pods = '/api/v1/namespaces/shop/pods'
const types = { '.html': 'text/html', '.js': 'text/javascript' } as const

/** Serves the files of a folder on loopback. */
async function serveFiles(dir: string): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const file = path === '/' ? '/index.html' : path
    const type = Object.entries(types).find(([extension]) => file.endsWith(extension))?.[1]
    readFile(join(dir, file)).then(
      (bytes) => response.writeHead(200, { 'content-type': type ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

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
    await page.goto(`${files.origin}/?gateway=ws://127.0.0.1:${proxy.port}/graphql`)
    const status = page.getByRole('status')
    const names = page.locator('tr td:nth-child(2)')
    await status.getByText('live', { exact: true }).waitFor()
    expect(await names.allInnerTexts()).toEqual(['web-b'])
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

    await page.getByRole('combobox').selectOption('Failed')
    await names.first().waitFor({ state: 'detached' })
    expect(problems).toEqual([])
    await page.close()
  })
})
