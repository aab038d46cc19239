import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  lastAppliedAnnotation,
  objectKey,
  type ObjectMeta,
} from '../../kubernetes/object.ts'
import { AnswerCache } from './answer-cache.ts'
import { Difference } from './difference.ts'
import { parseExact } from '../../lib/json.ts'
import { stringBytes, valueBytes } from './memory-size.ts'
import { mayHoldLongInteger, withoutSpace } from './json-bytes.ts'
import { ObjectText } from './object-text.ts'
import { withinRoom } from './answer-room.ts'
import { projectParsed } from './parsed-projection.ts'
import type { ObjectSelection, SelectedValue } from './projection.ts'
import { readRow, Row, RowWriter } from './row.ts'
import { TemplateSet } from './template-set.ts'
import { projectText } from './text-projection.ts'
import { holdWhole, readWholeText, WholeText } from './whole.ts'
import { MalformedObjectError, MissingMetadataError, WrongKindError } from './object-codec-error.ts'

declare const opaque: unique symbol

/** An object as it is held in memory. Only the codec that made it can read it. */
export interface HeldObject {
  readonly [opaque]: true
}

/** What something says of its kind; what is absent is not said. */
interface TypeClaim {
  readonly apiVersion?: unknown
  readonly kind?: unknown
  readonly metadata?: ObjectMeta
}

/** An object in both its forms. */
interface EncodedObject {
  readonly held: HeldObject
  readonly object: KubernetesObject
}

/**
 * Decides alone how the objects of one resource are held in memory, and what of them is not:
 * `metadata.managedFields` and the annotation `kubectl.kubernetes.io/last-applied-configuration` are cut off the bytes
 * before they are parsed. An object is otherwise what `JSON.parse` makes of its text, with `apiVersion` and `kind`
 * first, and integers that a double cannot hold are `JSON.rawJSON` of their digits.
 *
 * Objects share structure: with their siblings, and with what is held. They are deeply read-only.
 */
export interface ObjectCodec {
  /**
   * Takes the UTF-8 JSON of one object, as an item of a LIST (without `apiVersion` and `kind`, where the kind is
   * built in) or from a watch event (with them). The bytes may change after the call.
   * Throws {@link WrongKindError}, {@link MissingMetadataError} and {@link MalformedObjectError}.
   */
  encode(text: Uint8Array): EncodedObject
  decode(held: HeldObject): KubernetesObject
  /** Throws {@link WrongKindError} where something says that it is of another kind than the objects here. */
  checkType(object: TypeClaim): void
  /**
   * Holds an object that was changed after `encode`, by a user's transform. What has no form in JSON is lost, and
   * `apiVersion` and `kind` are always the resource's. Throws {@link MissingMetadataError} and
   * {@link MalformedObjectError}.
   */
  hold(object: KubernetesObject): HeldObject
  /**
   * About how many bytes of memory an object takes as it is held, without what it shares with others: always the same
   * number for the same held object.
   */
  bytesOf(held: HeldObject): number
  /** About how many bytes of memory the held objects share, those included that wait to be collected. */
  readonly sharedBytes: number
  /**
   * Makes the function from a held object to the JSON text of what is selected of it: what `JSON.stringify` would make
   * of the members picked from the decoded object, most often without decoding. It answers `undefined` where a writer of
   * the selection does, or where a value is not of the selected form: then the object is to be decoded, and whoever asks
   * finds out what is wrong. What is prepared for a selection is kept per selection object, within a bound.
   */
  projection(selection: ObjectSelection): Projection
}

/** Throws `AnswerTooLongError` where the text would have more than `maxUnits` UTF-16 units, before all of it is written. */
export type Projection = (held: HeldObject, maxUnits?: number) => string | undefined

/** `metadataOnly`: of each object everything but its `metadata` is cut, and a `PartialObjectMetadata` is accepted. */
export function createObjectCodec(options: {
  readonly resource: ApiResource
  readonly metadataOnly?: boolean
}): ObjectCodec {
  return new TemplateCodec(options.resource, options.metadataOnly ?? false)
}

/** A row beyond this part of its object's text saves too little to be worth it. */
const maxRowPart = 3 / 4
/**
 * Of prepared answers, as {@link AnswerCache} counts them: about two kilobytes for each selection and template. Where many selections
 * are live, each is asked for every template again and again, and making an answer takes ten times as long as filling it.
 */
const maxAnswerBytes = 64 << 20

/** A row, or a whole text, without the text. */
const heldHeaderBytes = 48

type Held = Row | WholeText | KubernetesObject

/** Holds an object as a {@link Row} against a sibling's template where there is a fitting one, or else as a whole. */
class TemplateCodec implements ObjectCodec {
  readonly #resource: ApiResource
  readonly #metadataOnly: boolean
  readonly #type: { readonly apiVersion: string; readonly kind: string }
  readonly #text: ObjectText
  readonly #difference = new Difference()
  readonly #writer = new RowWriter()
  /** Apart from each other, since transformed objects do not look like those that came. */
  readonly #cameTemplates = new TemplateSet()
  readonly #changedTemplates = new TemplateSet()
  readonly #answers = new AnswerCache(maxAnswerBytes)

  constructor(resource: ApiResource, metadataOnly: boolean) {
    this.#resource = resource
    this.#metadataOnly = metadataOnly
    this.#type = { apiVersion: apiVersionOf(resource), kind: resource.kind }
    this.#text = new ObjectText(resource, metadataOnly)
  }

  encode(text: Uint8Array): EncodedObject {
    try {
      const loaded = this.#text.load(text) || this.#text.load(withoutSpace(text))
      return (
        (loaded ? this.#encodeText(this.#cameTemplates) : undefined) ?? this.#encodeParsed(text)
      )
    } finally {
      this.#text.release()
    }
  }

  decode(held: HeldObject): KubernetesObject {
    const own = held as unknown as Held
    if (own instanceof Row) return readRow(own)
    return own instanceof WholeText ? readWholeText(own) : own
  }

  hold(object: KubernetesObject): HeldObject {
    this.#checkMetadata(object)
    const typed = { ...this.#type, ...object, ...this.#type }
    const text = this.#stringify(typed)
    if (text === undefined) return encoded(typed, typed).held
    try {
      this.#text.loadWhole(text)
      const { held } = this.#encodeText(this.#changedTemplates) ?? encoded(typed, typed)
      return held
    } finally {
      this.#text.release()
    }
  }

  bytesOf(held: HeldObject): number {
    const own = held as unknown as Held
    const isText = own instanceof Row || own instanceof WholeText
    return isText ? heldHeaderBytes + stringBytes(own.text) : valueBytes(own)
  }

  get sharedBytes(): number {
    return this.#cameTemplates.bytes + this.#changedTemplates.bytes
  }

  projection(selection: ObjectSelection): Projection {
    const value: SelectedValue = { form: 'object', selection, required: true }
    const project = (held: HeldObject): string | undefined => {
      const own = held as unknown as Held
      if (own instanceof Row) {
        const answer = this.#answers.answer(own.template, selection)
        return answer === undefined ? projectParsed(value, readRow(own)) : answer.fill(own)
      }
      return own instanceof WholeText
        ? projectText(value, own.text, 0, own.text.length)
        : projectParsed(value, own)
    }
    return (held, maxUnits = Number.POSITIVE_INFINITY) => withinRoom(maxUnits, () => project(held))
  }

  /** Encodes what `#text` has. `undefined` where the bytes alone did not tell what is in it. */
  #encodeText(templates: TemplateSet): EncodedObject | undefined {
    const text = this.#text
    const template = templates.find(text)
    const row = template === undefined ? undefined : this.#rowOf(template)
    if (row !== undefined) {
      const object = this.#parse(() => readRow(row))
      const made = templates.learn(text, object, row.text.length)
      return encoded(made === undefined ? row : new Row(made, '[]', false), object)
    }
    const exact = mayHoldLongInteger(text.bytes, 0, text.end)
    const whole = new WholeText(text.toString(), exact)
    const object = this.#parse(() => readWholeText(whole))
    if (!this.#isClean(object)) return undefined
    const made = templates.learn(text, object, text.end)
    return encoded(
      made === undefined ? holdWhole(object, whole.text, exact) : new Row(made, '[]', false),
      object,
    )
  }

  #rowOf(template: Parameters<Difference['find']>[0]): Row | undefined {
    if (!this.#difference.find(template, this.#text)) return undefined
    return this.#writer.write(template, this.#text, this.#difference, this.#text.end * maxRowPart)
  }

  /** Does on the parsed object what could not be done on the bytes. */
  #encodeParsed(text: Uint8Array): EncodedObject {
    const source = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8')
    const parsed = this.#parse(() => parseExact(source))
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new MalformedObjectError(this.#resource, undefined, parsed, undefined)
    }
    const object = parsed as KubernetesObject
    this.checkType(object)
    this.#checkMetadata(object)
    const metadata = withoutBookkeeping(object.metadata)
    const rest = this.#metadataOnly ? {} : object
    const typed = { ...this.#type, ...rest, ...this.#type, metadata }
    return encoded(typed, typed)
  }

  #parse<T>(parse: () => T): T {
    try {
      return parse()
    } catch (error) {
      throw new MalformedObjectError(this.#resource, this.#text.key(), undefined, error)
    }
  }

  /** `undefined` where the engine cannot write it: parsing knows no depth, writing some thousand levels. */
  #stringify(object: KubernetesObject): string | undefined {
    try {
      return JSON.stringify(object)
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw new MalformedObjectError(this.#resource, keyOf(object.metadata), object, error)
    }
  }

  #isClean(object: KubernetesObject): boolean {
    const { metadata } = object
    return (
      object.kind === this.#type.kind &&
      object.apiVersion === this.#type.apiVersion &&
      typeof metadata === 'object' &&
      metadata !== null &&
      keyOf(metadata) !== undefined &&
      !Object.hasOwn(metadata, 'managedFields') &&
      metadata.annotations?.[lastAppliedAnnotation] === undefined
    )
  }

  checkType(object: TypeClaim): void {
    const { apiVersion, kind }: { apiVersion: unknown; kind: unknown } = {
      ...this.#type,
      ...object,
    }
    if (apiVersion === this.#type.apiVersion && kind === this.#type.kind) return
    const partial = apiVersion === 'meta.k8s.io/v1' && kind === 'PartialObjectMetadata'
    if (partial && this.#metadataOnly) return
    throw new WrongKindError(this.#resource, { apiVersion, kind }, keyOf(object.metadata))
  }

  #checkMetadata(object: KubernetesObject): void {
    if (keyOf(object.metadata) === undefined) {
      throw new MissingMetadataError(this.#resource, object.metadata)
    }
  }
}

function encoded(held: Held, object: KubernetesObject): EncodedObject {
  return { held: held as unknown as HeldObject, object }
}

/** `undefined` where there is no name, or a namespace that is none. */
function keyOf(metadata: ObjectMeta | undefined | null): string | undefined {
  const { name, namespace = '' }: { name?: unknown; namespace?: unknown } = metadata ?? {}
  if (typeof name !== 'string' || name === '' || typeof namespace !== 'string') return undefined
  return objectKey({ name, namespace })
}

function withoutBookkeeping(metadata: ObjectMeta & { managedFields?: unknown }): ObjectMeta {
  const { managedFields: _, ...kept } = metadata
  if (kept.annotations?.[lastAppliedAnnotation] === undefined) return kept
  const { [lastAppliedAnnotation]: __, ...annotations } = kept.annotations
  return { ...kept, annotations }
}
