// Imports internals: selections for the projection.
import { pick, type Random } from '../../bench/support/random.ts'
import {
  type LeafWriter,
  type ObjectSelection,
  type SelectedEntryField,
  type SelectedField,
  type SelectedValue,
  writeBoolean,
  writeFloat,
  writeInt,
  writeInt64,
  writeJson,
  writeString,
} from '../../src/informer/codec/projection.ts'
import { makeLength, writeLength } from './reference-projection.ts'

const writers: readonly LeafWriter[] = [
  writeString,
  writeBoolean,
  writeInt,
  writeInt64,
  writeFloat,
  writeJson,
]
const strangeProperties = ['missing', '__proto__', 'constructor', '10', 'a"b', '', 'ключ'] as const
const maxFields = 6

/** A selection for objects that look about like `sample`: most of what it selects is there and of the expected type. */
export function randomSelection(sample: object, random: Random): ObjectSelection {
  const count = 1 + Math.floor(random() * maxFields)
  return {
    fields: Array.from({ length: count }, (_, index) => randomField(sample, index, random)),
  }
}

function randomField(sample: object, index: number, random: Random): SelectedField {
  const path: string[] = []
  let value: unknown = sample
  if (random() > 0.03) {
    do {
      const names = Object.keys(value as object)
      const property =
        names.length === 0 || random() < 0.05
          ? pick(strangeProperties, random)
          : pick(names, random)
      path.push(property)
      value = Object.hasOwn(value as object, property)
        ? (value as Readonly<Record<string, unknown>>)[property]
        : undefined
    } while (isRecord(value) && random() < 0.4)
  }
  return { key: `field${index}`, path, value: randomValue(value, random) }
}

function randomValue(sample: unknown, random: Random): SelectedValue {
  const choice = random()
  const required = random() < 0.03
  if (choice < 0.01) return { form: 'leaf', write: pick(writers, random) }
  if (choice < 0.03) return { form: 'list', of: randomValue(undefined, random), required }
  if (choice < 0.06) return { form: 'text', text: '"constant"' }
  if (choice < 0.12) return { form: 'leaf', write: writeLength }
  if (choice < 0.25) return { form: 'leaf', write: writeJson }
  if (Array.isArray(sample)) {
    return { form: 'list', of: randomValue(pick([...sample, undefined], random), random), required }
  }
  if (!isRecord(sample)) return { form: 'leaf', write: writerFor(sample, random) }
  if (choice < 0.35) return { form: 'made', make: makeLength }
  if (choice < 0.85) return { form: 'object', selection: randomSelection(sample, random), required }
  const inner = pick([...Object.values(sample), undefined], random)
  const fields: SelectedEntryField[] = [
    { key: 'key', value: 'key' },
    { key: 'value', value: randomValue(inner, random) },
    { key: 'type', value: { form: 'text', text: '"Entry"' } },
  ]
  return {
    form: 'entries',
    fields: fields.filter(() => random() < 0.8).toSorted(() => random() - 0.5),
    required,
  }
}

function writerFor(sample: unknown, random: Random): LeafWriter {
  if (typeof sample === 'string') return writeString
  if (typeof sample === 'boolean') return writeBoolean
  if (typeof sample === 'number') return pick([writeInt, writeInt64, writeFloat], random)
  return random() < 0.2 ? pick(writers, random) : writeJson
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
