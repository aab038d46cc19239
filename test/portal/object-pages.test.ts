import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'

const api = { group: '', version: 'v1' } as const
const longLines = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n')

describeInBrowser('The page of a kind', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal()
    const { storage } = portal.cluster
    storage.create(
      { ...api, resource: 'configmaps' },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'of-pages', namespace: 'storefront' },
        data: { level: 'debug', long: longLines },
        binaryData: { picture: 'AAECAw==' },
      },
    )
    const container = {
      name: 'app',
      image: 'registry.example/app:1',
      ports: [{ name: 'http', containerPort: 8080 }],
      env: [
        { name: 'PLAIN', value: 'as it is' },
        { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'of-pages', key: 'level' } } },
        { name: 'ABSENT', valueFrom: { configMapKeyRef: { name: 'of-pages', key: 'none' } } },
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'of-pages', key: 'token' } } },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'CORES', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
      envFrom: [{ prefix: 'ALL_', secretRef: { name: 'of-pages', optional: true } }],
      readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 7 },
      livenessProbe: { exec: { command: ['cat', '/alive'] } },
      startupProbe: { tcpSocket: { port: 8080 } },
      volumeMounts: [
        { name: 'config', mountPath: '/etc/app', readOnly: true },
        { name: 'scratch', mountPath: '/tmp' },
      ],
    }
    storage.create(
      { ...api, resource: 'pods' },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'of-pages', namespace: 'storefront' },
        spec: {
          containers: [container],
          volumes: [
            { name: 'config', configMap: { name: 'of-pages' } },
            { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
            { name: 'host', hostPath: { path: '/var/log' } },
          ],
        },
        status: {
          phase: 'Running',
          startTime: '2026-01-01T09:00:00Z',
          containerStatuses: [
            {
              name: 'app',
              ready: true,
              restartCount: 1,
              state: { running: { startedAt: '2026-01-01T09:05:00Z' } },
              lastState: {
                terminated: {
                  reason: 'OOMKilled',
                  exitCode: 137,
                  finishedAt: '2026-01-01T09:04:00Z',
                },
              },
            },
          ],
        },
      },
    )
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = (nameId: string, width = 1280): Promise<PortalPage> =>
    openPage(browser(), portal, { path: `/objects/${encodeURIComponent(nameId)}`, width })

  it('of a pod says where each value of its environment comes from, and shows none of a Secret', async () => {
    await using opened = await open('demo/Pod/storefront/of-pages')
    const { page } = opened
    await page.getByText('the cluster has no metrics-server').waitFor()
    await page.getByRole('tabpanel').getByText('Environment').click()
    await page.getByText('debug', { exact: true }).waitFor()
    await page.getByText('It has no such key now.').waitFor()
    const entries = await page.getByRole('tabpanel').innerText()
    const text = entries.replaceAll(/\s+/g, ' ')
    expect(text).toContain('PLAIN as it is')
    expect(text).toContain('LEVEL debug key level of ConfigMap of-pages')
    expect(text).toContain('TOKEN not shown: key token of Secret of-pages')
    expect(text).toContain('NODE spec.nodeName of the pod')
    expect(text).toContain('CORES limits.cpu of the container')
    expect(text).toContain('ALL_… not shown: all keys of Secret of-pages, optional')
    await opened.audit()
  })

  it('of a pod has its probes, ports, volumes, and how it ended last', async () => {
    await using opened = await open('demo/Pod/storefront/of-pages')
    const { page } = opened
    // What comes later moves what is below it.
    await page.getByText('It has written nothing yet.').waitFor()
    await page.getByText('the cluster has no metrics-server').waitFor()
    await page.getByRole('tabpanel').getByText('Probes').click()
    await page.getByText('Startup', { exact: true }).waitFor()
    await page.getByRole('tabpanel').getByText('Volumes').click()
    await page.getByText('/etc/app').waitFor()
    const text = (await page.getByRole('tabpanel').innerText()).replaceAll(/\s+/g, ' ')
    expect(text).toContain('Ports: http 8080')
    expect(text).toContain('Startup opens port 8080')
    expect(text).toContain('Readiness GET http://:http/ready every 7 s, within 1 s')
    expect(text).toContain('Liveness runs cat /alive')
    expect(text).toContain('Last exit: killed for its memory, OOMKilled, exit code 137, ')
    expect(text).toContain('config ConfigMap of-pages /etc/app in app, read-only')
    expect(text).toContain('empty directory in memory, 1Gi at most; lost with the pod /tmp in app')
    expect(text).toContain('/var/log of the node mounted by no container')
    await opened.audit()
  })

  it('of a broken pod ends with the last lines that it has written, and leads to all', async () => {
    const { data } = await portal
      .gateway()
      .query(
        `{ pods(where: { waitingReason: { eq: "CrashLoopBackOff" } }, first: 1) { nodes { nameId } } }`,
      )
    const { nodes } = (data as { pods: { nodes: { nameId: string }[] } }).pods
    await using opened = await open(nodes[0]?.nameId ?? '')
    const { page } = opened
    const lines = page.getByRole('list', { name: 'The last lines of the log' })
    await lines
      .getByText(/cannot start invoice-worker/)
      .first()
      .waitFor()
    expect(await lines.locator('time').first().textContent()).toMatch(/^\d\d:\d\d:\d\d$/)
    await opened.audit()
    await page.getByRole('button', { name: 'All lines' }).click()
    await expect.poll(() => page.url()).toContain('tab=logs')
  })

  it('of a pod that has just been restarted has the last lines of the run before, and says which run it shows', async () => {
    const { storage } = portal.cluster
    const nodes = [...storage.list({ ...api, resource: 'nodes' })]
    const [node = ''] = nodes.map(({ metadata }) => metadata.name)
    const restart = (name: string, agoMs: number, nodeName = node): void => {
      const at = (ms: number): string => new Date(Date.now() - ms).toISOString()
      const times = { startedAt: at(agoMs + 9_000), finishedAt: at(agoMs + 3_000) }
      const [image, imageID] = ['registry.example/app:1', '']
      storage.create(
        { ...api, resource: 'pods' },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, namespace: 'storefront' },
          spec: { nodeName, containers: [{ name: 'app', image }] },
          status: {
            phase: 'Running',
            startTime: at(agoMs + 9_000),
            conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(agoMs + 3_000) }],
            containerStatuses: [
              {
                name: 'app',
                image,
                imageID,
                ready: false,
                restartCount: 1,
                state: { running: { startedAt: at(agoMs) } },
                lastState: { terminated: { exitCode: 1, reason: 'Error', ...times } },
              },
            ],
          },
        },
      )
    }
    restart('just-restarted', 2_000)
    restart('long-restarted', 600_000)
    restart('unread', 2_000, 'no-such-node')
    await using opened = await open('demo/Pod/storefront/just-restarted')
    const { page } = opened
    const failed = page
      .getByRole('list', { name: 'The last lines of the log' })
      .getByText(/cannot start/)
    const before = page.getByLabel('Run before the restart')
    await failed.first().waitFor()
    expect(await before.isChecked()).toBe(true)
    await page.getByText(/It ended: exit code 1\. Restarted \d+\w+ ago/).waitFor()
    await opened.audit()
    await before.uncheck()
    await failed.first().waitFor({ state: 'detached' })
    await page.getByText(/These are of the present run, which began \d+\w+ ago/).waitFor()
    await page.goto(`/objects/${encodeURIComponent('demo/Pod/storefront/long-restarted')}`)
    await page.getByText(/These are of the present run, which began 10m\w* ago/).waitFor()
    expect(await before.isChecked()).toBe(false)
    await before.check()
    await failed.first().waitFor()
    await page.getByRole('button', { name: 'All lines' }).click()
    await page
      .getByRole('log')
      .getByText(/cannot start/)
      .first()
      .waitFor()
    expect(await before.isChecked()).toBe(true)
    // The run that has lines would be shown by itself; here none has.
    await page.goto(`/objects/${encodeURIComponent('demo/Pod/storefront/unread')}`)
    await page.getByText(/It ended: exit code 1/).waitFor()
    await page.getByText(/These are of the present run/).waitFor()
  })

  it('of a namespace shows its problems, workloads, quota and warnings', async () => {
    await using opened = await open('demo/Namespace//payments')
    const { page } = opened
    const part = (name: string) =>
      page.getByRole('heading', { name: new RegExp(`^${name}`) }).locator('..')
    await part('Problems')
      .getByRole('link', { name: /invoice-worker/ })
      .first()
      .waitFor()
    await part('Workloads')
      .getByText(/\d of \d ready/)
      .first()
      .waitFor()
    await part('Quota').getByText('12 of 200').waitFor()
    await part('Warnings').getByText('BackOff', { exact: true }).waitFor()
    expect(await part('Workloads').getByRole('listitem').count()).toBeGreaterThan(4)
    await opened.audit()
    await page.getByRole('button', { name: 'All events' }).click()
    const events = page.getByRole('tabpanel').getByRole('listitem')
    await events.filter({ hasText: 'invoice-worker' }).first().waitFor()
  })

  it('of a node shows what it has, what pods may have of it, and whom its taints keep away', async () => {
    portal.cluster.storage.create(
      { ...api, resource: 'nodes' },
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'tainted' },
        spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
        status: {
          capacity: { cpu: '4', memory: '8388608Ki', 'ephemeral-storage': '95551679124' },
          allocatable: { cpu: '3900m', memory: '7340032Ki', 'ephemeral-storage': '90000000000' },
        },
      },
    )
    await using opened = await open('demo/Node//tainted')
    const { page } = opened
    const row = page.getByRole('row', { name: /^cpu/ })
    expect((await row.innerText()).split(/\s+/)).toEqual(['cpu', '4', '3.9'])
    await page.getByRole('row', { name: 'ephemeral-storage 89.0 GiB 83.8 GiB' }).waitFor()
    await page.getByText('gpu=yes:NoSchedule').waitFor()
    await page.getByText('new pods that do not tolerate it stay away').waitFor()
    await opened.audit()
  })

  it('of a ConfigMap shows its values, long ones folded', async () => {
    await using opened = await open('demo/ConfigMap/storefront/of-pages', 390)
    const { page } = opened
    await page.getByText('debug', { exact: true }).waitFor()
    await page.getByText('4 bytes, not text').waitFor()
    expect(await page.getByRole('tabpanel').innerText()).not.toContain('line 39')
    await page.getByRole('button', { name: 'Show all 40 lines' }).click()
    expect(await page.getByRole('tabpanel').innerText()).toContain('line 39')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy long' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(longLines)
    await opened.audit()
  })

  it('of a Secret has its type and keys, and no values where the gateway serves none', async () => {
    await using opened = await open('demo/Secret/payments/card-gateway-credentials')
    const { page } = opened
    await page.getByText(/^Type: Opaque\. This gateway does not serve its values/).waitFor()
    const panel = page.getByRole('tabpanel')
    const keys = panel.locator('dl dt')
    expect(await keys.allInnerTexts()).toEqual(['api-token', 'database-url'])
    expect(await page.getByRole('button', { name: /^Show the value/ }).count()).toBe(0)
    const command = 'kubectl --context demo -n payments get secret card-gateway-credentials -o yaml'
    await page.getByText(command, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy the command' }).waitFor()
    await opened.audit()
  })

  it('of a Secret names a key as soon as it is there', async () => {
    await written('POST', '', { metadata: { name: 'of-keys' }, stringData: { first: 'one' } })
    await using opened = await open('demo/Secret/payments/of-keys')
    const { page } = opened
    await page.locator('dl dt', { hasText: 'first' }).waitFor()
    await written('PATCH', '/of-keys', { stringData: { second: 'two' } })
    await page.locator('dl dt', { hasText: 'second' }).waitFor()
    expect(await page.getByRole('tabpanel').innerText()).not.toContain('two')
    await opened.audit()
  })

  /** Writes a Secret by the API, which knows who manages its fields. */
  const written = async (method: string, name: string, body: object): Promise<void> => {
    const path = `/api/v1/namespaces/payments/secrets${name}`
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(new URL(path, portal.cluster.url), {
      method,
      headers: { 'content-type': type },
      body: JSON.stringify(body),
    })
    expect(response.ok).toBe(true)
  }
})

describeInBrowser('The page of a Secret where the gateway serves values', (browser) => {
  let portal: ServedPortal
  const reads: unknown[] = []
  beforeAll(async () => {
    const audit = { answered: (report: { readonly secrets?: unknown }) => void reads.push(report) }
    portal = await servePortal({ asksWho: true, further: { secretData: true, audit } })
    const metadata = { name: 'of-pages', namespace: 'payments' }
    const token = Buffer.from('tell no one').toString('base64')
    portal.cluster.storage.create(
      { ...api, resource: 'secrets' },
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { token, raw: '/w==' } },
    )
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }]
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    portal.cluster.storage.create(
      { ...rbac, resource: 'roles' },
      { apiVersion, kind: 'Role', metadata: { name: 'lists', namespace: 'payments' }, rules },
    )
    portal.cluster.storage.create(
      { ...rbac, resource: 'rolebindings' },
      {
        apiVersion,
        kind: 'RoleBinding',
        metadata: { name: 'lists', namespace: 'payments' },
        roleRef: { apiGroup: rbac.group, kind: 'Role', name: 'lists' },
        subjects: [{ apiGroup: rbac.group, kind: 'User', name: 'ben' }],
      },
    )
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const path = `/objects/${encodeURIComponent('demo/Secret/payments/of-pages')}`

  it('has its type and keys, and a value only after a click, which is audited', async () => {
    await using opened = await openPage(browser(), portal, { path, viewer: 'ann' })
    const { page } = opened
    await page.getByText(/^Type: Opaque\./).waitFor()
    const panel = page.getByRole('tabpanel')
    expect(await panel.innerText()).not.toContain('tell no one')
    await opened.audit()
    const before = reads.length
    await page.getByRole('button', { name: 'Show the value of token' }).click()
    await page.getByText('tell no one').waitFor()
    const audited = { viewer: { username: 'ann' }, secrets: ['demo/payments/of-pages'] }
    expect(reads.slice(before)).toContainEqual(
      expect.objectContaining({ ...audited, viewer: expect.objectContaining(audited.viewer) }),
    )
    await page.getByRole('button', { name: 'Show the value of raw' }).click()
    await page.getByText('1 byte, not text').waitFor()
    await page.getByRole('button', { name: 'Hide the value of token' }).click()
    await expect.poll(() => panel.innerText()).not.toContain('tell no one')
    await opened.audit()
  })

  it('tells who may list it and not get it no key and no value', async () => {
    await using opened = await openPage(browser(), portal, { path, viewer: 'ben' })
    await opened.page.getByText('You do not see what it holds: you may not get Secret.').waitFor()
    expect(await opened.page.getByRole('tabpanel').innerText()).not.toContain('token')
    await opened.audit()
  })
})
