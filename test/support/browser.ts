import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { beforeAll, describe } from 'vitest'

const chromiumPath = [
  process.env['CHROMIUM_PATH'],
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) =>
      ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)),
    ),
].find((path) => path !== undefined && path !== '' && existsSync(path))

const why = chromiumPath === undefined ? ', skipped: no chromium on the path, no CHROMIUM_PATH' : ''

/** One browser for all files that a worker runs: it ends with the worker. */
let launched: Promise<Browser> | undefined

/** A suite of tests in a real browser; skipped visibly where there is none. Each test has contexts of its own. */
export function describeInBrowser(name: string, suite: (browser: () => Browser) => void): void {
  describe.skipIf(chromiumPath === undefined)(`${name} in a browser${why}`, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      const running = await launched?.catch(() => undefined)
      if (running?.isConnected() !== true) {
        launched = chromium.launch({
          ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
          args: ['--no-sandbox'],
        })
      }
      browser = await launched
    })
    suite(() => {
      if (browser === undefined) throw new Error('the browser starts before the first test')
      return browser
    })
  })
}

/** What a page sends by WebSocket from now on: `connected`, `subscribe ID`, `complete ID`, and `disconnected`. */
export function sentBy(page: Page): string[] {
  const sent: string[] = []
  page.on('websocket', (socket) => {
    sent.push('connected')
    socket.on('close', () => sent.push('disconnected'))
    socket.on('framesent', ({ payload }) => {
      const { type, id } = JSON.parse(String(payload)) as {
        readonly type: string
        readonly id?: string
      }
      if (id !== undefined) sent.push(`${type} ${id}`)
    })
  })
  return sent
}
