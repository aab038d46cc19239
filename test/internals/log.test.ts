// Imports internals: a terminal is none in a test.
import { expect, it } from 'vitest'
import { createLog } from '../../src/command/log.ts'
import { CodedError } from '../../src/lib/coded-error.ts'

const logged = (
  format: 'auto' | 'json' | 'text',
  isTTY: boolean,
  ...line: readonly [message: string, details?: object]
): string => {
  let text = ''
  const stream = { isTTY, write: (chunk: string) => void (text += chunk) }
  createLog({ level: 'info', format, stream }).warn(...line)
  return text
}

it('A line for people has the time, the level, what it is about, the message, and other details', () => {
  const details = { cluster: 'prod', kind: 'Pod', code: 'API_STATUS' }
  const line = 'warn  prod: Pod: list failed code="API_STATUS"\n'
  const time = /^\d\d:\d\d:\d\d /
  expect(logged('auto', true, 'list failed', details).replace(time, '')).toBe(line)
  const iso = /^\d{4}-\d\d-\d\dT[\d:.]+Z /
  expect(logged('text', false, 'list failed', details).replace(iso, '')).toBe(line)
})

it('A line for machines is an object, with the code, the hint and the causes of an error, not its value', () => {
  const cause = new Error('the cause')
  const error = new CodedError('BROKEN', 'it broke', { hint: 'mend it', value: 'secret', cause })
  const line = logged('auto', false, 'it failed', { requestId: 'a', error })
  expect(line).not.toContain('secret')
  expect(JSON.parse(line)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-/),
    code: 'BROKEN',
    requestId: 'a',
    error: {
      type: 'CodedError',
      code: 'BROKEN',
      message: 'it broke',
      hint: 'mend it',
      stack: expect.stringContaining('it broke'),
      cause: { type: 'Error', message: 'the cause', stack: expect.any(String) },
    },
    msg: 'it failed',
  })
})

it('No message moves the cursor of a terminal, or looks like a line of its own', () => {
  const line = logged('auto', true, 'the server warns: \u001B[2J\n10:00:00 info  all is well')
  expect(line).not.toContain('\u001B')
  expect(line.trim().split('\n')[1]).toBe('  10:00:00 info  all is well')
})
