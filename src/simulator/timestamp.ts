/** A moment as Kubernetes writes it: RFC 3339 in UTC, in whole seconds. */
export function timestamp(at: Date = new Date()): string {
  return `${at.toISOString().slice(0, 19)}Z`
}
