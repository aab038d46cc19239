// Imports internals: the splitter of watches gets its bytes split at every position.
import { describe, expect, it } from 'vitest'
import {
  OversizedFrameError,
  TruncatedFrameError,
} from '../../src/api-server/frames/watch-frames.ts'
import { WatchFrames } from '../../src/api-server/frames/watch-frames.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const split = (chunks: readonly Uint8Array[], maxFrameBytes?: number): string[] => {
  const frames = new WatchFrames(maxFrameBytes === undefined ? {} : { maxFrameBytes })
  const found: string[] = []
  for (const chunk of chunks) {
    for (const frame of frames.push(chunk)) found.push(Buffer.from(frame).toString('utf8'))
  }
  frames.end()
  return found
}

const events = [
  '{"type":"ADDED","object":{"a":"one\u2028two\u2029three\u0085four"}}',
  String.raw`{"type":"MODIFIED","object":{"a":"\n\r\n"}}`,
  '{"type":"BOOKMARK","object":{}}',
]

describe('the splitter of watches', () => {
  it('splits at line feeds and nothing else, wherever the chunks end', () => {
    const text = Buffer.from(`${events.join('\n')}\n`)
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const chunks = [
          text.subarray(0, first),
          text.subarray(first, second),
          text.subarray(second),
        ]
        expect(split(chunks)).toEqual(events)
      }
    }
  })

  it('leaves empty lines out', () => {
    expect(split([Buffer.from(`\n\r\n${events[0]}\r\n\n\n${events[1]}\n`)])).toEqual(
      events.slice(0, 2),
    )
    expect(split([])).toEqual([])
  })

  it('refuses an end in the middle of an event, after giving the whole ones', () => {
    const text = Buffer.from(`${events.join('\n')}\n`)
    const ends = new Set([...text.keys()].filter((at) => text[at] === 0x0a).map((at) => at + 1))
    for (let length = 1; length < text.length; length++) {
      if (ends.has(length)) continue
      expect(() => split([text.subarray(0, length)])).toThrow(TruncatedFrameError)
    }
  })

  it('refuses an event that is larger than allowed, before it has ended', () => {
    const frames = new WatchFrames({ maxFrameBytes: 10 })
    expect(frames.push(Buffer.from('0123456789\n'))).toHaveLength(1)
    frames.push(Buffer.from('0123456789'))
    expect(() => frames.push(Buffer.from('0'))).toThrow(OversizedFrameError)
    expect(() => split([Buffer.from('0123456789A\n')], 10)).toThrow(OversizedFrameError)
  })

  it(`gives the same for random chunks (SEED=${runSeed})`, () => {
    const random = seededRandom(runSeed)
    for (let round = 0; round < 2_000; round++) {
      const lines = Array.from({ length: Math.floor(random() * 9) }, () =>
        'x'.repeat(Math.floor(random() * 40)),
      )
      const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
      const chunks: Buffer[] = []
      for (let at = 0; at < text.length;) {
        const end = at + 1 + Math.floor(random() * 30)
        chunks.push(text.subarray(at, end))
        at = end
      }
      expect(split(chunks)).toEqual(lines.filter((line) => line !== ''))
    }
  })
})
