import { watchEventLoop } from './loop-delay.ts'
import { liveMemory, peakRss } from './memory.ts'

/** What a sync has filled: how many pods, and the cache itself, which must stay alive while memory is measured. */
export interface Filled {
  readonly pods: number
  readonly cache: unknown
}

/** Measures one sync, prints its figures as one line of JSON, and ends the process. */
export async function reportSync(sync: () => Promise<Filled>): Promise<never> {
  const before = liveMemory()
  const longestBlockMs = watchEventLoop()
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  const filled = await sync()
  const syncMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  const blockMs = longestBlockMs()
  const peak = peakRss()
  const live = liveMemory() - before
  const figures = {
    syncMs,
    cpuMs: (user + system) / 1000,
    peakRssMB: peak / 1e6,
    longestBlockMs: blockMs,
    bytesPerPod: live / filled.pods,
    pods: filled.pods,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit())
  return await new Promise<never>(() => {})
}
