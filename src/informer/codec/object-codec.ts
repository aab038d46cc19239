import { type ApiResource, apiVersionOf, groupResourceOf } from '../../kubernetes/api-resource.ts'
import {
  type KubernetesObject,
  lastAppliedAnnotation,
  objectKey,
  type ObjectMeta,
} from '../../kubernetes/object.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { parseExact } from '../../lib/json.ts'
import { heapShare } from '../../lib/process-memory.ts'
import { mayHoldLongInteger, withoutSpace } from './json-scan.ts'
import { type ObjectText, objectTextOf } from './object-text.ts'
import { type ObjectSelection, type SelectedValue, withinRoom } from './projection.ts'
import {
  Difference,
  holdWhole,
  readRow,
  readWholeText,
  Row,
  RowWriter,
  WholeText,
  writeRow,
} from './row.ts'
import { stringBytes, TemplateSet, valueBytes } from './template.ts'
import { AnswerCache } from './template-answer.ts'
import { projectParsed, projectText } from './value-projection.ts'

declare const opaque: unique symbol

/** An object as it is held in memory. Only its codec can read it. */
export interface HeldObject {
  readonly [opaque]: true
}

/** The type that an object claims; absent members claim nothing. */
interface TypeClaim {
  readonly apiVersion?: unknown
  readonly kind?: unknown
  readonly metadata?: ObjectMeta
}

interface EncodedObject {
  readonly held: HeldObject
  readonly object: KubernetesObject
}

/**
 * Decides how the objects of one resource are held in memory. It cuts `metadata.managedFields` and the annotation
 * `kubectl.kubernetes.io/last-applied-configuration` off the bytes before parsing. Otherwise an object is what
 * `JSON.parse` returns, with `apiVersion` and `kind` first; integers that a double cannot hold are `JSON.rawJSON` of
 * their digits.
 *
 * Objects share structure with their siblings and with what is held. They are deeply read-only.
 */
export interface ObjectCodec {
  /**
   * Takes the UTF-8 JSON of one object: an item of a LIST (of built-in kinds, without `apiVersion` and `kind`) or the
   * object of a watch event (with both). The bytes may change after the call. Throws {@link WrongKindError}, {@link
   * MissingMetadataError} and {@link MalformedObjectError}.
   */
  encode(text: Uint8Array): EncodedObject
  decode(held: HeldObject): KubernetesObject
  /** The JSON text of the decoded object, mostly without decoding. Throws `RangeError` if it is nested too deep. */
  textOf(held: HeldObject): string
  /** Throws {@link WrongKindError} if the object claims another kind. */
  checkType(object: TypeClaim): void
  /**
   * Holds an object that a user's transform has changed after `encode`. Values without a JSON form are lost;
   * `apiVersion` and `kind` are always the resource's. Throws {@link MissingMetadataError} and {@link
   * MalformedObjectError}.
   */
  hold(object: KubernetesObject): HeldObject
  /** The approximate memory of a held object, without what it shares with others. Constant for each held object. */
  bytesOf(held: HeldObject): number
  /** The approximate memory that held objects share, including what waits to be collected. */
  readonly sharedBytes: number
  /**
   * Compiles a selection into a function from a held object to JSON text, as `JSON.stringify` would write the selected
   * members of the decoded object, mostly without decoding. The function returns `undefined` if a writer does, or if a
   * value has another form than selected: then the caller decodes the object and finds the error. Answers are cached
   * per selection object, within a bound.
   */
  projection(selection: ObjectSelection): Projection
}

/** Throws `AnswerTooLongError` before the text exceeds `maxUnits` UTF-16 units. */
export type Projection = (held: HeldObject, maxUnits?: number) => string | undefined

/** `metadataOnly`: keeps only `metadata` of each object, and accepts `PartialObjectMetadata`. */
export function createObjectCodec(options: {
  readonly resource: ApiResource
  readonly metadataOnly?: boolean
}): ObjectCodec {
  return new TemplateCodec(options.resource, options.metadataOnly ?? false)
}

/** A row longer than this part of its object's text saves too little. */
const maxRowPart = 3 / 4
/**
 * The most bytes of cached answers, which take about two kilobytes for each selection and template. Building an answer takes
 * ten times as long as filling it.
 */
const maxAnswerBytes = heapShare('templateAnswers', 64 << 20)

const heldHeaderBytes = 48

type Held = Row | WholeText | KubernetesObject

// With room that all codecs share: see `ObjectText`.
const difference = new Difference()
const writer = new RowWriter()

/** Holds an object as a {@link Row} against a sibling's template if one fits, or else as a whole. */
class TemplateCodec implements ObjectCodec {
  readonly #resource: ApiResource
  readonly #metadataOnly: boolean
  readonly #type: { readonly apiVersion: string; readonly kind: string }
  readonly #text: ObjectText
  /** Kept apart, because transformed objects do not look like received ones. */
  readonly #receivedTemplates = new TemplateSet()
  readonly #changedTemplates = new TemplateSet()
  readonly #answers = new AnswerCache(maxAnswerBytes)

  constructor(resource: ApiResource, metadataOnly: boolean) {
    this.#resource = resource
    this.#metadataOnly = metadataOnly
    this.#type = { apiVersion: apiVersionOf(resource), kind: resource.kind }
    this.#text = objectTextOf(resource, metadataOnly)
  }

  encode(text: Uint8Array): EncodedObject {
    try {
      const loaded = this.#text.load(text) || this.#text.load(withoutSpace(text))
      return (
        (loaded ? this.#encodeText(this.#receivedTemplates) : undefined) ?? this.#encodeParsed(text)
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

  textOf(held: HeldObject): string {
    const own = held as unknown as Held
    if (own instanceof Row) return writeRow(own)
    return own instanceof WholeText ? own.text : JSON.stringify(own)
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
    return this.#receivedTemplates.bytes + this.#changedTemplates.bytes + this.#answers.bytes
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

  /** Encodes the object in `#text`. `undefined` if its bytes alone were not enough. */
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
    if (!difference.find(template, this.#text)) return undefined
    return writer.write(template, this.#text, difference, this.#text.end * maxRowPart)
  }

  /** Parses an object that could not be read from its bytes, and then encodes it. */
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

  /** `undefined` if it is nested too deep: parsing has no depth limit, writing has. */
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

/** `undefined` without a name, or with an invalid namespace. */
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

/**
 * A codec whose objects are deeply frozen. Code that modifies an object gets a TypeError at that point, instead of
 * silently changing the object's siblings. (client-go's mutation detector reports a change later, without its origin.)
 */
export function freezingCodec(codec: ObjectCodec): ObjectCodec {
  return {
    encode(text) {
      const { held, object } = codec.encode(text)
      return { held, object: deepFreeze(object) }
    },
    decode: (held: HeldObject) => deepFreeze(codec.decode(held)),
    textOf: (held) => codec.textOf(held),
    checkType: (object) => codec.checkType(object),
    hold: (object) => codec.hold(deepFreeze(object)),
    bytesOf: (held) => codec.bytesOf(held),
    get sharedBytes() {
      return codec.sharedBytes
    },
    projection: (selection) => codec.projection(selection),
  }
}

/** Not recursive: objects may be nested deeper than the stack allows. */
function deepFreeze<T>(value: T): T {
  const due: unknown[] = [value]
  while (due.length > 0) {
    const one = due.pop()
    // A frozen value is shared with a sibling, and was deeply frozen with it.
    if (typeof one !== 'object' || one === null || Object.isFrozen(one)) continue
    Object.freeze(one)
    for (const child of Object.values(one)) due.push(child)
  }
  return value
}

function subject(resource: ApiResource, key: string | undefined): string {
  const name = groupResourceOf(resource)
  return key === undefined ? name : `${name} ${key}`
}

/** The `apiVersion` or `kind` of an object is not that of its resource. `key` is `namespace/name`, if known. */
export class WrongKindError extends CodedError {
  readonly key: string | undefined
  /** Whether the kinds differ only in case: then the resource is misspelt, not the object. */
  readonly isCase: boolean

  constructor(
    resource: ApiResource,
    found: { readonly apiVersion: unknown; readonly kind: unknown },
    key: string | undefined,
  ) {
    const text = JSON.stringify([found.apiVersion, found.kind])
    super(
      'WRONG_KIND',
      `${subject(resource, key)}: expected ${apiVersionOf(resource)} ${resource.kind}, found ${text}`,
      {
        value: found,
        hint: 'the object was dropped; check which server answers for this resource',
      },
    )
    this.key = key
    this.isCase =
      found.apiVersion === apiVersionOf(resource) &&
      String(found.kind).toLowerCase() === resource.kind.toLowerCase()
  }
}

/**
 * An object lacks `metadata` or `metadata.name`, or its namespace is not a string; or a bookmark lacks its resource
 * version.
 */
export class MissingMetadataError extends CodedError {
  constructor(
    resource: ApiResource,
    value: unknown,
    problem = 'an object without a metadata.name, or with a metadata.namespace that is not a string',
  ) {
    super('MISSING_METADATA', `${subject(resource, undefined)}: ${problem}`, {
      value,
      hint: 'the object was dropped; check which server answers for this resource',
    })
  }
}

/** A text is not the JSON of one object. `key` is `namespace/name`, if known. */
export class MalformedObjectError extends CodedError {
  readonly key: string | undefined

  constructor(resource: ApiResource, key: string | undefined, value: unknown, cause: unknown) {
    super('MALFORMED_OBJECT', `${subject(resource, key)}: not one JSON object`, {
      value,
      hint: 'the response was damaged, or a transform returned a value that JSON cannot express',
      cause,
    })
    this.key = key
  }
}
