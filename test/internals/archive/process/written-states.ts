import type { TestRecord } from '../batches.ts'

const names = 40

/** The change that a version is. Every eleventh removes its object. */
export function changeAt(version: number, bytes: number): TestRecord {
  const name = `object-${(version * 7) % names}`
  if (version % 11 === 0) return { type: 'REMOVED', name, version }
  return { name, version, rest: { data: { n: `${version}`, text: 'x'.repeat(bytes) } } }
}

/** The objects that there are at a version. */
export function stateAt(version: number, bytes: number): readonly TestRecord[] {
  const objects = new Map<string, TestRecord>()
  for (let at = Math.max(1, version - 11 * names); at <= version; at += 1) {
    const change = changeAt(at, bytes)
    if (change.type === 'REMOVED') objects.delete(change.name)
    else objects.set(change.name, change)
  }
  return [...objects.values()]
}
