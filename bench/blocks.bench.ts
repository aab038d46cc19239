/**
 * How long one operation blocks all others: for each kind of costly operation, the largest that the work budget allows, and one
 * that it refuses. A cold run has a new document and no cached texts; a warm run repeats it, and may be larger, as it costs less.
 * The figure is the CPU time of the longest turn of the event loop, which does not depend on the rest of the machine. Meanwhile a
 * neighbour queries one pod in a loop.
 *
 *     npm run bench -- blocks [--pods 10000] [--runs 5] [--only TITLE] [--record]
 */
import { parseArgs } from 'node:util'
import { growingOperations } from './support/growing-operations.ts'
import type { Figures } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const runs = Number(options.runs)
/** The number of attempts before an operation counts as refused when warm. */
const warmingTimes = 4

interface Answer {
  readonly isRefused: boolean
  readonly bytes: number
}

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using gateway = await startService(`${processes}/gateway.ts`, [simulator.url])

const first = '{ pods(first: 1) { nodes { metadata { namespace name } } } nodes { totalCount } }'
const { data } = JSON.parse(await text({ query: first })) as {
  readonly data: { readonly pods: { readonly nodes: readonly { readonly metadata: object }[] } }
}
const neighbour = {
  query:
    'query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) { id } }',
  variables: { ...data.pods.nodes[0]?.metadata },
}

const cold: Record<string, Figures> = {}
const warm: Record<string, Figures> = {}
const refused: Record<string, Figures> = {}
/** Each cold operation has its own. */
let salt = 0
for (const growing of growingOperations.filter(({ title }) => title.includes(options.only))) {
  const { title, maxSize } = growing
  const coldSize = await largestPassed(maxSize, async (size) =>
    isAnswered(growing.of(size, ++salt)),
  )
  if (coldSize > 0) cold[title] = await costOf(coldSize, () => growing.of(coldSize, ++salt))
  const warmSize = await largestPassed(maxSize, (size) => isAnsweredAgain(growing.of(size, 0)))
  if (warmSize > 0) warm[title] = await costOf(warmSize, () => growing.of(warmSize, 0))
  if (warmSize < maxSize) refused[title] = await costOf(maxSize, () => growing.of(maxSize, ++salt))
}
publish(
  'blocks',
  [
    { title: `Let through cold, the largest of each kind, ${options.pods} pods`, rows: cold },
    { title: 'Let through warm', rows: warm },
    { title: 'Refused, cold', rows: refused },
  ],
  [
    'blockMs: CPU of the longest turn of the event loop; waitMs: longest wait of a neighbour who asks for one pod meanwhile',
    `medians and worst of ${runs} runs`,
  ],
  { record: options.record },
)

/** The largest size that passes; 0 if none does. Larger sizes cost more. */
async function largestPassed(
  maxSize: number,
  passes: (size: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [0, maxSize]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await passes(middle)) low = middle
    else high = middle - 1
  }
  return low
}

async function isAnswered(operation: object): Promise<boolean> {
  return !(await ask(operation)).isRefused
}

/** A refused run has cached a part of its texts, so that the next run costs less and may pass. */
async function isAnsweredAgain(operation: object): Promise<boolean> {
  for (let time = 0; time < warmingTimes; time += 1) {
    if (await isAnswered(operation)) return true
  }
  return false
}

async function costOf(size: number, next: () => object): Promise<Figures> {
  const blockMs: number[] = []
  const waitMs: number[] = []
  let bytes = 0
  for (let run = 0; run < runs; run += 1) {
    const operation = next()
    blockMs.push(
      await gateway.longestTurnMs(async () => {
        bytes = (await ask(operation)).bytes
      }),
    )
    waitMs.push(await longestWait(next()))
  }
  blockMs.sort((a, b) => a - b)
  waitMs.sort((a, b) => a - b)
  return {
    size,
    answerKB: bytes / 1000,
    blockMs: blockMs[runs >> 1] ?? 0,
    worstBlockMs: blockMs.at(-1) ?? 0,
    waitMs: waitMs[runs >> 1] ?? 0,
    worstWaitMs: waitMs.at(-1) ?? 0,
  }
}

/** The longest query of one pod, of a loop of them, during the operation. */
async function longestWait(operation: object): Promise<number> {
  const answering = new AbortController()
  let longest = 0
  const neighbours = async (): Promise<void> => {
    while (!answering.signal.aborted) {
      const start = performance.now()
      await ask(neighbour)
      longest = Math.max(longest, performance.now() - start)
    }
  }
  const waiting = neighbours()
  await ask(operation).finally(() => answering.abort())
  await waiting
  return longest
}

async function ask(operation: object): Promise<Answer> {
  const answer = await text(operation)
  return { isRefused: answer.includes('"errors":['), bytes: answer.length }
}

async function text(operation: object): Promise<string> {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(operation),
  })
  return response.text()
}
