// The rule: a character that GraphQL does not allow in a name is written as `_xHH_`, with its code point in capital
// hexadecimal digits. Three things are escaped besides, so that the way back is unambiguous and no name starts with
// the two underscores that GraphQL keeps for itself: a leading digit; an underscore before `x` and a hexadecimal
// digit; the first underscore of a result that would start with two. The empty name is `_x_`, and a field that is
// really called so gives its underscore away too.

const notAllowed = /^[0-9]|[^_A-Za-z0-9]|_(?=x[0-9A-F])/gu

/**
 * The GraphQL name of a JSON field: itself where GraphQL allows it, else with the offending characters escaped
 * (`$ref` -> `_x24_ref`, `a-b` -> `a_x2D_b`, `3d` -> `_x33_d`, `__typename` -> `_x5F__typename`). One to one:
 * {@link jsonNameOf} gives the JSON name back.
 */
export function graphqlNameOf(jsonName: string): string {
  if (jsonName === '') return '_x_'
  if (jsonName === '_x_') return '_x5F_x_'
  const name = jsonName.replaceAll(notAllowed, escaped)
  return name.startsWith('__') ? `${escaped('_')}${name.slice(1)}` : name
}

function escaped(character: string): string {
  return `_x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}_`
}

/** The JSON name of a field that {@link graphqlNameOf} has named. */
export function jsonNameOf(graphqlName: string): string {
  if (graphqlName === '_x_') return ''
  return graphqlName.replaceAll(/_x([0-9A-F]+)_/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  )
}
