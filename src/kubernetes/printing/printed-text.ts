import { type Fields, fieldsOf, itemsOf, textOf } from '../fields.ts'

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Distinct texts in the order of Go's `sort`. */
export function inOrder(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].toSorted(byCodeUnits)
}

/** The first texts of a list, and the number of the others. */
export function firstFew(texts: readonly string[], most: number, absent: string): string {
  const shown = texts.slice(0, most).join(',')
  const rest = texts.length - most
  if (rest > 0) return `${shown} + ${rest} more...`
  return shown === '' ? absent : shown
}

/** Labels: `app=web,tier=front`. */
export function labelsText(labels: unknown): string {
  const pairs = Object.entries(fieldsOf(labels)).map(([key, value]) => `${key}=${String(value)}`)
  return pairs.length === 0 ? '<none>' : pairs.toSorted(byCodeUnits).join(',')
}

/** A label selector in kubectl's syntax; `''` if it selects everything or is absent. */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector)
  const requirements = [
    ...Object.entries(fieldsOf(matchLabels)).map(([key, value]) => ({
      key,
      text: `${key}=${String(value)}`,
    })),
    ...itemsOf(matchExpressions).map(requirementOf),
  ]
  return requirements
    .toSorted((a, b) => byCodeUnits(a.key, b.key))
    .map(({ text }) => text)
    .join(',')
}

function requirementOf({ key: name, operator, values }: Fields): { key: string; text: string } {
  const key = textOf(name) ?? ''
  const all = inOrder(Array.isArray(values) ? values.map(String) : []).join(',')
  switch (operator) {
    case 'In':
      return { key, text: `${key} in (${all})` }
    case 'NotIn':
      return { key, text: `${key} notin (${all})` }
    case 'DoesNotExist':
      return { key, text: `!${key}` }
    default:
      return { key, text: key }
  }
}

/** A label selector, or `<none>` if it selects everything. */
export function selectorTextOrNone(selector: unknown): string {
  const text = selectorText(selector)
  return text === '' ? '<none>' : text
}

export function joinedMembers(items: unknown, member: string): string {
  return itemsOf(items)
    .map((item) => textOf(item[member]) ?? '')
    .join(',')
}

const modes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

export function accessModesText(list: unknown): string {
  const has = new Set(Array.isArray(list) ? list : [])
  return Object.entries(modes)
    .flatMap(([mode, short]) => (has.has(mode) ? [short] : []))
    .join(',')
}

export function loadBalancerText(loadBalancer: unknown): string {
  const addresses = itemsOf(fieldsOf(loadBalancer)['ingress']).flatMap(
    ({ ip, hostname }) => textOf(ip) ?? textOf(hostname) ?? [],
  )
  return inOrder(addresses).join(',')
}

/** A duration as kubectl shows ages: two units while it is short, then one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return twoUnits(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`
}

function twoUnits(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`
}
