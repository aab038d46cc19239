// Imports internals: a hash never leaves the gateway.
import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { KeyedHash } from '../../src/lib/keyed-hash.ts'

const texts = [
  '',
  'token',
  'for-one\0token',
  'ä → ☃',
  ...[55, 56, 63, 64, 65, 1_000].map((n) => 'x'.repeat(n)),
]

test.each([1, 32, 64])('a keyed hash is HMAC-SHA-256, with a key of %i bytes', (length) => {
  const key = randomBytes(length)
  const hash = new KeyedHash(key)
  for (const text of texts) {
    expect(hash.of(text)).toBe(createHmac('sha256', key).update(text).digest('base64'))
  }
})

test('a key that HMAC would have to shorten first is refused', () => {
  expect(() => new KeyedHash(randomBytes(65))).toThrow(RangeError)
})
