/** How the last letters of a kind change in the name of its resource, longer endings first. */
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
 * Pluralises a field name as the API's resource name pluralises the kind: `networkPolicy` with NetworkPolicy and
 * `networkpolicies` gives `networkPolicies`. Where the resource's name is not made from the kind (`pods` of
 * PodMetrics), `s` is added unless the name ends in one. May return the name itself: singular and plural coincide.
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
