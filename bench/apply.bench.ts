/**
 * What applying an event costs besides its decoding: putting a pod whose status has changed into a store with the
 * standard indexes, and with ten more.
 *
 *     node bench/apply.bench.ts [--pods 10000] [--rounds 8]
 */
import { parseArgs } from 'node:util'
import { createObjectCodec } from '../src/informer/codec/object-codec.ts'
import { IndexedStore } from '../src/informer/store/indexed-store.ts'
import type { StoreEntry } from '../src/informer/store/store-contents.ts'
import type { Indexers } from '../src/informer/store/store-view.ts'
import { objectKey } from '../src/kubernetes/object.ts'
import { type IndexDefinition, indexersOf } from '../src/query/index/index-definition.ts'
import { pods as podResource } from './support/pod-resource.ts'
import { podTexts } from './support/pods.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '8' },
  },
})
const count = Number(options.pods)

const types: readonly (readonly [string, IndexDefinition['type']])[] = [
  ['status.phase', 'string'],
  ['spec.nodeName', 'string'],
  ['status.podIPs[*].ip', 'string'],
  ['spec.containers[*].image', 'string'],
  ['spec.serviceAccountName', 'string'],
  ['status.containerStatuses[*].restartCount', 'int'],
  ['metadata.creationTimestamp', 'dateTime'],
  ['spec.containers[*].resources.requests.cpu', 'quantity'],
  ['spec.volumes[*].configMap.name', 'string'],
  ['status.qosClass', 'string'],
]
const tenMore = indexersOf(
  types.map(([path, type], at) => ({ name: `index${at}`, paths: [path], type, ordered: true })),
)

/** As a kubelet writes it: another resource version, an annotation, a restart. */
function updated(text: Buffer, at: number): Buffer {
  const pod = JSON.parse(text.toString())
  pod.metadata.resourceVersion = String(1_000_000 + at)
  pod.metadata.annotations = { ...pod.metadata.annotations, written: String(at) }
  for (const status of pod.status.containerStatuses ?? []) status.restartCount += 1
  return Buffer.from(JSON.stringify(pod))
}

const codec = createObjectCodec({ resource: podResource })
const encoded = (texts: readonly Buffer[]): StoreEntry[] =>
  texts.map((text) => {
    const { held, object } = codec.encode(text)
    return { key: objectKey(object.metadata), held, object }
  })

const texts = [...podTexts({ count, siblings: 50, seed: 1 })]
const updates = texts.map(updated)
const best = new Map<string, number>()

function measure(what: string, work: () => void): void {
  const start = performance.now()
  work()
  const micros = ((performance.now() - start) * 1000) / count
  best.set(what, Math.min(micros, best.get(what) ?? Infinity))
}

function measurePuts(
  what: string,
  indexers: Indexers,
  before: StoreEntry[],
  after: StoreEntry[],
): void {
  const store = new IndexedStore({ resource: podResource, codec, indexers })
  for (const entry of before) store.put(entry)
  measure(what, () => {
    for (const entry of after) store.put(entry)
  })
}

for (let round = Number(options.rounds); round > 0; round--) {
  const before = encoded(texts)
  let after: StoreEntry[] = []
  measure('decoding the event', () => {
    after = encoded(updates)
  })
  measurePuts('put, standard indexes', {}, before, after)
  measurePuts('put, ten more indexes', tenMore, before, after)
}
for (const [what, micros] of best) console.log(`${micros.toFixed(2).padStart(6)} us  ${what}`)
