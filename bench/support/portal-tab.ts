import { readFileSync } from 'node:fs'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'

/** A tab of the portal in Chromium, and what it costs. */
export interface PortalTab extends AsyncDisposable {
  readonly page: Page
  /** From the start of the navigation to the first object that is drawn, milliseconds, by the page's own clock. */
  readonly firstRowsMs: number
  /** The scripts that it has loaded: how many, and their bytes as they came, compressed. */
  readonly scripts: { readonly files: number; readonly bytes: number }
  /** What it has in memory after a garbage collection: JavaScript's heap, and the process without what it shares. */
  readonly memory: () => Promise<{ readonly heapBytes: number; readonly processBytes: number }>
}

/** Starts the Chromium of `CHROMIUM_PATH`, without a window. */
export async function startChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--js-flags=--expose-gc'],
  })
}

/**
 * Opens a view of the portal and waits for its first object. `visits`: so many times in the same profile, of which the last one
 * is told; after the first visit the browser keeps the scripts.
 */
export async function openTab(browser: Browser, url: string, visits = 1): Promise<PortalTab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await page.addInitScript(watchForRows)
  let scripts = await visit(page, session, url)
  for (let at = 1; at < visits; at++) scripts = await visit(page, session, url)
  const firstRowsMs = await page.evaluate(() => (globalThis as unknown as Watched).firstRowsMs)
  const renderer = await rendererOf(browser, session)
  return {
    page,
    firstRowsMs,
    scripts,
    async memory() {
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
      return { heapBytes, processBytes: ownBytes(renderer) }
    },
    [Symbol.asyncDispose]: async () => context.close(),
  }
}

interface Watched {
  firstRowsMs: number
}

/** Runs in the page before its scripts: notes when the health of the first object is drawn. */
function watchForRows(): void {
  const look = (): void => {
    if (document.querySelector('main [data-status]') === null) {
      requestAnimationFrame(look)
    } else (globalThis as unknown as Watched).firstRowsMs = performance.now()
  }
  requestAnimationFrame(look)
}

async function visit(page: Page, session: CDPSession, url: string): Promise<PortalTab['scripts']> {
  const scripts = new Map<string, number>()
  const named = new Set<string>()
  const began = ({ requestId, type }: { requestId: string; type?: string }): void => {
    if (type === 'Script') named.add(requestId)
  }
  const ended = (loaded: { requestId: string; encodedDataLength: number }): void => {
    if (named.has(loaded.requestId)) scripts.set(loaded.requestId, loaded.encodedDataLength)
  }
  await session.send('Network.enable')
  await session.send('Performance.enable')
  session.on('Network.requestWillBeSent', began)
  session.on('Network.loadingFinished', ended)
  await page.goto(url)
  await page.waitForFunction(() => 'firstRowsMs' in globalThis, undefined, { timeout: 60_000 })
  session.off('Network.requestWillBeSent', began)
  session.off('Network.loadingFinished', ended)
  return { files: scripts.size, bytes: [...scripts.values()].reduce((sum, size) => sum + size, 0) }
}

/** The process of a tab: the renderer that uses the most CPU while the tab works alone. */
async function rendererOf(browser: Browser, session: CDPSession): Promise<number> {
  const whole = await browser.newBrowserCDPSession()
  const times = async (): Promise<Map<number, number>> => {
    const { processInfo } = await whole.send('SystemInfo.getProcessInfo')
    return new Map(
      processInfo.flatMap(({ type, id, cpuTime }) => (type === 'renderer' ? [[id, cpuTime]] : [])),
    )
  }
  const before = await times()
  await session.send('Runtime.evaluate', {
    expression: 'for (let end = performance.now() + 300; performance.now() < end; );',
  })
  const after = await times()
  const used = Array.from(after, ([id, time]) => ({ id, time: time - (before.get(id) ?? 0) }))
  await whole.detach()
  return used.toSorted((a, b) => b.time - a.time)[0]?.id ?? 0
}

/** The memory of a process, with its part of what it shares with others. */
function ownBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/mu.exec(text)?.[1] ?? 0) * 1024
}
