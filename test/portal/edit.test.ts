import type { Unstructured } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, type PortalPage, type ServedPortal, servePortal } from './portal-page.ts'

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }

interface Deployment extends Unstructured {
  readonly spec: { readonly replicas: number }
}

describeInBrowser('Editing an object as YAML', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ allowWrites: true })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const make = (name: string): void => {
    const labels = { app: name }
    const managedFields = [
      {
        manager: 'deployer',
        operation: 'Update',
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:app': {} } },
          'f:spec': { 'f:replicas': {}, 'f:paused': {} },
        },
      },
    ]
    portal.cluster.storage.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name,
        namespace: 'storefront',
        labels,
        managedFields,
      } as object as Unstructured['metadata'],
      spec: {
        replicas: 2,
        paused: true,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'web:1' }] },
        },
      },
    })
  }
  const stored = (name: string): Deployment =>
    portal.cluster.storage.get(deployments, 'storefront', name) as Deployment
  const open = async (name: string): Promise<PortalPage> => {
    const { data } = await portal
      .gateway()
      .query(
        `{ deployments(namespace: "storefront", where: { name: { eq: "${name}" } }) { nodes { id } } }`,
      )
    const opened = await openPage(browser(), portal, {
      path: `/objects/${data?.deployments.nodes[0].id}?tab=yaml`,
    })
    await opened.page.getByRole('button', { name: 'Edit', exact: true }).click()
    await opened.page.getByRole('textbox', { name: 'The object as YAML, to edit' }).waitFor()
    return opened
  }
  /** Types at the end of the first line with this text. */
  const typeAfter = async (page: Page, line: string, ...keys: readonly string[]): Promise<void> => {
    await page.locator('.cm-line').getByText(line, { exact: true }).first().click()
    await page.keyboard.press('End')
    for (const key of keys) {
      if (key.length > 1 && /^[A-Z]/.test(key)) await page.keyboard.press(key)
      else await page.keyboard.insertText(key)
    }
  }

  it('names the manager of a field in conflict, takes it over when told to, and undoes nothing of an earlier edit', async () => {
    make('contested')
    await using opened = await open('contested')
    const { page } = opened
    const text = await page
      .getByRole('textbox', { name: 'The object as YAML, to edit' })
      .innerText()
    expect(text).toContain('image: web:1')
    expect(text).not.toMatch(/uid:|resourceVersion:|status:|managedFields:|creationTimestamp:/)

    await typeAfter(page, 'labels:', 'Enter', '  team: shop')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByText('metadata.labels.team').waitFor()
    expect(stored('contested').metadata.labels).toEqual({ app: 'contested' })
    await opened.audit()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Applied: 1 field changed.').waitFor()

    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await typeAfter(page, 'replicas: 2', 'Backspace', '5')
    await page.keyboard.press('Control+Enter')
    const alert = page.getByRole('alert')
    await alert.getByText('Others have set these fields.').waitFor()
    expect(await alert.innerText()).toMatch(/deployer has set spec\.replicas/)
    await opened.audit()
    await page.getByRole('button', { name: 'Take over these fields' }).click()
    const changes = page.getByRole('list', { name: 'What changes' })
    await changes.waitFor()
    expect((await changes.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /^spec\.replicas ?set by deployer Before: 2 → After: 5$/,
    )
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Applied: 1 field changed.').waitFor()
    expect(stored('contested')).toMatchObject({
      metadata: { labels: { app: 'contested', team: 'shop' } },
      spec: { replicas: 5 },
    })
  })

  it('says which fields stay as others have set them, and removes them when told to', async () => {
    make('held')
    await using opened = await open('held')
    const { page } = opened
    await typeAfter(page, 'paused: true', 'Shift+Home', 'Delete', 'Backspace')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByText('These fields stay').waitFor()
    expect(await page.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true)
    await opened.audit()
    await page.getByRole('button', { name: 'Remove them all the same' }).click()
    await page.getByRole('list', { name: 'What changes' }).getByText('spec.paused').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Applied: 1 field changed.').waitFor()
    expect(stored('held').spec).not.toHaveProperty('paused')
  })

  it('marks the field that the API server does not accept, and keeps the text', async () => {
    make('invalid')
    await using opened = await open('invalid')
    const { page } = opened
    await typeAfter(page, 'replicas: 2', 'Enter', 'nonsense: 1')
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByRole('alert').getByText('The API server does not accept it.').waitFor()
    expect(await page.locator('.cm-invalid').allInnerTexts()).toEqual(['  nonsense: 1'])
    await page.getByRole('button', { name: /^Go to line/ }).click()
    await page.keyboard.press('Control+Z')
    await opened.audit()
  })

  it('says what others have changed meanwhile, and takes it into the text', async () => {
    make('moving')
    await using opened = await open('moving')
    const { page } = opened
    await typeAfter(page, 'labels:', 'Enter', '  team: shop')
    const id = /objects\/([^?]+)/.exec(page.url())?.[1]
    await portal.gateway().query(`mutation { scale(id: "${id}", replicas: 7) { dryRun } }`)
    await page.getByText('The object has changed since you began: 1 field.').waitFor()
    await page.getByText('Show what has changed').click()
    await page.getByText('spec.replicas').waitFor()
    await page.getByRole('button', { name: 'Take it into the text' }).click()
    await typeAfter(page, 'replicas: 7', 'Backspace', '8')
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByRole('tab', { name: 'YAML' }).click()
    await page.locator('.cm-line').getByText('team: shop').waitFor()
    await page.getByRole('button', { name: 'Review the changes' }).click()
    await page.getByText('metadata.labels.team').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Applied: 2 fields changed.').waitFor()
    expect(stored('moving')).toMatchObject({
      metadata: { labels: { team: 'shop' } },
      spec: { replicas: 8 },
    })
    await opened.audit()
  })
})
