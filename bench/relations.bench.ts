/**
 * The costs of relations: for the index of each relation, the CPU time per object to build and to update it, and its memory; the memory
 * of the stores of all kinds without and with all of these indexes; how long building an index of a large store blocks other work; and
 * the cost of following a relation from one object.
 *
 *     npm run bench -- relations [--pods 10000] [--rounds 3] [--record]
 */
import { parseArgs } from 'node:util'
import { createObjectCodec, type ObjectCodec } from '../src/informer/codec/object-codec.ts'
import { IndexedStore } from '../src/informer/store/indexed-store.ts'
import type { StoreEntry } from '../src/informer/store/store-contents.ts'
import type { Indexers } from '../src/informer/store/store-view.ts'
import { buildSchemaModel } from '../src/graphql/model/schema-model.ts'
import { resolveRelations } from '../src/graphql/served/schema-relations.ts'
import { readPackageSdl } from '../src/graphql/sdl/sdl-source.ts'
import { type ApiResource, apiVersionOf } from '../src/kubernetes/api-resource.ts'
import { objectKey } from '../src/kubernetes/object.ts'
import { resources as builtIn } from '../src/kubernetes/resources.ts'
import { indexersOf } from '../src/query/index/index-definition.ts'
import { atOnce } from '../src/lib/event-loop.ts'
import { relationName } from '../src/query/relation/relation.ts'
import { indexersByType } from '../src/query/relation/relations.ts'
import { population } from '../src/simulator/population/population.ts'
import { liveMemory } from './support/memory.ts'
import { stepCosts } from './support/step-costs.ts'
import { publish, type ResultTable } from './support/results.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    record: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)

const resources: readonly ApiResource[] = Object.values(builtIn).map((resource) => ({
  ...resource,
  verbs: ['get', 'list', 'watch'],
}))
const model = buildSchemaModel({ resources, openapi: {}, sdl: await readPackageSdl() })
const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
const { compiled } = atOnce(resolveRelations(kinds, model.relations, model.ofAnyKind))

const objects = Map.groupBy(
  population({ pods: Number(options.pods), seed: 'relations' }),
  (item) => {
    const { group, version, resource } = item.resource
    return `${apiVersionOf({ group, version })}/${resource}`
  },
)

/** One kind's objects, held as an informer holds them. */
interface HeldKind {
  readonly resource: ApiResource
  readonly codec: ObjectCodec
  readonly entries: readonly StoreEntry[]
  /** The indexes of filters, which exist from the start. */
  readonly eager: Indexers
  /** The indexes of relations, which are built on first use. */
  readonly lazy: Indexers
}

function filled({ resource, codec, entries }: HeldKind, indexers: Indexers): IndexedStore {
  const store = new IndexedStore({ resource, codec, indexers })
  for (const entry of entries) store.put(entry)
  return store
}

const held: readonly HeldKind[] = model.kinds.flatMap(({ resource, indexes, typeName }) => {
  const items = objects.get(`${apiVersionOf(resource)}/${resource.resource}`) ?? []
  if (items.length === 0) return []
  const codec = createObjectCodec({ resource })
  const entries = items.map((item) => {
    const { held: row, object } = codec.encode(Buffer.from(JSON.stringify(item.object)))
    return { key: objectKey(object.metadata), held: row, object }
  })
  const eager = indexersOf(indexes.filter(({ lazy }) => lazy !== true))
  return [{ resource, codec, entries, eager, lazy: indexersByType(compiled).get(typeName) ?? {} }]
})

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0
}

/** Microseconds per object. */
function microsEach(count: number, work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / count
}

const costs: Record<string, ResultTable['rows'][string]> = {}
for (const one of held.filter(({ entries }) => entries.length >= 500)) {
  const { resource, entries } = one
  const count = entries.length
  const stores = Array.from({ length: rounds }, () => filled(one, {}))
  for (const [name, valuesOf] of Object.entries(one.lazy)) {
    const figures = stores.map((bare) => {
      const before = bare.heldBytes
      const make = microsEach(count, () => bare.addIndexers({ [name]: valuesOf }))
      const bytes = (bare.heldBytes - before) / count
      const keep = microsEach(count, () => {
        for (const { object } of entries) valuesOf(object)
      })
      return { make, keep, bytes, values: bare.index(name).objectCount / count }
    })
    costs[`${resource.kind} ${name}`] = {
      objects: count,
      makeUsPerObject: median(figures.map(({ make }) => make)),
      keepUsPerChange: median(figures.map(({ keep }) => keep)),
      bytesPerObject: median(figures.map(({ bytes }) => bytes)),
      shareWithValues: median(figures.map(({ values }) => values)),
    }
  }
}

/** Live memory of the stores of all kinds, per object, with these indexes. */
function memoryWith(indexersFrom: (one: HeldKind) => Indexers): Record<string, number> {
  const before = liveMemory()
  const stores = held.map((one) => filled(one, indexersFrom(one)))
  const total = stores.reduce((sum, { size }) => sum + size, 0)
  const indexes = held.reduce((sum, one) => sum + Object.keys(indexersFrom(one)).length, 0)
  const bytesPerObject = (liveMemory() - before) / total
  return { objects: total, indexes, bytesPerObject }
}

/** The longest turn of the event loop during some work, and the duration of the work. */
async function turnsDuring(work: Promise<unknown>): Promise<Record<string, number>> {
  const start = performance.now()
  const progress = { done: false }
  const end = (): void => void (progress.done = true)
  work.then(end, end)
  let [last, longestTurnMs, turns] = [start, 0, 0]
  while (!progress.done) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    const now = performance.now()
    longestTurnMs = Math.max(longestTurnMs, now - last)
    last = now
    turns += 1
  }
  await work
  return { ms: last - start, turns, longestTurnMs }
}

/** Builds an index of pods in a large store; some objects stand for several pods. */
async function backfills(objectCount: number): Promise<ResultTable['rows']> {
  const pods = held.find(({ resource }) => resource.kind === 'Pod')
  if (pods === undefined) return {}
  const copies = Math.ceil(objectCount / pods.entries.length)
  const entries = Array.from({ length: copies }, (_, copy) =>
    pods.entries.map((entry) => ({ ...entry, key: `${entry.key}-${copy}` })),
  ).flat()
  const store = filled({ ...pods, entries }, {})
  const rows: Record<string, ResultTable['rows'][string]> = {}
  const chosen = {
    'one of a filter': pods.eager['nodeName'],
    'one of a relation': pods.lazy['ref:Pod.configMaps'],
  }
  for (const [name, valuesOf] of Object.entries(chosen)) {
    if (valuesOf === undefined) continue
    const figures = await turnsDuring(store.backfillIndexers({ [name]: valuesOf }))
    rows[`${name}, in slices`] = { objects: store.size, ...figures }
    const start = performance.now()
    store.addIndexers({ [`${name} again`]: valuesOf })
    const ms = performance.now() - start
    rows[`${name}, at once`] = { objects: store.size, ms, turns: 1, longestTurnMs: ms }
  }
  return rows
}

const byType = new Map(
  held.map((one) => [one.resource.kind, filled(one, { ...one.eager, ...one.lazy })]),
)
const followed = new Set([
  'Pod.node',
  'Node.pods',
  'Service.pods',
  'Pod.services',
  'Pod.configMaps',
  'ConfigMap.pods',
  'ReplicaSet.pods',
])
const steps = stepCosts(
  compiled.filter(({ definition }) => followed.has(relationName(definition))),
  byType,
)

const made = await backfills(100_000)

const nobody: Indexers = {}
const memory: ResultTable['rows'] = {
  'no index but those of every store': memoryWith(() => nobody),
  'as a gateway starts: filters only': memoryWith(({ eager }) => eager),
  'every relation has been asked for': memoryWith(({ eager, lazy }) => ({ ...eager, ...lazy })),
}

publish(
  'relations',
  [
    { title: 'The index of each relation, on kinds with 500 objects at least', rows: costs },
    { title: 'An index that is first asked for in a big store', rows: made },
    { title: 'A relation that is followed from one object, beside a test of one', rows: steps },
    { title: 'The stores of all kinds, beside the objects themselves', rows: memory },
  ],
  [
    'make: CPU to make the index when it is first asked for, decoding included, which a gateway does in slices of 8 ms. keep: CPU to find its values in an object that has changed.',
    'bytesPerObject of one index as the store reckons it, over all objects of the kind, whether or not they have a value; of the stores, live memory after two full collections.',
    'testsPerStep: what following costs, its condition made ready included, in tests of one index on one object; the least of five rounds. testsPaid: what an operation pays for that.',
    `Medians of ${rounds} rounds.`,
  ],
  { record: options.record },
)
