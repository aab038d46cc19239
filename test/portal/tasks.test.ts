import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Hand, portalTasks } from '../../bench/support/portal-tasks.ts'
import { startTaskWorld, type TaskWorld } from '../../bench/support/task-world.ts'
import { describeInBrowser } from '../support/browser.ts'
import { keepPages, openPage } from './portal-page.ts'

/** The interactions that docs/tasks.md tells of each task: its first table with a name counts. */
const document = await readFile(new URL('../../docs/tasks.md', import.meta.url), 'utf8')
const rows = document.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
const documented = new Map(
  rows
    .flatMap(([, name, count]) =>
      name === undefined || count === undefined ? [] : [[name, count] as const],
    )
    .toReversed(),
)

describeInBrowser('The tasks of docs/tasks.md', (browser) => {
  let world: TaskWorld
  let pages: AsyncDisposable
  beforeAll(async () => {
    world = await startTaskWorld()
    pages = keepPages(world.url)
  })
  afterAll(async () => {
    await pages[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  it('are fifteen daily ones, and nine more', () => {
    const daily = portalTasks.filter(({ group }) => group === 'daily')
    expect([daily.length, portalTasks.length - daily.length]).toEqual([15, 9])
    expect(new Set(portalTasks.map(({ name }) => name)).size).toBe(24)
    const missing = portalTasks.filter(({ run }) => run === undefined)
    const told = missing.map(({ name }) => documented.get(name))
    expect(told).toEqual(missing.map(() => 'not built'))
  })

  for (const { name, run } of portalTasks) {
    it.skipIf(run === undefined)(
      `can be done in as many interactions as documented: ${name}`,
      async () => {
        await using opened = await openPage(browser(), world, { width: 1440, height: 900 })
        await opened.page
          .getByRole('region', { name: 'Problems' })
          .getByRole('link')
          .first()
          .waitFor()
        const hand = new Hand(opened.page)
        await run?.(hand)
        expect(documented.get(name)).toBe(String(hand.interactions))
        expect(opened.problems).toEqual([])
      },
    )
  }
})
