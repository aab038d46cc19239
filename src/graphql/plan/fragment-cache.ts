import { createHash } from 'node:crypto'
import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** What {@link FragmentCache} has done since it was made. */
export interface FragmentCounts {
  readonly hits: number
  readonly misses: number
  /** What the texts take that are kept now, and that by which they are found. */
  readonly bytes: number
}

/** Ids of one page stand together: a list of texts with holes for all others would be slow to fill. */
const chunkBits = 8
const chunkSize = 1 << chunkBits
/** Of a chunk without its texts; of a place for one; of what a selection over a store takes besides. */
const chunkBytes = 2 * chunkSize * 8 + 200
const placeBytes = 8
const memoBytes = 500

/** The texts of some ids in a row, each good for one held row only. */
class Chunk {
  readonly helds: (HeldObject | undefined)[] = Array.from({ length: chunkSize }, () => undefined)
  readonly texts: string[] = Array.from({ length: chunkSize }, () => '')
}

/** The texts of one selection over one store, by the object's id. */
class Generation {
  readonly #chunks: (Chunk | undefined)[] = []

  get(id: ObjectId, held: HeldObject): string | undefined {
    const chunk = this.#chunks[id >>> chunkBits]
    const at = id & (chunkSize - 1)
    return chunk?.helds[at] === held ? chunk.texts[at] : undefined
  }

  /** Returns by how many bytes it has grown. */
  set(id: ObjectId, held: HeldObject, text: string): number {
    const number = id >>> chunkBits
    let grown = 0
    for (; this.#chunks.length < number; grown += placeBytes) this.#chunks.push(undefined)
    let chunk = this.#chunks[number]
    if (chunk === undefined) {
      chunk = this.#chunks[number] = new Chunk()
      grown += chunkBytes
    }
    const at = id & (chunkSize - 1)
    const before = chunk.texts[at]?.length ?? 0
    chunk.helds[at] = held
    chunk.texts[at] = text
    return grown + 2 * (text.length - before)
  }
}

/** The texts of one selection over the objects of one store. */
export class FragmentMemo {
  readonly selection: string
  readonly #cache: FragmentCache
  #young: Generation | undefined
  #old: Generation | undefined
  #generation = 0

  constructor(cache: FragmentCache, selection: string) {
    this.#cache = cache
    this.selection = selection
  }

  /** The text for this version of the object; `undefined` where it is not kept. */
  get(id: ObjectId, held: HeldObject): string | undefined {
    this.#age()
    const young = this.#young?.get(id, held)
    if (young !== undefined) {
      this.#cache.hits += 1
      return young
    }
    const old = this.#old?.get(id, held)
    if (old === undefined) return undefined
    this.#cache.hits += 1
    this.#keep(id, held, old)
    return old
  }

  set(id: ObjectId, held: HeldObject, text: string): void {
    this.#cache.misses += 1
    this.#age()
    flatten(text)
    this.#keep(id, held, text)
  }

  #keep(id: ObjectId, held: HeldObject, text: string): void {
    if (this.#young === undefined) {
      this.#young = new Generation()
      this.#cache.holds(this)
    }
    this.#cache.grown(this.#young.set(id, held, text))
  }

  /** Takes part in the turns of the cache that have happened since it was last asked. */
  #age(): void {
    const { generation } = this.#cache
    if (this.#generation === generation) return
    this.#old = generation === this.#generation + 1 ? this.#young : undefined
    this.#young = undefined
    this.#generation = generation
  }

  /** Lets go of what no longer counts; false where nothing is left. */
  sweep(): boolean {
    this.#age()
    return this.#young !== undefined || this.#old !== undefined
  }
}

/**
 * Texts of objects that have been answered before, so that the same selection over the same version of an object is written
 * once. The policy is that of two generations: what is asked for is young; when the young ones fill half of the budget they
 * become the old ones, and the old ones go. So a text that is in use is kept for as long as it is, and one that nobody asks
 * for is gone after two turns, without any list of what was used when. A text is good for one held row, by identity: a
 * changed object has another one. Texts are of an object's own fields only, nothing of what depends on who asks.
 */
export class FragmentCache {
  readonly #maxBytes: number
  /** By a hash of the selection. */
  readonly #memos = new Map<string, WeakMap<StoreView, FragmentMemo>>()
  /** Those that have texts. */
  readonly #holding = new Set<FragmentMemo>()
  #youngBytes = 0
  #oldBytes = 0
  generation = 0
  hits = 0
  misses = 0

  /** `maxBytes` bounds all that is kept; a UTF-16 unit counts as two bytes, which is what it takes at the most. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get counts(): FragmentCounts {
    return { hits: this.hits, misses: this.misses, bytes: this.#youngBytes + this.#oldBytes }
  }

  /** The texts of a selection, which its signature stands for, over a store. */
  memo(signature: string, view: StoreView): FragmentMemo {
    const selection = createHash('sha256').update(signature).digest('base64url')
    let ofSelection = this.#memos.get(selection)
    if (ofSelection === undefined) this.#memos.set(selection, (ofSelection = new WeakMap()))
    let memo = ofSelection.get(view)
    if (memo === undefined) {
      ofSelection.set(view, (memo = new FragmentMemo(this, selection)))
      this.grown(memoBytes)
    }
    return memo
  }

  /** A memo's: it has texts. */
  holds(memo: FragmentMemo): void {
    this.#holding.add(memo)
  }

  /** A memo's: what is young has grown. */
  grown(bytes: number): void {
    this.#youngBytes += bytes
    if (this.#youngBytes * 2 > this.#maxBytes) this.#turn()
  }

  #turn(): void {
    this.generation += 1
    this.#oldBytes = this.#youngBytes
    this.#youngBytes = 0
    const selections = new Set<string>()
    for (const memo of this.#holding) {
      if (memo.sweep()) selections.add(memo.selection)
      else this.#holding.delete(memo)
    }
    for (const selection of this.#memos.keys()) {
      if (!selections.has(selection)) this.#memos.delete(selection)
    }
  }
}

/**
 * Lets V8 copy a text that was put together from parts into one piece, which reading a character does: kept as a rope it would
 * take several times its length, hold on to the texts that its parts are slices of, and be walked again in every answer.
 */
function flatten(text: string): void {
  text.charCodeAt(0)
}
