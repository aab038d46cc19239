import type { Unstructured, ObjectMeta } from '../../kubernetes/object.ts'
import { parseJson } from '../api/json.ts'

/** One immutable version of an object: its JSON text, ready to be sent, and the values by which requests select. */
export interface StoredObject {
  /** `namespace/name`, or `name`. */
  readonly key: string
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly labels: Readonly<Record<string, string>> | undefined
  /** The values of the resource's selectable fields, in the order of their declaration. */
  readonly fields: readonly string[]
  /** `{"metadata":{…},…}`: no `kind` and `apiVersion`, as in the items of a LIST. */
  readonly text: Buffer
  /** The position in {@link text} after the metadata. */
  readonly metadataEnd: number
}

const head = '{"metadata":'

/** Writes an object as text. `fieldsOf` reads the values of its selectable fields. */
export function storedObject(
  object: Unstructured,
  revision: number,
  fieldsOf: (object: Unstructured) => readonly string[],
): StoredObject {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...body } = object
  const { name, generateName, namespace = '', uid, resourceVersion: _, ...rest } = metadata
  // The order of a kube-apiserver. What is before `resourceVersion` has no quotation mark: withRevision relies on it.
  const ordered: ObjectMeta = {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === '' ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    resourceVersion: String(revision),
    ...rest,
  }
  const metadataText = head + JSON.stringify(ordered)
  const bodyText = JSON.stringify(body)
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    namespace,
    name,
    revision,
    labels: metadata.labels,
    fields: fieldsOf(object),
    text: Buffer.from(
      bodyText === '{}' ? `${metadataText}}` : `${metadataText},${bodyText.slice(1)}`,
    ),
    metadataEnd: Buffer.byteLength(metadataText),
  }
}

/** The same object with another resource version, as DELETED events carry it. */
export function withRevision(object: StoredObject, revision: number): StoredObject {
  const mark = '"resourceVersion":"'
  const start = object.text.indexOf(mark) + mark.length
  const end = object.text.indexOf('"', start)
  const number = String(revision)
  return {
    ...object,
    revision,
    text: Buffer.concat([
      object.text.subarray(0, start),
      Buffer.from(number),
      object.text.subarray(end),
    ]),
    metadataEnd: object.metadataEnd + number.length - (end - start),
  }
}

/** Reads an object, as one of the given kind. */
export function readObject(
  object: StoredObject,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): Unstructured {
  return parseJson(
    `${kindPrefix(kind, apiVersion)}${object.text.toString().slice(1)}`,
  ) as Unstructured
}

/** `{"kind":…,"apiVersion":…,`: completes an item's text, without its first brace, to a whole object. */
export function kindPrefix(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`
}
