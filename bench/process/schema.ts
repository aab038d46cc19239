/**
 * A gateway whose schema is made of all that a cluster serves, and made again when a definition changes. Arguments: the API
 * server's URL, how many definitions there are.
 */
import { once } from 'node:events'
import { createGateway, type Gateway } from '../../src/index.ts'
import { customDefinition } from '../support/custom-definitions.ts'
import { watchTurns } from '../support/longest-turn.ts'
import { liveMemory } from '../support/memory.ts'

const [server = '', definitions = '0'] = process.argv.slice(2)
const changes = new EventTarget()
const log = {
  info: (message: string) => {
    if (message.includes('something else now')) changes.dispatchEvent(new Event('change'))
  },
  warn: console.error,
  error: console.error,
}

const before = liveMemory()
const started = performance.now()
const startTurn = watchTurns()
const gateway = await createGateway({ clusters: [{ name: 'bench', server }], log })
const startMs = performance.now() - started
const startTurnMs = startTurn()
const liveMB = (liveMemory() - before) / 1e6

const rebuilds = await Promise.all(Number(definitions) === 0 ? [] : [rebuilt(gateway)])
const types = Object.keys(gateway.schema.getTypeMap()).length
console.log(
  JSON.stringify({
    startMs,
    startTurnMs,
    liveMB,
    types,
    ...rebuilds[0],
    afterMB: (liveMemory() - before) / 1e6,
  }),
)
await gateway[Symbol.asyncDispose]()

/** Another schema of one definition: the time until the gateway serves it, and how long its event loop stood still at most. */
async function rebuilt({ schema }: Gateway): Promise<object> {
  const changed = once(changes, 'change')
  const definition = customDefinition(0, 1) as { readonly metadata: { readonly name: string } }
  const turn = watchTurns()
  const asked = performance.now()
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const response = await fetch(`${server}${path}/${definition.metadata.name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify(definition),
  })
  if (!response.ok) throw new Error(await response.text())
  await changed
  const rebuildMs = performance.now() - asked
  const rebuildTurnMs = turn()
  if (gateway.schema === schema) throw new Error('the schema is as it was')
  return { rebuildMs, rebuildTurnMs }
}
