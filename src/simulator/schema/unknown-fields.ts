import { isJsonObject } from '../../lib/json.ts'
import type { KindSchema } from '../api/captured-api.ts'
import { memberSchema, type Path, pathText, resolvedSchema, type Schema } from '../api/schema.ts'

/** The paths of the fields that the schema of a built-in kind does not declare, `metadata` aside. */
export function unknownFields(object: object, { root, schemas }: KindSchema): readonly string[] {
  const unknown: string[] = []
  const look = (value: unknown, schema: Schema | undefined, path: Path): void => {
    if (schema === undefined) return
    const { allOf, ...own } = schema
    const of =
      allOf?.length === 1
        ? resolvedSchema(allOf[0] ?? own, schemas)
        : resolvedSchema(schema, schemas)
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) look(item, of.items, [...path, at])
      return
    }
    // A schema without members is any JSON.
    if (
      !isJsonObject(value) ||
      (of.properties === undefined && typeof of.additionalProperties !== 'object')
    )
      return
    for (const [name, member] of Object.entries(value)) {
      const at = [...path, name]
      if (path.length === 0 && name === 'metadata') continue
      const declared = memberSchema(of, name)
      if (declared === undefined) unknown.push(pathText(at))
      else look(member, declared, at)
    }
  }
  look(object, root, [])
  return unknown
}
