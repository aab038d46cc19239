/*
 * What gateways that share clusters tell each other of them. The holder of a cluster publishes its API and its state
 * whenever they differ from what it published last (`tell`); the others read what is new when the database says that there
 * is something (`#read`). So all gateways make the same schema, whichever clusters they hold. A database that is away is
 * asked again; what was read stays.
 */

import type { Archive } from '../archive/archive.ts'
import type { PublishedCalls, PublishedCluster, PublishedRow } from '../archive/archive-calls.ts'
import type { ServedCluster } from '../graphql/served/served-schema.ts'
import { sleep } from '../lib/backoff.ts'
import { CodedError } from '../lib/coded-error.ts'
import { type ApiDescription, apiHash, keepApi, keptApi } from './api-description.ts'
import { codeOf, type GatewayLog } from './observers.ts'

/** What the holder of a cluster says of it. */
export interface PublishedState extends Pick<ServedCluster, 'state' | 'since' | 'problem'> {
  /** The last one that is known. */
  readonly api: ApiDescription | undefined
}

/** A cluster that this gateway holds. */
type PublishingMember = Pick<ServedCluster, 'name' | 'state' | 'since' | 'problem'> & {
  readonly api: ApiDescription | undefined
  /** Whether an attempt to connect has ended, so that there is something to say. */
  readonly isTried: boolean
}

interface PublishedApisOptions {
  readonly archive: PublishedCalls & Pick<Archive, 'onPublished'>
  /** The clusters that this gateway holds. */
  readonly held: () => readonly PublishingMember[]
  /** Called with the clusters of which something else was published, and those of them that have another API. */
  readonly changed: (clusters: ReadonlySet<string>, apis: ReadonlySet<string>) => void
  readonly log: GatewayLog
}

/** How long changes of the held clusters are gathered. */
const gatherMs = 100
const retryMs = 2_000

export class PublishedApis {
  readonly #options: PublishedApisOptions
  readonly #found = new Map<string, PublishedState & { readonly row: PublishedRow }>()
  /** What was published last of each cluster that is held. */
  readonly #said = new Map<string, string>()
  /** Resolves after the next read. */
  #nextRead = Promise.withResolvers<void>()
  readonly #reading = { wake: (): void => undefined }
  readonly #publishing = { wake: (): void => undefined }
  #isRead = false
  #written = -1
  #isAllDue = true

  constructor(options: PublishedApisOptions) {
    this.#options = options
  }

  /** What the holder of a cluster said of it last. */
  of(cluster: string): PublishedState | undefined {
    return this.#found.get(cluster)
  }

  /** Publishes soon what has changed of the held clusters. */
  tell(): void {
    this.#publishing.wake()
  }

  /** Resolves when it is known what was published of each of these clusters. */
  async known(clusters: readonly string[]): Promise<void> {
    while (!this.#isRead || clusters.some((one) => !this.#found.has(one)))
      await this.#nextRead.promise
  }

  /** Reads and publishes until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = this.#options.archive.onPublished((isSure) => {
      if (!isSure) {
        // It may be another database.
        this.#isAllDue = true
        this.#said.clear()
        this.tell()
      }
      this.#reading.wake()
    })
    await Promise.all([
      this.#repeat(this.#reading, 'reading', () => this.#read(signal), signal),
      this.#repeat(this.#publishing, 'publishing', () => this.#publish(signal), signal),
    ])
    forget()
  }

  /** Does a work now, and again whenever it is woken, or some time after it has failed or left something. */
  async #repeat(
    on: { wake: () => void },
    what: string,
    work: () => Promise<'done' | 'again'>,
    signal: AbortSignal,
  ): Promise<void> {
    let isFailing = false
    signal.addEventListener('abort', () => on.wake(), { once: true })
    while (!signal.aborted) {
      const { promise: woken, resolve } = Promise.withResolvers<void>()
      on.wake = resolve
      let left: 'done' | 'again' = 'again'
      try {
        left = await work()
        isFailing = false
      } catch (error) {
        if (signal.aborted) return
        const text = `${what} the APIs of shared clusters failed: ${(error as Error).message}`
        if (!isFailing) this.#options.log.warn(text, codeOf(error))
        isFailing = true
      }
      await (left === 'again' ? Promise.race([woken, sleep(retryMs, signal)]) : woken)
      await sleep(gatherMs, signal)
    }
  }

  async #read(signal: AbortSignal): Promise<'done'> {
    const { archive, changed, log } = this.#options
    if (this.#isAllDue) this.#written = -1
    this.#isAllDue = false
    const rows = await archive.publishedAfter(this.#written)
    const clusters = new Set<string>()
    const apis = new Set<string>()
    for (const row of rows) {
      const before = this.#found.get(row.cluster)
      const isSame = before?.row.api === row.api && before?.row.state === row.state
      if (isSame && (row.api === undefined || before.api !== undefined)) continue
      const { cluster, api: hash } = row
      const api = hash === undefined ? undefined : await keptApi(hash, archive, signal)
      if (hash !== undefined && api === undefined) {
        const text =
          'the API that its holder has published cannot be read: it is of another version of the program'
        log.warn(text, { cluster })
      }
      this.#found.set(cluster, { ...stateOf(row), api, row })
      clusters.add(cluster)
      if (api !== before?.api) apis.add(cluster)
    }
    this.#written = rows.at(-1)?.written ?? this.#written
    this.#isRead = true
    this.#nextRead.resolve()
    this.#nextRead = Promise.withResolvers()
    if (clusters.size > 0) changed(clusters, apis)
    return 'done'
  }

  async #publish(signal: AbortSignal): Promise<'done' | 'again'> {
    const { archive, held } = this.#options
    const members = held()
    const names = new Set(members.map(({ name }) => name))
    for (const name of this.#said.keys()) if (!names.has(name)) this.#said.delete(name)
    const due = members
      .filter(({ isTried }) => isTried)
      .map((member) => ({ member, row: rowOf(member) }))
      .filter(({ row }) => this.#said.get(row.cluster) !== JSON.stringify(row))
    if (due.length === 0) return 'done'
    const apis = new Map(
      due.flatMap(({ row, member: { api } }) => (api === undefined ? [] : [[row.api, api]])),
    )
    for (const api of apis.values()) await keepApi(api, archive, signal)
    const refused = new Set(await archive.publish(due.map(({ row }) => row)))
    for (const { row } of due) {
      if (!refused.has(row.cluster)) this.#said.set(row.cluster, JSON.stringify(row))
    }
    return refused.size > 0 ? 'again' : 'done'
  }
}

interface StateText {
  readonly state: ServedCluster['state']
  readonly since: string
  readonly problem?: {
    readonly code: string
    readonly message: string
    readonly hint: string | undefined
  }
}

function rowOf({ name, state, since, problem, api }: PublishingMember): PublishedCluster {
  const code = problem instanceof CodedError ? problem.code : 'UNKNOWN'
  const hint = problem instanceof CodedError ? problem.hint : undefined
  const text: StateText = {
    state,
    since: since.toISOString(),
    ...(problem === undefined ? {} : { problem: { code, message: problem.message, hint } }),
  }
  return {
    cluster: name,
    api: api === undefined ? undefined : apiHash(api),
    state: JSON.stringify(text),
  }
}

function stateOf(row: PublishedRow): Omit<PublishedState, 'api'> {
  const { state, since, problem } = JSON.parse(row.state) as StateText
  return {
    state,
    since: new Date(since),
    problem: problem && new CodedError(problem.code, problem.message, { hint: problem.hint }),
  }
}
