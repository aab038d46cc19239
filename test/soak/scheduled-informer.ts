import type { Indexers, ReflectorOptions, Selection, SharedInformer } from 'informerql/informer'
import { testInformer, type TestInformer } from '../support/informer.ts'
import type { ScheduledServer } from './scheduled-server.ts'
import { Witness } from './witness.ts'
import type { Matches } from './write-ledger.ts'

/** One kind of informer, with a selection in words and as a function. */
export interface ScheduledSetting {
  readonly name: string
  readonly selection: Selection
  readonly matches: Matches
  readonly reflector?: Pick<ReflectorOptions, 'initialList' | 'pageSize' | 'watchListSilenceMs'>
  readonly metadataOnly?: boolean
}

const byStream = { initialList: 'watchlist', watchListSilenceMs: 1000 } as const

/** All kinds of informers; `first` is the schedule's first namespace, and its label. */
export function settingsFor(first: string): readonly ScheduledSetting[] {
  const run = `run=${first}`
  const inFirst: Matches = ({ metadata }) => metadata.namespace === first
  const isOn: Matches = ({ metadata }) => metadata.labels?.['on'] === 'yes'
  const all = { selection: { labelSelector: run }, matches: () => true }
  const on = { selection: { labelSelector: `${run},on=yes` }, matches: isOn }
  return [
    { name: 'in one list', ...all },
    { name: 'in pages', ...all, reflector: { pageSize: 3 } },
    { name: 'by stream', ...all, reflector: byStream },
    { name: 'with a label selector', ...on },
    { name: 'with a label selector, by stream', ...on, reflector: byStream },
    {
      name: 'with a field selector',
      selection: { labelSelector: run, fieldSelector: 'metadata.name=n3' },
      matches: ({ metadata }) => metadata.name === 'n3',
    },
    { name: 'of one namespace', selection: { namespace: first }, matches: inFirst },
    { name: 'metadata only', ...all, metadataOnly: true },
    {
      name: 'metadata only, of one namespace, with a selector, by stream',
      selection: { namespace: first, labelSelector: 'on=yes' },
      matches: (object) => inFirst(object) && isOn(object),
      reflector: byStream,
      metadataOnly: true,
    },
  ]
}

/** So that whatever hangs is over before the test is. */
const limits = {
  connectDeadlineMs: 1000,
  responseDeadlineMs: 1000,
  listIdleDeadlineMs: 1000,
  watchGraceMs: 100,
}

/** An informer of a schedule, over a connection of its own, with a handler that misses nothing. */
export class ScheduledInformer implements AsyncDisposable {
  readonly name: string
  readonly setting: ScheduledSetting
  readonly witness: Witness
  readonly #one: TestInformer
  #lists = 0
  #sawEverything = false

  constructor(setting: ScheduledSetting, server: ScheduledServer, indexers: Indexers) {
    const { name, selection, matches, reflector = {}, metadataOnly = false } = setting
    this.name = name
    this.setting = setting
    this.#one = testInformer({
      server: server.config,
      limits,
      // A restarting server takes seconds: not thousands of attempts meanwhile.
      backoff: { initialMs: 1, factor: 2, maxMs: 50, resetAfterMs: 1000 },
      watchTimeoutSeconds: { min: 1, max: 1 },
      shortWatchMs: 5,
      indexers,
      ...selection,
      ...reflector,
      metadataOnly,
      observer: { listed: () => this.#lists++ },
    })
    this.witness = new Witness({ name, informer: this.#one.informer, metadataOnly, matches })
  }

  get informer(): SharedInformer {
    return this.#one.informer
  }

  /** For messages: the last of what went wrong. */
  get troubles(): readonly string[] {
    return this.#one.failures.slice(-12).map(({ failure, error }) => `${failure}: ${error.message}`)
  }

  /** Whether it has watched without a gap since there was nothing, so that its witness must have seen every write. */
  get sawEverything(): boolean {
    return this.#sawEverything && this.#lists === 1
  }

  start(): void {
    this.#one.run()
  }

  /** Starts while there is nothing, and waits until it watches. */
  async startEmpty(): Promise<void> {
    this.start()
    await this.informer.waitForSync({ deadlineMs: 10_000 })
    this.#sawEverything = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#one[Symbol.asyncDispose]()
  }
}
