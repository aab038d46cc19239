import type { Unstructured } from 'informerql/kubernetes'
import type { Simulator } from 'informerql/simulator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compared } from '../../packages/portal/src/compare/comparable.ts'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }

interface Given {
  readonly image: string
  readonly replicas?: number
  readonly level?: string
  readonly memory?: string
}

const workload = (
  namespace: string,
  { image, replicas = 2, level = 'info', memory = '128Mi' }: Given,
): Unstructured => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'compared',
    namespace,
    labels: { app: 'compared', env: namespace },
    annotations: { 'deployment.kubernetes.io/revision': String(replicas) },
  },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'compared' } },
    template: {
      metadata: { labels: { app: 'compared' } },
      spec: {
        containers: [
          {
            name: 'main',
            image,
            env: [{ name: 'LEVEL', value: level }],
            resources: { limits: { memory } },
          },
        ],
      },
    },
  },
})

const put = ({ storage }: Simulator, namespace: string, given: Given): void =>
  void storage.create(deployments, workload(namespace, given))

describe('The differences of two objects', () => {
  it('begin with images, replicas, environment and resources, and have no noise', () => {
    const left = workload('shop', { image: 'web:1' })
    const right = workload('stage', { image: 'web:2', replicas: 5, level: 'debug', memory: '1Gi' })
    const noisy = {
      ...right,
      metadata: { ...right.metadata, uid: 'other', resourceVersion: '9', managedFields: [] },
      status: { replicas: 5 },
    }
    const found = compared(left, noisy).map(({ group, fields }) => [
      group,
      ...fields.map(({ path, before, after }) => [path, before, after]),
    ])
    const container = '/spec/template/spec/containers/0'
    expect(found).toEqual([
      ['image', [`${container}/image`, 'web:1', 'web:2']],
      ['replicas', ['/spec/replicas', 2, 5]],
      ['env', [`${container}/env/0/value`, 'info', 'debug']],
      ['resources', [`${container}/resources/limits/memory`, '128Mi', '1Gi']],
      ['metadata', ['/metadata/labels/env', 'shop', 'stage']],
    ])
    expect(compared(left, structuredClone(left))).toEqual([])
  })

  it('leave out what a cluster assigns', () => {
    const service = (clusterIP: string, nodePort: number): unknown => ({
      kind: 'Service',
      metadata: { name: 'web', namespace: 'a' },
      spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ name: 'http', port: 80, nodePort }] },
    })
    expect(compared(service('10.0.0.1', 30_001), service('10.0.0.2', 30_002))).toEqual([])
  })
})

describeInBrowser('Comparing objects', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ isFleet: true, pods: 120 })
    for (const [at, image] of ['web:1', 'web:2', 'web:1'].entries()) {
      const { simulator } = portal.clusters[at] ?? {}
      if (simulator !== undefined) put(simulator, 'storefront', { image, replicas: at + 2 })
    }
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const idOf = async (cluster: string): Promise<string> => {
    const { deployments: found } = await portal
      .gateway()
      .data(
        `{ deployments(cluster: "${cluster}", where: { name: { eq: "compared" } }) { nodes { id } } }`,
      )
    return found.nodes[0].id
  }

  it('begins at an object, offers those of its name elsewhere, and shows what differs; the address has both', async () => {
    await using opened = await openPage(browser(), portal, {
      path: `/objects/${await idOf('prod-eu')}`,
    })
    const { page } = opened
    await page.getByRole('link', { name: 'Compare' }).click()
    const choices = page.getByRole('list', { name: 'Objects to compare with' })
    await choices.getByRole('button').nth(1).waitFor()
    expect(await choices.getByRole('button').allInnerTexts()).toEqual([
      'prod-us / storefront / compared',
      'staging / storefront / compared',
    ])
    await opened.audit()
    await choices.getByRole('button', { name: /^prod-us/ }).click()
    await page.getByText('2 fields differ.').waitFor()
    const values = async (): Promise<readonly string[]> =>
      (await page.getByRole('list', { name: 'What changes' }).allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, ' ').trim(),
      )
    expect(await values()).toEqual([
      'spec.template.spec.containers[0].image Left: web:1 → Right: web:2',
      'spec.replicas Left: 2 → Right: 3',
    ])
    await opened.audit()
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('left'), searchParams.get('right')]).toEqual([
      'prod-eu/Deployment.apps/storefront/compared',
      'prod-us/Deployment.apps/storefront/compared',
    ])
    await page.reload()
    await page.getByText('2 fields differ.').waitFor()
    // A change shows by itself.
    const { json } = (
      await portal.gateway().data(`{ object(id: "${await idOf('prod-us')}") { json } }`)
    ).object
    portal.clusters[1]?.simulator.storage.update(deployments, {
      ...json,
      spec: { ...json.spec, replicas: 2 },
    })
    await page.getByText('1 field differs.').waitFor()
    await page.getByRole('button', { name: 'Swap the sides' }).click()
    await page.getByText('Left: prod-us / storefront / compared').waitFor()
    await page.getByRole('button', { name: 'As YAML' }).click()
    await page.locator('.cm-deletedChunk').first().waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Choose another' }).click()
    await page.getByRole('textbox', { name: 'Name contains' }).fill('checkout')
    await choices
      .getByRole('button', { name: /checkout/ })
      .first()
      .waitFor()
    expect(opened.problems).toEqual([])
  })

  it('is usable on a narrow page', async () => {
    const path = `/compare?left=${await idOf('prod-eu')}&right=${await idOf('staging')}`
    await using opened = await openPage(browser(), portal, { path, width: 390 })
    const { page } = opened
    await page.getByText('1 field differs.').waitFor()
    const ends = await page
      .getByRole('main')
      .locator('button, li, p')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(390)
    await opened.audit()
  })

  it('says what is missing of a cluster that is cut, and keeps the other side as last known', async () => {
    await using opened = await openPortal(browser(), { isFleet: true, pods: 120 })
    const { page, clusters } = opened
    for (const { simulator } of clusters) put(simulator, 'storefront', { image: 'web:1' })
    const { deployments: found } = await opened
      .gateway()
      .data(
        '{ deployments(clusters: ["*"], where: { name: { eq: "compared" } }) { nodes { id clusterName } } }',
      )
    const ids = found.nodes as readonly { readonly id: string; readonly clusterName: string }[]
    const [left, right] = ['prod-eu', 'prod-us'].map(
      (name) => ids.find(({ clusterName }) => clusterName === name)?.id ?? '',
    )
    await page.goto(`/compare?left=${left}&right=${right}`)
    await page.getByText('They are the same in what people write.').waitFor()
    clusters[1]?.simulator.faults.inject({ fault: { type: 'cut' } })
    await page.getByText(/may be out of date/).waitFor()
    await page.getByRole('button', { name: 'Choose another' }).click()
    await page.getByText(/^prod-us cannot be reached/).waitFor()
    expect(opened.problems).toEqual([])
    await opened.audit()
  })
})

describeInBrowser('Comparing, for who may see a part', (browser) => {
  it('offers what the user may list, and refuses the rest', async () => {
    await using portal = await servePortal({ asksWho: true })
    for (const namespace of ['payments', 'storefront', 'platform']) {
      put(portal.cluster, namespace, { image: 'web:1' })
    }
    const { deployments: all } = await portal
      .gateway()
      .as('ann-token')
      .data('{ deployments(where: { name: { eq: "compared" } }) { nodes { id namespace } } }')
    const nodes = all.nodes as readonly {
      readonly id: string
      readonly namespace: string
    }[]
    const idIn = (namespace: string): string =>
      nodes.find((one) => one.namespace === namespace)?.id ?? ''
    await using opened = await openPage(browser(), portal, {
      viewer: 'ben',
      path: `/compare?left=${idIn('payments')}`,
    })
    const { page } = opened
    const choices = page.getByRole('list', { name: 'Objects to compare with' })
    await choices.getByRole('button').first().waitFor()
    expect(await choices.getByRole('button').allInnerTexts()).toEqual([
      'demo / storefront / compared',
    ])
    await page.goto(`/compare?left=${idIn('payments')}&right=${idIn('platform')}`)
    await page.getByText('There is no such object, or you may not see it.').waitFor()
    const [left, right] = ['payments/compared', 'storefront/none'].map(
      (name) => `demo/Deployment.apps/${name}`,
    )
    await page.goto(`/compare?left=${left}&right=${right}`)
    const missing = 'There is no Deployment demo / storefront / none, or you may not see it.'
    await page.getByText(missing).waitFor()
    expect(opened.problems).toEqual([])
  })
})
