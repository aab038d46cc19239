// A character that GraphQL does not allow in a name becomes `_xHH_`, with its code point in capital hexadecimal digits.
// Three more are escaped, so that the JSON name can be read back and no name starts with `__`, which GraphQL reserves: a
// leading digit; an underscore before `x` and a hexadecimal digit; the first underscore of a result that would start with
// two. The empty name becomes `_x_`; the underscore of a field that is called `_x_` is escaped as well.

const notAllowed = /^[0-9]|[^_A-Za-z0-9]|_(?=x[0-9A-F])/gu

/**
 * The GraphQL name of a JSON field: the same name, with the characters escaped that GraphQL does not allow (`$ref` ->
 * `_x24_ref`, `a-b` -> `a_x2D_b`, `3d` -> `_x33_d`, `__typename` -> `_x5F__typename`). {@link jsonNameOf} is the inverse.
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

/** The JSON name of a field: the inverse of {@link graphqlNameOf}. */
export function jsonNameOf(graphqlName: string): string {
  if (graphqlName === '_x_') return ''
  return graphqlName.replaceAll(/_x([0-9A-F]+)_/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  )
}
