import { expect, it } from 'vitest'
import {
  columnsOf,
  fieldsOf,
  isOfLevel,
  levelOf,
  restOf,
  uniqueEnds,
} from '../../packages/portal/src/logs/log-line.ts'
import { logsViewOf, textOfLogsView } from '../../packages/portal/src/logs/logs-view.ts'

it.each([
  ['{"level":"info","msg":"request"}', 'info'],
  ['{"time":1,"severity":"WARNING","message":"slow"}', 'warn'],
  ['{"level":50,"msg":"pino"}', 'error'],
  ['{"msg":"no level, an error"}', undefined],
  ['time=1 level=fatal msg="queue.dsn is not set"', 'error'],
  ['E1129 10:00:00.000000       1 reflector.go:138] cannot list', 'error'],
  ['2026-11-29 10:00:00 WARN  [main] pool is full', 'warn'],
  ['2026/11/29 10:00:00 [error] 7#7: upstream timed out', 'error'],
  ['[DEBUG] cache hit', 'debug'],
  ['10.0.0.1 - - "GET /errors HTTP/1.1" 200', undefined],
  ['an error was not made', undefined],
])('the level of %s is %s', (line, level) => {
  expect(levelOf(line)).toBe(level)
})

it('a filter by level has the worse levels, and lines without a level with the info', () => {
  expect(isOfLevel('error', 'warn')).toBe(true)
  expect(isOfLevel('info', 'warn')).toBe(false)
  expect(isOfLevel(undefined, 'info')).toBe(true)
  expect(isOfLevel(undefined, 'error')).toBe(false)
  expect(isOfLevel('debug', '')).toBe(true)
})

it('lines of JSON have columns, the message first, and lose no field', () => {
  const lines = [
    '{"time":"2026","level":"info","path":"/a","msg":"request"}',
    '{"time":"2026","level":"info","path":"/b","msg":"request","user":{"id":7}}',
  ].flatMap((line) => fieldsOf(line) ?? [])
  const columns = columnsOf(lines, 3)
  expect(columns).toEqual(['msg', 'level', 'path'])
  expect(lines.map((line) => restOf(line, columns))).toEqual(['', 'user={"id":7}'])
  expect(fieldsOf('plain text')).toBeUndefined()
  expect(fieldsOf('{"cut":')).toBeUndefined()
})

it('the unique ends of pods are shown', () => {
  expect([...uniqueEnds(['web-7d9f-abcde', 'web-7d9f-abxyz']).values()]).toEqual(['abcde', 'abxyz'])
  expect([...uniqueEnds(['web-7d9f-abcde', 'web-8c11-fghij']).values()]).toEqual([
    '7d9f-abcde',
    '8c11-fghij',
  ])
  expect([...uniqueEnds(['web-0', 'web-1']).values()]).toEqual(['0', '1'])
  expect([...uniqueEnds(['web', 'web-1']).values()]).toEqual(['web', 'web-1'])
  expect([...uniqueEnds(['web-0']).values()]).toEqual(['web-0'])
})

it.each([
  {},
  { container: 'web', level: 'error', since: '15m', wrap: false, columns: true, previous: true },
  { contains: 'level:"fatal" \\ more' },
] as const)('the view %o is read from its address', (changed) => {
  const view = { ...logsViewOf(), ...changed }
  expect(logsViewOf(textOfLogsView(view))).toEqual(view)
})

it('an address with what is unknown is read as usual', () => {
  expect(logsViewOf('level:loud since:ever other:1 x')).toEqual(logsViewOf())
  expect(textOfLogsView(logsViewOf())).toBeUndefined()
})
