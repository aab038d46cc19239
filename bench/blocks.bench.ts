/**
 * How long one operation keeps everyone else waiting: of each kind of costly operation the largest that the work budget
 * lets through, and one that it refuses, beside a neighbour who asks for one pod again and again:
 *
 *     npm run bench -- blocks [--pods 10000] [--runs 5] [--only TITLE] [--unplanned] [--record]
 */
import { parseArgs } from 'node:util'
import { type GrowingOperation, growingOperations } from './support/growing-operations.ts'
import type { Figures } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    // What plans do not cover, and every operation by WebSocket, graphql-js answers.
    unplanned: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const runs = Number(options.runs)

interface Answer {
  readonly isRefused: boolean
  readonly bytes: number
}

await using simulator = await startService(`${processes}/simulator.ts`, [options.pods])
await using gateway = await startService(`${processes}/gateway.ts`, [
  simulator.url,
  options.unplanned ? 'unplanned' : 'planned',
])

const first = '{ pods(first: 1) { nodes { metadata { namespace name } } } nodes { totalCount } }'
const { data } = JSON.parse(await text({ query: first })) as {
  readonly data: { readonly pods: { readonly nodes: readonly { readonly metadata: object }[] } }
}
const neighbour = {
  query:
    'query ($namespace: String!, $name: String!) { pod(namespace: $namespace, name: $name) { id } }',
  variables: { ...data.pods.nodes[0]?.metadata },
}

const passed: Record<string, Figures> = {}
const refused: Record<string, Figures> = {}
for (const growing of growingOperations.filter(({ title }) => title.includes(options.only))) {
  const size = await largestPassed(growing)
  if (size > 0) passed[growing.title] = await costOf(growing, size)
  if (size < growing.maxSize) refused[growing.title] = await costOf(growing, growing.maxSize)
}
publish(
  'blocks',
  [
    { title: `Let through, the largest of each kind, ${options.pods} pods`, rows: passed },
    { title: 'Refused', rows: refused },
  ],
  [
    'CPU of the gateway for one operation, with nobody else; longest wait of a neighbour who asks for one pod meanwhile',
    `medians and worst of ${runs} runs, ${options.unplanned ? 'by graphql-js alone' : 'by plans where they cover the operation'}`,
  ],
  { record: options.record },
)

/** The largest size that is answered; 0 where none is. Sizes cost more the larger they are. */
async function largestPassed({ of, maxSize }: GrowingOperation): Promise<number> {
  let [low, high] = [0, maxSize]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((await ask(of(middle))).isRefused) high = middle - 1
    else low = middle
  }
  return low
}

async function costOf({ of }: GrowingOperation, size: number): Promise<Figures> {
  const operation = of(size)
  const cpuMs: number[] = []
  const waitMs: number[] = []
  let bytes = 0
  for (let run = 0; run < runs; run += 1) {
    const before = await gateway.cpuMs()
    bytes = (await ask(operation)).bytes
    cpuMs.push((await gateway.cpuMs()) - before)
    waitMs.push(await longestWait(operation))
  }
  cpuMs.sort((a, b) => a - b)
  waitMs.sort((a, b) => a - b)
  return {
    size,
    answerKB: bytes / 1000,
    cpuMs: cpuMs[runs >> 1] ?? 0,
    waitMs: waitMs[runs >> 1] ?? 0,
    worstWaitMs: waitMs.at(-1) ?? 0,
  }
}

/** The longest that one of a row of questions for one pod takes while the operation is answered. */
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
