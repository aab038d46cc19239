import { expect, it } from 'vitest'
import { ageOf } from '../../packages/portal/src/look/age.tsx'

const now = Date.parse('2026-11-29T12:00:00Z')
const day = 86_400_000

it.each([
  [now - 5 * day, '5d'],
  [now, '0s'],
  // Clocks differ.
  [now + 5_000, '0s'],
  [now + 89 * day, 'in 89d'],
  [now + 3_600_000 + 60_000, 'in 1h1m'],
])('of %d is %s', (time, text) => {
  expect(ageOf(time, now)).toBe(text)
})
