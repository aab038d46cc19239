import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexFunction, Unstructured, OverflowPolicy } from 'informerql/informer'
import { CheckedHandler } from '../informer/checked-handler.ts'
import { seededRandom } from '../support/random.ts'
import { pick } from './pick.ts'
import { ScheduledInformer, settingsFor } from './scheduled-informer.ts'
import type { ScheduledServer } from './scheduled-server.ts'
import { WriteLedger } from './write-ledger.ts'

const steps = 120

const byData: IndexFunction = (object) => {
  const { data, metadata } = object as Unstructured
  return [
    ...Object.values((data ?? {}) as Readonly<Record<string, string>>),
    metadata.namespace ?? '',
  ]
}

/** One run of everything at random: the same seed chooses the same steps, though not the same moments. */
export class RandomSchedule implements AsyncDisposable {
  readonly ledger: WriteLedger = new WriteLedger()
  readonly informers: readonly ScheduledInformer[]
  readonly #random: () => number
  readonly #server: ScheduledServer
  readonly #removed: CheckedHandler[] = []
  #handlers: (readonly [CheckedHandler, ScheduledInformer])[] = []
  #written = 0
  #indexes = 1

  constructor(seed: number, server: ScheduledServer) {
    this.#random = seededRandom(seed)
    this.#server = server
    const [first = ''] = server.namespaces
    this.informers = settingsFor(first).map(
      (setting) => new ScheduledInformer(setting, server, { data: byData }),
    )
  }

  get handlers(): readonly (readonly [CheckedHandler, ScheduledInformer])[] {
    return this.#handlers
  }

  /** The index functions that its informers have by now. */
  get indexers(): Readonly<Record<string, IndexFunction>> {
    const names = Array.from({ length: this.#indexes }, (_, at) =>
      at === 0 ? 'data' : `late${at}`,
    )
    return Object.fromEntries(names.map((name) => [name, byData]))
  }

  /** Everything that a handler should not have been told. */
  get wrong(): string[] {
    return [...this.#handlers.map(([handler]) => handler), ...this.#removed].flatMap(
      ({ faults }) => faults,
    )
  }

  /** Half of the informers see everything from the beginning, the others start somewhere on the way. */
  async run(): Promise<void> {
    const late = new Set(this.informers.filter(() => this.#random() < 0.5))
    await Promise.all(
      this.informers.filter((one) => !late.has(one)).map(async (one) => one.startEmpty()),
    )
    for (let step = 0; step < steps; step++) {
      await this.#step()
      for (const one of late) if (this.#random() < 0.04) one.start()
      if (this.#random() < 0.5) await sleep(Math.floor(this.#random() * 12))
    }
    for (const one of late) one.start()
    await this.#server.calm()
    await this.#write()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.informers.map(async (one) => one[Symbol.asyncDispose]()))
  }

  async #step(): Promise<void> {
    const choice = this.#random()
    if (choice < 0.68) {
      const writes = this.#random() < 0.1 ? 20 : 1
      for (let write = 0; write < writes; write++) await this.#write()
    } else if (choice < 0.82) await this.#server.disturb(this.#random)
    else if (choice < 0.94) this.#addHandler()
    else if (choice < 0.98) this.#removeHandler()
    else this.#addIndex()
  }

  async #write(): Promise<void> {
    const namespace = this.#pick(this.#server.namespaces)
    const name = `n${Math.floor(this.#random() * 12)}`
    const key = `${namespace}/${name}`
    const object: Unstructured = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace,
        name,
        labels: { run: this.#server.namespaces[0] ?? '', on: this.#pick(['yes', 'no']), of: name },
      },
      data: { a: this.#pick(['x', 'y', 'z']), b: this.#pick(['x', 'y', String(this.#written++)]) },
    }
    const exists = this.ledger.get(key) !== undefined
    const deletes = exists && this.#random() >= 0.6
    if (deletes) {
      await this.#server.delete(namespace, name)
      this.ledger.add(key, undefined)
      if (this.#random() < 0.6) return
    }
    this.ledger.add(key, await this.#server.put(object, exists && !deletes))
  }

  #addHandler(): void {
    const informer = this.#pick(this.informers)
    const overflow = this.#pick<OverflowPolicy>(['coalesce', 'coalesce', 'reset', 'disconnect'])
    const slow = overflow === 'disconnect' ? 0 : this.#random() * 0.3
    const pauses = seededRandom(this.#random() * 1e9)
    const handler = new CheckedHandler(informer.name, informer.informer, {
      overflow,
      bufferLimit: overflow === 'disconnect' ? 10_000 : this.#pick([0, 1, 5, 100]),
      pause: () => (pauses() < slow ? sleep(Math.floor(pauses() * 6)) : undefined),
    })
    this.#handlers.push([handler, informer])
  }

  #removeHandler(): void {
    const at = Math.floor(this.#random() * this.#handlers.length)
    const [handler, { informer } = {}] = this.#handlers[at] ?? []
    if (handler === undefined || informer === undefined) return
    informer.removeEventHandler(handler.registration)
    this.#removed.push(handler)
    this.#handlers = this.#handlers.filter((_, position) => position !== at)
  }

  #addIndex(): void {
    const name = `late${this.#indexes++}`
    for (const { informer } of this.informers) informer.addIndexers({ [name]: byData })
  }

  #pick<T>(from: readonly T[]): T {
    return pick(this.#random, from)
  }
}
