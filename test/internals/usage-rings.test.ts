// Imports internals: an hour of measurements takes an hour outside.
import { describe, expect, it } from 'vitest'
import { UsageRings } from '../../src/cache/usage-rings.ts'
import { Series } from '../../src/cache/usage-series.ts'

const minuteMs = 60_000
const startMs = Date.parse('2026-01-31T12:00:00Z')
const mebibyte = 2 ** 20

function seriesOf(
  rings: UsageRings,
  keys: readonly string[],
  { nowMs = startMs, minutes = 60, fromMs = 0, cluster = 'one' } = {},
): Series {
  const series = new Series(minutes * minuteMs, minuteMs, nowMs)
  for (const key of keys) rings.addTo(series, { cluster, resource: 'pods', key, fromMs })
  return series
}

const make = (maxBytes = 64 * mebibyte): UsageRings =>
  new UsageRings({ maxBytes, slotMs: minuteMs })

describe('rings of usage', () => {
  it('keep the last measurement of each minute of an hour, and forget older ones', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    for (let minute = 0; minute < 200; minute++) {
      const atMs = startMs + minute * minuteMs
      recorder.measured('shop/a', { atMs, cpu: -1, memory: -1 })
      recorder.measured('shop/a', { atMs: atMs + 30_000, cpu: minute, memory: minute * 2 })
    }
    const nowMs = startMs + 199 * minuteMs + 45_000
    const { cpu, memory, timesMs } = seriesOf(rings, ['shop/a'], { nowMs })
    expect(cpu).toEqual(Array.from({ length: 60 }, (_, at) => 140 + at))
    expect(memory).toEqual(Array.from({ length: 60 }, (_, at) => (140 + at) * 2))
    expect(timesMs.at(-1)).toBe(startMs + 200 * minuteMs)
    const later = seriesOf(rings, ['shop/a'], { nowMs: nowMs + 30 * minuteMs })
    expect(later.cpu).toEqual([
      ...Array.from({ length: 30 }, (_, at) => 170 + at),
      ...Array.from({ length: 30 }, () => null),
    ])
  })

  it('leave empty what was not measured, and take late measurements', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    for (const minute of [0, 3, 1, 90]) {
      recorder.measured('shop/a', { atMs: startMs + minute * minuteMs, cpu: minute, memory: 1 })
    }
    recorder.measured('shop/a', { atMs: startMs, cpu: 5, memory: 1 })
    const nowMs = startMs + 90 * minuteMs
    const { cpu } = seriesOf(rings, ['shop/a'], { nowMs: nowMs + 1 })
    expect(cpu.filter((value) => value !== null)).toEqual([90])
    recorder.measured('shop/b', { atMs: startMs, cpu: 1, memory: 1 })
    recorder.measured('shop/b', { atMs: startMs + 4 * minuteMs, cpu: 4, memory: 1 })
    recorder.measured('shop/b', { atMs: startMs + 2 * minuteMs, cpu: 2, memory: 1 })
    const b = seriesOf(rings, ['shop/b'], { nowMs: startMs + 5 * minuteMs, minutes: 5 })
    expect(b.cpu).toEqual([1, null, 2, null, 4])
  })

  it('take no harm from clocks that are wrong', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    const nowMs = Date.now()
    recorder.measured('shop/a', { atMs: nowMs, cpu: 1, memory: 1 })
    recorder.measured('shop/b', { atMs: 8.64e15, cpu: 2, memory: 1 })
    recorder.measured('shop/c', { atMs: -10 * minuteMs, cpu: 3, memory: 1 })
    recorder.measured('shop/b', { atMs: nowMs + 1, cpu: 4, memory: 1 })
    const of = (key: string): unknown =>
      seriesOf(rings, [key], { nowMs: nowMs + 1 }).cpu.filter((value) => value !== null)
    expect([of('shop/a'), of('shop/b'), of('shop/c')]).toEqual([[1], [4], []])
  })

  it('are added up, with how many were measured, from when each object began', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    const nowMs = startMs + 3 * minuteMs
    for (let minute = 0; minute < 3; minute++) {
      const atMs = startMs + minute * minuteMs
      recorder.measured('shop/a', { atMs, cpu: 1, memory: 10 })
      if (minute > 0) recorder.measured('shop/b', { atMs, cpu: 2, memory: 20 })
    }
    const all = seriesOf(rings, ['shop/a', 'shop/b', 'shop/none'], { nowMs, minutes: 3 })
    expect(all).toMatchObject({ cpu: [1, 3, 3], memory: [10, 30, 30], counts: [1, 2, 2] })
    const fromMs = startMs + 2 * minuteMs
    expect(seriesOf(rings, ['shop/a'], { nowMs, minutes: 3, fromMs }).cpu).toEqual([null, null, 1])
  })

  it('are those of one cluster', () => {
    const rings = make()
    rings.recorder('one', 'pods').measured('shop/a', { atMs: startMs, cpu: 1, memory: 1 })
    rings.recorder('on', 'pods').measured('shop/a', { atMs: startMs, cpu: 7, memory: 1 })
    const nowMs = startMs + 1
    expect(seriesOf(rings, ['shop/a'], { nowMs, minutes: 1 }).cpu).toEqual([1])
    rings.drop('on')
    expect(seriesOf(rings, ['shop/a'], { nowMs, minutes: 1 }).cpu).toEqual([1])
    expect(seriesOf(rings, ['shop/a'], { nowMs, minutes: 1, cluster: 'on' }).cpu).toEqual([null])
    rings.drop('one')
    expect(rings.heldBytes).toBe(0)
    expect(rings.sinceMs('one', 'pods')).toBeUndefined()
  })

  it('end with their objects, and what is new in their place starts empty', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    const nowMs = startMs + 1
    const of = (key: string): unknown => seriesOf(rings, [key], { nowMs, minutes: 1 }).cpu[0]
    const measure = (...keys: readonly string[]): void => {
      for (const key of keys) recorder.measured(key, { atMs: startMs, cpu: 1, memory: 1 })
    }
    measure('shop/a', 'shop/b', 'shopping/a')
    recorder.ended('shop/a')
    recorder.ended('shop/a')
    expect([of('shop/a'), of('shop/b')]).toEqual([null, 1])
    recorder.measured('shop/c', { atMs: startMs - 5 * minuteMs, cpu: 3, memory: 1 })
    expect(of('shop/c')).toBeNull()
    // A list of one namespace says nothing of another.
    recorder.listed('shop', new Map([['shop/c', '']]))
    expect([of('shop/b'), of('shopping/a')]).toEqual([null, 1])
    recorder.listed(undefined, new Map())
    expect(rings.heldBytes).toBe(0)
  })

  it('are as many as the bytes allow: 100,000 take 60 MB', () => {
    const rings = make()
    const recorder = rings.recorder('one', 'pods')
    const count = 100_000
    for (let pod = 0; pod < count; pod++) {
      recorder.measured(`shop/pod-${pod}`, { atMs: startMs, cpu: 1, memory: 1 })
    }
    expect(rings.isFull).toBe(false)
    expect(rings.heldBytes).toBeGreaterThan(60_000_000)
    expect(rings.heldBytes).toBeLessThan(62_000_000)
    for (let pod = count; pod < 2 * count; pod++) {
      recorder.measured(`shop/pod-${pod}`, { atMs: startMs, cpu: 1, memory: 1 })
    }
    expect(rings.isFull).toBe(true)
    expect(rings.heldBytes).toBeLessThanOrEqual(64 * mebibyte + 256 * 700)
    // Room that becomes free is used again.
    recorder.ended('shop/pod-0')
    expect(rings.isFull).toBe(false)
    recorder.measured('shop/new', { atMs: startMs, cpu: 9, memory: 1 })
    expect(seriesOf(rings, ['shop/new'], { nowMs: startMs + 1, minutes: 1 }).cpu).toEqual([9])
    expect(rings.isFull).toBe(true)
  })
})
