import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'

describeInBrowser('The graph', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ pods: 120 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  /** The page of an object, at its graph. */
  async function openGraph(of: ObjectName): Promise<PortalPage> {
    const id = await idOf(portal, of)
    return openPage(browser(), portal, { path: `/objects/${id}?tab=graph` })
  }

  const worker = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'payments' } as const

  it('draws a broken Deployment with its revisions, pods and configuration', async () => {
    await using opened = await openGraph({ ...worker, name: 'invoice-worker' })
    const { page } = opened
    await drawn(page, 'Deployment payments/invoice-worker').waitFor()
    await drawn(page, /^ReplicaSet payments\/invoice-worker/)
      .first()
      .waitFor()
    const pods = drawn(page, /^Pod payments\/invoice-worker/)
    await pods.filter({ hasText: 'Degraded' }).first().waitFor()
    await drawn(page, 'ConfigMap payments/invoice-worker-config').waitFor()
    const lines = page.locator('.react-flow__edge')
    expect(await lines.count()).toBeGreaterThanOrEqual(5)
    await opened.audit()
  })

  it('places a Deployment at the left of its pods, and these at the left of what they use', async () => {
    await using opened = await openGraph({ ...worker, name: 'invoice-worker' })
    const { page } = opened
    const places = await Promise.all(
      [
        'Deployment payments/invoice-worker',
        /^ReplicaSet payments\/invoice-worker/,
        /^Pod payments\/invoice-worker/,
        'ConfigMap payments/invoice-worker-config',
      ].map(async (name) => {
        const box = await drawn(page, name).first().boundingBox()
        return box?.x ?? Number.NaN
      }),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(new Set(places).size).toBe(4)
  })

  it.each([
    { ...worker, name: 'invoice-worker' },
    { ...worker, name: 'card-gateway' },
    { apiVersion: 'v1', kind: 'Node', name: 'worker-a-001' },
    { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'payments', name: 'invoice-worker' },
  ])('starts at the $kind $name, at the left and readable, with few nodes', async (of) => {
    await using opened = await openGraph(of)
    const { page } = opened
    const { kind, name } = of
    const title = 'namespace' in of ? `${kind} ${of.namespace}/${name}` : `${kind} ${name}`
    const root = drawn(page, title)
    await root.waitFor()
    await page.locator('.react-flow__node').nth(2).waitFor()
    const boxes = async () =>
      Promise.all((await page.locator('.react-flow__node').all()).map((one) => one.boundingBox()))
    await expect
      .poll(async () => {
        const from = (await root.boundingBox())?.x ?? Number.NaN
        return (await boxes()).every((box) => box === null || box.x >= from)
      })
      .toBe(true)
    // Nodes that are out of sight are not drawn: the list has all of them.
    expect((await root.boundingBox())?.width ?? 0).toBeGreaterThan(160)
    expect((await boxes()).length).toBeLessThanOrEqual(25)
    await opened.audit()
  })

  it('draws no line behind a node that is not its end', async () => {
    const gateway = { ...worker, name: 'card-gateway' }
    for (const of of [gateway, { ...worker, name: 'invoice-worker' }]) {
      await using opened = await openGraph(of)
      const { page } = opened
      await drawn(page, `Deployment payments/${of.name}`).waitFor()
      await page.getByRole('button', { name: 'Fit View' }).click()
      await expect.poll(() => page.locator('.react-flow__edge').count()).toBeGreaterThan(5)
      const lines = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll<HTMLElement>('.react-flow__node')].map(
          (node) => ({ id: node.dataset['id'], box: node.getBoundingClientRect() }),
        )
        return [...document.querySelectorAll<SVGGElement>('.react-flow__edge')].map((edge) => {
          const id = edge.dataset['id'] ?? ''
          const path = edge.querySelector<SVGPathElement>('.react-flow__edge-path')
          const matrix = path?.getScreenCTM()
          const length = path?.getTotalLength() ?? 0
          const points = Array.from({ length: 400 }, (_, at) =>
            path?.getPointAtLength((length * at) / 399).matrixTransform(matrix ?? undefined),
          )
          const behind = boxes.filter(
            (node) =>
              !id.split('>').includes(node.id ?? '') &&
              points.some(
                (point) =>
                  point !== undefined &&
                  point.x > node.box.left &&
                  point.x < node.box.right &&
                  point.y > node.box.top &&
                  point.y < node.box.bottom,
              ),
          )
          return { length, behind: behind.map((node) => `${id} is behind ${node.id}`) }
        })
      })
      expect(lines.flatMap(({ behind }) => behind)).toEqual([])
      // One of them passes a column.
      expect(Math.max(...lines.map(({ length }) => length))).toBeGreaterThan(280)
    }
  })

  it('shows what is behind something shared as a count, until it is opened', async () => {
    await using opened = await openGraph({ ...worker, name: 'card-gateway' })
    const { page } = opened
    const shared = page.getByRole('button', { name: /^\+\d+: show the other \d+ objects? around / })
    await shared.first().waitFor()
    const before = await page.locator('.react-flow__node').count()
    await shared.first().click()
    await expect.poll(() => page.locator('.react-flow__node').count()).toBeGreaterThan(before)
    await opened.audit()
  })

  it('shows a pod that comes, and what had its place keeps it', async () => {
    await using opened = await openGraph({ ...worker, name: 'invoice-worker' })
    const { page } = opened
    const root = drawn(page, 'Deployment payments/invoice-worker')
    await root.waitFor()
    const before = await root.boundingBox()
    const resource = { group: '', version: 'v1', resource: 'pods' }
    const { storage } = portal.cluster
    const owned = [...storage.list(resource)].find(
      ({ metadata }) =>
        metadata?.namespace === 'payments' && (metadata.name ?? '').startsWith('invoice-worker-'),
    )
    if (owned?.metadata === undefined) throw new Error('invoice-worker has no pod')
    const { namespace, labels, ownerReferences } = owned.metadata
    const metadata = { namespace, labels, ownerReferences, name: 'invoice-worker-another' }
    storage.create(resource, { ...owned, metadata } as typeof owned)
    await drawn(page, 'Pod payments/invoice-worker-another').waitFor()
    expect(await root.boundingBox()).toEqual(before)
  })

  it('folds what many have in common, and unfolds it', async () => {
    await using opened = await openGraph({ apiVersion: 'v1', kind: 'Node', name: 'worker-a-001' })
    const { page } = opened
    const folded = drawn(page, 'Pod').filter({ hasText: /\d+ healthy/ })
    await folded.waitFor()
    await folded.click()
    // The picture begins at its root, readable: what is out of sight is not drawn.
    await expect.poll(() => drawn(page, /^Pod /).count()).toBeGreaterThan(6)
    await page.getByRole('button', { name: 'Fold again' }).click()
    await folded.waitFor()
    await opened.audit()
  })

  it('is a table for those who cannot see it, and leads to each object', async () => {
    await using opened = await openGraph({ ...worker, name: 'invoice-worker' })
    const { page } = opened
    await page.getByRole('button', { name: 'As a list' }).click()
    const row = page.getByRole('row', { name: /ConfigMap payments\/invoice-worker-config/ })
    await row.waitFor()
    await opened.audit()
    const before = page.url()
    await row.getByRole('link').click()
    await expect.poll(() => page.url()).not.toBe(before)
  })

  it('opens an object by a double click, and is drawn around another one by its button', async () => {
    await using opened = await openGraph({ ...worker, name: 'invoice-worker' })
    const { page } = opened
    const config = drawn(page, 'ConfigMap payments/invoice-worker-config')
    await config.hover()
    await page.getByRole('button', { name: 'Show what is around invoice-worker-config' }).click()
    await page.getByRole('button', { name: 'Back to where it began' }).click()
    const before = page.url()
    await config.dblclick()
    await expect.poll(() => page.url()).not.toBe(before)
  })
})

function drawn(page: Page, name: string | RegExp): Locator {
  return page.getByRole('group', { name, ...(typeof name === 'string' ? { exact: true } : {}) })
}

interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

/** The `id` of an object, as the gateway says. */
async function idOf({ url }: ServedPortal, variables: ObjectName): Promise<string> {
  const query = `query ($apiVersion: String!, $kind: String!, $namespace: String, $name: String!) {
    objectByRef(apiVersion: $apiVersion, kind: $kind, namespace: $namespace, name: $name) { id } }`
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  const { data } = (await response.json()) as {
    readonly data: { readonly objectByRef: { readonly id: string } }
  }
  return data.objectByRef.id
}
