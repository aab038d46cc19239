/**
 * What the answer text of ten fields of a pod costs: decoded, picked and written by `JSON.stringify`, beside the codec's
 * projection, of the same held pods. The first round of the projection prepares the answers of the templates.
 *
 *     node --expose-gc bench/projection.bench.ts [--pods 5000] [--siblings 50] [--rounds 9] [--simulated]
 */
import { parseArgs } from 'node:util'
import {
  type SelectedField,
  type SelectedValue,
  writeBoolean,
  writeInt,
  writeJson,
  writeString,
} from '../src/informer/codec/projection.ts'
import { createObjectCodec, type HeldObject } from '../src/informer/codec/object-codec.ts'
import { population } from '../src/simulator/population/population.ts'
import { pods as podResource } from './support/pod-resource.ts'
import { podTexts } from './support/pods.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '5000' },
    siblings: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '9' },
    simulated: { type: 'boolean', default: false },
  },
})
const pods = Number(options.pods)
const rounds = Number(options.rounds)

const field = (key: string, path: readonly string[], value: SelectedValue): SelectedField => ({
  key,
  path,
  value,
})
const object = (...fields: readonly SelectedField[]): SelectedValue => ({
  form: 'object',
  selection: { fields },
  required: false,
})
const list = (of: SelectedValue): SelectedValue => ({ form: 'list', of, required: false })
const string: SelectedValue = { form: 'leaf', write: writeString }
const json: SelectedValue = { form: 'leaf', write: writeJson }
const int: SelectedValue = { form: 'leaf', write: writeInt }
const boolean: SelectedValue = { form: 'leaf', write: writeBoolean }

const metadata = object(
  field('name', ['name'], string),
  field('namespace', ['namespace'], string),
  field('creationTimestamp', ['creationTimestamp'], json),
  field('labels', ['labels'], json),
)
const containers = list(object(field('name', ['name'], string), field('image', ['image'], string)))
const containerStatuses = list(
  object(field('restartCount', ['restartCount'], int), field('ready', ['ready'], boolean)),
)
const selection = {
  fields: [
    field('metadata', ['metadata'], metadata),
    field(
      'spec',
      ['spec'],
      object(
        field('nodeName', ['nodeName'], string),
        field('containers', ['containers'], containers),
      ),
    ),
    field(
      'status',
      ['status'],
      object(
        field('phase', ['phase'], string),
        field('podIP', ['podIP'], string),
        field('containerStatuses', ['containerStatuses'], containerStatuses),
      ),
    ),
  ],
}

interface Pod {
  readonly metadata: Readonly<
    Record<'name' | 'namespace' | 'creationTimestamp' | 'labels', unknown>
  >
  readonly spec: {
    readonly nodeName?: string
    readonly containers: readonly { readonly name: string; readonly image: string }[]
  }
  readonly status: {
    readonly phase: string
    readonly podIP?: string
    readonly containerStatuses?: readonly {
      readonly restartCount: number
      readonly ready: boolean
    }[]
  }
}

/** The same by hand. */
function picked({
  metadata: { name, namespace, creationTimestamp, labels },
  spec,
  status,
}: Pod): unknown {
  return {
    metadata: { name, namespace, creationTimestamp, labels: labels ?? null },
    spec: {
      nodeName: spec.nodeName ?? null,
      containers: spec.containers.map((container) => ({
        name: container.name,
        image: container.image,
      })),
    },
    status: {
      phase: status.phase,
      podIP: status.podIP ?? null,
      containerStatuses:
        status.containerStatuses?.map(({ restartCount, ready }) => ({ restartCount, ready })) ??
        null,
    },
  }
}

function* simulatedPodTexts(): Generator<Buffer> {
  for (const { object: made } of population({ pods, seed: 'projection' })) {
    if (made.kind === 'Pod') yield Buffer.from(JSON.stringify(made))
  }
}

const codec = createObjectCodec({ resource: podResource })
const texts = options.simulated
  ? simulatedPodTexts()
  : podTexts({ count: pods, siblings: Number(options.siblings), seed: 1 })
const held: HeldObject[] = []
for (const text of texts) held.push(codec.encode(text).held)
const project = codec.projection(selection)
const decoded = (one: HeldObject): Pod => codec.decode(one) as unknown as Pod

const variants: Record<string, (one: HeldObject) => string> = {
  'decode only': (one) => decoded(one).metadata.name as string,
  'decode, pick, JSON.stringify': (one) => JSON.stringify(picked(decoded(one))),
  projection: (one) => project(one) ?? 'null',
}

/** A page is joined and turned into bytes, so that no text is left unmade. */
const podsPerPage = 500

function micros(variant: (one: HeldObject) => string): number {
  const started = performance.now()
  for (let from = 0; from < held.length; from += podsPerPage) {
    let page = ''
    for (const one of held.slice(from, from + podsPerPage)) page += variant(one)
    Buffer.from(page)
  }
  return ((performance.now() - started) * 1000) / held.length
}

let different = 0
for (const one of held) if (project(one) !== JSON.stringify(picked(decoded(one)))) different++
console.log(`${held.length} pods; texts that differ: ${different}`)
// A projection of its own has to prepare its answers.
const first = codec.projection({ fields: [...selection.fields] })
console.log('projection, first round'.padEnd(30), micros((one) => first(one) ?? 'null').toFixed(2))
const results = new Map(Object.keys(variants).map((name) => [name, [] as number[]]))
for (let round = 0; round < rounds; round++) {
  for (const [name, variant] of Object.entries(variants)) results.get(name)?.push(micros(variant))
}
for (const [name, figures] of results) {
  const sorted = figures.toSorted((a, b) => a - b)
  console.log(name.padEnd(30), (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2), 'us/pod')
}
