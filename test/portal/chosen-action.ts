import type { Locator, Page } from 'playwright-core'
import type { ServedPortal } from './portal-page.ts'

/** The ID of the first object of a list that matches. */
export async function idOf(
  { gateway }: Pick<ServedPortal, 'gateway'>,
  list: string,
  filter: string,
): Promise<string> {
  const { data } = await gateway()
    .as('ann-token')
    .query(`{ list: ${list}(${filter}, first: 1) { nodes { id } } }`)
  const [node] = data?.list.nodes ?? []
  if (node === undefined) throw new Error(`no ${list} match ${filter}`)
  return node.id
}

/** Chooses an action of the object that is shown: its dialog. */
export async function chosen(page: Page, name: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name }).click()
  return page.getByRole('dialog')
}
