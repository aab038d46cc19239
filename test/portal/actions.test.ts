import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources } from 'informerql/kubernetes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { definitionOf, definitionsPath, versionOf } from '../gateway/definitions.ts'
import { describeInBrowser } from '../support/browser.ts'
import {
  openPage,
  openPortal,
  type PortalPage,
  type ServedPortal,
  servePortal,
  type Viewer,
} from './portal-page.ts'
import { chosen, idOf } from './chosen-action.ts'
import { track } from './deliveries.ts'
import { podsOf } from './table-page.ts'

const isHealthy = 'health: { eq: HEALTHY }'

describeInBrowser('Actions', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ asksWho: true, allowWrites: true, eventsPerSecond: 60 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const open = async (id: string, viewer: Viewer = 'ann'): Promise<PortalPage> =>
    await openPage(browser(), portal, { path: `/objects/${id}`, viewer })

  it('restart a workload after they have shown what changes', async () => {
    const id = await idOf(portal, 'deployments', `namespace: "storefront", where: { ${isHealthy} }`)
    await using opened = await open(id)
    const { page } = opened
    const dialog = await chosen(page, 'Restart…')
    const changes = dialog.getByRole('region', { name: 'What changes' })
    await changes
      .getByText('spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]')
      .waitFor()
    expect(await restartedAt(portal, id)).toBeUndefined()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Restart' }).click()
    await dialog.getByText('The restart has begun.').waitFor()
    expect(await restartedAt(portal, id)).toMatch(/^\d{4}-\d\d-\d\dT/)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    const trigger = page.getByRole('button', { name: 'Actions', exact: true })
    expect(await trigger.evaluate((button) => button === document.activeElement)).toBe(true)
  })

  it('are followed by the progress of the rollout on the page and in the table, until it is whole or has failed', async () => {
    // Without controllers, which would make its pods.
    await using opened = await openPortal(browser(), { viewer: 'ann', allowWrites: true })
    const { storage } = opened.cluster
    const apps = { group: 'apps', version: 'v1', resource: 'deployments' }
    const place = { namespace: 'default', name: 'rolled' }
    const labels = { app: place.name }
    const metadata = { labels }
    const made = storage.create(apps, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: place,
      spec: {
        replicas: 8,
        selector: { matchLabels: labels },
        strategy: { type: 'RollingUpdate' },
        template: { metadata, spec: { containers: [{ name: 'main', image: 'rolled:1' }] } },
      },
    })
    const tell = (updatedReplicas: number, readyReplicas: number, more: object = {}): void => {
      const object = storage.get(apps, place.namespace, place.name) ?? made
      const { generation: observedGeneration = 1 } = object.metadata as { generation?: number }
      const counts = { replicas: 8, readyReplicas, availableReplicas: readyReplicas }
      const status = { observedGeneration, ...counts, updatedReplicas, ...more }
      storage.update(apps, { ...object, status } as never)
    }
    tell(8, 8)
    const id = await idOf(opened, 'deployments', 'where: { name: { eq: "rolled" } }')
    const { page } = opened
    await page.goto(`/objects/${id}`)
    const header = page.getByRole('article').locator('header')
    await header.getByText('Healthy').waitFor()
    const dialog = await chosen(page, 'Restart…')
    await dialog.getByRole('button', { name: 'Restart' }).click()
    await dialog.getByText('The restart has begun.').waitFor()
    tell(3, 7)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await header.getByText('Rolling out: 3 of 8', { exact: true }).waitFor()
    tell(6, 5)
    await header.getByText('Rolling out: 5 of 8', { exact: true }).waitFor()
    await opened.audit()
    await page.goto('/kinds/deployments.apps?ns=default&q=rolled')
    const row = page.locator('[data-index]').filter({ hasText: 'rolled' })
    await row.getByText('Rollout 5/8').waitFor()
    const progress = { type: 'Progressing', status: 'True' }
    tell(8, 7, { conditions: [{ ...progress, reason: 'ReplicaSetUpdated' }] })
    await row.getByText('Rollout 7/8').waitFor()
    // A pod that fails after the rollout is none of it.
    tell(8, 6, { conditions: [{ ...progress, reason: 'NewReplicaSetAvailable' }] })
    await row.getByText('Progressing').waitFor()
    const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }
    tell(7, 7, { conditions: [late] })
    await row.getByText('Degraded').waitFor()
    await opened.audit()
    await row.getByRole('link').click()
    const pane = page.getByRole('article').locator('header')
    await pane.getByText('ProgressDeadlineExceeded', { exact: true }).waitFor()
    expect(await pane.getByText('Rolling out').count()).toBe(0)
    tell(8, 8)
    await pane.getByText('Healthy', { exact: true }).waitFor()
    await row.getByText('Healthy').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('scale a workload by the keyboard alone', async () => {
    const id = await idOf(
      portal,
      'deployments',
      `namespace: "payments", where: { ${isHealthy}, replicas: { gt: 0 } }`,
    )
    await using opened = await open(id)
    const { page } = opened
    await page.getByRole('button', { name: 'Actions', exact: true }).waitFor()
    await page.keyboard.press('a')
    await page.getByRole('menuitem', { name: 'Scale…' }).waitFor()
    await page.keyboard.type('Sc')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    const field = dialog.getByRole('spinbutton', { name: 'Replicas' })
    await field.waitFor()
    const before = Number(await field.inputValue())
    await dialog.getByText('Nothing changes.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Scale' }).isDisabled()).toBe(true)
    await field.focus()
    await page.keyboard.press('ArrowUp')
    await dialog.getByText('spec.replicas').waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByText('The number is set.').waitFor()
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query(`{ object(id: "${id}") { ... on Deployment { spec { replicas } } } }`)
    expect(data?.object.spec.replicas).toBe(before + 1)
    expect(opened.problems).toEqual([])
  })

  it('lead from the revisions in the history to the one to roll back to', async () => {
    const id = await idOf(
      portal,
      'deployments',
      'namespace: "payments", where: { name: { eq: "invoice-worker" } }',
    )
    await using opened = await open(id)
    const { page } = opened
    await page.getByRole('tab', { name: 'History' }).click()
    const revisions = page.getByRole('region', { name: 'Revisions' })
    const [current, before] = [0, 1].map((at) => revisions.getByRole('listitem').nth(at))
    if (current === undefined || before === undefined) throw new Error('there are two')
    await current
      .filter({ hasText: /Revision 35.*current/ })
      .first()
      .waitFor()
    await current
      .filter({ hasText: /image \S+:[\d.]+ → \S+:[\d.]+/ })
      .first()
      .waitFor()
    expect(await revisions.getByRole('button', { name: 'Roll back to 35…' }).count()).toBe(0)
    await opened.audit()
    await revisions.getByRole('button', { name: 'Roll back to 34…' }).click()
    const dialog = page.getByRole('dialog')
    const radios = dialog.getByRole('group', { name: 'Revision' }).getByRole('radio')
    await expect.poll(() => radios.nth(1).isChecked()).toBe(true)
    await dialog.getByText('spec.template.spec.containers[0].image').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('roll a broken workload back to the revision before, and it is healthy again', async () => {
    const id = await idOf(
      portal,
      'deployments',
      'namespace: "payments", where: { name: { eq: "invoice-worker" } }',
    )
    await using opened = await open(id)
    const { page } = opened
    const header = page.getByRole('article').locator('header')
    await header.getByText('Degraded').waitFor()
    const dialog = await chosen(page, 'Roll back…')
    const revisions = dialog.getByRole('group', { name: 'Revision' }).getByRole('radio')
    await revisions.first().waitFor()
    expect(await revisions.first().isDisabled()).toBe(true)
    expect(await revisions.nth(1).isChecked()).toBe(true)
    await dialog.getByText('spec.template.spec.containers[0].image').waitFor()
    await opened.audit()
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await dialog.getByText('The rollout of the earlier revision has begun.').waitFor()
    // It closes by itself.
    await dialog.waitFor({ state: 'detached' })
    await header.getByText('Healthy').waitFor({ timeout: 60_000 })
  })

  it('delete an object, and ask for the name of what much goes with', async () => {
    portal.cluster.storage.create(configMaps, configMap('unused'))
    const id = await idOf(portal, 'configMaps', 'where: { name: { eq: "unused" } }')
    await using opened = await open(id)
    const { page } = opened
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByText('The object is removed.').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('It is deleted.').waitFor()
    await page.getByText(/^Deleted at /).waitFor()
    expect(await page.getByRole('button', { name: 'Actions', exact: true }).count()).toBe(0)
    await using other = await open(
      await idOf(portal, 'namespaces', 'where: { name: { eq: "insights" } }'),
    )
    const asks = await chosen(other.page, 'Delete…')
    const confirm = asks.getByRole('button', { name: 'Delete' })
    await asks.getByText('The object is removed.').waitFor()
    expect(await confirm.isDisabled()).toBe(true)
    await asks.getByRole('textbox', { name: 'Type insights to confirm' }).fill('insights')
    expect(await confirm.isEnabled()).toBe(true)
    await other.audit()
  })

  it('name the users of what is deleted, and ask for its name', async () => {
    portal.cluster.storage.create(configMaps, configMap('shared'))
    const volumes = [{ name: 'shared', configMap: { name: 'shared' } }]
    for (const name of ['one', 'two', 'three'])
      portal.cluster.storage.create(podsOf, pod(name, volumes))
    const id = await idOf(portal, 'configMaps', 'where: { name: { eq: "shared" } }')
    await using opened = await open(id)
    const dialog = await chosen(opened.page, 'Delete…')
    const consequences = dialog.getByRole('region', { name: 'Consequences' })
    await consequences.getByText('3 objects use it and may fail without it:').waitFor()
    for (const name of ['one', 'two', 'three']) {
      await consequences.getByRole('link', { name, exact: true }).waitFor()
    }
    await dialog.getByText('The object is removed.').waitFor()
    const confirm = dialog.getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await opened.audit()
    await dialog.getByRole('textbox', { name: 'Type shared to confirm' }).fill('shared')
    await confirm.click()
    await dialog.getByText('It is deleted.').waitFor()
  })

  it('say of a finished pod of a Job no more that it is made anew', async () => {
    const of = (phase: string, owner: string, kind: string, apiVersion: string) => ({
      ...pod(`${owner}-${phase.toLowerCase()}`, [{ name: 'tmp', emptyDir: {} }]),
      metadata: {
        namespace: 'default',
        name: `${owner}-${phase.toLowerCase()}`,
        ownerReferences: [{ apiVersion, kind, name: owner, uid: owner, controller: true }],
      },
      status: { phase },
    })
    portal.cluster.storage.create(podsOf, of('Succeeded', 'cleaner', 'Job', 'batch/v1'))
    portal.cluster.storage.create(podsOf, of('Running', 'web', 'ReplicaSet', 'apps/v1'))
    for (const [name, makes] of [
      ['web-running', true],
      ['cleaner-succeeded', false],
    ] as const) {
      await using opened = await open(
        await idOf(portal, 'pods', `where: { name: { eq: "${name}" } }`),
      )
      const dialog = await chosen(opened.page, 'Delete…')
      await dialog.getByText('The object is removed.').waitFor()
      await dialog.getByText('The data in its emptyDir volumes is lost.').waitFor()
      expect(await dialog.getByText('makes a new one').count()).toBe(makes ? 1 : 0)
      expect(opened.problems).toEqual([])
    }
  })

  it('name the users of what a controller owns and does not make again', async () => {
    const ownerReferences = [
      { apiVersion: 'example.com/v1', kind: 'App', name: 'app', uid: 'app', controller: true },
    ]
    portal.cluster.storage.create(configMaps, configMap('owned-shared', { ownerReferences }))
    const volumes = [{ name: 'v', configMap: { name: 'owned-shared' } }]
    portal.cluster.storage.create(podsOf, pod('owned-user', volumes))
    const id = await idOf(portal, 'configMaps', 'where: { name: { eq: "owned-shared" } }')
    await using opened = await open(id)
    const dialog = await chosen(opened.page, 'Delete…')
    await dialog.getByText('1 object uses it and may fail without it:').waitFor()
    await dialog.getByRole('textbox', { name: 'Type owned-shared to confirm' }).waitFor()
    expect(opened.problems).toEqual([])
  })

  const unseen = 'Its labels or annotations say that it is of'

  it('say what becomes of what runs when they suspend', async () => {
    track(portal, resources.cronJobs, 'identity:batch/CronJob:identity/token-cleaner')
    const id = await idOf(portal, 'cronJobs', 'where: { name: { contains: "cleaner" } }')
    await using opened = await open(id)
    const dialog = await chosen(opened.page, 'Suspend…')
    await dialog.getByText('Its Jobs that run go on.').waitFor()
    expect(await dialog.getByText('running pods').count()).toBe(0)
    await dialog.getByText(`${unseen} Argo CD Application identity.`).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('say how much goes with a namespace and a workload, by kind', async () => {
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query(
        '{ deployments(namespace: "payments", where: { name: { eq: "card-gateway" } }) { nodes { id pods { totalCount } } } }',
      )
    const [deployment] = data?.deployments.nodes ?? []
    await using opened = await open(deployment.id)
    const dialog = await chosen(opened.page, 'Delete…')
    const owned = deployment.pods.totalCount
    await dialog.getByText(new RegExp(`^It owns: ${owned} Pods?, \\d+ ReplicaSets?\\.$`)).waitFor()
    await using other = await open(
      await idOf(portal, 'namespaces', 'where: { name: { eq: "payments" } }'),
    )
    const asks = await chosen(other.page, 'Delete…')
    await expect
      .poll(() => asks.textContent())
      .toMatch(/Deleted with it: (\d+ \w+, )?\d+ Pods?, .*\d+ Deployments?/)
    await other.audit()
  })

  it('count only what the user may list, and say that it is not all', async () => {
    const group = 'rbac.authorization.k8s.io'
    const metadata = { name: 'deletes-namespaces' }
    portal.cluster.storage.create(
      { group, version: 'v1', resource: 'clusterroles' },
      {
        apiVersion: `${group}/v1`,
        kind: 'ClusterRole',
        metadata,
        rules: [
          { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'delete'] },
        ],
      },
    )
    portal.cluster.storage.create(
      { group, version: 'v1', resource: 'clusterrolebindings' },
      {
        apiVersion: `${group}/v1`,
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'deletes-namespaces' },
        subjects: [{ apiGroup: group, kind: 'User', name: 'ben' }],
      },
    )
    await expect
      .poll(async () => {
        const asked = portal.gateway().as('ben-token').query('{ namespaces { totalCount } }')
        return (await asked).errors
      })
      .toBeUndefined()
    const id = await idOf(portal, 'namespaces', 'where: { name: { eq: "payments" } }')
    await using opened = await open(id, 'ben')
    const dialog = await chosen(opened.page, 'Delete…')
    await expect.poll(() => dialog.textContent()).toMatch(/Deleted with it: .*\d+ Pods?, /)
    await dialog.getByText(/^Not looked into: /).waitFor()
    expect(await dialog.getByText(/\d+ Secrets?\b/).count()).toBe(0)
    await opened.audit()
  })

  it('name the autoscaler with its bounds before they scale', async () => {
    const { data } = await portal
      .gateway()
      .as('ann-token')
      .query(
        '{ deployments(first: 500) { nodes { id autoscaler { name spec { minReplicas maxReplicas } } } } }',
      )
    const scaled = data?.deployments.nodes.find(
      (one: { readonly autoscaler: unknown }) => one.autoscaler !== null,
    )
    await using opened = await open(scaled.id)
    const dialog = await chosen(opened.page, 'Scale…')
    const { name, spec } = scaled.autoscaler
    const consequences = dialog.getByRole('region', { name: 'Consequences' })
    await consequences.getByRole('link', { name }).waitFor()
    await consequences
      .getByText(`sets the number again, between ${spec.minReplicas} and ${spec.maxReplicas}.`)
      .waitFor()
    expect(opened.problems).toEqual([])
  })

  const several = 'You see none of this name in its cluster, or several.'
  it.each([
    {
      by: 'Argo CD',
      metadata: {
        annotations: { 'argocd.argoproj.io/tracking-id': 'shop:/ConfigMap:default/NAME' },
      },
      says: `${unseen} Argo CD Application shop. ${several} If it syncs by itself, it makes this again.`,
    },
    {
      by: 'Flux',
      metadata: {
        labels: {
          'kustomize.toolkit.fluxcd.io/name': 'apps',
          'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
        },
      },
      says: `${unseen} Flux Kustomization flux-system/apps. ${several} If it syncs by itself, it makes this again.`,
    },
    {
      by: 'Helm',
      metadata: {
        annotations: {
          'meta.helm.sh/release-name': 'shop',
          'meta.helm.sh/release-namespace': 'default',
        },
      },
      says: 'Managed by Helm release default/shop. It makes this again at its next upgrade.',
    },
  ])('say that $by reverts them', async ({ by, metadata, says }) => {
    const name = `of-${by.toLowerCase().replace(' ', '-')}`
    const known = JSON.parse(JSON.stringify(metadata).replace('NAME', name))
    portal.cluster.storage.create(configMaps, configMap(name, known))
    await using opened = await open(
      await idOf(portal, 'configMaps', `where: { name: { eq: "${name}" } }`),
    )
    const { page } = opened
    const dialog = await chosen(page, 'Delete…')
    await dialog.getByRole('region', { name: 'Consequences' }).getByText(says).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await chosen(page, 'Set a label…')
    await dialog.getByText(/[Ii]t sets back what others change/).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('say when an Application puts back what they change', async () => {
    const spec = { 'x-kubernetes-preserve-unknown-fields': true, type: 'object' }
    const version = versionOf('v1alpha1', { syncPolicy: spec })
    await post(portal, definitionsPath, definitionOf('Application', 'argoproj.io', [version]))
    const applications = '/apis/argoproj.io/v1alpha1/namespaces/default/applications'
    for (const [name, automated] of [
      ['healing', { selfHeal: true }],
      ['syncing', { prune: true }],
      ['waiting', null],
    ] as const) {
      const application = {
        apiVersion: 'argoproj.io/v1alpha1',
        kind: 'Application',
        metadata: { namespace: 'default', name },
        spec: { syncPolicy: { automated } },
      }
      await post(portal, applications, application)
      const tracking = `${name}:/ConfigMap:default/by-${name}`
      const annotations = { 'argocd.argoproj.io/tracking-id': tracking }
      portal.cluster.storage.create(configMaps, configMap(`by-${name}`, { annotations }))
    }
    const listed = '{ objectList(group: "argoproj.io", kind: "Application") { totalCount } }'
    await expect
      .poll(async () => (await portal.gateway().as('ann-token').query(listed)).data?.objectList)
      .toMatchObject({ totalCount: 3 })
    for (const [name, reversal] of [
      ['healing', 'It makes this again at once.'],
      ['syncing', 'It makes this again when its source has a new revision.'],
      ['waiting', 'It makes this again when somebody syncs it.'],
    ] as const) {
      const id = await idOf(portal, 'configMaps', `where: { name: { eq: "by-${name}" } }`)
      await using opened = await open(id)
      const dialog = await chosen(opened.page, 'Delete…')
      const consequences = dialog.getByRole('region', { name: 'Consequences' })
      await consequences.getByRole('link', { name }).waitFor()
      await consequences.getByText(reversal).waitFor()
      const managed = `Managed by Argo CD Application ${name}`
      expect(await consequences.textContent()).toContain(managed)
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await opened.page.getByRole('tab', { name: 'YAML' }).click()
      await opened.page.getByRole('button', { name: 'Edit', exact: true }).click()
      await opened.page.getByRole('tabpanel').getByText(managed).waitFor()
      await opened.audit()
    }
  })

  it('are shown with the reason to those who may not', async () => {
    const id = await idOf(portal, 'deployments', `namespace: "storefront", where: { ${isHealthy} }`)
    await using opened = await open(id, 'ben')
    const { page } = opened
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    for (const [name, reason] of [
      ['Restart…', 'You may not change it.'],
      ['Scale…', 'You may not scale it.'],
      ['Delete…', 'You may not delete it.'],
    ] as const) {
      const item = page.getByRole('menuitem', { name: new RegExp(`^${name}`) })
      await item.getByText(reason).waitFor()
      expect(await item.getAttribute('aria-disabled')).toBe('true')
    }
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await opened.audit()
  })

  it('say who refuses a write, and why', async () => {
    // Without controllers: the dialog asks again when somebody else changes the object.
    await using opened = await openPortal(browser(), { viewer: 'ann', allowWrites: true })
    const { storage, faults } = opened.cluster
    const labels = { app: 'refused' }
    const metadata = { labels }
    storage.create(
      { group: 'apps', version: 'v1', resource: 'deployments' },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: 'default', name: 'refused' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata, spec: { containers: [{ name: 'main', image: 'refused:1' }] } },
        },
      },
    )
    const id = await idOf(opened, 'deployments', 'where: { name: { eq: "refused" } }')
    const { page } = opened
    await page.goto(`/objects/${id}`)
    const message = 'admission webhook "images.example.com" denied the request: no mutable tags'
    const fault = { type: 'status', code: 403, reason: 'Forbidden', message } as const
    faults.inject({ match: { verb: 'patch' }, fault, times: 100 })
    const dialog = await chosen(page, 'Pause the rollout…')
    const alert = dialog.getByRole('alert')
    await alert.getByText('The webhook images.example.com does not allow it.').waitFor()
    await alert.getByText('no mutable tags', { exact: true }).waitFor()
    expect(await dialog.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true)
    await opened.audit()
    faults.clear()
    await alert.getByRole('button', { name: 'Look again' }).click()
    await dialog.getByText('spec.paused').waitFor()
  })

  it('show again what would change when somebody else has changed the object meanwhile', async () => {
    const id = await idOf(portal, 'deployments', `namespace: "storefront", where: { ${isHealthy} }`)
    await using opened = await open(id)
    const dialog = await chosen(opened.page, 'Scale…')
    await dialog.getByRole('spinbutton', { name: 'Replicas' }).fill('17')
    const changes = dialog.getByRole('region', { name: 'What changes' })
    await changes.getByText('17', { exact: true }).waitFor()
    await portal
      .gateway()
      .as('ann-token')
      .query(`mutation { scale(id: "${id}", replicas: 13) { dryRun } }`)
    await changes.getByText('13', { exact: true }).waitFor()
    expect(await changes.getByText('17', { exact: true }).count()).toBe(1)
  })

  it('work beside a table, where only trusted documents run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'informerql-actions-'))
    const trustedDocuments = join(folder, 'documents.json')
    await writeFile(trustedDocuments, '{}')
    await using trusting = await servePortal({
      pods: 20,
      allowWrites: true,
      server: { trustedDocuments },
    })
    const path = '/kinds/deployments.apps'
    await using opened = await openPage(browser(), trusting, { path })
    const { page } = opened
    await page.getByRole('row').nth(1).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('j')
    await page.keyboard.press(' ')
    const dialog = await chosen(page, 'Restart…')
    await dialog.getByText(/restartedAt/).waitFor()
    expect(await dialog.getByRole('button', { name: 'Restart' }).isEnabled()).toBe(true)
    await opened.audit()
    await rm(folder, { recursive: true })
  })

  it('are not offered by a gateway without mutations', async () => {
    await using reading = await servePortal({ pods: 20 })
    const id = await idOf(reading, 'deployments', `where: { ${isHealthy} }`)
    await using opened = await openPage(browser(), reading, { path: `/objects/${id}` })
    const { page } = opened
    await page.getByRole('heading', { name: 'Conditions' }).waitFor()
    expect(await page.getByRole('button', { name: 'Actions', exact: true }).count()).toBe(0)
  })
})

async function post({ cluster }: ServedPortal, path: string, body: object): Promise<void> {
  const response = await fetch(new URL(path, cluster.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ann-token' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

/** A ConfigMap of `default`. */
function configMap(name: string, metadata: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, ...metadata },
    data: { colour: 'blue' },
  }
}

/** A pod of `default` with volumes. */
function pod(name: string, volumes: readonly object[]) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { containers: [{ name: 'main', image: 'example/main:1' }], volumes },
    status: { phase: 'Running' },
  }
}

async function restartedAt({ gateway }: ServedPortal, id: string): Promise<string | undefined> {
  const { data } = await gateway().as('ann-token').query(`{ object(id: "${id}") { json } }`)
  return data?.object.json.spec.template.metadata.annotations?.['kubectl.kubernetes.io/restartedAt']
}
