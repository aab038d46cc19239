import { converted } from '../storage/object-conversion.ts'
import type { Representation } from './accept-header.ts'
import type { ServedResource } from '../api/served-resource.ts'
import { kindPrefix, readObject, type StoredObject } from '../storage/stored-object.ts'

/** How the objects of one request are written: in which version, whole or as metadata. */
export interface ObjectText {
  /** The pieces of an object in a list. */
  readonly item: (object: StoredObject) => readonly Buffer[]
  /** The pieces of an object on its own, with its kind. */
  readonly whole: (object: StoredObject) => readonly Buffer[]
  /** The kind and version that {@link whole} says. */
  readonly kind: string
  readonly apiVersion: string
  /** The kind of a list of them. */
  readonly listKind: string
}

const brace = Buffer.from('}')

/** Texts go out as they are stored; only another version of an object has to be parsed and written anew. */
export function objectText(served: ServedResource, representation: Representation): ObjectText {
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
  const { kind, apiVersion } = representation === 'metadata' ? partial : served
  const prefix = Buffer.from(kindPrefix(kind, apiVersion))
  const listKind = `${kind}List`
  const shown = { kind, apiVersion, listKind }
  if (representation === 'metadata') {
    const whole = ({ text, metadataEnd }: StoredObject): readonly Buffer[] => [
      prefix,
      text.subarray(1, metadataEnd),
      brace,
    ]
    return { ...shown, whole, item: whole }
  }
  const textOf = (object: StoredObject): Buffer =>
    served.apiVersion === served.stored.apiVersion ? object.text : convertedText(object, served)
  const whole = (object: StoredObject): readonly Buffer[] => [prefix, textOf(object).subarray(1)]
  // Items of custom resources name their kind, those of built-in ones do not.
  return { ...shown, whole, item: served.stored.custom ? whole : (object) => [textOf(object)] }
}

function convertedText(object: StoredObject, { stored, apiVersion }: ServedResource): Buffer {
  const {
    kind: _kind,
    apiVersion: _version,
    ...rest
  } = converted(readObject(object, stored), apiVersion)
  return Buffer.from(JSON.stringify(rest))
}
