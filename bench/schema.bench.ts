/**
 * The schema of all built-in kinds, without and with custom kinds in the proportions of operators (248 of them have 25,000
 * object types, 6,000 of which differ): the time and CPU to start a gateway, its resident memory, and how long it takes, and
 * requests wait, when there is a definition more. With `--baseline`, beside another checkout of this repository:
 *
 *     npm run bench -- schema [--definitions 0,248,1000] [--rounds 3] [--baseline ../before] [--record]
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { operatorDefinition } from '../test/support/operator-definitions.ts'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish } from './support/results.ts'
import { startService } from './support/service.ts'

const { values: options } = parseArgs({
  options: {
    definitions: { type: 'string', default: '0,248,1000' },
    rounds: { type: 'string', default: '3' },
    baseline: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})
const processes = `${import.meta.dirname}/process`
/** As the image and the chart start Node: the young generation grows with any load, whatever the schema. */
const nodeOptions = ['--max-semi-space-size=16']
const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const checkouts: Readonly<Record<string, string>> = {
  '': resolve(import.meta.dirname, '..'),
  ...(options.baseline !== undefined && { ' (before)': resolve(options.baseline) }),
}

/** The figures of each checkout with so many definitions. */
async function figuresOf(definitions: number): Promise<Readonly<Record<string, Figures>>> {
  await using simulator = await startService(`${processes}/simulator.ts`, [0])
  for (let number = 0; number < definitions; number += 1) {
    const response = await fetch(simulator.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operatorDefinition(number)),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  const contenders = Object.fromEntries(
    Object.entries(checkouts).map(([name, checkout]) => [
      name,
      () =>
        measure(`${processes}/schema.ts`, [simulator.url, definitions, checkout], { nodeOptions }),
    ]),
  )
  return await interleave(contenders, Number(options.rounds))
}

const rows: Record<string, Figures> = {}
const without: Record<string, number> = {}
for (const definitions of options.definitions.split(',').map(Number)) {
  for (const [name, figures] of Object.entries(await figuresOf(definitions))) {
    const { startMB = 0, afterMB = 0 } = figures
    if (definitions === 0) without[name] = startMB
    const base = without[name]
    const moreMB = base === undefined ? {} : { moreMB: startMB - base, moreAfterMB: afterMB - base }
    rows[`built-in kinds and ${definitions} custom ones${name}`] = { ...figures, ...moreMB }
  }
}
publish(
  'schema',
  [{ title: 'Schema of a gateway', rows }],
  [
    'startMs: until the gateway is there, discovery and OpenAPI included; turns are the longest of the event loop, CPU time',
    'addMs: from the creation of a definition until its kind is served',
    `of Node with ${nodeOptions.join(' ')}, as the image and the chart start it`,
    'startMB and afterMB: resident 10 s after the start, and 10 s after a definition more; moreMB: beside the same gateway without custom kinds',
    `medians of ${options.rounds} rounds`,
  ],
  { record: options.record },
)
