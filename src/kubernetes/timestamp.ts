/** A `Time` as Kubernetes writes it: RFC 3339, UTC, whole seconds. */
export function timestamp(epochMs: number): string {
  let text = recent.get(epochMs)
  if (text !== undefined) return text
  text = `${new Date(epochMs).toISOString().slice(0, 19)}Z`
  if (recent.size >= mostRecent) recent.clear()
  recent.set(epochMs, text)
  return text
}

/** Siblings have the same times again and again. Cleared when full. */
const recent = new Map<number, string>()
const mostRecent = 4096

/** A `MicroTime` as Kubernetes writes it: RFC 3339, UTC, microseconds. */
export function microTimestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`
}
