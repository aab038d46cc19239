import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** What {@link FragmentCache} has done since it was made. */
export interface FragmentCounts {
  readonly hits: number
  readonly misses: number
  /** UTF-16 units of the texts that are kept now. */
  readonly size: number
}

/** Ids of one page stand together: a list of texts with holes for all others would be slow to fill. */
const chunkBits = 8
const chunkSize = 1 << chunkBits

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

  /** Returns by how much the texts have grown. */
  set(id: ObjectId, held: HeldObject, text: string): number {
    const number = id >>> chunkBits
    while (this.#chunks.length < number) this.#chunks.push(undefined)
    const chunk = (this.#chunks[number] ??= new Chunk())
    const at = id & (chunkSize - 1)
    const before = chunk.texts[at]?.length ?? 0
    chunk.helds[at] = held
    chunk.texts[at] = text
    return text.length - before
  }
}

/** The texts of one selection over the objects of one store. */
export class FragmentMemo {
  readonly #cache: FragmentCache
  #young: Generation | undefined
  #old: Generation | undefined
  #generation = 0

  constructor(cache: FragmentCache) {
    this.#cache = cache
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
    const young = (this.#young ??= new Generation())
    this.#cache.grown(young.set(id, held, text))
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
  readonly #maxUnits: number
  readonly #memos = new Map<string, WeakMap<StoreView, FragmentMemo>>()
  #stores = new Set<WeakRef<FragmentMemo>>()
  #youngUnits = 0
  #oldUnits = 0
  generation = 0
  hits = 0
  misses = 0

  /** `maxBytes` bounds the texts, counted as two bytes a UTF-16 unit, which is what they take at the most. */
  constructor(maxBytes: number) {
    this.#maxUnits = maxBytes / 2
  }

  get counts(): FragmentCounts {
    return { hits: this.hits, misses: this.misses, size: this.#youngUnits + this.#oldUnits }
  }

  /** The texts of a selection, which its signature stands for, over a store. */
  memo(signature: string, view: StoreView): FragmentMemo {
    let ofSelection = this.#memos.get(signature)
    if (ofSelection === undefined) {
      if (this.#memos.size >= maxSelections) this.#memos.clear()
      this.#memos.set(signature, (ofSelection = new WeakMap()))
    }
    let memo = ofSelection.get(view)
    if (memo === undefined) {
      ofSelection.set(view, (memo = new FragmentMemo(this)))
      this.#stores.add(new WeakRef(memo))
    }
    return memo
  }

  /** A memo's: the young texts have grown. */
  grown(units: number): void {
    this.#youngUnits += units
    if (this.#youngUnits * 2 > this.#maxUnits) this.#turn()
  }

  #turn(): void {
    this.generation += 1
    this.#oldUnits = this.#youngUnits
    this.#youngUnits = 0
    const left = new Set<WeakRef<FragmentMemo>>()
    for (const reference of this.#stores) {
      if (reference.deref()?.sweep() === true) left.add(reference)
    }
    this.#stores = left
  }
}

/**
 * Lets V8 copy a text that was put together from parts into one piece, which reading a character does: kept as a rope it would
 * take several times its length, hold on to the texts that its parts are slices of, and be walked again in every answer.
 */
function flatten(text: string): void {
  text.charCodeAt(0)
}

/** Selections that are told apart; beyond, all texts are made anew. */
const maxSelections = 10_000
