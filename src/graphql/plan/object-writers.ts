import {
  type LeafWriter,
  parseHeld,
  type SelectedField,
  type SelectedValue,
  writeJson,
} from '../../informer/codec/projection.ts'
import { type KubernetesObject, objectKey } from '../../kubernetes/object.ts'
import { valuesAt } from '../../query/index/path.ts'
import type { Kind } from '../model/kind.ts'
import { encodeObjectId, objectIdOf } from '../model/object-id.ts'
import { readPath } from '../schema/resolvers.ts'

/** Writes the `id` of an object from its UID. Returns `undefined` without a UID: the object must be decoded. */
export function idWriter(kind: Kind, cluster: string): LeafWriter {
  const { group, kind: name } = kind.resource
  return (json) => {
    if (
      json !== undefined &&
      json === lastId.uid &&
      kind === lastId.kind &&
      cluster === lastId.cluster
    )
      return lastId.text
    const uid: unknown = json === undefined ? undefined : JSON.parse(json)
    if (typeof uid !== 'string' || uid === '') return undefined
    const text = `"${encodeObjectId({ cluster, group, kind: name, object: { uid } })}"`
    lastId = { uid: json, kind, cluster, text }
    return text
  }
}

interface WrittenId {
  readonly uid: string | undefined
  readonly kind: Kind | undefined
  readonly cluster: string
  readonly text: string
}

/** One answer often contains an object's `id` several times in a row: it is encoded once. */
let lastId: WrittenId = { uid: undefined, kind: undefined, cluster: '', text: '' }

/** Writes the `id` of an object from its UID, or from its key if it lacks a UID. */
export function idValue(kind: Kind, cluster: string): SelectedValue {
  return {
    form: 'made',
    make(object) {
      const { metadata } = object as unknown as KubernetesObject
      const id = objectIdOf(
        { kind, cluster },
        { key: objectKey(metadata), uid: metadata.uid ?? '' },
      )
      return JSON.stringify(id)
    },
  }
}

/** The selection of a `json` path. */
export interface JsonField extends Pick<SelectedField, 'path' | 'value'> {
  /** Whether the path goes through a list: the writer then parses the list. */
  readonly isThroughList: boolean
}

/** Selects an object or the value at a path. Throws `PathError`. */
export function jsonField(path: string | null | undefined): JsonField {
  const whole = { value: { form: 'leaf', write: writeJson }, isThroughList: false } as const
  if (path === undefined || path === null) return { path: [], ...whole }
  const { steps } = readPath(path)
  const each = steps.findIndex(({ form }) => form !== 'field')
  const names = steps
    .slice(0, each < 0 ? steps.length : each)
    .flatMap((step) => (step.form === 'field' ? [step.name] : []))
  if (each < 0) return { path: names, ...whole }
  // Parses the value from the first list on.
  const rest = { text: path, steps: steps.slice(each), many: true }
  const write: LeafWriter = (json) =>
    JSON.stringify(json === undefined ? [] : valuesAt(rest, parsed(json)))
  return { path: names, value: { form: 'leaf', write }, isThroughList: true }
}

let last: { readonly text: string; readonly value: unknown } = { text: 'null', value: null }

/** Paths of one object often share a beginning: the list that they go through is parsed once. */
function parsed(text: string): unknown {
  if (text !== last.text) last = { text, value: parseHeld(text) }
  return last.value
}
