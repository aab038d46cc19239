/**
 * What somebody of a platform team does in a day, at the portal: fifteen daily tasks, and nine more. Each begins at the first page, is
 * done by a {@link Hand}, which counts, and ends when what was wanted is seen. `bench/tasks.bench.ts` prints interactions and seconds,
 * test/portal/tasks.test.ts makes sure that each can be done, docs/tasks.md has the table.
 */
import type { Locator, Page } from 'playwright-core'

/** Something to do. */
export interface PortalTask {
  readonly name: string
  readonly group: 'daily' | 'further'
  /** Absent: the portal cannot do it yet. */
  readonly run?: (hand: Hand) => Promise<void>
}

/** Who does it: a click, a press of a key or of several in a row (`g p`), and a text that is typed or pasted are one interaction each. */
export class Hand {
  readonly page: Page
  interactions = 0

  constructor(page: Page) {
    this.page = page
  }

  async click(target: Locator): Promise<void> {
    this.interactions++
    await target.click()
  }

  async press(...keys: readonly string[]): Promise<void> {
    this.interactions++
    for (const key of keys) await this.page.keyboard.press(key)
  }

  async type(text: string): Promise<void> {
    this.interactions++
    await this.page.keyboard.type(text)
  }

  /** Into what has the focus. */
  async paste(text: string): Promise<void> {
    this.interactions++
    await this.page.evaluate((pasted) => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      document.activeElement?.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
      )
    }, text)
  }

  /** Opens a list of values and takes one: two interactions. */
  async choose(list: Locator, value: string): Promise<void> {
    this.interactions += 2
    await list.selectOption(value)
  }

  /** Waits for what somebody looks for. */
  async see(what: Locator): Promise<void> {
    await what.first().waitFor()
  }
}

/** Finds an object or an action by the search, and opens the first that is found. */
async function open(hand: Hand, text: string, first: string | RegExp): Promise<void> {
  await hand.press('Control+k')
  await hand.see(hand.page.getByRole('combobox', { name: 'Search' }))
  await hand.type(text)
  await hand.see(hand.page.getByRole('option', { selected: true }).filter({ hasText: first }))
  await hand.press('Enter')
}

const title = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name })
const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: true })
const dialog = (page: Page): Locator => page.getByRole('dialog')

/** A problem on the first page. */
const problem = (page: Page, name: string): Locator =>
  page.getByRole('region', { name: 'Problems' }).getByRole('link', { name }).first()

/** Filters the table that is shown. */
async function filter(hand: Hand, text: string): Promise<void> {
  await hand.press('f')
  await hand.type(text)
  await hand.press('Enter')
  await hand.see(button(hand.page, `Change ${text}`))
}

/** In the order in which they are done: none undoes what a later one needs. */
export const portalTasks: readonly PortalTask[] = [
  {
    name: 'Find out why a pod crashes',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.click(problem(page, 'payments/invoice-worker'))
      await hand.see(page.getByText(/crashes (at start|after \d+ \w+): exit code 1/))
    },
  },
  {
    name: 'Read the last lines that it wrote before it crashed',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.click(problem(page, 'payments/invoice-worker'))
      await hand.click(page.getByRole('link', { name: /^invoice-worker-\w+-\w+$/ }).first())
      const lines = page.getByRole('list', { name: 'The last lines of the log' })
      await hand.see(lines.getByText(/cannot start invoice-worker/))
    },
  },
  {
    name: 'See what was changed before it broke',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.click(page.getByRole('link', { name: /^Problems/ }).first())
      const broken = page
        .locator('main')
        .getByRole('listitem')
        .filter({ hasText: 'payments/invoice-worker' })
      await hand.see(broken.getByText(/Changed from revision \d+ to \d+:/))
    },
  },
  {
    name: 'Find a pod by a part of its name, in all clusters',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.press('Control+k')
      await hand.see(page.getByRole('combobox', { name: 'Search' }))
      await hand.type('pod search-api')
      const found = page.getByRole('option')
      await hand.see(found.filter({ hasText: '· prod-eu' }))
      await hand.see(found.filter({ hasText: '· staging' }))
    },
  },
  {
    name: 'See who uses a ConfigMap, and where',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'configmap card-gateway-config', /card-gateway-config/)
      await hand.see(title(page, 'ConfigMap card-gateway-config'))
      await hand.press('2')
      const users = page.getByRole('heading', { name: /^Used by/ }).locator('..')
      await hand.see(users.getByRole('listitem').filter({ hasText: 'Deployment' }))
    },
  },
  {
    name: 'Scale a Deployment',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'scale shop-admin', /Scale shop-admin/)
      await hand.see(dialog(page).getByText('Nothing changes.'))
      await hand.click(dialog(page).getByRole('spinbutton', { name: 'Replicas' }))
      await hand.press('ArrowUp')
      await hand.see(dialog(page).getByText('spec.replicas'))
      await hand.press('Enter')
      await hand.see(dialog(page).getByText('The number is set.'))
    },
  },
  {
    name: 'Drain a node, and accept what is lost',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'drain worker', /Drain worker-/)
      await hand.click(dialog(page).getByRole('checkbox', { name: /emptyDir/ }))
      await hand.see(dialog(page).getByText(/^\d+ pods? ha(s|ve) to go\.$/))
      await hand.click(button(dialog(page), 'Drain'))
      await hand.see(dialog(page).getByRole('progressbar'))
    },
  },
  {
    name: 'Roll a broken Deployment back',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'roll back invoice-worker', /Roll back invoice-worker/)
      await hand.see(dialog(page).getByText('spec.template.spec.containers[0].image'))
      await hand.click(button(dialog(page), 'Roll back'))
      await hand.see(dialog(page).getByText('The rollout of the earlier revision has begun.'))
    },
  },
  {
    name: 'Edit YAML, with a field that another manager has set',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'deployment contested', /contested/)
      await hand.see(title(page, 'Deployment contested'))
      await hand.click(page.getByRole('tab', { name: 'YAML' }))
      await hand.click(button(page, 'Edit'))
      await hand.click(
        page
          .locator('.cm-line')
          .getByText(/^ *replicas: \d+$/)
          .first(),
      )
      await hand.press('End', 'Backspace')
      await hand.type('5')
      await hand.press('Control+Enter')
      await hand.see(page.getByText('deployer has set spec.replicas'))
      await hand.click(button(page, 'Take over these fields'))
      await hand.see(page.getByRole('list', { name: 'What changes' }))
      await hand.click(button(page, 'Apply'))
      await hand.see(page.getByText('Applied: 1 field changed.'))
    },
  },
  {
    name: 'Find the pods of a node that use most memory',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'p')
      await hand.see(title(page, 'Pods'))
      await filter(hand, 'nodeName:worker-a-001')
      const heading = page.getByRole('columnheader', { name: 'Memory', exact: true })
      await hand.click(heading.getByText('Memory'))
      await page.waitForURL(/sort=-usageMemory/)
      await hand.see(page.locator('[data-index] [data-column=usageMemory]'))
    },
  },
  {
    name: 'Follow the events of a namespace',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'namespace payments', /payments/)
      await hand.see(title(page, 'Namespace payments'))
      await hand.click(page.getByRole('tab', { name: 'Events' }))
      await hand.see(page.getByRole('tabpanel').getByRole('listitem'))
    },
  },
  {
    name: 'Read a value of a Secret',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'secret card-gateway-credentials', /card-gateway-credentials/)
      await hand.see(title(page, 'Secret card-gateway-credentials'))
      await hand.click(page.getByRole('button', { name: /^Show the value/ }).first())
      await hand.see(page.getByRole('button', { name: /^Hide the value/ }))
    },
  },
  {
    name: 'List the pods without a memory limit',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'p')
      await hand.see(title(page, 'Pods'))
      await filter(hand, '-memoryLimits:>0')
      await hand.see(page.locator('[data-index]'))
    },
  },
  {
    name: 'Go from a pod to its Deployment and on to its Service',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await open(hand, 'pod card-gateway', /card-gateway-\w+-\w+/)
      await hand.see(title(page, /^Pod card-gateway/))
      const path = page.getByRole('navigation', { name: 'Where the object belongs' })
      await hand.click(path.getByRole('link', { name: /^Deployment card-gateway/ }))
      await hand.see(title(page, 'Deployment card-gateway'))
      await hand.press('2')
      const users = page.getByRole('tabpanel').getByRole('listitem')
      const service = users.filter({ has: page.getByText('Service', { exact: true }) })
      await hand.click(service.getByRole('link', { name: 'card-gateway', exact: true }))
      await hand.see(title(page, 'Service card-gateway'))
    },
  },
  {
    name: 'Filter by a label, and pin that view',
    group: 'daily',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'p')
      await hand.see(title(page, 'Pods'))
      await filter(hand, 'label:app.kubernetes.io/name=card-gateway')
      await hand.click(button(page, 'Pin this view'))
      await hand.see(
        page
          .getByRole('navigation', { name: 'Menu' })
          .getByRole('link', { name: /^Pods · label:/ }),
      )
    },
  },
  {
    name: 'Restart several Deployments at once',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'd')
      await hand.see(title(page, 'Deployments'))
      await filter(hand, 'namespace:logistics')
      await hand.press('ArrowDown')
      await hand.press('Control+a')
      await hand.see(page.getByRole('button', { name: /selected ×$/ }))
      await hand.press('A')
      await hand.click(page.getByRole('menuitem', { name: 'Restart…' }))
      await hand.see(dialog(page).getByText(/objects would change\.$/))
      await hand.click(button(dialog(page), /^Restart \d+$/))
      await hand.see(dialog(page).getByText(/objects have begun\.$/))
    },
  },
  {
    name: 'Create objects from a paste',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await open(hand, 'create', /^Create/)
      // In view are all clusters, so none is chosen.
      await hand.click(page.getByRole('combobox', { name: 'Clusters: Choose clusters' }))
      await hand.click(page.getByRole('option', { name: 'prod-eu' }))
      await hand.click(page.getByRole('textbox', { name: 'Manifests as YAML' }))
      await hand.paste(
        ['first', 'second']
          .map(
            (name) =>
              `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: pasted-${name}\n  namespace: storefront\ndata:\n  key: value\n`,
          )
          .join('---\n'),
      )
      await hand.press('Control+Enter')
      await hand.click(button(page, /^Create 2 objects in/))
      await hand.see(page.getByText('2 of 2 documents applied.'))
    },
  },
  {
    name: 'Open a shell in a pod',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await open(hand, 'pod card-gateway', /card-gateway-\w+-\w+/)
      await hand.see(title(page, /^Pod card-gateway/))
      await hand.click(page.getByRole('tab', { name: 'Shell' }))
      await hand.click(button(page, 'Open a shell'))
      await hand.see(page.locator('.xterm-rows').getByText('/ #'))
    },
  },
  {
    name: 'Find out who can delete pods',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'p')
      await hand.see(title(page, 'Pods'))
      await hand.click(page.getByRole('link', { name: 'Who may', exact: true }))
      await hand.see(title(page, 'Who may do what'))
      await hand.choose(page.getByLabel('Verb'), 'delete')
      await hand.see(button(page, 'oncall'))
    },
  },
  {
    name: 'See what a workload has used in the last hour',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await open(hand, 'deployment card-gateway', /card-gateway/)
      await hand.see(title(page, 'Deployment card-gateway'))
      await hand.click(page.getByText('Use over the last hour'))
      await hand.see(page.locator('canvas').nth(1))
    },
  },
  {
    name: 'See which objects of an application drift from their source',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await hand.click(page.getByRole('link', { name: 'Delivery' }))
      const row = page.getByRole('row').filter({ hasText: 'OutOfSync' })
      await hand.click(row.getByRole('link', { name: 'storefront' }).first())
      await hand.see(title(page, 'Application storefront'))
      const first = page
        .locator('section')
        .filter({ hasText: 'What it delivers' })
        .getByRole('listitem')
        .first()
      await hand.see(first.filter({ hasText: 'shop-web' }).getByText('OutOfSync'))
    },
  },
  {
    name: 'Find the certificates that end soon',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await hand.click(page.getByRole('link', { name: 'Certificates', exact: true }))
      const rows = page.getByRole('table', { name: 'Certificates' }).getByRole('row')
      await hand.see(rows.filter({ hasText: 'front-door-tls' }))
    },
  },
  {
    name: 'Compare a workload in two clusters',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await open(hand, 'deployment compared', /compared/)
      await hand.see(title(page, 'Deployment compared'))
      await hand.click(page.getByRole('link', { name: 'Compare' }))
      const choices = page.getByRole('list', { name: 'Objects to compare with' })
      await hand.click(choices.getByRole('button').first())
      await hand.see(page.getByText('1 field differs.'))
    },
  },
  {
    name: 'Export a table',
    group: 'further',
    async run(hand) {
      const { page } = hand
      await hand.press('g', 'd')
      await hand.see(page.locator('[data-index]'))
      await hand.click(button(page, 'More'))
      const download = page.waitForEvent('download')
      await hand.click(page.getByRole('menuitem', { name: /^Export \d+ as CSV$/ }))
      await download
      await hand.see(page.getByText(/^\d+ exported\.$/))
    },
  },
]
