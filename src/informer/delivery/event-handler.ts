import { CodedError } from '../../lib/coded-error.ts'
import { checkedWait, type WaitOptions, withDeadline } from '../../lib/deadline.ts'
import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { Change } from '../store/change.ts'
import { type Listener, type ListenerOptions, ListenerOverflowError } from './listener.ts'

/** What is known of a deletion. */
export interface Deletion {
  /** False where the deletion was not seen but concluded from a list: the object is then the last known state. */
  readonly finalStateKnown: boolean
}

/**
 * What a user wants to be told (client-go's `ResourceEventHandler`). Calls come one at a time, per object in the
 * server's order; a returned promise is awaited before the next one. Objects must not be modified.
 */
export interface ResourceEventHandler<T extends KubernetesObject = KubernetesObject> {
  readonly onAdd?: (object: T, isInInitialList: boolean) => void | Promise<void>
  readonly onUpdate?: (previous: T, object: T) => void | Promise<void>
  /** Is given the object itself also where its final state is unknown: there is no tombstone to look into. */
  readonly onDelete?: (object: T, deletion: Deletion) => void | Promise<void>
  /** Forget everything: what there is now follows as additions. Only with the overflow policy `reset`, which needs it. */
  readonly onReset?: () => void | Promise<void>
}

/** A handler that threw. It loses that one item, nothing else. */
export class HandlerError extends CodedError {
  readonly key: string

  constructor(key: string, cause: unknown) {
    super('HANDLER', `an event handler threw for ${key}: ${String(cause)}`, { value: key, cause })
    this.key = key
  }
}

/** A handler with the policy `reset` that cannot be told to forget: it would keep what has been deleted meanwhile. */
export class MissingOnResetError extends CodedError {
  constructor() {
    super('MISSING_ON_RESET', 'a handler with the overflow policy "reset" has no onReset', {
      value: 'reset',
      hint: 'give it onReset, or choose the overflow policy "coalesce" or "disconnect"',
    })
  }
}

/** A handler that had not returned from its call when the informer had stopped and its deadline had passed. */
export class HandlerStuckError extends CodedError {
  constructor(key: string | undefined, deadlineMs: number) {
    super('HANDLER_STUCK', `an event handler still runs ${deadlineMs} ms after the stop: ${key}`, {
      value: key,
      hint: 'let the handler return: queue the key and work elsewhere, or raise handlerStopDeadlineMs',
    })
  }
}

/** A handler that was removed, or whose informer was stopped, before it had been told of everything. */
export class HandlerRemovedError extends CodedError {
  constructor() {
    super('HANDLER_REMOVED', 'the handler was removed, or its informer stopped, before it synced')
  }
}

/** A handler that has been added to an informer. */
export interface HandlerRegistration extends AsyncDisposable {
  /**
   * Resolves when {@link hasSynced}. Rejects with `DeadlineError`, the signal's reason, or {@link HandlerRemovedError}.
   */
  waitForSync(options?: WaitOptions): Promise<void>
  /** Whether the informer has synced and the handler has been told of everything that was there. */
  hasSynced(): boolean
  /** Stops the calls. Idempotent. */
  remove(): void
}

const sliceMs = 8

/** Delivers what a listener is given to a handler, in slices that leave the event loop free in between. */
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
    // Nobody need wait for it.
    this.#firstSync.promise.catch(() => {})
  }

  /** The key of the object that the handler is being told of. */
  get current(): string | undefined {
    return this.#current
  }

  /** Begins the delivery; `ended` is called when it is over. */
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

  /** `undefined` for a reset. Only a handler that returns a promise costs one. */
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
