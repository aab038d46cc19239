import {
  type LeafWriter,
  writeBoolean,
  writeFloat,
  writeInt,
  writeInt64,
  writeJson,
  writeString,
} from '../../informer/codec/projection.ts'
import type { ScalarForm } from '../schema/field-source.ts'

/** Scalars whose coercion keeps every value use `writeJson`. */
const writers: Readonly<Record<ScalarForm, LeafWriter>> = {
  string: writeString,
  boolean: writeBoolean,
  int: writeInt,
  int64: writeInt64,
  float: writeFloat,
  dateTime: writeJson,
  quantity: writeJson,
  intOrString: writeJson,
  json: writeJson,
  stringMap: writeJson,
  quantityMap: writeJson,
}

const requiredWriters = new Map<LeafWriter, LeafWriter>()

/** Writes values of a scalar as GraphQL does; `undefined` for values that GraphQL refuses and for `required` nulls. */
export function leafWriter(scalar: ScalarForm, required: boolean): LeafWriter {
  const write = writers[scalar]
  if (!required) return write
  let checked = requiredWriters.get(write)
  if (checked === undefined) {
    checked = (json) => (json === undefined || json === 'null' ? undefined : write(json))
    requiredWriters.set(write, checked)
  }
  return checked
}
