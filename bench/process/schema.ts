/**
 * A gateway whose schema is made of all that a cluster serves, and made again when there is a definition more. Arguments: the
 * API server's URL, how many definitions there are, and the checkout whose gateway it is.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as informerql from '../../src/index.ts'
import { operatorDefinition } from '../../test/support/operator-definitions.ts'
import { watchTurns } from '../support/longest-turn.ts'
import { liveMemory } from '../support/memory.ts'

interface NamedObject {
  readonly metadata: { readonly name: string }
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const [server = '', definitions = '0', checkout = ''] = process.argv.slice(2)
const { createGateway } = (await import(`${checkout}/src/index.ts`)) as typeof informerql
const log = { info() {}, warn: console.error, error: console.error }

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
/** Where V8 gives memory back, it does so after some seconds without work. */
const residentMB = async (): Promise<number> => {
  await sleep(10_000)
  return process.memoryUsage().rss / 1e6
}

const cpuBefore = cpuMs()
const started = performance.now()
const startTurn = watchTurns()
const gateway = await createGateway({ clusters: [{ name: 'bench', server }], log })
const startMs = performance.now() - started
const startTurnMs = startTurn()
const startCpuMs = cpuMs() - cpuBefore
const startMB = await residentMB()
const more = await added(Number(definitions))
const afterMB = await residentMB()
console.log(
  JSON.stringify({
    startMs,
    startCpuMs,
    startTurnMs,
    startMB,
    ...more,
    afterMB,
    liveMB: liveMemory() / 1e6,
  }),
)
await gateway[Symbol.asyncDispose]()
const last = operatorDefinition(Number(definitions)) as NamedObject
// For the next round.
await fetch(`${server}${definitionsPath}/${last.metadata.name}`, { method: 'DELETE' })

/** A definition more: the time until its kind is served, and how long the event loop stood still at most. */
async function added(number: number): Promise<object> {
  const definition = operatorDefinition(number)
  const before = cpuMs()
  const turn = watchTurns()
  const asked = performance.now()
  const response = await fetch(server + definitionsPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(definition),
  })
  if (!response.ok) throw new Error(await response.text())
  const isServed = (): boolean =>
    // Names alone: the descriptor of a field would make it.
    Reflect.ownKeys(gateway.schema.getQueryType()?.getFields() ?? {}).some((name) =>
      String(name).endsWith(`Operand${number}s`),
    )
  while (!isServed()) {
    if (performance.now() - asked > 60_000) throw new Error('the definition is not served')
    await sleep(20)
  }
  const addMs = performance.now() - asked
  return { addMs, addCpuMs: cpuMs() - before, addTurnMs: turn() }
}
