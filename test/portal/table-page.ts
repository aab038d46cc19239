import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ServedPortal } from './portal-page.ts'

export const podsOf = { group: '', version: 'v1', resource: 'pods' }

/** The row of an object, by its name. */
export function rowOf(page: Page, name: string | RegExp): Locator {
  const cell = page.locator('[data-column="name"]').filter({
    hasText: typeof name === 'string' ? new RegExp(`^${name}$`) : name,
  })
  return page.locator('[data-index]').filter({ has: cell })
}

/** The names in the rows that are drawn. */
export const namesIn = (page: Page): Promise<string[]> =>
  page.locator('[data-index] [data-column="name"]').allTextContents()

/** The headings of the columns. */
export async function headings(page: Page): Promise<string[]> {
  const texts = await page.getByRole('columnheader').allTextContents()
  return texts.map((text) => text.replaceAll(/[↑↓]/g, ''))
}

/** Once the use of pods is shown: by how many pixels the columns of the table are too wide, and which have cells that are cut. */
export async function roomIn(page: Page) {
  const grid = page.getByRole('grid')
  const cpu = page.locator('[role=gridcell][data-column=usageCpu]').first()
  await expect.poll(() => cpu.innerText()).toMatch(/^[\d.]+m?\/[\d.]+m?$/)
  return {
    over: () => grid.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    /** Each once, by its name. */
    cut: () =>
      grid.evaluate((element) => [
        ...new Set(
          [...element.querySelectorAll('[role=gridcell] > span')]
            .filter(
              ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
                scrollWidth > clientWidth || scrollHeight > clientHeight,
            )
            .map((span) => span.parentElement?.dataset['column']),
        ),
      ]),
  }
}

/** How many objects the table says that it has. */
export async function countOf(page: Page): Promise<number> {
  const count = page.getByLabel('Number of objects')
  await count.filter({ hasText: /\d/ }).waitFor()
  return Number((await count.textContent())?.replaceAll(/\D/g, ''))
}

/** A pod of `default` whose container waits, or runs. */
function podOf(name: string, { waiting }: { readonly waiting?: string }) {
  const state =
    waiting === undefined
      ? { running: { startedAt: '2026-01-01T00:00:00Z' } }
      : { waiting: { reason: waiting } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { containers: [{ name: 'main', image: 'example/main:1' }] },
    status: {
      phase: waiting === undefined ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: waiting === undefined ? 'True' : 'False' }],
      containerStatuses: [
        {
          name: 'main',
          image: 'example/main:1',
          ready: waiting === undefined,
          restartCount: 0,
          state,
        },
      ],
    },
  }
}

/** Makes a pod of `default` whose container waits, or runs. */
export function makePod(
  { cluster }: ServedPortal,
  name: string,
  how: { waiting?: string } = {},
): void {
  cluster.storage.create(podsOf, podOf(name, how))
}

/** Replaces it. */
export function changePod(
  { cluster }: ServedPortal,
  name: string,
  how: { waiting?: string },
): void {
  cluster.storage.update(podsOf, podOf(name, how))
}
