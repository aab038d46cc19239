/*
 * What the schema of a kind says against a document: fields that it does not know or lacks, values of another type, values
 * that are none of an enumeration. Level by level, so that each question to the gateway is about all places of one depth.
 * The API server has the last word: this is to be told while one types.
 */

import type { Problem } from '../edit/edited-text.ts'
import { createWords as say } from './create-words.ts'
import type { FieldsOf, KindField, KindFields } from './kind-fields.ts'
import type { ManifestDocument } from './manifest-text.ts'

/** A map of a document whose fields a place of the schema describes. */
interface Place {
  readonly value: Readonly<Record<string, unknown>>
  /** `spec.containers[*]` */
  readonly path: string
  /** `spec.containers[0]` */
  readonly field: string
}

/** More are no help. */
const mostProblems = 20
const mostPlaces = 2_000

export async function checkedBySchema(
  document: ManifestDocument,
  of: FieldsOf,
  fields: KindFields,
): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  const note = (field: string, message: string): void => {
    problems.push({ message: `${field}: ${message}`, line: document.lineOf(field) })
  }
  let level: readonly Place[] = [{ value: document.value, path: '', field: '' }]
  for (let places = 0; level.length > 0 && places < mostPlaces; places += level.length) {
    const known = await fields.at(of, [...new Set(level.map(({ path }) => path))])
    level = level.flatMap((place) => {
      const described = known.get(place.path) ?? []
      return described.length === 0 ? [] : checkedPlace(place, described, note)
    })
    if (problems.length >= mostProblems) break
  }
  return problems.slice(0, mostProblems)
}

type Note = (field: string, message: string) => void

/** Checks the fields of a place, and returns the places within. */
function checkedPlace(
  { value, field: outer }: Place,
  described: readonly KindField[],
  note: Note,
): readonly Place[] {
  const byName = new Map(described.map((one) => [one.name, one]))
  const at = (name: string): string => (outer === '' ? name : `${outer}.${name}`)
  for (const { name, required } of described) {
    if (required && (value[name] ?? null) === null) note(at(name), say.check.required)
  }
  return Object.entries(value).flatMap(([name, member]) => {
    const field = byName.get(name)
    if (field === undefined) {
      note(at(name), say.check.unknown)
      return []
    }
    return checkedValue(member, { ...field, field: at(name) }, note)
  })
}

/** Checks a value against its type, and returns the places within it. */
function checkedValue(
  value: unknown,
  {
    type,
    path,
    field,
    values,
  }: Pick<KindField, 'type' | 'path' | 'values'> & { readonly field: string },
  note: Note,
): readonly Place[] {
  if (value === null || value === undefined || type === 'any') return []
  const isMap = typeof value === 'object' && !Array.isArray(value)
  const inner = /^(\[\]|map\[string\])(.*)$/.exec(type)
  if (inner !== null) {
    const [, form, of = ''] = inner
    const isList = form === '[]'
    if (isList ? !Array.isArray(value) : !isMap) {
      note(field, say.check.type(isList ? say.check.list : say.check.map))
      return []
    }
    return Object.entries(value).flatMap(([key, item]) =>
      checkedValue(
        item,
        {
          type: of,
          path: `${path}[*]`,
          field: isList ? `${field}[${key}]` : `${field}.${key}`,
          values,
        },
        note,
      ),
    )
  }
  if (type === 'Object') {
    if (isMap) return [{ value: value as Place['value'], path, field }]
    note(field, say.check.type(say.check.map))
    return []
  }
  if (!fits(value, type)) note(field, say.check.type(say.check.types[type] ?? type))
  else if (values !== null && typeof value === 'string' && !values.includes(value)) {
    note(field, say.check.values(values))
  }
  return []
}

function fits(value: unknown, type: string): boolean {
  switch (type) {
    case 'string':
    case 'Time':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'IntOrString':
      return typeof value === 'string' || Number.isInteger(value)
    case 'Quantity':
      return typeof value === 'string' || typeof value === 'number'
    default:
      return true
  }
}
