/*
 * What objects used during the last hour, from the measurements that the gateway lists anyway (`polled-source.ts`). Each
 * measured object has a ring of 60 slots, one for a minute, or for the interval of the measurements if that is longer. A slot
 * has the last measurement of its time. The rings of all clusters share pages of typed arrays and one bound: at the bound, further
 * objects get none. A ring ends when a list no longer has its object. All rings of a place end an hour after its last
 * measurement: without questions about usage, a gateway holds none.
 */

import { ringSlots, type Series } from './usage-series.ts'

interface UsageRingsOptions {
  /** The most bytes of all rings. */
  readonly maxBytes: number
  readonly slotMs: number
}

/** The rings of one page. */
const pageRings = 256
const slots = ringSlots
/** The slots of a ring for CPU and memory, the time of its last slot, and about what its name takes. */
const ringBytes = slots * 2 * Float32Array.BYTES_PER_ELEMENT + 8 + 120

/** The rings of one resource in one cluster. */
interface Place {
  readonly rings: Map<string, number>
  /** The epoch time of the first measurement without a pause of an hour. */
  readonly sinceMs: number
  lastMs: number
}

interface Measurement {
  /** The end of the measured window. */
  readonly atMs: number
  /** In cores. */
  readonly cpu: number
  /** In bytes. */
  readonly memory: number
}

/** Takes the measurements of one resource in one cluster. */
export interface UsageRecorder {
  measured(key: string, measurement: Measurement): void
  /** The object is measured no more. */
  ended(key: string): void
  /** The measurements of a namespace, or of all, are exactly those of these objects. */
  listed(namespace: string | undefined, keys: ReadonlyMap<string, unknown>): void
}

export class UsageRings {
  readonly #options: UsageRingsOptions
  readonly #places = new Map<string, Place>()
  /** CPU of all slots, then memory, of each ring. */
  readonly #values: Float32Array[] = []
  /** The number of the last slot of each ring, since the epoch. */
  readonly #lastSlots: Float64Array[] = []
  readonly #free: number[] = []
  readonly #mostRings: number
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: UsageRingsOptions) {
    this.#options = options
    this.#mostRings = Math.floor(options.maxBytes / ringBytes)
  }

  /** Whether a further object would get no ring. */
  get isFull(): boolean {
    return this.#count >= this.#mostRings
  }

  get slotMs(): number {
    return this.#options.slotMs
  }

  /** The bytes of all rings, including those of pages that are free. */
  get heldBytes(): number {
    return this.#values.length * pageRings * ringBytes
  }

  recorder(cluster: string, resource: string): UsageRecorder {
    const name = placeName(cluster, resource)
    return {
      measured: (key, measurement) => this.#record(name, key, measurement),
      ended: (key) => {
        const place = this.#places.get(name)
        if (place !== undefined) this.#end(place, key)
      },
      listed: (namespace, listed) => {
        const place = this.#places.get(name)
        if (place === undefined) return
        const prefix = namespace === undefined ? '' : `${namespace}/`
        for (const key of place.rings.keys()) {
          if (!listed.has(key) && key.startsWith(prefix)) this.#end(place, key)
        }
      },
    }
  }

  /** Since when objects of the resource are measured without a pause of an hour; `undefined`: they are not. */
  sinceMs(cluster: string, resource: string): number | undefined {
    return this.#places.get(placeName(cluster, resource))?.sinceMs
  }

  /**
   * Adds what an object used to series: at each of their times, the last measurement of the step that ends there. Skips what was measured
   * before `fromMs`, of another object of the same name. Returns whether the object has a ring.
   */
  addTo(series: Series, { cluster, resource, key, fromMs }: RingOf): boolean {
    const ring = this.#places.get(placeName(cluster, resource))?.rings.get(key)
    if (ring === undefined) return false
    const values = this.#values[Math.floor(ring / pageRings)]
    const lastSlot = this.#lastSlots[Math.floor(ring / pageRings)]?.[ring % pageRings]
    if (values === undefined || lastSlot === undefined) return false
    const { slotMs } = this.#options
    const offset = (ring % pageRings) * slots * 2
    const first = Math.max(lastSlot - slots + 1, Math.floor(fromMs / slotMs))
    for (const [at, timeMs] of series.timesMs.entries()) {
      const endSlot = Math.min(Math.ceil(timeMs / slotMs) - 1, lastSlot)
      const startSlot = Math.max(Math.ceil((timeMs - series.stepMs) / slotMs), first)
      for (let slot = endSlot; slot >= startSlot; slot--) {
        const cpu = values[offset + (slot % slots)] ?? Number.NaN
        if (Number.isNaN(cpu)) continue
        series.add(at, cpu, values[offset + slots + (slot % slots)] ?? Number.NaN)
        break
      }
    }
    return true
  }

  /** Drops the rings of a cluster: it has gone, or another one has its name. */
  drop(cluster: string): void {
    for (const [name, place] of this.#places) {
      if (name.startsWith(placeName(cluster, ''))) this.#drop(name, place)
    }
  }

  #record(name: string, key: string, measurement: Measurement): void {
    const nowMs = Date.now()
    let place = this.#places.get(name)
    if (place === undefined) {
      place = { rings: new Map(), sinceMs: nowMs, lastMs: nowMs }
      this.#places.set(name, place)
      this.#timer ??= setInterval(() => this.#expire(), this.#spanMs / 6).unref()
    }
    place.lastMs = nowMs
    let ring = place.rings.get(key)
    if (ring === undefined) {
      if (this.isFull) return
      ring = this.#free.pop() ?? this.#addPage()
      place.rings.set(key, ring)
      this.#count += 1
    }
    // Of a clock that is ahead, no time is taken that is not over.
    this.#write(ring, { ...measurement, atMs: Math.min(measurement.atMs, nowMs) })
  }

  #write(ring: number, { atMs, cpu, memory }: Measurement): void {
    const slot = Math.floor(atMs / this.#options.slotMs)
    const values = this.#values[Math.floor(ring / pageRings)]
    const lastSlots = this.#lastSlots[Math.floor(ring / pageRings)]
    if (values === undefined || lastSlots === undefined) return
    const offset = (ring % pageRings) * slots * 2
    const lastSlot = lastSlots[ring % pageRings] ?? 0
    if (slot <= lastSlot - slots || slot < 0) return
    // Slots without a measurement, and what a ring held an hour ago.
    for (let empty = Math.max(lastSlot + 1, slot - slots + 1); empty < slot; empty++) {
      values[offset + (empty % slots)] = Number.NaN
    }
    if (slot > lastSlot) lastSlots[ring % pageRings] = slot
    values[offset + (slot % slots)] = cpu
    values[offset + slots + (slot % slots)] = memory
  }

  #addPage(): number {
    const first = this.#values.length * pageRings
    this.#values.push(new Float32Array(pageRings * slots * 2).fill(Number.NaN))
    this.#lastSlots.push(new Float64Array(pageRings))
    for (let ring = first + pageRings - 1; ring > first; ring--) this.#free.push(ring)
    return first
  }

  #end({ rings }: Place, key: string): void {
    const ring = rings.get(key)
    if (ring === undefined) return
    rings.delete(key)
    const page = Math.floor(ring / pageRings)
    const offset = (ring % pageRings) * slots * 2
    this.#values[page]?.fill(Number.NaN, offset, offset + slots * 2)
    this.#lastSlots[page]?.fill(0, ring % pageRings, (ring % pageRings) + 1)
    this.#free.push(ring)
    this.#count -= 1
    if (this.#count > 0) return
    this.#values.length = 0
    this.#lastSlots.length = 0
    this.#free.length = 0
  }

  #expire(): void {
    const beforeMs = Date.now() - this.#spanMs
    for (const [name, place] of this.#places) if (place.lastMs < beforeMs) this.#drop(name, place)
  }

  #drop(name: string, place: Place): void {
    for (const key of place.rings.keys()) this.#end(place, key)
    this.#places.delete(name)
    if (this.#places.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  get #spanMs(): number {
    return slots * this.#options.slotMs
  }
}

interface RingOf {
  readonly cluster: string
  readonly resource: string
  readonly key: string
  readonly fromMs: number
}

function placeName(cluster: string, resource: string): string {
  return `${cluster}\n${resource}`
}
