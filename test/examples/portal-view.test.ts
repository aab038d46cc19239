import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startSimulatedCluster } from 'informerql/simulator'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { serveFiles } from '../support/file-server.ts'
import { serveGateway } from '../support/gateway.ts'
import { openPage, servePortal } from '../portal/portal-page.ts'

const root = resolve('examples', 'portal-view')
const run = promisify(execFile)
const tsc = resolve('node_modules', '.bin', 'tsc')

it("the page with the portal's components compiles", async () => {
  const { stdout } = await run(tsc, ['-p', root])
  expect(stdout).toBe('')
})

describeInBrowser("a team's page with the portal's components", (browser) => {
  let dir = ''
  beforeAll(async () => {
    // As an application gets them: built.
    await run(tsc, ['-p', 'packages/client'])
    await run(process.execPath, ['packages/portal/build-library.ts'])
    dir = await mkdtemp(join(tmpdir(), 'informerql-view-'))
    const common = { root, configFile: false, logLevel: 'warn', base: './' } as const
    await build({ ...common, build: { outDir: join(dir, 'page'), emptyOutDir: true } })
    // As examples/portal-view/on-call.config.ts has it, with the built package.
    await build({
      ...common,
      // Tests are no production: the view's own code is made for React's development build.
      define: { 'process.env.NODE_ENV': '"development"' },
      build: {
        outDir: join(dir, 'on-call'),
        emptyOutDir: true,
        cssCodeSplit: false,
        lib: { entry: 'on-call.tsx', formats: ['es'], fileName: 'index', cssFileName: 'style' },
      },
    })
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  it('lists its workloads, draws what is around one, and opens an object without leaving', async () => {
    await using cluster = await startSimulatedCluster({ population: { pods: 60 } })
    await using files = await serveFiles(join(dir, 'page'))
    await using gateway = await serveGateway(
      { clusters: [{ name: 'demo', server: cluster.url }] },
      { allowedOrigins: [files.origin] },
    )
    const page = await browser().newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await page.goto(`${files.origin}/?gateway=${encodeURIComponent(gateway.url)}`)

    const rows = page.getByRole('region', { name: 'Workloads' }).getByRole('row')
    const worker = rows.filter({ hasText: 'invoice-worker' })
    await worker.waitFor()
    // Of its namespace only.
    expect(await rows.filter({ hasText: 'storefront' }).count()).toBe(0)

    await worker.click()
    const graph = page.getByRole('region', { name: 'Around it' })
    await graph.locator('.react-flow__node').filter({ hasText: 'invoice-worker' }).first().waitFor()
    const pod = graph.locator('.react-flow__node').filter({ hasText: 'Pod' }).first()
    await pod.dblclick()
    await page.getByRole('article').getByText('Pod').first().waitFor()
    expect(new URL(page.url()).origin).toBe(files.origin)

    await page.getByRole('tab', { name: 'YAML' }).click()
    await page.getByText('kind: Pod').waitFor()
    await page.goBack()
    await worker.waitFor()
    expect(problems).toEqual([])
    await page.close()
  })

  it("stands in the portal's page as a view of its own", async () => {
    await using served = await servePortal({ server: { portalViews: [join(dir, 'on-call')] } })
    await using opened = await openPage(browser(), served)
    const { page, audit } = opened
    await page.getByRole('navigation').getByRole('link', { name: 'On call' }).click()
    const broken = page.getByRole('row').filter({ hasText: 'invoice-worker' }).first()
    await broken.waitFor()
    expect(new URL(page.url()).pathname).toBe('/views/on-call')
    expect(await page.getByRole('row').filter({ hasText: 'Healthy' }).count()).toBe(0)
    await audit()
    // What it links to is a view of the page.
    await broken.dblclick()
    await page.getByRole('tab', { name: 'Events' }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/^\/objects\//)
  })

  it('is named where it cannot be loaded, and the rest of the page works', async () => {
    const broken = join(dir, 'broken')
    await mkdir(broken)
    await writeFile(join(broken, 'index.js'), 'export const other = 1')
    await using served = await servePortal({ server: { portalViews: [broken] } })
    await using opened = await openPage(browser(), served)
    const { page, audit } = opened
    await page.getByRole('navigation').getByRole('link', { name: 'broken' }).click()
    await page.getByText('The view broken cannot be loaded.').waitFor()
    await page.getByText('/views/broken/index.js exports no `view`').waitFor()
    await audit()
    await page.getByRole('link', { name: 'Applications' }).click()
    await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/applications')
  })
})
