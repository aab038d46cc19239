import type { Page } from 'playwright-core'
import { Latencies } from './latencies.ts'
import type { Figures } from './measured-process.ts'

const rowHeight = 32

/** Scrolls the table of a page, and reports the time between its frames and, of leaps, the time until rows are there. */
export async function framesWhileScrolling(
  page: Page,
  way: 'slowly' | 'by leaps',
  durationMs: number,
): Promise<Figures> {
  const { frames, waits } = await page.evaluate(
    async ({ way: how, durationMs: forMs, rowHeight: height }) => {
      const grid = document.querySelector('[role=grid]')
      if (grid === null) throw new Error('the page shows no table')
      // Runs in the page, where nothing outside this function is.
      // oxlint-disable-next-line unicorn/consistent-function-scoping
      const nextFrame = (): Promise<number> => new Promise(requestAnimationFrame)
      const isHere = (): boolean => {
        const rows = [...document.querySelectorAll('[role=row][aria-rowindex]')]
        const body = rows.filter((row) => row.getAttribute('aria-rowindex') !== '1')
        const { top, bottom } = grid.getBoundingClientRect()
        const shown = body.filter((row) => {
          const place = row.getBoundingClientRect()
          return place.bottom > top + 2 * height && place.top < bottom
        })
        return shown.length > 0 && shown.every((row) => row.querySelector('[data-status]') !== null)
      }
      const times: number[] = []
      const found: number[] = []
      let leaptAt: number | undefined
      let leaps = 0
      const startMs = await nextFrame()
      let before = startMs
      while (before - startMs < forMs) {
        if (how === 'slowly') grid.scrollTop += 3 * height
        else if (before - startMs >= leaps * 1000) {
          // Far apart, and never twice the same.
          const part = (leaps * 0.618_034) % 1
          grid.scrollTop = part * (grid.scrollHeight - grid.clientHeight)
          leaptAt = performance.now()
          leaps += 1
        }
        const now = await nextFrame()
        times.push(now - before)
        before = now
        if (leaptAt !== undefined && performance.now() - leaptAt > 20 && isHere()) {
          found.push(performance.now() - leaptAt)
          leaptAt = undefined
        }
      }
      return { frames: times, waits: found }
    },
    { way, durationMs, rowHeight },
  )
  return {
    ...figuresOf(frames),
    ...(way === 'slowly'
      ? {}
      : { rowsAfterLeapP50Ms: percentile(waits, 0.5), leaps: waits.length }),
  }
}

/** Has the worker of the graph lay out a graph of so many nodes, and reports how long it takes and the frames meanwhile. */
export async function framesWhileLayingOut(
  page: Page,
  worker: string,
  nodes: number,
): Promise<Figures> {
  const { frames, layoutMs } = await page.evaluate(
    async ({ worker: path, nodes: count }) => {
      // A service, deployments of ReplicaSets of pods, and what these use, as graphs around a busy object are.
      const size = { width: 208, height: 44 }
      const ids = Array.from({ length: count }, (_, at) => ({ id: String(at), ...size }))
      const edges: { from: string; to: string; span: number }[] = []
      const workloads = Math.ceil(count / 25)
      for (let at = 1; at < count; at++) {
        const isSet = at > workloads && at <= 2 * workloads
        const parent =
          at <= workloads ? 0 : isSet ? at - workloads : workloads + 1 + (at % workloads)
        edges.push({ from: String(parent), to: String(at), span: 1 })
        if (at > 2 * workloads && at % 3 === 0 && at + 1 < count) {
          edges.push({ from: String(at), to: String(count - 1 - (at % 20)), span: 1 })
        }
      }
      const own = new Worker(path, { type: 'module' })
      const lay = (number: number, first: number): Promise<unknown> =>
        new Promise((resolve, reject) => {
          own.addEventListener('message', resolve, { once: true })
          own.addEventListener('error', reject, { once: true })
          const chosen = ids.slice(0, first)
          const known = new Set(chosen.map(({ id }) => id))
          const among = edges.filter(
            ({ from, to }) => from !== to && known.has(from) && known.has(to),
          )
          const asked = { number, nodes: chosen, edges: among }
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
          own.postMessage(asked)
        })
      // Its script is loaded then.
      await lay(0, 2)
      const times: number[] = []
      let isDone = false
      let before = performance.now()
      const frame = (now: number): void => {
        times.push(now - before)
        before = now
        if (!isDone) requestAnimationFrame(frame)
      }
      requestAnimationFrame((now) => {
        before = now
        requestAnimationFrame(frame)
      })
      const startMs = performance.now()
      await lay(1, count)
      const tookMs = performance.now() - startMs
      isDone = true
      own.terminate()
      return { frames: times, layoutMs: tookMs }
    },
    { worker, nodes },
  )
  return { layoutMs, ...figuresOf(frames) }
}

function percentile(values: readonly number[], part: number): number {
  const latencies = new Latencies()
  for (const value of values) latencies.add(value)
  return latencies.percentile(part)
}

const figuresOf = (frames: readonly number[]): Figures => ({
  frameP50Ms: percentile(frames, 0.5),
  frameP95Ms: percentile(frames, 0.95),
  frameMaxMs: Math.max(0, ...frames),
  frames: frames.length,
})
