/**
 * The schema of all built-in kinds, without and with many custom kinds: the time to start a gateway, its memory, and how long
 * requests wait when a definition changes and the gateway builds the schema again:
 *
 *     npm run bench -- schema [--definitions 0,200] [--rounds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { customDefinition } from './support/custom-definitions.ts'
import { type Figures, measure, medianOf } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    definitions: { type: 'string', default: '0,200' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function figuresOf(definitions: number): Promise<Figures> {
  const rounds: Figures[] = []
  for (let round = 0; round < Number(options.rounds); round += 1) {
    await using simulator = await startService(`${processes}/simulator.ts`, [0])
    for (let number = 0; number < definitions; number += 1) {
      const response = await fetch(simulator.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(customDefinition(number)),
      })
      if (!response.ok) throw new Error(await response.text())
    }
    rounds.push(await measure(`${processes}/schema.ts`, [simulator.url, definitions]))
  }
  return medianOf(rounds)
}

const rows: Record<string, Figures> = {}
for (const definitions of options.definitions.split(',').map(Number)) {
  rows[`built-in kinds and ${definitions} custom ones`] = await figuresOf(definitions)
}
publish(
  'schema',
  [{ title: 'Schema of a gateway', rows }],
  [
    'startMs: until the gateway is there, discovery and OpenAPI included; turns are the longest of the event loop, CPU time',
    'rebuildMs: from the change of one definition until its schema is served',
    `medians of ${options.rounds} rounds`,
  ],
  { record: options.record },
)
