import { parseExact } from '../../lib/exact-json.ts'
import { writeJson } from '../../informer/codec/leaf-writer.ts'
import type { LeafWriter, SelectedField } from '../../informer/codec/projection.ts'
import { parsePath, valuesAt } from '../../query/index/path.ts'
import type { Kind } from '../model/kind.ts'
import { encodeObjectId } from '../model/object-id.ts'

/** Writes the `id` of an object from its UID; an object without one is left to the slow way. */
export function idWriter(kind: Kind, cluster: string): LeafWriter {
  const { group, kind: name } = kind.resource
  return (json) => {
    const uid: unknown = json === undefined ? undefined : JSON.parse(json)
    if (typeof uid !== 'string' || uid === '') return undefined
    return `"${encodeObjectId({ cluster, group, kind: name, object: { uid } })}"`
  }
}

/** Writes an object, or what stands at a path of it. Throws `PathError`. */
export function jsonField(path: string | null | undefined): Pick<SelectedField, 'path' | 'value'> {
  const whole = { form: 'leaf', write: writeJson } as const
  if (path === undefined || path === null) return { path: [], value: whole }
  const parsed = parsePath(path)
  if (!parsed.many) {
    const names = parsed.steps.flatMap((step) => (step.form === 'field' ? [step.name] : []))
    return { path: names, value: whole }
  }
  const write: LeafWriter = (json) =>
    JSON.stringify(json === undefined ? [] : valuesAt(parsed, parseExact(json)))
  return { path: [], value: { form: 'leaf', write } }
}
