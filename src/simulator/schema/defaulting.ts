import { isJsonObject } from '../../lib/json.ts'
import { cloneJson } from '../api/json.ts'
import { memberSchema, type StructuralSchema } from './structural-schema.ts'

/**
 * A value with the defaults of its schema in the places where nothing is, or a `null` that may not be. A `null` that
 * may not be and has no default is dropped.
 */
export function defaulted(value: unknown, schema: StructuralSchema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => defaulted(item, items))
  }
  if (!isJsonObject(value)) return value
  const filled: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    const member = memberSchema(schema, name)
    if (member === undefined) filled.push([name, part])
    else if (part !== null || member.nullable === true) filled.push([name, defaulted(part, member)])
    else if (member.default !== undefined) filled.push([name, fromDefault(member)])
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (member.default !== undefined && !Object.hasOwn(value, name)) {
      filled.push([name, fromDefault(member)])
    }
  }
  return Object.fromEntries(filled)
}

const fromDefault = (schema: StructuralSchema): unknown =>
  defaulted(cloneJson(schema.default), schema)
