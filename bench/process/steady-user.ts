/**
 * A user that sends requests at a steady rate, whether or not earlier ones are answered. The time of a request begins at the moment when
 * it was due. Argument: a {@link SteadyUser} as JSON. It reports percentiles, the longest time, and the number of unexpected answers.
 */
import { Latencies } from '../support/latencies.ts'
import type { SteadyUser } from '../support/steady-user.ts'

const user = JSON.parse(process.argv[2] ?? '') as SteadyUser
const { url, authorization, body, perSecond, warmUpMs, durationMs } = user
const latencies = new Latencies()
/** Not answered with a page. */
let failed = 0
const headers = { 'content-type': 'application/json', authorization }

async function ask(dueMs: number, counts: boolean): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (!counts) return
  latencies.add(performance.now() - dueMs)
  if (!response.ok || text.includes('"errors"')) failed += 1
}

// The connection is there, and the code that asks has been loaded, before the clock starts.
await ask(0, false)
const startMs = performance.now()
const asked: Promise<void>[] = []
const everyMs = 1_000 / perSecond
for (let due = 0; due < warmUpMs + durationMs; due += everyMs) {
  const waitMs = startMs + due - performance.now()
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  asked.push(ask(startMs + due, due >= warmUpMs))
}
await Promise.all(asked)
const figures = {
  p50Ms: latencies.percentile(0.5),
  p99Ms: latencies.percentile(0.99),
  worstMs: latencies.percentile(1),
  failed,
}
console.log(JSON.stringify(figures))
