import type { Page } from 'playwright-core'

/** What a tab sends while nobody touches it. */
export interface TabTraffic {
  /** The frames that subscribe, as they were sent. */
  readonly subscriptions: readonly string[]
  /** The queries by HTTP in a time of `lengthMs`, and when they were sent in it. */
  readonly polls: readonly { readonly atMs: number; readonly body: string }[]
  readonly lengthMs: number
}

/** Opens an address in a page and writes down what it sends: subscriptions from the start, queries once it is at rest. */
export async function trafficOf(page: Page, url: string, lengthMs: number): Promise<TabTraffic> {
  const subscriptions = new Map<string, string>()
  const polls: { atMs: number; body: string }[] = []
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      const { id, type } = JSON.parse(String(payload)) as { id?: string; type: string }
      if (id === undefined) return
      if (type === 'subscribe') subscriptions.set(id, String(payload))
      else if (type === 'complete') subscriptions.delete(id)
    })
  })
  await page.goto(url)
  await page.locator('[role=row] [data-status]').first().waitFor({ timeout: 60_000 })
  await page.waitForTimeout(2_000)
  const startMs = performance.now()
  page.on('request', (request) => {
    const body = request.postData()
    if (body !== null) polls.push({ atMs: performance.now() - startMs, body })
  })
  await page.waitForTimeout(lengthMs)
  return { subscriptions: [...subscriptions.values()], polls, lengthMs }
}
