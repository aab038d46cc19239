import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Unstructured, OverflowPolicy, SharedInformer } from 'informerql/informer'
import {
  type FaultOrder,
  type RequestFault,
  type ServerFault,
  type Simulator,
  startSimulator,
} from 'informerql/simulator'
import {
  configMaps,
  connect,
  held,
  type InformerSetting,
  runInformer,
  type TestInformer,
  until,
} from '../support/informer.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { CheckedHandler } from './checked-handler.ts'

const rounds = 4
const steps = 150

const selector = 'on=yes'
const settings: Readonly<Record<string, Partial<InformerSetting>>> = {
  'in one list': {},
  'in pages': { pageSize: 3 },
  'by stream': { initialList: 'watchlist', watchListSilenceMs: 200 },
  'with a selector': { labelSelector: selector },
  'of one namespace': { namespace: 'one' },
}

/** So that whatever hangs is over before the test is. */
const limits = { responseDeadlineMs: 300, listIdleDeadlineMs: 300, watchGraceMs: 100 }

const byData = ({ data, metadata }: Unstructured): readonly string[] => [
  ...Object.values(data as Readonly<Record<string, string>>),
  metadata.namespace ?? '',
]

/** One run of everything at random, from one seed. */
class Schedule {
  readonly #random: () => number
  readonly #simulator: Simulator
  readonly #informers: readonly (readonly [string, TestInformer])[]
  readonly #removed: CheckedHandler[] = []
  #handlers: (readonly [CheckedHandler, SharedInformer<Unstructured>])[] = []
  #written = 0
  #indexes = 0

  constructor(seed: number, simulator: Simulator) {
    this.#random = seededRandom(seed)
    this.#simulator = simulator
    this.#informers = Object.entries(settings).map(([name, setting]) => [
      name,
      runInformer({
        server: simulator.url,
        limits,
        watchTimeoutSeconds: { min: 1, max: 1 },
        shortWatchMs: 5,
        indexers: { data: byData },
        ...setting,
      }),
    ])
  }

  get informers(): readonly SharedInformer<Unstructured>[] {
    return this.#informers.map(([, { informer }]) => informer)
  }

  get handlers(): readonly (readonly [CheckedHandler, SharedInformer<Unstructured>])[] {
    return this.#handlers
  }

  /** Everything that a handler should not have been told. */
  get wrong(): string[] {
    return [...this.#handlers.map(([handler]) => handler), ...this.#removed].flatMap(
      ({ faults }) => faults,
    )
  }

  async run(): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#step()
      if (this.#random() < 0.5) await sleep(Math.floor(this.#random() * 12))
    }
    this.#simulator.faults.clear()
    // From here on connections are taken again.
    this.#simulator.faults.inject({ fault: { type: 'refuse-connections', forMs: 0 } })
    this.#write()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map(async ([, one]) => one[Symbol.asyncDispose]()))
  }

  #step(): void {
    const choice = this.#random()
    if (choice < 0.68) {
      const writes = this.#random() < 0.1 ? 30 : 1
      for (let write = 0; write < writes; write++) this.#write()
    } else if (choice < 0.82) this.#simulator.faults.inject(this.#fault())
    else if (choice < 0.94) this.#addHandler()
    else if (choice < 0.98) this.#removeHandler()
    else this.#addIndex()
  }

  #pick<T>(from: readonly T[]): T {
    const found = from[Math.floor(this.#random() * from.length)]
    if (found === undefined) throw new RangeError('nothing to pick from')
    return found
  }

  #write(): void {
    const { storage } = this.#simulator
    const namespace = this.#pick(['one', 'two'])
    const name = `n${Math.floor(this.#random() * 12)}`
    const object: Unstructured = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace, name, labels: { on: this.#pick(['yes', 'no']), of: name } },
      data: { a: this.#pick(['x', 'y', 'z']), b: this.#pick(['x', 'y', String(this.#written++)]) },
    }
    if (storage.get(configMaps, namespace, name) === undefined) storage.create(configMaps, object)
    else if (this.#random() < 0.6) storage.update(configMaps, object)
    else {
      storage.delete(configMaps, namespace, name)
      if (this.#random() < 0.4) storage.create(configMaps, object)
    }
  }

  #fault(): FaultOrder {
    if (this.#random() < 0.3) return { fault: this.#serverFault() }
    return {
      fault: this.#requestFault(),
      match: { resource: 'configmaps', verb: this.#pick(['list', 'watch', 'watch']) },
      times: 1 + Math.floor(this.#random() * 3),
    }
  }

  #serverFault(): ServerFault {
    return this.#pick<ServerFault>([
      { type: 'drop-connections' },
      { type: 'refuse-connections', forMs: 20 },
      { type: 'freeze-connections' },
      { type: 'end-watches', code: this.#pick([410, 429, 500]) },
      { type: 'compact-history' },
    ])
  }

  #requestFault(): RequestFault {
    const frame = Math.floor(this.#random() * 4)
    const bytes = Math.floor(this.#random() * 3000)
    return this.#pick<RequestFault>([
      { type: 'status', code: this.#pick([403, 429, 500, 503]) },
      { type: 'expired' },
      {
        type: 'too-large-resource-version',
        encoding: this.#pick(['cause-reason', 'cause-message', 'message']),
      },
      { type: 'disconnect' },
      { type: 'half-open', afterBytes: bytes },
      { type: 'truncate', afterBytes: bytes },
      { type: 'split', everyBytes: 1 + (bytes % 900) },
      { type: 'duplicate-event', frame },
      { type: 'wrong-kind-event', frame },
      { type: 'malformed-event', frame },
      { type: 'error-event', frame, code: this.#pick([410, 429, 500]) },
      { type: 'no-initial-events-end' },
    ])
  }

  #addHandler(): void {
    const [name, { informer }] = this.#pick(this.#informers)
    const overflow = this.#pick<OverflowPolicy>(['coalesce', 'coalesce', 'reset', 'disconnect'])
    const slow = overflow === 'disconnect' ? 0 : this.#random() * 0.3
    const pauses = seededRandom(this.#random() * 1e9)
    const handler = new CheckedHandler(name, informer, {
      overflow,
      bufferLimit: overflow === 'disconnect' ? 10_000 : this.#pick([0, 1, 5, 100]),
      pause: () => (pauses() < slow ? sleep(Math.floor(pauses() * 6)) : undefined),
    })
    this.#handlers.push([handler, informer])
  }

  #removeHandler(): void {
    const at = Math.floor(this.#random() * this.#handlers.length)
    const [handler, informer] = this.#handlers[at] ?? []
    if (handler === undefined || informer === undefined) return
    informer.removeEventHandler(handler.registration)
    this.#removed.push(handler)
    this.#handlers = this.#handlers.filter((_, position) => position !== at)
  }

  #addIndex(): void {
    this.#indexes += 1
    for (const informer of this.informers)
      informer.addIndexers({ [`late${this.#indexes}`]: byData })
  }
}

/** What the server lists, `one/n1@1007`, by the name of the setting. */
async function listed(url: string): Promise<string[][]> {
  await using connection = connect(url)
  return await Promise.all(
    Object.values(settings).map(async ({ namespace, labelSelector = '' }) => {
      const path = namespace === undefined ? '' : `/namespaces/${namespace}`
      const answer = (await connection.request(
        'GET',
        `/api/v1${path}/configmaps?labelSelector=${encodeURIComponent(labelSelector)}`,
      )) as { readonly items: readonly Unstructured[] }
      return answer.items
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`)
        .toSorted()
    }),
  )
}

/** Each index, as value -> keys; both as it is and as its function would make it anew. */
function indicesOf({ store }: SharedInformer<Unstructured>): { found: object; expected: object } {
  const found: Record<string, Record<string, string[]>> = {}
  const expected: Record<string, Record<string, string[]>> = {}
  const add = (index: string, value: string, key: string): void => {
    const values = ((expected[index] ??= {})[value] ??= [])
    if (!values.includes(key)) values.push(key)
  }
  for (const id of store.ids()) {
    const object = store.object(id)
    const { namespace = '', name, uid = '', labels = {} } = object.metadata
    const key = store.keyOf(id)
    add('namespace', namespace, key)
    add('name', name, key)
    add('uid', uid, key)
    for (const index of store.indexNames()) {
      if (/^(data|late)/.test(index)) for (const value of byData(object)) add(index, value, key)
    }
    for (const [label, value] of Object.entries(labels)) add(`label ${label}`, value, key)
  }
  const views = store.indexNames().map((name) => [name, store.index(name)] as const)
  const labels = ['on', 'of'].map((label) => [`label ${label}`, store.label(label)] as const)
  for (const [name, view] of [...views, ...labels]) {
    for (const value of view?.values() ?? []) {
      const keys = Array.from(view?.posting(value) ?? [], (id) => store.keyOf(id))
      ;(found[name] ??= {})[value] = keys.toSorted()
    }
  }
  for (const values of Object.values(expected)) {
    for (const keys of Object.values(values)) keys.sort()
  }
  return { found, expected }
}

describe(`Whatever goes wrong, seed ${runSeed} (SEED=${runSeed} repeats it)`, () => {
  it.each(Array.from({ length: rounds }, (_, round) => [round]))(
    '[8] [15] [16] [20] [25] [28] [29] in the end all stores, indices and handlers are what the server lists, round %i',
    async (round) => {
      await using simulator = await startSimulator({ bookmarkIntervalMs: 20, historyEvents: 60 })
      const schedule = new Schedule(runSeed * 100 + round, simulator)
      try {
        await schedule.run()
        const lists = await listed(simulator.url)
        const stores = (): string[][] => schedule.informers.map((one) => held(one).toSorted())
        const different = (): string =>
          `stores that equal the server's lists: ${JSON.stringify({ lists, stores: stores() })}, ${JSON.stringify(schedule.informers.map(({ state, lastError }) => [state, lastError?.message]))}`
        await until(() => JSON.stringify(stores()) === JSON.stringify(lists), different)
        for (const [handler, informer] of schedule.handlers) {
          const expected = held(informer).toSorted()
          await until(
            () => JSON.stringify(handler.view()) === JSON.stringify(expected),
            () => `${handler.name}: ${JSON.stringify({ view: handler.view(), expected })}`,
          )
        }
        for (const informer of schedule.informers) {
          const { found, expected } = indicesOf(informer)
          expect(found).toEqual(expected)
        }
        expect(schedule.wrong).toEqual([])
        expect(schedule.handlers.every(([{ registration }]) => registration.hasSynced())).toBe(true)
        for (const { failures } of schedule.informers)
          expect(failures.get('handler')).toBeUndefined()
      } finally {
        await schedule.stop()
      }
    },
  )
})
