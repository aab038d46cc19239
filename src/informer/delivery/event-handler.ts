import { CodedError } from '../../lib/coded-error.ts'
import { checkedWait, type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { Change } from '../store/change.ts'
import { type Listener, type ListenerOptions, ListenerOverflowError } from './listener.ts'

/** How a deletion became known. */
export interface Deletion {
  /** False if the deletion was concluded from a list: then the object is the last known state. */
  readonly finalStateKnown: boolean
}

/**
 * The callbacks of a user (client-go's `ResourceEventHandler`). Calls come one at a time, for each object in the
 * server's order; a returned promise is awaited before the next call. Objects must not be modified.
 */
export interface ResourceEventHandler<T extends KubernetesObject = KubernetesObject> {
  readonly onAdd?: (object: T, isInInitialList: boolean) => void | Promise<void>
  readonly onUpdate?: (previous: T, object: T) => void | Promise<void>
  /** Receives the object itself even if its final state is unknown: there are no tombstones. */
  readonly onDelete?: (object: T, deletion: Deletion) => void | Promise<void>
  /**
   * Forget everything: additions of all current objects follow. Required for the overflow policy `reset`, and only used
   * with it.
   */
  readonly onReset?: () => void | Promise<void>
}

/** A handler threw. It misses that one change; delivery continues. */
export class HandlerError extends CodedError {
  readonly key: string

  constructor(key: string, cause: unknown) {
    super('HANDLER', `an event handler threw for ${key}: ${String(cause)}`, { value: key, cause })
    this.key = key
  }
}

/** A handler with the policy `reset` lacks `onReset`, and would keep deleted objects. */
export class MissingOnResetError extends CodedError {
  constructor() {
    super('MISSING_ON_RESET', 'a handler with the overflow policy "reset" has no onReset', {
      value: 'reset',
      hint: 'give it onReset, or choose the overflow policy "coalesce" or "disconnect"',
    })
  }
}

/** A handler call was still running when the deadline after the informer's stop had passed. */
export class HandlerStuckError extends CodedError {
  constructor(key: string | undefined, deadlineMs: number) {
    super('HANDLER_STUCK', `an event handler still runs ${deadlineMs} ms after the stop: ${key}`, {
      value: key,
      hint: 'let the handler return: queue the key and work elsewhere, or raise handlerStopDeadlineMs',
    })
  }
}

/** A handler was removed, or its informer stopped, before it received the whole snapshot. */
export class HandlerRemovedError extends CodedError {
  constructor() {
    super('HANDLER_REMOVED', 'the handler was removed, or its informer stopped, before it synced')
  }
}

/** The registration of a handler with an informer. */
export interface HandlerRegistration extends AsyncDisposable {
  /**
   * Resolves when {@link hasSynced} becomes true. Rejects with `DeadlineError`, the signal's reason, or {@link
   * HandlerRemovedError}.
   */
  waitForSync(options?: WaitOptions): Promise<void>
  /** Whether the informer has synced and the handler has received the whole snapshot. */
  hasSynced(): boolean
  /** Stops the calls. Idempotent. */
  remove(): void
}

const sliceMs = 8

/** Delivers the changes of a listener to a handler, in slices that leave the event loop free in between. */
export class HandlerRun implements HandlerRegistration {
  readonly #handler: ResourceEventHandler
  readonly #listener: Listener
  readonly #onFailure: (error: CodedError) => void
  readonly #firstSync = Promise.withResolvers<void>()
  #synced = false
  #current: string | undefined
  #done: Promise<void> = Promise.resolve()

  constructor(
    handler: ResourceEventHandler,
    listener: Listener,
    onFailure: (error: CodedError) => void,
  ) {
    this.#handler = handler
    this.#listener = listener
    this.#onFailure = onFailure
    // Without this, an unawaited promise would count as an unhandled rejection.
    this.#firstSync.promise.catch(() => {})
  }

  get current(): string | undefined {
    return this.#current
  }

  start(ended: () => void): void {
    this.#done = this.#run()
      .catch((cause: unknown) => {
        this.#onFailure(
          cause instanceof ListenerOverflowError ? cause : new HandlerError('', cause),
        )
      })
      .finally(() => {
        this.#firstSync.reject(new HandlerRemovedError())
        ended()
      })
  }

  hasSynced(): boolean {
    return this.#synced
  }

  async waitForSync(options: WaitOptions = {}): Promise<void> {
    const { deadlineMs, signal } = checkedWait(options)
    await withDeadline('the sync of a handler', this.#firstSync.promise, deadlineMs, signal)
  }

  remove(): void {
    this.#firstSync.reject(new HandlerRemovedError())
    this.#listener.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remove()
    await this.#done
  }

  async #run(): Promise<void> {
    let sliceStart = performance.now()
    for await (const { reset, changes, synced } of this.#listener) {
      if (reset) await this.#deliver(undefined)
      for (const change of changes) {
        if (this.#listener.closed) return
        const delivered = this.#deliver(change)
        if (delivered !== undefined) await delivered
        if (performance.now() - sliceStart > sliceMs) {
          await new Promise<void>((resolve) => setImmediate(resolve))
          sliceStart = performance.now()
        }
      }
      if (synced) {
        this.#synced = true
        this.#firstSync.resolve()
      }
    }
  }

  /** `change` is `undefined` for a reset. Only handlers that return a promise pay for one. */
  #deliver(change: Change | undefined): Promise<void> | undefined {
    try {
      const result = change === undefined ? this.#handler.onReset?.() : this.#call(change)
      return result === undefined ? undefined : this.#settle(change, result)
    } catch (cause) {
      this.#failed(change, cause)
      return undefined
    }
  }

  async #settle(change: Change | undefined, result: void | Promise<void>): Promise<void> {
    this.#current = change?.key ?? ''
    try {
      await result
    } catch (cause) {
      this.#failed(change, cause)
    } finally {
      this.#current = undefined
    }
  }

  #failed(change: Change | undefined, cause: unknown): void {
    this.#onFailure(new HandlerError(change?.key ?? '', cause))
  }

  #call(change: Change): void | Promise<void> {
    switch (change.type) {
      case 'ADDED':
        return this.#handler.onAdd?.(change.object, change.isInInitialList)
      case 'MODIFIED':
        return this.#handler.onUpdate?.(change.previous ?? change.object, change.object)
      case 'DELETED':
        return this.#handler.onDelete?.(change.object, { finalStateKnown: change.finalStateKnown })
    }
  }
}

/** The buffer, overflow policy and resync period of one handler. */
export type EventHandlerOptions = ListenerOptions
