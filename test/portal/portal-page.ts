import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import {
  type AuthenticationOptions,
  type GatewayOptions,
  portalFolder,
  type ServerOptions,
} from 'informerql'
import {
  type SimulatedFleetCluster,
  type Simulator,
  startSimulatedCluster,
  startSimulatedFleet,
} from 'informerql/simulator'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { kubeconfigText } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'

/** Who may sign in where callers are asked: `ann` may do everything, `ben` may read `payments` and `storefront`. */
export type Viewer = 'ann' | 'ben'

const tokenOf = (viewer: string): string => `${viewer}-token`

/** What is served. */
export interface PortalOptions {
  /** The size of the company. Default 60. */
  readonly pods?: number
  /** The company in three clusters, `prod-eu`, `prod-us` and `staging`, where nobody is asked who they are. Default: in one, `demo`. */
  readonly isFleet?: boolean
  /** Whether the cluster measures what pods and nodes use. Default: no. */
  readonly hasMetrics?: boolean
  /** Changes by themselves. Default none. */
  readonly eventsPerSecond?: number
  /** Whether callers have to sign in, as {@link Viewer}. Default: everybody sees everything. */
  readonly asksWho?: boolean
  /** How callers are asked, with {@link asksWho}. Default: by their token, as {@link Viewer}. */
  readonly auth?: Partial<AuthenticationOptions>
  readonly allowWrites?: boolean
  /** Whether the gateway opens shells. Default: no. */
  readonly allowExec?: boolean
  /** Whether the gateway keeps an archive in memory. Default: none. */
  readonly hasArchive?: boolean
  readonly server?: Partial<ServerOptions>
  /** Further options of the gateway. */
  readonly further?: Partial<GatewayOptions>
}

/** A simulated company, and a gateway that serves its portal. */
export interface ServedPortal extends AsyncDisposable {
  /** The first one of a fleet. */
  readonly cluster: Simulator
  readonly clusters: readonly Pick<SimulatedFleetCluster, 'name' | 'simulator'>[]
  /** `http://127.0.0.1:PORT/`, the same after {@link start}. */
  readonly url: string
  readonly gateway: () => ServedGateway
  /** Stops the gateway, and starts another one at the same address. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

/** How a page is opened. */
export interface PageOptions {
  /** The first address. Default `/`. */
  readonly path?: string
  /** Signed in from the start. Default: nobody. */
  readonly viewer?: Viewer
  /** Default 1280. */
  readonly width?: number
  /** Default 800. */
  readonly height?: number
  /** Default `light`. */
  readonly theme?: Theme
  /** Whether the page has a context of its own, which ends with it. Default: that of a page which a test has left, emptied. */
  readonly isAlone?: boolean
  /** Messages of the console that are no problem: `/status of 401/`. */
  readonly expected?: readonly RegExp[]
}

type Theme = 'light' | 'dark'

/** A page of the portal in Chromium. */
export interface PortalPage extends AsyncDisposable {
  readonly page: Page
  /** Requests to other origins, violations of the policy, errors of the console. Empty where all is well. */
  readonly problems: readonly string[]
  /**
   * Expects that axe finds nothing in either theme, and that there are no {@link problems}. For the end of a test. An open menu stands
   * outside the landmarks of the page: `without` the rule `region`.
   */
  readonly audit: (without?: string) => Promise<void>
}

/** Serves the portal of a new company. */
export async function servePortal(options: PortalOptions = {}): Promise<ServedPortal> {
  const { asksWho = false, allowWrites = false, hasArchive = false, server = {} } = options
  const { further = {}, allowExec = false } = options
  const archive = hasArchive ? { archive: { url: 'memory:' } } : {}
  const { auth = asksWho ? { mode: 'token-review' } : {} } = options
  await using stack = new AsyncDisposableStack()
  const clusters = await startClusters(options, stack)
  const [{ simulator: cluster }] = clusters
  if (asksWho) bindRoles(cluster)
  const folder = await mkdtemp(join(tmpdir(), 'informerql-portal-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const kubeconfig = join(folder, 'kubeconfig.json')
  await writeFile(kubeconfig, kubeconfigText(cluster.url, tokenOf('gateway')))
  const selections = clusters.map(({ name, simulator }) => ({
    name,
    ...(asksWho ? { kubeconfig } : { server: simulator.url }),
  }))
  const serve = (port: number): Promise<ServedGateway> =>
    serveGateway(
      { clusters: selections, allowWrites, ...archive, ...further },
      { ...server, port },
      { portalFolder, auth, ...(allowExec && { exec: {} }) },
    )
  let gateway = await serve(server.port ?? 0)
  const url = new URL('/', gateway.url).href
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= Promise.resolve(gateway[Symbol.asyncDispose]()))
  stack.defer(stop)
  stack.use(keepPages(url))
  const started = stack.move()
  return {
    cluster,
    clusters,
    url,
    gateway: () => gateway,
    stop,
    start: async () => {
      gateway = await serve(Number(new URL(url).port))
      stopped = undefined
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

type Clusters = readonly [ServedPortal['clusters'][number], ...ServedPortal['clusters']]

async function startClusters(
  {
    pods = 60,
    eventsPerSecond = 0,
    asksWho = false,
    isFleet = false,
    hasMetrics: metrics = false,
  }: PortalOptions,
  stack: AsyncDisposableStack,
): Promise<Clusters> {
  const options = { population: { pods }, churn: { eventsPerSecond } }
  if (isFleet) {
    const fleet = stack.use(await startSimulatedFleet(options))
    const [first, ...others] = fleet.clusters
    if (first === undefined) throw new Error('the fleet of the package has clusters')
    return [first, ...others]
  }
  const rules = asksWho ? ({ authorization: 'rbac', users } as const) : {}
  return [
    {
      name: 'demo',
      simulator: stack.use(await startSimulatedCluster({ ...options, ...rules, metrics })),
    },
  ]
}

interface IdlePage {
  readonly page: Page
  readonly viewer: Viewer | undefined
}

/**
 * Pages that a test has left, by the address of their portal, each without storage and cookies. The next test opens its address in one of them: a new page
 * takes four times as long, since Chromium starts a process for it, without the scripts that the former one has compiled.
 */
const idlePages = new Map<string, IdlePage[]>()

/** From now on pages of this address are left for the next test; until its end, which closes them. */
export function keepPages(url: string): AsyncDisposable {
  const pages: IdlePage[] = []
  idlePages.set(url, pages)
  return {
    [Symbol.asyncDispose]: async () => {
      idlePages.delete(url)
      await Promise.all(pages.map(({ page }) => page.context().close()))
    },
  }
}

async function takePage(browser: Browser, url: string, viewer?: Viewer): Promise<Page> {
  const idle = idlePages.get(url) ?? []
  const at = idle.findIndex((one) => one.viewer === viewer)
  const [found] = at === -1 ? [] : idle.splice(at, 1)
  return found === undefined ? newPage(browser, url, viewer) : found.page
}

async function newPage(browser: Browser, url: string, viewer?: Viewer): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce', baseURL: url })
  // A machine that is busy with other tests.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  if (viewer !== undefined) {
    await page.addInitScript(
      (token) => sessionStorage.setItem('informerql.token', token),
      tokenOf(viewer),
    )
  }
  return page
}

async function leavePage(page: Page, url: string, viewer?: Viewer): Promise<void> {
  const context = page.context()
  try {
    // Of the same origin, so that the storage can be emptied after the portal has gone.
    await page.goto('/livez')
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    await context.clearCookies()
    await context.clearPermissions()
    await page.mouse.move(-1, -1)
    idlePages.get(url)?.push({ page, viewer })
  } catch {
    // Its gateway is gone.
  }
  if (idlePages.get(url)?.some((one) => one.page === page) !== true) await context.close()
}

/** Opens a page of a served portal, as somebody who has never been there. */
export async function openPage(
  browser: Browser,
  { url }: Pick<ServedPortal, 'url'>,
  {
    path = '/',
    viewer,
    width = 1280,
    height = 800,
    theme = 'light',
    isAlone = false,
    expected = [],
  }: PageOptions = {},
): Promise<PortalPage> {
  const page = await (isAlone ? newPage : takePage)(browser, url, viewer)
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  const problems: string[] = []
  let isLeft = false
  const note = (problem: string): void => {
    if (!isLeft && !expected.some((pattern) => pattern.test(problem))) problems.push(problem)
  }
  const visit = (address: string): void => {
    const { protocol, host } = new URL(address)
    const isFetched = /^(https?|wss?):$/.test(protocol)
    if (isFetched && host !== new URL(url).host) note(`request to ${address}`)
  }
  page.on('request', (request) => visit(request.url()))
  page.on('websocket', (socket) => visit(socket.url()))
  page.on('pageerror', (error) => note(`error: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    // A gateway that is stopped is not the page's fault.
    const isOutage = /net::ERR_(CONNECTION|EMPTY_RESPONSE|NETWORK)/.test(message.text())
    if (message.type() === 'error' && !isOutage) note(`console: ${message.text()}`)
  })
  await page.goto(path)
  return {
    page,
    problems,
    audit: async (without) => {
      const found = await violations(page)
      expect(
        without === undefined ? found : found.filter((one) => !one.startsWith(`${without}:`)),
        'axe',
      ).toEqual([])
      const dark = theme === 'dark' ? 'light' : 'dark'
      await page.emulateMedia({ colorScheme: dark })
      expect(await violations(page, rulesOfColors), `axe, ${dark}`).toEqual([])
      await page.emulateMedia({ colorScheme: theme })
      expect(problems).toEqual([])
    },
    [Symbol.asyncDispose]: () => {
      isLeft = true
      return isAlone ? page.context().close() : leavePage(page, url, viewer)
    },
  }
}

/** Serves a portal for one page: for tests that need a company of their own. */
export async function openPortal(
  browser: Browser,
  options: PortalOptions & PageOptions = {},
): Promise<ServedPortal & PortalPage> {
  await using stack = new AsyncDisposableStack()
  const { asksWho = options.viewer !== undefined } = options
  const served = stack.use(await servePortal({ ...options, asksWho }))
  const opened = stack.use(await openPage(browser, served, options))
  const started = stack.move()
  return { ...served, ...opened, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/** The rules of axe that a theme can break. */
const rulesOfColors = ['color-contrast', 'link-in-text-block']

/** What axe finds, by all rules or these: the rule, and the first elements that break it. */
async function violations(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  // Not subject to the policy of the page, as a <script> would be.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const found = await page.evaluate(async (runOnly) => {
    const { axe: inPage } = globalThis as unknown as { readonly axe: typeof axe }
    const options = runOnly === undefined ? {} : { runOnly: [...runOnly] }
    return (await inPage.run({ ...options, resultTypes: ['violations'] })).violations
  }, rules)
  return found.map(({ id, help, nodes }) => {
    const places = nodes.slice(0, 5).map(({ target, failureSummary = '' }) => {
      const [, why = ''] = failureSummary.split('\n')
      return `${target.join(' ')} (${why.trim()})`
    })
    return `${id}: ${help}: ${places.join('; ')}`
  })
}

const users = [
  { token: tokenOf('gateway'), user: 'gateway', groups: ['system:masters'] },
  { token: tokenOf('ann'), user: 'ann', groups: ['system:masters'] },
  { token: tokenOf('ben'), user: 'ben' },
]

/** Lets ben read two namespaces. */
function bindRoles({ storage }: Simulator): void {
  const group = 'rbac.authorization.k8s.io'
  for (const namespace of ['payments', 'storefront']) {
    storage.create(
      { group, version: 'v1', resource: 'rolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'ben', namespace },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'ben' }],
      },
    )
  }
}
