/*
 * Texts of objects' own fields in earlier answers: a selection over one version of an object is written once. Own fields
 * do not depend on the viewer, so all viewers share the texts. A text is valid for one held row, by identity: a changed
 * object has another row, so an outdated text is never found. The cache keeps two generations. Each use makes a text
 * young. When the young texts fill half of the budget, they become old, and the previous old ones go. So used texts stay
 * and unused texts go after two turns, without a list of uses.
 */

import { createHash } from 'node:crypto'
import type { HeldObject, Projection } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** The counters of a {@link FragmentCache} since its creation. */
export interface FragmentCounts {
  readonly hits: number
  readonly misses: number
  /** The current size of the texts and their index. */
  readonly bytes: number
}

export interface StoreFragment {
  readonly memo: FragmentMemo
  readonly project: Projection
  /** The least number of fields that one object's text has. */
  readonly fields: number
}

/** Ids of one page are adjacent. A sparse list of texts would be slow to fill. */
const chunkBits = 8
const chunkSize = 1 << chunkBits
/** The estimated sizes of a chunk without its texts, of a slot for a chunk, and of a memo. */
const chunkBytes = 2 * chunkSize * 8 + 200
const placeBytes = 8
const memoBytes = 500

class Chunk {
  readonly helds: (HeldObject | undefined)[] = Array.from({ length: chunkSize }, () => undefined)
  readonly texts: string[] = Array.from({ length: chunkSize }, () => '')
}

/** The texts of one generation, by object id. */
class Generation {
  readonly #chunks: (Chunk | undefined)[] = []

  get(id: ObjectId, held: HeldObject): string | undefined {
    const chunk = this.#chunks[id >>> chunkBits]
    const at = id & (chunkSize - 1)
    return chunk?.helds[at] === held ? chunk.texts[at] : undefined
  }

  /** Returns the growth in bytes. */
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
  readonly reference: WeakRef<FragmentMemo> = new WeakRef(this)
  readonly selection: string
  readonly #cache: FragmentCache
  #young: Generation | undefined
  #old: Generation | undefined
  #generation = 0

  constructor(cache: FragmentCache, selection: string) {
    this.#cache = cache
    this.selection = selection
  }

  /** The text for this version of the object, or `undefined` if the cache lacks it. */
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

  /** Catches up with the turns of the cache since the last call. */
  #age(): void {
    const { generation } = this.#cache
    if (this.#generation === generation) return
    this.#old = generation === this.#generation + 1 ? this.#young : undefined
    this.#young = undefined
    this.#generation = generation
  }

  /** Drops outdated texts. Returns false if none are left. */
  sweep(): boolean {
    this.#age()
    return this.#young !== undefined || this.#old !== undefined
  }
}

export class FragmentCache {
  readonly #maxBytes: number
  /** By a hash of the selection. */
  readonly #memos = new Map<string, WeakMap<StoreView, FragmentMemo>>()
  /** The memos that have texts. A memo lives as long as its store, whose rows it holds. */
  readonly #holding = new Set<WeakRef<FragmentMemo>>()
  #youngBytes = 0
  #oldBytes = 0
  generation = 0
  hits = 0
  misses = 0

  /** `maxBytes` bounds the texts and their index. A UTF-16 unit counts as two bytes, its largest size. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get counts(): FragmentCounts {
    return { hits: this.hits, misses: this.misses, bytes: this.#youngBytes + this.#oldBytes }
  }

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

  /** For memos: registers one that has texts. */
  holds(memo: FragmentMemo): void {
    this.#holding.add(memo.reference)
  }

  /** Counts the growth of the young texts, and turns the generations at half of the budget. */
  grown(bytes: number): void {
    this.#youngBytes += bytes
    if (this.#youngBytes * 2 > this.#maxBytes) this.#turn()
  }

  #turn(): void {
    this.generation += 1
    this.#oldBytes = this.#youngBytes
    this.#youngBytes = 0
    const selections = new Set<string>()
    for (const reference of this.#holding) {
      const memo = reference.deref()
      if (memo?.sweep() === true) selections.add(memo.selection)
      else this.#holding.delete(reference)
    }
    for (const selection of this.#memos.keys()) {
      if (!selections.has(selection)) this.#memos.delete(selection)
    }
  }
}

/**
 * Reads a character, so that V8 copies a concatenated text into one piece. A rope would take several times its length,
 * retain the texts that its parts are slices of, and be walked again in every answer.
 */
function flatten(text: string): void {
  text.charCodeAt(0)
}
