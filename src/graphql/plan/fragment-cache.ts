import type { HeldObject } from '../../informer/codec/object-codec.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'

/** What {@link FragmentCache} has done since it was made. */
export interface FragmentCounts {
  readonly hits: number
  readonly misses: number
  /** UTF-16 units of the texts that are kept now. */
  readonly size: number
}

/** The texts of one selection over one store: by the object's id, each good for one held row only. */
class Generation {
  readonly helds: (HeldObject | undefined)[] = []
  readonly texts: string[] = []
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
    const young = this.#young
    if (young?.helds[id] === held) {
      this.#cache.hits += 1
      return young.texts[id]
    }
    const old = this.#old
    if (old?.helds[id] !== held) return undefined
    const text = old.texts[id] ?? ''
    this.#cache.hits += 1
    this.#keep(id, held, text)
    return text
  }

  set(id: ObjectId, held: HeldObject, text: string): void {
    this.#cache.misses += 1
    this.#age()
    this.#keep(id, held, text)
  }

  #keep(id: ObjectId, held: HeldObject, text: string): void {
    const young = (this.#young ??= new Generation())
    const replaced = young.helds[id] === undefined ? 0 : (young.texts[id]?.length ?? 0)
    young.helds[id] = held
    young.texts[id] = text
    this.#cache.grown(text.length - replaced)
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

/** Selections that are told apart; beyond, all texts are made anew. */
const maxSelections = 10_000
