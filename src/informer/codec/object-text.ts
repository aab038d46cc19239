import { type ApiResource, apiVersionOf } from '../../kubernetes/api-resource.ts'
import { lastAppliedAnnotation, objectKey } from '../../kubernetes/object.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { jsonChar } from '../../lib/json-text.ts'
import { isSpace, matches, Members, skipString, skipValue } from './json-scan.ts'

export const noGroup = 0

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

/** Room for one object. All codecs share it, since each is done with its object within one turn: there may be thousands of them. */
let room = roomOf(firstBufferBytes)

function roomOf(size: number): { readonly bytes: Buffer; readonly view: DataView } {
  const bytes = Buffer.allocUnsafeSlow(size)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

const shared = new Map<string, ObjectText>()

/** The one of all codecs of a type. */
export function objectTextOf(resource: ApiResource, metadataOnly: boolean): ObjectText {
  const key = `${apiVersionOf(resource)} ${resource.kind} ${metadataOnly}`
  return getOrInsert(shared, key, () => new ObjectText(resource, metadataOnly))
}

/**
 * The JSON of one object in the form that the codec needs: `apiVersion` and `kind` first, and without what is never
 * held (`managedFields`, the last-applied annotation; with `metadataOnly`, everything but `metadata`). Cut from the
 * received bytes in one pass over the metadata, without parsing. Reused for every object of its type.
 */
export class ObjectText {
  bytes: Buffer = room.bytes
  view: DataView = room.view
  end = 0
  /** The group of objects of all namespaces that probably look like this one. */
  kin: number = noGroup
  /** The same group within the object's namespace. */
  siblings: number = noGroup
  /** How many bytes at the beginning are equal for all objects of the resource. */
  readonly headBytes: number
  readonly #head: Buffer
  readonly #apiVersion: Buffer
  readonly #kind: Buffer
  readonly #metadataOnly: boolean
  readonly #root = new Members()
  readonly #metadata = new Members()
  readonly #annotations = new Members()
  /** Pairs of indices: the ranges to cut. */
  readonly #cuts: number[] = []
  /** The ranges of `metadata.name` and `metadata.namespace` with their quotes, before cutting. */
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
   * Takes an object as a server wrote it. Returns false if it must be parsed, because it is unusual or invalid: then
   * nothing here may be used.
   */
  load(text: Uint8Array): boolean {
    // The object's opening brace overwrites the comma at the end of the head, and then becomes that comma.
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

  /** Takes the text of an object that begins with the resource's `apiVersion` and `kind`. Cuts nothing. */
  loadWhole(text: string): void {
    this.#reserve(text.length * 3)
    this.end = this.bytes.write(text, 'utf8')
    this.#scan(0, false)
  }

  toString(): string {
    return this.bytes.toString('utf8', 0, this.end)
  }

  /** The object's key for an error, as far as it was read, even if `load` returned false. */
  key(): string | undefined {
    if (!this.#isNamed()) return undefined
    const name = this.#contentOf(this.#nameStart, this.#nameEnd)
    return objectKey({ name, namespace: this.#contentOf(this.#namespaceStart, this.#namespaceEnd) })
  }

  release(): void {
    if (room.bytes.length > keptBufferBytes) room = roomOf(firstBufferBytes)
    this.#reserve(0)
  }

  #reserve(size: number): void {
    if (room.bytes.length < size) room = roomOf(2 ** Math.ceil(Math.log2(size)))
    this.bytes = room.bytes
    this.view = room.view
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
        // The rest may be long and has nothing to cut.
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

  /** Whether the member, if it is `apiVersion` or `kind`, has an allowed value. */
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

  /** The index after cutting of an index before cutting. */
  #shifted(index: number): number {
    let shifted = index
    for (let at = 0; at < this.#cuts.length; at += 2) {
      const [from = 0, to = 0] = this.#cuts.slice(at, at + 2)
      if (to <= index) shifted -= to - from
    }
    return shifted
  }

  /** Cuts a member together with one comma. `kept`: whether an earlier member stays. */
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

function isValue(bytes: Buffer, members: Members, expected: Buffer): boolean {
  const { value, valueEnd } = members
  return valueEnd - value === expected.length && matches(bytes, value, expected)
}

/**
 * The index after the value of `managedFields`, which makes up 40 % of all bytes. An array without an inner array ends
 * at its first closing bracket, unless that is inside a string. It is not if the text ends with it, or if `},"` or `,"`
 * and a letter follow: that quote would have to close the string, and no letter can follow a string. All other values
 * are skipped byte by byte.
 */
function skipManagedFields(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== jsonChar.openBracket) return skipValue(bytes, start, end)
  const close = bytes.indexOf(jsonChar.closeBracket, start)
  if (close < 0 || close >= end || bytes.lastIndexOf(jsonChar.openBracket, close) !== start) {
    return skipValue(bytes, start, end)
  }
  let next = close + 1
  while (next < end && bytes[next] === jsonChar.closeBrace) next++
  if (next === end) return close + 1
  const letter = bytes[next + 2] ?? 0
  const isKey =
    bytes[next] === jsonChar.comma && bytes[next + 1] === jsonChar.quote && isLowerCase(letter)
  return isKey && next + 2 < end ? close + 1 : skipValue(bytes, start, end)
}

function isLowerCase(letter: number): boolean {
  return letter >= 0x61 && letter <= 0x7a
}

const generatedNames = [Buffer.from('"ReplicaSet"'), Buffer.from('"Job"')]
const owner = new Members()

/**
 * A number for the objects of all namespaces that probably look alike: their first owner has the same kind and name.
 * The generated end of the name of a ReplicaSet or Job is ignored, so all revisions of a Deployment are one group.
 * Groups that share a number by chance share a template, which only costs space.
 */
function groupByOwner(bytes: Buffer, end: number, owners: number): number {
  if (bytes[owners] !== jsonChar.openBracket) return noGroup
  if (!owner.open(bytes, owners + 1, end)) return noGroup
  let hash = offsetBasis
  let generated = false
  while (owner.next()) {
    const valueEnd = skipValue(bytes, owner.value, end)
    if (!owner.leave(valueEnd)) return noGroup
    if (owner.is(keys.kind)) {
      hash = groupWithin(hash, bytes, owner.value, valueEnd)
      const start = owner.value
      generated = generatedNames.some(
        (kind) => valueEnd - start === kind.length && matches(bytes, start, kind),
      )
    } else if (owner.is(keys.name) && skipString(bytes, owner.value, end) === valueEnd) {
      const stem = generated ? bytes.lastIndexOf(jsonChar.minus, valueEnd) : -1
      return groupWithin(hash, bytes, owner.value, stem > owner.value ? stem : valueEnd)
    }
  }
  return noGroup
}

/** The objects of all namespaces with one name, such as a ConfigMap that every namespace has. */
function groupByName(bytes: Buffer, start: number, end: number): number {
  return groupWithin(offsetBasis, bytes, start, end)
}

/** The part of a group that also has this text in common: FNV-1a, 32 bits. */
function groupWithin(group: number, bytes: Buffer, start: number, end: number): number {
  let hash = group
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime)
  return hash
}

const offsetBasis = 0x811c9dc5 | 0
const prime = 0x01000193
