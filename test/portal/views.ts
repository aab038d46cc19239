/** Each view of the portal, in the world of the tasks: for its pictures, and for what has to hold of all views. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { portalFolder } from 'informerql'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { startTaskWorld, type TaskWorld } from '../../bench/support/task-world.ts'
import { signInAuth, startSignInProvider } from '../access/sign-in-provider.ts'
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts'
import { serveGateway } from '../support/gateway.ts'
import { deliverByFlux, deliverByHelm } from './deliveries.ts'
import { keepPages } from './portal-page.ts'

/** A view, and how it is brought to what is to be seen. */
export interface View {
  /** `docs/images/portal-NAME-….webp`. */
  readonly name: string
  /** What its picture shows, in a sentence. */
  readonly caption: string
  readonly path: string
  /** Of the portal that has it. Default: that of the company. */
  readonly url?: string
  /** A rule of axe that does not hold of it. */
  readonly without?: string
  /** Messages of the console that belong to it. */
  readonly expected?: readonly RegExp[]
  readonly show: (page: Page) => Promise<void>
  /** Ends what `show` has done to the company. */
  readonly end?: () => Promise<void>
}

/** The company, and its views. */
export interface ViewedWorld extends AsyncDisposable {
  readonly url: string
  readonly views: readonly View[]
}

const seen = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor()

/** What each view is called; the same without a world, so that tests can be named. */
export const viewNames = [
  'overview',
  'problems',
  'changes',
  'search',
  'table',
  'facets',
  'bulk',
  'export',
  'create',
  'compare',
  'applications',
  'application',
  'delivery',
  'argo',
  'flux',
  'helm',
  'certificates',
  'access',
  'object',
  'pod',
  'charts',
  'node',
  'namespace',
  'configmap',
  'secret',
  'related',
  'graph',
  'events',
  'logs',
  'edit',
  'history',
  'action',
  'drain',
  'shell',
  'cut',
  'cut-table',
  'offline',
  'sign-in',
] as const

/** The bytes of a picture in the documentation. */
export const largestPicture = 150_000

/** What the page shows, as WebP: a third of the bytes of a PNG. */
export async function pictureOf(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  await session.detach()
  return Buffer.from(data, 'base64')
}

/** Starts the company. */
export async function startViews(pods = 400): Promise<ViewedWorld> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await startTaskWorld(pods))
  const proxy = stack.use(await startCutProxy(Number(new URL(world.url).port)))
  const signInUrl = await serveSignIn(world, stack)
  await deliverSomething(world)
  await changeSomething(world)
  const views = await viewsOf(world, proxy, signInUrl)
  stack.use(keepPages(world.url))
  expect(views.map(({ name }) => name)).toEqual(viewNames)
  const started = stack.move()
  return { url: world.url, views, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/** Serves the company to callers who have to sign in. */
async function serveSignIn({ clusters }: TaskWorld, stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'informerql-sign-in-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const provider = stack.use(await startSignInProvider())
  const auth = await signInAuth(provider, folder)
  const selections = clusters.map(({ name, simulator }) => ({ name, server: simulator.url }))
  const { url } = stack.use(
    await serveGateway({ clusters: selections }, {}, { portalFolder, auth }),
  )
  return new URL('/', url).href
}

/** Lets Flux and Helm deliver beside Argo CD. */
async function deliverSomething({ url, clusters: [first] }: TaskWorld): Promise<void> {
  if (first === undefined) throw new Error('the company has clusters')
  deliverByFlux({ cluster: first.simulator })
  deliverByHelm({ cluster: first.simulator })
  await vi.waitFor(
    async () => {
      const answer = await answerOf(
        url,
        '{ flux: fluxKustomizeKustomizations(cluster: "prod-eu") { totalCount } }',
      )
      expect(answer).toMatchObject({ data: { flux: { totalCount: 1 } } })
    },
    { timeout: 60_000, interval: 200 },
  )
}

/** Makes a past: some changes of a Deployment, in the archive. */
async function changeSomething({ url, clusters }: TaskWorld): Promise<void> {
  const path = '/apis/apps/v1/namespaces/storefront/deployments/shop-admin'
  const change = async (body: object): Promise<void> => {
    const response = await fetch(new URL(path, clusters[0]?.simulator.url), {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify(body),
    })
    expect(response.ok).toBe(true)
  }
  // The archive begins with what it finds: what comes after that are changes.
  let replicas = 2
  await vi.waitFor(
    async () => {
      await change({ spec: { replicas: ++replicas } })
      const answer = await answerOf(
        url,
        '{ changes(cluster: "prod-eu", types: ["Deployment"], first: 1) { nodes { id } } }',
      )
      expect(answer).toMatchObject({ data: { changes: { nodes: [{}] } } })
    },
    { timeout: 60_000, interval: 1_000 },
  )
  const containers = [{ name: 'main', image: 'registry.example/admin:1.1' }]
  await change({ spec: { template: { spec: { containers } } } })
  await change({ metadata: { labels: { team: 'shop' } } })
  await change({ spec: { paused: false } })
}

async function answerOf(url: string, query: string): Promise<unknown> {
  const asked = await fetch(new URL('graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return asked.json()
}

async function viewsOf(
  world: TaskWorld,
  proxy: CutProxy,
  signInUrl: string,
): Promise<readonly View[]> {
  const answer = await answerOf(
    world.url,
    `{
        broken: pods(cluster: "prod-eu", namespace: "payments", where: { waitingReason: { eq: "CrashLoopBackOff" } }, first: 1) { nodes { nameId } }
        running: pods(cluster: "prod-eu", namespace: "payments", where: { name: { startsWith: "card-gateway" }, health: { eq: HEALTHY } }, first: 1) { nodes { nameId } }
        compared: deployments(clusters: ["*"], where: { name: { eq: "compared" } }) { nodes { id } }
        worker: deployments(cluster: "prod-eu", namespace: "payments", where: { name: { eq: "invoice-worker" } }) { nodes { id } }
        node: nodes(cluster: "prod-eu", where: { health: { eq: HEALTHY } }, first: 1, orderBy: [{ name: ASC }]) { nodes { nameId } }
      }`,
  )
  type Nodes = { readonly nodes: readonly { readonly id: string; readonly nameId: string }[] }
  const { data } = answer as { readonly data: Readonly<Record<string, Nodes>> }
  const found = (name: string, at = 0): { readonly id: string; readonly nameId: string } => {
    const one = data[name]?.nodes[at]
    if (one === undefined) throw new Error(`the company has ${name}`)
    return one
  }
  const of = (nameId: string, tab = ''): string =>
    `/objects/${encodeURIComponent(nameId)}${tab === '' ? '' : `?tab=${tab}`}`
  const worker = 'prod-eu/Deployment.apps/payments/invoice-worker'
  const contested = 'prod-eu/Deployment.apps/storefront/contested'
  const menu = async (page: Page, action: string): Promise<void> => {
    await page.getByRole('button', { name: 'Actions', exact: true }).first().click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  const lost = world.clusters.find(({ name }) => name === 'prod-us')
  const cut = async (page: Page): Promise<void> => {
    lost?.simulator.faults.inject({ fault: { type: 'cut' } })
    await seen(page, /^prod-us cannot be reached since .*; its objects are as last known\.$/)
  }
  const mend = async (): Promise<void> => lost?.simulator.faults.inject({ fault: { type: 'mend' } })
  return [
    {
      name: 'overview',
      caption: 'The overview: what is wrong in which cluster, and why',
      path: '/',
      show: (page) => seen(page, 'invoice-worker'),
    },
    {
      name: 'problems',
      caption: 'All problems, the worst first, with what was changed before',
      path: '/problems',
      show: (page) => seen(page, /^Changed from revision/),
    },
    {
      name: 'changes',
      caption: 'What has changed, the newest first, by field',
      path: '/changes?cluster=prod-eu&type=Deployment',
      async show(page) {
        await page.getByRole('heading', { name: 'Changes' }).waitFor()
        await page.locator('main li[data-type]').first().waitFor()
      },
    },
    {
      name: 'search',
      caption: 'The search over kinds, objects of all clusters, views and actions',
      path: '/',
      async show(page) {
        await seen(page, 'invoice-worker')
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Search' }).waitFor()
        await page.keyboard.type('invoice')
        await page.getByRole('option').filter({ hasText: 'invoice' }).first().waitFor()
      },
    },
    {
      name: 'table',
      caption: 'A live table, filtered and sorted, with the inspector beside it',
      path: '/kinds/pods?cluster=prod-eu&ns=payments&q=phase%3ARunning&sort=-restarts',
      async show(page) {
        await page.getByRole('row').filter({ hasText: 'invoice-worker' }).first().click()
        await page.getByRole('complementary').getByRole('article').waitFor()
      },
    },
    {
      name: 'facets',
      caption: 'A table over all clusters, with the numbers by which it can be filtered',
      path: '/kinds/pods?cluster=*',
      async show(page) {
        await page.locator('[data-index]').first().waitFor()
        await page.getByRole('button', { name: 'Facets' }).click()
        await page
          .getByRole('button', { name: /^payments\s*\d+$/ })
          .first()
          .waitFor()
      },
    },
    {
      name: 'bulk',
      caption: 'Restarting many Deployments: what happens to each, and what manages it',
      path: '/kinds/deployments.apps?cluster=prod-eu&ns=payments,storefront',
      async show(page) {
        await page.locator('[data-index]').nth(2).waitFor()
        await page.getByRole('checkbox', { name: 'Select all' }).click()
        const bar = page.getByRole('region', { name: 'Selection' })
        await bar.getByRole('button', { name: 'Actions' }).click()
        await page.getByRole('menuitem', { name: 'Restart…' }).click()
        await seen(page, /objects would change\.$/)
      },
    },
    {
      name: 'export',
      caption: 'A table as CSV, YAML, JSON, kubectl or GraphQL',
      path: '/kinds/deployments.apps?cluster=prod-eu&ns=payments',
      without: 'region',
      async show(page) {
        await page.locator('[data-index]').nth(1).waitFor()
        await page.getByRole('button', { name: 'More', exact: true }).click()
        await page.getByRole('menuitem', { name: /as CSV$/ }).waitFor()
      },
    },
    {
      name: 'create',
      caption: 'Creating objects from YAML, with what would happen',
      path: '/create?cluster=prod-eu&kind=deployments.apps&ns=payments',
      async show(page) {
        await page.locator('.cm-line').getByText('kind: Deployment').waitFor()
        await page.getByRole('button', { name: 'Review', exact: true }).click()
        await page.getByRole('button', { name: /^Create 1 object/ }).waitFor()
      },
    },
    {
      name: 'compare',
      caption: 'A workload in two clusters, and the fields that differ',
      path: `/compare?left=${found('compared').id}&right=${found('compared', 1).id}`,
      show: (page) => seen(page, /fields? differs?\./),
    },
    {
      name: 'applications',
      caption: 'The applications',
      path: '/applications?cluster=prod-eu&ns=payments',
      show: (page) => seen(page, 'card-gateway'),
    },
    {
      name: 'application',
      caption: 'An application, with its pods by revision',
      path: `/applications/${found('worker').id}`,
      show: (page) => page.locator('.react-flow__node').first().waitFor(),
    },
    {
      name: 'delivery',
      caption: 'What Argo CD, Flux and Helm deliver, and what drifts',
      path: '/delivery?cluster=prod-eu',
      show: (page) => seen(page, /OutOfSync/),
    },
    {
      name: 'argo',
      caption: 'An Application of Argo CD, and which of its objects drifts',
      path: of('prod-eu/Application.argoproj.io/storefront/storefront'),
      show: (page) => page.getByRole('link', { name: 'shop-web' }).first().waitFor(),
    },
    {
      name: 'flux',
      caption: 'A Kustomization of Flux: why it fails, and what it delivers',
      path: of('prod-eu/Kustomization.kustomize.toolkit.fluxcd.io/storefront/infra'),
      show: (page) => page.getByRole('link', { name: 'flux-config' }).waitFor(),
    },
    {
      name: 'helm',
      caption: 'A release of Helm: its revisions, its objects, and its values at a click',
      path: of('prod-eu/Secret/storefront/sh.helm.release.v1.redis.v2'),
      async show(page) {
        await page.getByRole('link', { name: 'helm-config' }).waitFor()
        await page.getByRole('button', { name: 'Show the chart and the values' }).click()
        await seen(page, /^replicas: 2/m)
      },
    },
    {
      name: 'certificates',
      caption: 'Which certificates end when, and what uses them',
      path: '/certificates?cluster=prod-eu',
      show: (page) => seen(page, 'front-door-tls'),
    },
    {
      name: 'access',
      caption: 'Who may do what, and by which role',
      path: '/access?cluster=prod-eu&type=Pod&verb=delete&ns=payments',
      show: (page) => page.getByRole('button', { name: 'oncall' }).waitFor(),
    },
    {
      name: 'object',
      caption: 'A Deployment: its health in a sentence, its use, its pods',
      path: of(worker),
      show: (page) => seen(page, 'CrashLoopBackOff'),
    },
    {
      name: 'pod',
      caption: 'A pod that crashes: why, and the last lines that it wrote',
      path: of(found('broken').nameId),
      async show(page) {
        await page.getByRole('list', { name: 'The last lines of the log' }).waitFor()
        await seen(page, /^Uses: cpu/)
      },
    },
    {
      name: 'charts',
      caption: 'The use of a pod over the last hour, with what happened to it',
      path: of(found('running').nameId),
      async show(page) {
        await page.getByText('Use over the last hour').click()
        await page.locator('canvas').nth(1).waitFor()
        await page.locator('canvas').first().scrollIntoViewIfNeeded()
      },
    },
    {
      name: 'node',
      caption: 'A node: its use, its pods, its capacity, its conditions',
      path: of(found('node').nameId),
      show: (page) => page.getByRole('row', { name: /^cpu/ }).waitFor(),
    },
    {
      name: 'namespace',
      caption: 'A namespace: its problems, workloads, quota and warnings',
      path: of('prod-eu/Namespace//payments'),
      show: (page) => page.getByRole('heading', { name: /^Workloads/ }).waitFor(),
    },
    {
      name: 'configmap',
      caption: 'A ConfigMap and its values',
      path: of('prod-eu/ConfigMap/payments/card-gateway-config'),
      show: (page) =>
        page
          .getByRole('button', { name: /^Copy / })
          .first()
          .waitFor(),
    },
    {
      name: 'secret',
      caption: 'A Secret: its type and keys; a value comes at a click',
      path: of('prod-eu/Secret/payments/card-gateway-credentials'),
      show: (page) =>
        page
          .getByRole('button', { name: /^Show the value/ })
          .first()
          .waitFor(),
    },
    {
      name: 'related',
      caption: 'Who uses an object, at which place, and what it uses',
      path: of('prod-eu/ConfigMap/payments/card-gateway-config', 'related'),
      show: (page) => page.getByRole('heading', { name: /^Used by/ }).waitFor(),
    },
    {
      name: 'graph',
      caption: 'The graph of what is around an object',
      path: of(worker, 'graph'),
      show: (page) => page.locator('.react-flow__node').first().waitFor(),
    },
    {
      name: 'events',
      caption: 'The events of a namespace',
      path: of('prod-eu/Namespace//payments', 'events'),
      show: (page) => page.getByRole('tabpanel').getByRole('listitem').first().waitFor(),
    },
    {
      name: 'logs',
      caption: 'The logs of all pods of a workload, errors alone, with JSON in columns',
      path: `${of(worker, 'logs')}&logs=level%3Aerror+columns%3Ayes`,
      show: (page) =>
        page
          .getByRole('log')
          .getByText(/^cannot start/)
          .first()
          .waitFor(),
    },
    {
      name: 'edit',
      caption: 'Editing YAML: what would change, and whose field it is',
      path: of(contested, 'yaml'),
      async show(page) {
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        await page.locator('.cm-line').getByText('replicas: 2', { exact: true }).first().click()
        await page.keyboard.press('End')
        await page.keyboard.press('Backspace')
        await page.keyboard.insertText('5')
        await page.keyboard.press('Control+Enter')
        await seen(page, 'deployer has set spec.replicas')
      },
    },
    {
      name: 'history',
      caption: 'The history of an object',
      path: of('prod-eu/Deployment.apps/storefront/shop-admin', 'history'),
      show: (page) => page.locator('main li[data-type]').first().waitFor(),
    },
    {
      name: 'action',
      caption: 'Rolling back: what changes, and what puts it back',
      path: of(worker),
      async show(page) {
        await menu(page, 'Roll back…')
        await seen(page, 'spec.template.spec.containers[0].image')
      },
    },
    {
      name: 'drain',
      caption: 'Draining a node: what is lost',
      path: of(found('node').nameId),
      async show(page) {
        await menu(page, 'Drain…')
        await page.getByRole('checkbox', { name: /emptyDir/ }).check()
        await seen(page, /^\d+ pods? ha(s|ve) to go\.$/)
      },
    },
    {
      name: 'shell',
      caption: 'A shell in a container',
      path: of(found('running').nameId, 'shell'),
      async show(page) {
        await page.getByRole('button', { name: 'Open a shell' }).click()
        const rows = page.locator('.xterm-rows')
        await rows.getByText('/ #').first().waitFor()
        for (const line of ['ps', 'cat /etc/os-release']) {
          await page.keyboard.type(line)
          await page.keyboard.press('Enter')
        }
        await rows.getByText('IMAGE=').waitFor()
      },
    },
    {
      name: 'cut',
      caption: 'The overview while a cluster is cut off',
      path: '/',
      async show(page) {
        await seen(page, 'invoice-worker')
        await cut(page)
      },
      end: mend,
    },
    {
      name: 'cut-table',
      caption: 'A table of all clusters, with the rows of the one that is cut off as last known',
      path: '/kinds/pods?cluster=*&q=card-gateway',
      async show(page) {
        const rows = page.locator('[data-index] [data-column="cluster"]')
        await rows.filter({ hasText: 'prod-us' }).first().waitFor()
        await cut(page)
      },
      end: mend,
    },
    {
      name: 'offline',
      caption: 'A view that was not opened before the gateway was away',
      path: '/',
      url: `http://127.0.0.1:${proxy.port}/`,
      expected: [/A file of the page is missing/],
      async show(page) {
        await seen(page, 'invoice-worker')
        await proxy.refuse()
        await page.keyboard.press('g')
        await page.keyboard.press('a')
        await page.getByRole('heading', { name: 'This view cannot be loaded now.' }).waitFor()
        await seen(page, /^Offline since \d/)
      },
      end: () => proxy.listen(),
    },
    {
      name: 'sign-in',
      caption: 'Signing in at an identity provider',
      path: '/',
      url: signInUrl,
      show: (page) => page.getByRole('heading', { name: 'Sign in to see your clusters' }).waitFor(),
    },
  ]
}
