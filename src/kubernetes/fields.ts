/** A JSON object of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/** A value as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : noFields
}

/** The objects of a list; none where it is no list. */
export function itemsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** A text; `undefined` where it is empty or none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A number; `undefined` where it is none. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A number; 0 where it is absent, as the API leaves it out. */
export function countOf(value: unknown): number {
  return numberOf(value) ?? 0
}
