import { type Fields, fieldsOf, itemsOf, textOf } from '../fields.ts'

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Texts in the order that Go has for them. */
export function inOrder(texts: Iterable<string>): readonly string[] {
  return [...new Set(texts)].toSorted(byCodeUnits)
}

/** A list of which so many are shown. */
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

/** A label selector as kubectl takes it; `''` where it selects everything, or is absent. */
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

/** The same, with a word for a selector that selects everything. */
export function selectorTextOrNone(selector: unknown): string {
  const text = selectorText(selector)
  return text === '' ? '<none>' : text
}

/** The values of one member of each item, in a row. */
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

/** Access modes, in short. */
export function accessModesText(list: unknown): string {
  const has = new Set(Array.isArray(list) ? list : [])
  return Object.entries(modes)
    .flatMap(([mode, short]) => (has.has(mode) ? [short] : []))
    .join(',')
}

/** The addresses of a load balancer. */
export function loadBalancerText(loadBalancer: unknown): string {
  const addresses = itemsOf(fieldsOf(loadBalancer)['ingress']).flatMap(
    ({ ip, hostname }) => textOf(ip) ?? textOf(hostname) ?? [],
  )
  return inOrder(addresses).join(',')
}
