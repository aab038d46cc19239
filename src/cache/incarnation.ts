/*
 * Detects that another cluster answers at the same address, or that the cluster was restored from a backup. In both cases
 * resource versions start again, and earlier versions mean nothing. A replaced cluster shows another UID of its
 * `kube-system` namespace; a restored one, resource versions that go back.
 */

import { createHash, randomUUID } from 'node:crypto'
import type { NamespaceStep } from '../informer/informer-observer.ts'
import { type ApiResource, isBuiltInGroup } from '../kubernetes/api-resource.ts'
import { isBefore, type ResourceVersion } from '../kubernetes/resource-version.ts'
import { Backoff, sleep } from '../lib/backoff.ts'

/** Observes one informer. */
export interface IncarnationObserver {
  watching(): void
  advanced(
    position: ResourceVersion,
    changes: readonly unknown[],
    isList: boolean,
    at?: NamespaceStep,
  ): void
}

export interface IncarnationOptions {
  /** Reads the cluster's identity; `undefined` if the cluster has none. Retried when it rejects. */
  readonly ask: (signal: AbortSignal) => Promise<string | undefined>
  /** Called when the cluster was replaced or restored, so that all earlier resource versions are meaningless. */
  readonly renewed: () => void
}

const pauses = { initialMs: 250, maxMs: 30_000 }

export class Incarnation {
  readonly #options: IncarnationOptions
  readonly #stop = new AbortController()
  #uid: string | undefined
  /** A random id of the history since a restore; `''` for the first known history. */
  #turn = ''
  #text = ''
  #isDue = false
  #checking: Promise<void> | undefined

  constructor(options: IncarnationOptions) {
    this.#options = options
  }

  get uid(): string | undefined {
    return this.#uid
  }

  /**
   * A short text that differs between incarnations; `''` if nothing is known. The same in every process, unless this
   * process has seen a restore.
   */
  get text(): string {
    return this.#text
  }

  #write(): void {
    const all = JSON.stringify([this.#uid ?? '', this.#turn])
    this.#text = createHash('sha256').update(all).digest('base64url').slice(0, 11)
  }

  /** Records the cluster's identity. The first known identity is not a change. */
  learn(uid: string | undefined): void {
    if (uid === undefined || uid === this.#uid) return
    const isOther = this.#uid !== undefined
    this.#uid = uid
    if (isOther) this.#turn = ''
    this.#write()
    if (isOther) this.#options.renewed()
  }

  /**
   * Reads the identity again, since another cluster may answer on a new connection. Calls during a check share the next
   * check.
   */
  verify(): void {
    this.#isDue = true
    if (this.#stop.signal.aborted) return
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
  }

  /** An observer for one informer. It checks the identity when a watch begins, and detects versions that go back. */
  observer({ group }: ApiResource): IncarnationObserver {
    /** The last version by namespace; `''`: of the watch of all namespaces. */
    const last = new Map<string, ResourceVersion>()
    return {
      watching: () => this.verify(),
      advanced: (position, _, __, at) => {
        const { namespace = '', resourceVersion: reached = position } = at ?? {}
        const before = last.get(namespace)
        last.set(namespace, reached)
        // Aggregated API servers may number their versions in other ways.
        if (before === undefined || !isBuiltInGroup(group) || !isBefore(reached, before)) return
        this.#turn = randomUUID()
        this.#write()
        this.#options.renewed()
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#checking
  }

  async #check(): Promise<void> {
    const { signal } = this.#stop
    const backoff = new Backoff(pauses)
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      try {
        // oxlint-disable-next-line no-await-in-loop -- retries, and repeats when asked meanwhile
        const uid = await this.#options.ask(signal)
        if (!signal.aborted) this.learn(uid)
      } catch {
        this.#isDue = true
        // oxlint-disable-next-line no-await-in-loop -- as above
        await sleep(backoff.nextMs(), signal)
      }
    }
  }
}
