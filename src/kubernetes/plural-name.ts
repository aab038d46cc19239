/** How the ending of a kind changes in the name of its resource; longer endings come first. */
const endings: readonly (readonly [kind: string, resource: string])[] = [
  ['ex', 'ices'],
  ['ix', 'ices'],
  ['fe', 'ves'],
  ['is', 'es'],
  ['us', 'i'],
  ['um', 'a'],
  ['on', 'a'],
  ['f', 'ves'],
  ['y', 'ies'],
  ['a', 'ae'],
  ['', 'es'],
  ['', 's'],
  ['', ''],
]

/**
 * The plural of a field name, formed as the API forms the resource name from the kind: `networkPolicy` of NetworkPolicy
 * and `networkpolicies` becomes `networkPolicies`. If the resource name is not formed from the kind (`pods` of
 * PodMetrics), it appends `s` unless the name ends in one. Singular and plural may coincide.
 */
export function pluralOf(fieldName: string, kind: string, resource: string): string {
  const singular = kind.toLowerCase()
  const ending = endings.find(
    ([from, to]) =>
      singular.endsWith(from) &&
      `${singular.slice(0, singular.length - from.length)}${to}` === resource,
  )
  if (ending === undefined) return fieldName.endsWith('s') ? fieldName : `${fieldName}s`
  const [from, to] = ending
  return `${fieldName.slice(0, fieldName.length - from.length)}${to}`
}
