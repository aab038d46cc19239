import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { apiVersionOf } from '../../kubernetes/api-resource.ts'
import { lastAppliedAnnotation, objectKey } from '../../kubernetes/object.ts'
import { isSpace, skipValue } from './json-bytes.ts'
import { jsonChar } from './json-char.ts'
import { skipManagedFields } from './managed-fields.ts'
import { matches, Members } from './members.ts'
import { groupByName, groupByOwner, groupWithin, noGroup } from './sibling-group.ts'

/** A larger buffer is used for its one object only. */
const keptBufferBytes = 1 << 20
const firstBufferBytes = 1 << 14

const keys = {
  apiVersion: Buffer.from('apiVersion'),
  kind: Buffer.from('kind'),
  metadata: Buffer.from('metadata'),
  name: Buffer.from('name'),
  namespace: Buffer.from('namespace'),
  ownerReferences: Buffer.from('ownerReferences'),
  annotations: Buffer.from('annotations'),
  managedFields: Buffer.from('managedFields'),
  lastApplied: Buffer.from(lastAppliedAnnotation),
} as const

const partialObjectMetadata = {
  apiVersion: Buffer.from('"meta.k8s.io/v1"'),
  kind: Buffer.from('"PartialObjectMetadata"'),
} as const

/**
 * The JSON of one object in the form that the codec works on: `apiVersion` and `kind` first, nothing of what is never
 * kept (`metadata.managedFields`, the last-applied annotation; with `metadataOnly` everything but `metadata`). Cut out
 * of the bytes as they came, by one look at the metadata, without parsing. There is one per codec, used again for each
 * object.
 */
export class ObjectText {
  bytes: Buffer = Buffer.alloc(firstBufferBytes)
  view: DataView = viewOf(this.bytes)
  /** The index after the object. */
  end = 0
  /** The objects of all namespaces that are likely to look like this one. */
  kin: number = noGroup
  /** Those of them in its own namespace. */
  siblings: number = noGroup
  /** How many bytes at the beginning are the same for all objects of the resource. */
  readonly headBytes: number
  readonly #head: Buffer
  readonly #apiVersion: Buffer
  readonly #kind: Buffer
  readonly #metadataOnly: boolean
  readonly #root = new Members()
  readonly #metadata = new Members()
  readonly #annotations = new Members()
  /** Pairs of indices: what is to be cut. */
  readonly #cuts: number[] = []
  /** The ranges of `metadata.name` and `metadata.namespace` with their quotes, before anything is cut. */
  #nameStart = 0
  #nameEnd = 0
  #namespaceStart = 0
  #namespaceEnd = 0
  #owners = -1
  #saysOwnType = false
  #saysPartialKind = false
  #saysPartialVersion = false

  constructor(resource: ApiResource, metadataOnly: boolean) {
    const apiVersion = JSON.stringify(apiVersionOf(resource))
    const kind = JSON.stringify(resource.kind)
    this.#apiVersion = Buffer.from(apiVersion)
    this.#kind = Buffer.from(kind)
    this.#head = Buffer.from(`{"apiVersion":${apiVersion},"kind":${kind},`)
    this.headBytes = this.#head.length
    this.#metadataOnly = metadataOnly
  }

  /**
   * Takes an object as a server wrote it. False where that cannot be done on the bytes alone, or where something is
   * wrong with the object: then it must be parsed as a whole, and nothing here is to be used.
   */
  load(text: Uint8Array): boolean {
    // The head's comma makes way for the object's opening brace and then takes its place.
    const start = this.headBytes - 1
    this.#reserve(start + text.length)
    this.bytes.set(this.#head, 0)
    this.bytes.set(text, start)
    this.end = start + text.length
    while (this.end > start && isSpace(this.bytes[this.end - 1])) this.end--
    if (!this.#scan(start, true)) {
      this.#cuts.length = 0
      return false
    }
    this.#applyCuts()
    this.bytes[start] = jsonChar.comma
    return true
  }

  /** Takes the text of an object that begins with the resource's `apiVersion` and `kind`; cuts nothing. */
  loadWhole(text: string): void {
    this.#reserve(text.length * 3)
    this.end = this.bytes.write(text, 'utf8')
    this.#scan(0, false)
  }

  toString(): string {
    return this.bytes.toString('utf8', 0, this.end)
  }

  /** The object's key, for an error; as far as it was read, also when `load` returned false. */
  key(): string | undefined {
    if (!this.#isNamed()) return undefined
    const name = this.#contentOf(this.#nameStart, this.#nameEnd)
    return objectKey({ name, namespace: this.#contentOf(this.#namespaceStart, this.#namespaceEnd) })
  }

  /** Gives back what one large object needed. */
  release(): void {
    if (this.bytes.length > keptBufferBytes) this.#allocate(firstBufferBytes)
  }

  #reserve(size: number): void {
    if (this.bytes.length < size) this.#allocate(2 ** Math.ceil(Math.log2(size)))
  }

  #allocate(size: number): void {
    this.bytes = Buffer.allocUnsafeSlow(size)
    this.view = viewOf(this.bytes)
  }

  #scan(start: number, cutting: boolean): boolean {
    this.#cuts.length = 0
    this.#nameStart = this.#nameEnd = 0
    this.#saysOwnType = this.#saysPartialKind = this.#saysPartialVersion = false
    this.#owners = -1
    this.#namespaceStart = this.#namespaceEnd = 0
    this.kin = this.siblings = noGroup
    const { bytes, end } = this
    const root = this.#root
    if (!root.open(bytes, start, end)) return false
    let kept = false
    let found = false
    while (root.next()) {
      if (root.is(keys.metadata)) {
        if (!root.leave(this.#scanMetadata(root.value, cutting))) return false
        kept = found = true
        // What follows may be long and holds nothing to cut.
        if (!this.#metadataOnly || !cutting) break
      } else {
        if (!root.leave(skipValue(bytes, root.value, end))) return false
        if (!this.#checkType(root)) return false
        if (cutting && (this.#metadataOnly || root.is(keys.kind) || root.is(keys.apiVersion))) {
          this.#cut(root, kept)
        } else kept = true
      }
    }
    if (!found || !this.#isNamed() || !this.#isOneType()) return false
    if (this.#metadataOnly && cutting && root.end !== end) return false
    this.#group()
    return true
  }

  #group(): void {
    const { bytes, end } = this
    if (this.#owners < 0) {
      this.kin = groupByName(bytes, this.#nameStart, this.#nameEnd)
      return
    }
    const kin = groupByOwner(bytes, end, this.#owners)
    if (kin === noGroup) return
    this.kin = kin
    this.siblings = groupWithin(kin, bytes, this.#namespaceStart, this.#namespaceEnd)
  }

  /** The index after the metadata, or -1. */
  #scanMetadata(start: number, cutting: boolean): number {
    const { bytes, end } = this
    const metadata = this.#metadata
    if (!metadata.open(bytes, start, end)) return -1
    let kept = false
    while (metadata.next()) {
      const { value } = metadata
      if (cutting && metadata.is(keys.managedFields)) {
        if (!metadata.leave(skipManagedFields(bytes, value, end))) return -1
        this.#cut(metadata, kept)
        continue
      }
      kept = true
      const annotations =
        cutting && metadata.is(keys.annotations) && bytes[value] === jsonChar.openBrace
      const valueEnd = annotations ? this.#scanAnnotations(value) : skipValue(bytes, value, end)
      if (!metadata.leave(valueEnd)) return -1
      if (metadata.is(keys.ownerReferences)) this.#owners = value
      else if (metadata.is(keys.name)) {
        this.#nameStart = value
        this.#nameEnd = bytes[value] === jsonChar.quote ? valueEnd : value
      } else if (metadata.is(keys.namespace)) {
        if (bytes[value] !== jsonChar.quote) return -1
        this.#namespaceStart = value
        this.#namespaceEnd = valueEnd
      }
    }
    return metadata.end
  }

  /** The index after the annotations, or -1. */
  #scanAnnotations(start: number): number {
    const annotations = this.#annotations
    annotations.open(this.bytes, start, this.end)
    let kept = false
    while (annotations.next()) {
      if (!annotations.leave(skipValue(this.bytes, annotations.value, this.end))) return -1
      if (annotations.is(keys.lastApplied)) this.#cut(annotations, kept)
      else kept = true
    }
    return annotations.end
  }

  /** Whether the member, if it is `apiVersion` or `kind`, says what it may. */
  #checkType(root: Members): boolean {
    const part = root.is(keys.kind) ? 'kind' : root.is(keys.apiVersion) ? 'apiVersion' : undefined
    if (part === undefined) return true
    if (isValue(this.bytes, root, part === 'kind' ? this.#kind : this.#apiVersion)) {
      this.#saysOwnType = true
      return true
    }
    if (!isValue(this.bytes, root, partialObjectMetadata[part])) return false
    if (part === 'kind') this.#saysPartialKind = true
    else this.#saysPartialVersion = true
    return true
  }

  /** Whether what was said of the type is all of one type, and of one that is allowed here. */
  #isOneType(): boolean {
    if (!this.#saysPartialKind && !this.#saysPartialVersion) return true
    const partial = this.#saysPartialKind && this.#saysPartialVersion && !this.#saysOwnType
    return partial && this.#metadataOnly
  }

  #isNamed(): boolean {
    return this.#nameEnd - this.#nameStart > '""'.length
  }

  #contentOf(start: number, end: number): string {
    return this.bytes.toString('utf8', this.#shifted(start) + 1, this.#shifted(end) - 1)
  }

  /** Where an index of the text as it came is now. */
  #shifted(index: number): number {
    let shifted = index
    for (let at = 0; at < this.#cuts.length; at += 2) {
      const [from = 0, to = 0] = this.#cuts.slice(at, at + 2)
      if (to <= index) shifted -= to - from
    }
    return shifted
  }

  /** Notes that the member goes, and one comma with it. `kept`: whether one before it stays. */
  #cut(members: Members, kept: boolean): void {
    const valueEnd = members.valueEnd
    if (kept) this.#cuts.push(members.comma, valueEnd)
    else
      this.#cuts.push(
        members.member,
        this.bytes[valueEnd] === jsonChar.comma ? valueEnd + 1 : valueEnd,
      )
  }

  #applyCuts(): void {
    const cuts = this.#cuts
    let to = cuts[0] ?? this.end
    for (let index = 0; index < cuts.length; index += 2) {
      const from = cuts[index + 1] ?? this.end
      const until = cuts[index + 2] ?? this.end
      this.bytes.copyWithin(to, from, until)
      to += until - from
    }
    this.end = to
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function isValue(bytes: Buffer, members: Members, expected: Buffer): boolean {
  const { value, valueEnd } = members
  return valueEnd - value === expected.length && matches(bytes, value, expected)
}
