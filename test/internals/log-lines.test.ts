// Imports internals: the splitter of logs gets its bytes split at every position, and lines of other time zones; lines without a time.
import { describe, expect, it } from 'vitest'
import { type LogEntry, LogLines } from '../../src/api-server/frames/log-lines.ts'
import { inOrderOfTime } from '../../src/graphql/over-gateways/merged-roots.ts'

const read = (text: string, chunkBytes: number, maxLineBytes = 1_000): readonly LogEntry[] => {
  const lines = new LogLines(maxLineBytes)
  const bytes = Buffer.from(text)
  const entries: LogEntry[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    entries.push(...lines.take(bytes.subarray(at, at + chunkBytes)))
  }
  return [...entries, ...lines.rest()]
}

describe('lines of a log', () => {
  const first = '2026-11-23T14:02:11.5Z one ä two\r\n'
  const second = '2026-11-23T16:02:12.000000001+02:00 two\n'
  const text = `${first}${second}no time\n\n2026-11-23T14:02:13Z \n2026-11-23T14:02:14Z without an end`

  it.each([1, 3, 7, 1_000])('are the same in chunks of %i bytes', (chunkBytes) => {
    expect(read(text, chunkBytes)).toEqual([
      { time: '2026-11-23T14:02:11.500000000Z', text: 'one ä two', truncated: false },
      { time: '2026-11-23T14:02:12.000000001Z', text: 'two', truncated: false },
      { time: '', text: 'no time', truncated: false },
      { time: '', text: '', truncated: false },
      { time: '2026-11-23T14:02:13.000000000Z', text: '', truncated: false },
      { time: '2026-11-23T14:02:14.000000000Z', text: 'without an end', truncated: false },
    ])
  })

  it('that are too long are cut, between characters, and the next one is whole', () => {
    const long = `2026-11-23T14:02:11Z ${'ä'.repeat(10_000)}\n2026-11-23T14:02:12Z next\n`
    const [cut, next] = read(long, 64, 101)
    expect(cut?.truncated).toBe(true)
    expect(cut?.text).toMatch(/^ä{40,70}$/)
    expect(next).toEqual({
      time: '2026-11-23T14:02:12.000000000Z',
      text: 'next',
      truncated: false,
    })
  })
})

it('lines of several gateways without a time stay behind the line before them', () => {
  const one = [
    { time: null, text: 'a' },
    { time: '2', text: 'b' },
    { time: null, text: 'c' },
  ]
  const other = [
    { time: '1', text: 'd' },
    { time: '3', text: 'e' },
    { time: '2', text: 'f' },
  ]
  const order = (...logs: readonly (typeof one | typeof other)[]): string =>
    inOrderOfTime(logs)
      .map(({ text }) => text)
      .join('')
  expect(order(one, other)).toBe('adbcef')
  expect(order(other, one)).toBe('adbcef')
})
