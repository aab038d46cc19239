/**
 * The cost of the object codec, beside JSON.parse of a page with managedFields deleted, on the same bytes:
 *
 *     node --expose-gc bench/codec.bench.ts [--pods 20000] [--siblings 50] [--rounds 3]
 */
import { parseArgs } from 'node:util'
import { createObjectCodec, type HeldObject } from '../src/informer/codec/object-codec.ts'
import type { KubernetesObject } from '../src/kubernetes/object.ts'
import { pods as podResource } from './support/pod-resource.ts'
import { podTexts } from './support/pods.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '20000' },
    siblings: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '3' },
  },
})
const pods = Number(options.pods)
const siblings = Number(options.siblings)
const rounds = Number(options.rounds)
const collect = globalThis.gc
if (collect === undefined) throw new Error('run with --expose-gc')
const podsPerPage = 500

/** The bytes of a page, and where each of its items is. */
interface Page {
  readonly bytes: Buffer
  readonly ends: readonly number[]
}

function pagesOf(texts: Iterable<Buffer>): Page[] {
  const pages: Page[] = []
  let parts: Buffer[] = []
  const flush = (): void => {
    let end = 0
    const ends = parts.map((part) => (end += part.length))
    pages.push({ bytes: Buffer.concat(parts), ends })
    parts = []
  }
  for (const text of texts) {
    parts.push(text)
    if (parts.length === podsPerPage) flush()
  }
  if (parts.length > 0) flush()
  return pages
}

function* itemsOf({ bytes, ends }: Page): Generator<Buffer> {
  let start = 0
  for (const end of ends) {
    yield bytes.subarray(start, end)
    start = end
  }
}

interface Measurement {
  readonly encodeMicros: number
  readonly decodeMicros: number
  readonly bytesPerPod: number
}

function usedBytes(): number {
  collect?.()
  collect?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function measure<T>(
  pages: readonly Page[],
  keep: (page: Page, add: (kept: T) => void) => void,
  read: (kept: T) => KubernetesObject,
): Measurement {
  const before = usedBytes()
  const store = new Map<number, T>()
  const started = performance.now()
  for (const page of pages) keep(page, (kept) => store.set(store.size, kept))
  const encodeMicros = ((performance.now() - started) * 1000) / pods
  const bytesPerPod = (usedBytes() - before) / pods
  const begun = performance.now()
  let names = 0
  for (const kept of store.values()) names += read(kept).metadata.name.length
  const decodeMicros = ((performance.now() - begun) * 1000) / pods
  if (names === 0) throw new Error('nothing was read')
  return { encodeMicros, decodeMicros, bytesPerPod }
}

type Mutable = { metadata: { name: string; managedFields?: unknown } }

function parsePage(page: Page, add: (kept: KubernetesObject) => void): void {
  const text = [...itemsOf(page)].map((item) => item.toString()).join(',')
  for (const object of JSON.parse(`[${text}]`) as Mutable[]) {
    delete object.metadata.managedFields
    add(object as unknown as KubernetesObject)
  }
}

function parseItems(page: Page, add: (kept: KubernetesObject) => void): void {
  for (const item of itemsOf(page)) {
    const object = JSON.parse(item.toString()) as Mutable
    delete object.metadata.managedFields
    add(object as unknown as KubernetesObject)
  }
}

function measureCodec(pages: readonly Page[]): Measurement {
  const codec = createObjectCodec({ resource: podResource })
  return measure<HeldObject>(
    pages,
    (page, add) => {
      for (const item of itemsOf(page)) add(codec.encode(item).held)
    },
    (held) => codec.decode(held),
  )
}

const variants: Record<string, (pages: readonly Page[]) => Measurement> = {
  'JSON.parse by page': (pages) => measure(pages, parsePage, (object) => object),
  'JSON.parse by item': (pages) => measure(pages, parseItems, (object) => object),
  'object codec': measureCodec,
}

const pages = pagesOf(podTexts({ count: pods, siblings, seed: 1 }))
const bytes = pages.reduce((sum, page) => sum + page.bytes.length, 0)
console.log(`${pods} pods of ${(bytes / pods).toFixed(0)} bytes, ${siblings} a ReplicaSet`)
const results = new Map<string, Measurement[]>(Object.keys(variants).map((name) => [name, []]))
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(variants)) results.get(name)?.push(run(pages))
}

function median(name: string, part: keyof Measurement): number {
  const sorted = (results.get(name) ?? []).map((result) => result[part]).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

console.log('held as               us/pod encode  us/pod decode  bytes/pod   faster   smaller')
for (const name of Object.keys(variants)) {
  const base = 'JSON.parse by page'
  const faster = median(base, 'encodeMicros') / median(name, 'encodeMicros')
  const smaller = median(base, 'bytesPerPod') / median(name, 'bytesPerPod')
  console.log(
    name.padEnd(22),
    median(name, 'encodeMicros').toFixed(2).padStart(12),
    median(name, 'decodeMicros').toFixed(2).padStart(14),
    median(name, 'bytesPerPod').toFixed(0).padStart(10),
    `${faster.toFixed(2)}x`.padStart(8),
    `${smaller.toFixed(2)}x`.padStart(9),
  )
}
