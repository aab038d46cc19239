/**
 * What a write through the gateway costs on a real API server, and how long it waits until the cache has it: each write is followed at once
 * by a list, which must not be older.
 *
 *     npm run bench -- writes [--writes 1000] [--callers 1,8] [--rounds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { type Figures, interleave, measure } from './support/measured-process.ts'
import { publish } from './support/results.ts'

const { values: options } = parseArgs({
  options: {
    writes: { type: 'string', default: '1000' },
    callers: { type: 'string', default: '1,8' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const script = `${import.meta.dirname}/process/writes-gateway.ts`
const contenders = Object.fromEntries(
  options.callers
    .split(',')
    .map((callers) => [
      callers === '1' ? 'one caller' : `${callers} callers at once`,
      (): Promise<Figures> => measure(script, [options.writes, callers]),
    ]),
)
const rows = await interleave(contenders, Number(options.rounds))
publish(
  'writes',
  [{ title: `${options.writes} patches of ConfigMaps`, rows }],
  [
    'write: the whole mutation by HTTP: a read and a patch, and the wait for the cache; direct: a patch sent to the API server itself',
    ...Object.entries(rows).map(
      ([name, { olderLists = 0 }]) =>
        `${name}: ${olderLists} lists were older than the write before`,
    ),
  ],
  { record: options.record },
)
