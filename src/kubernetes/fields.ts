/** A JSON object with unknown members. */
export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/** The value as an object; an empty one if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : noFields
}

/** A member's value, `undefined` if there is none: names of members, as of a ConfigMap's, may be those of all objects. */
export function ownValue(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The items of a list as objects; none if it is not a list. */
export function itemsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** A non-empty string, else `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The texts of a list; none if it is not a list. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** A number, else `undefined`. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** A number, else 0: the API omits zeros. */
export function countOf(value: unknown): number {
  return numberOf(value) ?? 0
}

export const specOf = (object: Fields): Fields => fieldsOf(object['spec'])
export const statusOf = (object: Fields): Fields => fieldsOf(object['status'])
