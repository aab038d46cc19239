/**
 * The text that tells one key from another: a string is its own; anything else is its JSON with the members of objects in
 * order, so that `{ cluster, name }` and `{ name, cluster }` of equal values are one key.
 */
export function keyIdentity(key: unknown): string {
  return typeof key === 'string' ? key : sortedJson(key)
}

/** A key as messages show it. */
export function shownKey(key: unknown): string {
  return typeof key === 'string' ? JSON.stringify(key) : sortedJson(key)
}

function sortedJson(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${sortedJson(member)}`)
  return `{${members.join(',')}}`
}
