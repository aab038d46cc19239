import type { Unstructured } from 'informerql/kubernetes'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser } from '../support/browser.ts'
import { openPage, openPortal, type ServedPortal, servePortal } from './portal-page.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

const configMap = (name: string, value = 'one', further = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${further}data:\n  key: ${value}\n`

/** Puts a text into the editor, as a paste does. */
async function paste(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Manifests as YAML' })
  await editor.click()
  await page.keyboard.press('Control+a')
  await editor.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', pasted)
    element.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    )
  }, text)
}

const review = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Review', exact: true }).click()
const outcomes = (page: Page) =>
  page.getByRole('list', { name: /^What (?:would happen|happens|happened) in / }).locator('> li')
const lines = async (page: Page): Promise<readonly string[]> =>
  (await outcomes(page).locator('> div:first-child').allInnerTexts()).map((text) =>
    text.replaceAll(/\s+/g, ' ').trim(),
  )

describeInBrowser('Creating objects from YAML', (browser) => {
  let portal: ServedPortal
  beforeAll(async () => {
    portal = await servePortal({ allowWrites: true, isFleet: true, pods: 120 })
  })
  afterAll(() => portal[Symbol.asyncDispose]())

  const stored = (name: string, at = 0, namespace = 'storefront'): object | undefined =>
    portal.clusters[at]?.simulator.storage.get(configMaps, namespace, name)

  it('tries all documents first, says what would be created, changed or refused and where, then applies those that pass', async () => {
    portal.cluster.storage.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'known', namespace: 'storefront' },
      data: { other: 'kept' },
    } as Unstructured)
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    const text = [
      configMap('made'),
      configMap('known'),
      configMap('wrong').replace('\ndata:', '\nnonsense:'),
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: fresh\n',
      configMap('inside', 'one', '  namespace: fresh\n'),
    ].join('---\n')
    await paste(page, text)
    await page.getByText('nonsense: there is no such field').waitFor()
    await review(page)
    await page.getByRole('button', { name: 'Apply 4 objects in prod-eu' }).waitFor()
    expect(await lines(page)).toEqual([
      'ConfigMap storefront/made Would be created Line 1',
      'ConfigMap storefront/known 1 field would change Line 8',
      expect.stringMatching(/^ConfigMap storefront\/wrong Refused Line (?:15|20)$/),
      'Namespace fresh Would be created Line 22',
      'ConfigMap fresh/inside Is tried after Namespace fresh, which an earlier document makes Line 27',
    ])
    expect(stored('made')).toBeUndefined()
    await outcomes(page).nth(1).getByText('What changes').click()
    await page.getByText('data.key').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Apply 4 objects in prod-eu' }).click()
    await page.getByText('4 of 5 documents applied, 1 not applied.').waitFor()
    await page.getByRole('heading', { name: 'What happened in prod-eu' }).waitFor()
    expect(await page.getByText('What would happen').count()).toBe(0)
    expect(stored('made')).toMatchObject({ data: { key: 'one' } })
    expect(stored('known')).toMatchObject({ data: { key: 'one', other: 'kept' } })
    expect(stored('inside', 0, 'fresh')).toMatchObject({ data: { key: 'one' } })
    expect(stored('wrong')).toBeUndefined()
    await opened.audit()
    await page.getByRole('link', { name: 'made' }).click()
    await page.getByRole('heading', { name: 'ConfigMap made' }).waitFor()
  })

  it('writes to no cluster of several before one is chosen, and the same to all that are', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/create?cluster=*&ns=storefront',
    })
    const { page } = opened
    await paste(page, configMap('everywhere'))
    const button = page.getByRole('button', { name: 'Choose a cluster to review' })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.locator('.cm-content').press('Control+Enter')
    await page.getByRole('alert').getByText('Choose those that get the objects.').waitFor()
    await opened.audit()
    await page.getByRole('combobox', { name: 'Clusters: Choose clusters' }).click()
    await page.getByRole('option', { name: 'prod-eu' }).click()
    await page.getByRole('option', { name: 'staging' }).click()
    await page.keyboard.press('Escape')
    await review(page)
    await page
      .getByRole('button', {
        name: 'Create 2 objects in prod-eu and staging, namespace storefront',
      })
      .click()
    await page.getByText('2 of 2 documents applied.').waitFor()
    expect(await lines(page)).toEqual([
      'ConfigMap storefront/everywhere · prod-eu Created Line 1',
      'ConfigMap storefront/everywhere · staging Created Line 1',
    ])
    expect([0, 1, 2].map((at) => stored('everywhere', at) !== undefined)).toEqual([
      true,
      false,
      true,
    ])
    expect(opened.problems).toEqual([])
  })

  it('names the manager of a contested field, and takes it over for that document when told to', async () => {
    const managedFields = [
      {
        manager: 'deployer',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:key': {} } },
      },
    ]
    portal.cluster.storage.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'contested', namespace: 'storefront', managedFields },
      data: { key: 'theirs' },
    } as object as Unstructured)
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    await paste(page, configMap('contested', 'mine'))
    await page.keyboard.press('Control+Enter')
    await page.getByText('deployer has set data.key').waitFor()
    expect(await lines(page)).toEqual(['ConfigMap storefront/contested Refused Line 6'])
    await page.getByRole('button', { name: 'Take over these fields' }).click()
    await page.getByText('1 field would change').waitFor()
    await page
      .getByRole('button', { name: 'Change 1 object in prod-eu, namespace storefront' })
      .click()
    await page.getByText('1 of 1 document applied.').waitFor()
    expect(stored('contested')).toMatchObject({ data: { key: 'mine' } })
    expect(opened.problems).toEqual([])
  })

  it('says the line of a text that is no YAML, and asks nothing', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create' })
    const { page } = opened
    await paste(page, `${configMap('fine')}---\nkind: ConfigMap\n  name: x: y\n`)
    await page.getByRole('button', { name: 'Line 8' }).waitFor()
    await review(page)
    expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0)
    expect(await page.locator('.cm-invalid').count()).toBe(1)
    await opened.audit()
  })

  it('takes a paste of two megabytes, and refuses one beyond its bound', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    const long = Array.from({ length: 40 }, (_, at) =>
      configMap(`long-${at}`, `|\n    ${'word '.repeat(10_000)}`),
    ).join('---\n')
    expect(long.length).toBeGreaterThan(2_000_000)
    await paste(page, long)
    await page.getByText('40 documents', { exact: true }).waitFor()
    await review(page)
    await page.getByRole('button', { name: 'Create 40 objects in prod-eu' }).click()
    await page.getByText('40 of 40 documents applied.').waitFor()
    expect(stored('long-39')).toBeDefined()
    await paste(page, `#${'x'.repeat(5_000_001)}`)
    await page.getByText('The text has more than 5 million characters.').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('begins with the template of a kind from its table, and adds others', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/services?ns=storefront',
    })
    const { page } = opened
    await page.getByRole('link', { name: 'Create a Service' }).click()
    await page.locator('.cm-line').getByText('kind: Service').waitFor()
    await page.getByRole('button', { name: 'Template' }).click()
    await page.getByRole('menuitem', { name: 'Secret' }).click()
    await review(page)
    await page.getByRole('button', { name: 'Create 2 objects in prod-eu' }).waitFor()
    await opened.audit()
    // The values of a Secret stay in the page.
    expect(await page.evaluate(() => sessionStorage.getItem('informerql.draft.create'))).toBeNull()
  })

  it('puts a paste or a file in the place of templates that are as they were, and brings back what was cleared', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/create?ns=storefront&kind=services',
    })
    const { page } = opened
    const text = async (): Promise<string> => (await page.locator('.cm-content').innerText()).trim()
    const pasted = configMap('pasted').trim()
    await expect.poll(text).toMatch(/^apiVersion: v1\nkind: Service\n/)
    const editor = page.getByRole('textbox', { name: 'Manifests as YAML' })
    const drop = async (added: string): Promise<void> => {
      await editor.evaluate((element, dropped) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', dropped)
        const options = { clipboardData, bubbles: true, cancelable: true }
        element.dispatchEvent(new ClipboardEvent('paste', options))
      }, added)
    }
    // A word is for a place in the template.
    await drop('# word\n')
    await expect.poll(text).toMatch(/# word[^]*kind: Service/)
    await page.keyboard.press('Control+z')
    await drop(pasted)
    await expect.poll(text).toBe(pasted)
    await page.keyboard.press('Control+z')
    await expect.poll(text).toMatch(/^apiVersion: v1\nkind: Service\n/)
    const file = (name: string): { name: string; mimeType: string; buffer: Buffer } => ({
      name: `${name}.yaml`,
      mimeType: 'application/yaml',
      buffer: Buffer.from(configMap(name)),
    })
    const files = page.getByLabel('Choose files')
    await files.setInputFiles([file('first'), file('second')])
    await page.getByText('2 documents', { exact: true }).waitFor()
    expect(await text()).not.toContain('Service')
    await page.getByRole('button', { name: 'Template' }).click()
    await page.getByRole('menuitem', { name: 'Service', exact: true }).click()
    await page.getByText('3 documents', { exact: true }).waitFor()
    await page.keyboard.type('# mine')
    const before = await text()
    await files.setInputFiles([file('third')])
    await page.getByText('4 documents', { exact: true }).waitFor()
    const whole = await text()
    expect(whole.startsWith(before)).toBe(true)
    // Nothing asks: a dialog of the browser would leave the text as it is.
    await page.getByRole('button', { name: 'Clear' }).click()
    await expect.poll(text).toBe('')
    await page.getByText('The text is cleared.').waitFor()
    await opened.audit()
    await page.getByRole('button', { name: 'Bring it back' }).click()
    await expect.poll(text).toBe(whole)
    expect(await page.getByText('The text is cleared.').count()).toBe(0)
  })

  it('applies nothing but what it shows: typing ends a review, also while it reads the text', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    const names = Array.from({ length: 60 }, (_, at) => `shown-${at}`)
    const long = names
      .map((name) => configMap(name, `|\n    ${'word '.repeat(4_000)}`))
      .join('---\n')
    await paste(page, long)
    await page.getByText('60 documents', { exact: true }).waitFor()
    const written: string[] = []
    page.on('request', (request) => {
      if (request.postData()?.includes('ApplyDocument') === true) written.push(request.url())
    })
    const type = (button: string, letters: string): Promise<void> =>
      page.evaluate(
        ([label = '', typed = '']) => {
          const buttons = [...document.querySelectorAll('button')]
          const content = document.querySelector<HTMLElement>('.cm-content')
          content?.focus()
          if (label === 'Review') buttons.find((one) => one.textContent === label)?.click()
          // The editor hears of it at once, the page draws it later.
          document.execCommand('insertText', false, typed)
          return Promise.resolve().then(() => {
            if (label !== 'Review')
              buttons.find((one) => one.textContent?.startsWith(label))?.click()
          })
        },
        [button, letters],
      )
    // Everything is read anew.
    await paste(page, long.replaceAll('word', 'text'))
    await type('Review', '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: typed\n')
    await page.getByText('61 documents', { exact: true }).waitFor()
    expect(written).toEqual([])
    await paste(page, configMap('shown'))
    await review(page)
    await page.getByRole('button', { name: /^Create 1 object/ }).waitFor()
    written.length = 0
    await type('Create 1 object', '# more')
    await expect.poll(() => page.getByRole('button', { name: /^Create 1 object/ }).count()).toBe(0)
    await review(page)
    await page.getByRole('button', { name: /^Create 1 object/ }).waitFor()
    // The trial of the text as it is now, and no write.
    expect(written.length).toBe(1)
    expect(stored('shown')).toBeUndefined()
  })

  it('adds files that are chosen or dropped', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    const file = (name: string): { name: string; mimeType: string; buffer: Buffer } => ({
      name: `${name}.yaml`,
      mimeType: 'application/yaml',
      buffer: Buffer.from(configMap(name)),
    })
    await page.getByLabel('Choose files').setInputFiles([file('first'), file('second')])
    await page.getByText('2 documents', { exact: true }).waitFor()
    await page.locator('.cm-content').evaluate((element, text) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([text], 'third.yaml'))
      element.dispatchEvent(
        new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }),
      )
    }, configMap('third'))
    await page.getByText('3 documents', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('This is your text from before.').waitFor()
    await page.getByText('3 documents', { exact: true }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('completes names and values of fields as the API server knows them, by the keyboard', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    await paste(
      page,
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: typed\nspec:\n  template:\n    spec:\n      containers:\n        - name: main\n          ',
    )
    await page.keyboard.type('imageP')
    await page.getByRole('option', { name: /^imagePullPolicy/ }).waitFor()
    await opened.audit()
    await page.keyboard.press('Enter')
    await page.keyboard.type('If')
    await page.getByRole('option', { name: 'IfNotPresent' }).waitFor()
    // The editor takes no key for an option that has just appeared.
    await opened.audit()
    await page.keyboard.press('Enter')
    await page.locator('.cm-line').getByText('imagePullPolicy: IfNotPresent').waitFor()
    await page.getByText('spec.selector: it is required').waitFor()
    expect(opened.problems).toEqual([])
  })

  it('marks a kind that the cluster does not serve and a namespace that is not there while one types, unless an earlier document makes them', async () => {
    await using opened = await openPage(browser(), portal, { path: '/create?ns=storefront' })
    const { page } = opened
    const asked: string[] = []
    page.on('request', (request) => {
      const body = request.postData() ?? ''
      if (body.includes('KindFields')) asked.push(JSON.stringify(JSON.parse(body).variables))
    })
    const marked = async (): Promise<readonly string[]> =>
      (await page.locator('.cm-invalid').allInnerTexts()).map((line) => line.trim())
    const foo = (name: string, further = ''): string =>
      `apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: ${name}\n${further}`
    await paste(
      page,
      [
        foo('first'),
        'apiVersion: v1\nkind: Deployment\nmetadata:\n  name: astray\n',
        configMap('lost', 'one', '  namespace: nowhere\n'),
        configMap('there', 'one', '  namespace: payments\n'),
      ].join('---\n'),
    )
    await page
      .getByText(
        'kind: prod-eu serves no Foo of example.com/v1. Correct it, or add its CustomResourceDefinition before it.',
      )
      .waitFor()
    await page
      .getByText('kind: prod-eu serves no Deployment of v1. It serves Deployment of apps/v1.')
      .waitFor()
    await page
      .getByText(
        'metadata.namespace: you see no namespace “nowhere”. Correct it, or add a Namespace before it.',
      )
      .waitFor()
    expect(await marked()).toEqual(['kind: Foo', 'kind: Deployment', 'namespace: nowhere'])
    expect(new Set(asked).size).toBe(asked.length)
    await opened.audit()
    // The way out, as the texts say it.
    const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { kind: Foo, plural: foos, singular: foo, listKind: FooList }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object } }
`
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: nowhere\n'
    const lost = configMap('lost', 'one', '  namespace: nowhere\n')
    await paste(page, [definition, namespace, foo('first'), lost].join('---\n'))
    await page.getByText('4 documents', { exact: true }).waitFor()
    await expect.poll(marked).toEqual([])
    // A namespace that another one makes meanwhile is there without a key pressed.
    await paste(page, lost)
    await expect.poll(marked).toEqual(['namespace: nowhere'])
    portal.cluster.storage.create({ group: '', version: 'v1', resource: 'namespaces' }, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'nowhere' },
    } as Unstructured)
    await expect.poll(marked).toEqual([])
    expect(opened.problems).toEqual([])
  })

  it('has templates of several documents, and takes them for one that is as it was', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/create?ns=storefront&kind=statefulsets.apps',
    })
    const { page } = opened
    await page.getByText('2 documents', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Template' }).click()
    const offered = await page.getByRole('menuitem').allInnerTexts()
    for (const kind of ['DaemonSet', 'HorizontalPodAutoscaler', 'NetworkPolicy'])
      expect(offered).toContain(kind)
    await page.getByRole('menuitem', { name: 'PodDisruptionBudget' }).click()
    await page.getByText('3 documents', { exact: true }).waitFor()
    await review(page)
    await page.getByRole('button', { name: 'Create 3 objects in prod-eu' }).waitFor()
    // The two documents are a template: files take their place.
    await page.getByLabel('Choose files').setInputFiles({
      name: 'one.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(configMap('instead')),
    })
    await page.getByText('1 document', { exact: true }).waitFor()
    expect(opened.problems).toEqual([])
  })

  it('is found by the search, and is usable on a narrow page', async () => {
    await using opened = await openPage(browser(), portal, {
      path: '/kinds/services?cluster=prod-eu',
      width: 390,
    })
    const { page } = opened
    await page.getByRole('link', { name: 'Create a Service' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('create')
    await page
      .getByRole('option', { name: /^Create/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Create' }).waitFor()
    await paste(page, configMap('narrow'))
    await review(page)
    await page.getByRole('button', { name: 'Create 1 object in prod-eu' }).waitFor()
    const ends = await page
      .getByRole('main')
      .locator('button, input, li, .cm-editor')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(390)
    await opened.audit()
  })
})

describeInBrowser('Applying on a bad day', (browser) => {
  it('says what was applied, of what it is not known, and what was not begun, when the cluster is cut; and applies the rest', async () => {
    await using opened = await openPortal(browser(), {
      allowWrites: true,
      path: '/create?ns=storefront',
    })
    const { page, cluster } = opened
    const names = ['a', 'b', 'c', 'd']
    await paste(page, names.map((name) => configMap(name)).join('---\n'))
    await review(page)
    await page
      .getByRole('button', { name: 'Create 4 objects in demo, namespace storefront' })
      .waitFor()
    // Of the second one, no answer comes.
    cluster.faults.inject({
      match: { verb: 'patch', resource: 'configmaps' },
      fault: [{ type: 'none' }, { type: 'disconnect' }],
    })
    await page
      .getByRole('button', { name: 'Create 4 objects in demo, namespace storefront' })
      .click()
    await page
      .getByRole('button', { name: 'Apply the other 3 in demo, namespace storefront' })
      .waitFor()
    await page.getByText(/^1 of 4 documents applied, of 1 it is not known/).waitFor()
    expect(await lines(page)).toEqual([
      'ConfigMap storefront/a Created Line 1',
      'ConfigMap storefront/b Unknown: it may have been applied Line 8',
      'ConfigMap storefront/c Not begun Line 15',
      'ConfigMap storefront/d Not begun Line 22',
    ])
    await opened.audit()
    await page.getByRole('button', { name: 'Apply the other 3' }).click()
    await page.getByText('4 of 4 documents applied.').waitFor()
    expect(
      names.every((name) => cluster.storage.get(configMaps, 'storefront', name) !== undefined),
    ).toBe(true)
  })

  it('says that nothing was written to a cluster that is away, goes on in the others, and applies the rest when it is back', async () => {
    await using opened = await openPortal(browser(), {
      allowWrites: true,
      isFleet: true,
      pods: 120,
      path: '/create?ns=storefront',
    })
    const { page, clusters } = opened
    await paste(page, [configMap('one'), configMap('two')].join('---\n'))
    await page.getByRole('combobox', { name: /^Clusters/ }).click()
    await page.getByRole('option', { name: 'prod-us' }).click()
    await page.keyboard.press('Escape')
    await review(page)
    await page
      .getByRole('button', {
        name: 'Create 4 objects in prod-eu and prod-us, namespace storefront',
      })
      .waitFor()
    const faults = clusters[1]?.simulator.faults
    faults?.inject({ fault: { type: 'cut' } })
    await page
      .getByRole('button', {
        name: 'Create 4 objects in prod-eu and prod-us, namespace storefront',
      })
      .click()
    const rest = page.getByRole('button', {
      name: 'Apply the other 2 in prod-us, namespace storefront',
    })
    await rest.waitFor()
    expect(await lines(page)).toEqual([
      'ConfigMap storefront/one · prod-eu Created Line 1',
      'ConfigMap storefront/two · prod-eu Created Line 8',
      expect.stringMatching(
        /^ConfigMap storefront\/one · prod-us (?:Not applied|Unknown: it may have been applied) Line 1$/,
      ),
      'ConfigMap storefront/two · prod-us Not begun Line 8',
    ])
    await opened.audit()
    faults?.inject({ fault: { type: 'mend' } })
    await expect
      .poll(async () => {
        if (await rest.isVisible()) await rest.click()
        return page.getByText('4 of 4 documents applied.').count()
      })
      .toBe(1)
    expect(clusters[1]?.simulator.storage.get(configMaps, 'storefront', 'two')).toBeDefined()
  })

  it('says what one may not do, for each document, and shows nothing to write where the gateway takes no writes', async () => {
    await using opened = await openPortal(browser(), {
      allowWrites: true,
      viewer: 'ben',
      path: '/create?ns=storefront',
    })
    const { page } = opened
    await paste(page, configMap('mine'))
    await review(page)
    await page.getByText('You may not').waitFor()
    expect(await lines(page)).toEqual(['ConfigMap storefront/mine Refused Line 1'])
    expect(opened.problems).toEqual([])
    await using reading = await openPortal(browser(), { path: '/create' })
    await reading.page.getByRole('heading', { name: 'This gateway takes no writes.' }).waitFor()
    await reading.audit()
  })

  it('keeps the text when the token is gone, and stores nothing without it', async () => {
    await using opened = await openPortal(browser(), {
      allowWrites: true,
      viewer: 'ann',
      path: '/create?ns=storefront',
      expected: [/status of 401/],
    })
    const { page, cluster } = opened
    await paste(page, [configMap('first'), configMap('second')].join('---\n'))
    await review(page)
    const apply = page.getByRole('button', { name: 'Create 2 objects in demo' })
    await apply.waitFor()
    // At once: any question without a token has the page ask for one.
    await apply.evaluate((button: HTMLElement) => {
      sessionStorage.removeItem('informerql.token')
      button.click()
    })
    await page.getByLabel('Bearer token').fill('ann-token')
    expect(cluster.storage.get(configMaps, 'storefront', 'first')).toBeUndefined()
    await page.getByLabel('Bearer token').press('Enter')
    await page.getByText('This is your text from before.').waitFor()
    await review(page)
    await apply.click()
    await page.getByText('2 of 2 documents applied.').waitFor()
    expect(cluster.storage.get(configMaps, 'storefront', 'second')).toBeDefined()
    expect(opened.problems).toEqual([])
  })
})
