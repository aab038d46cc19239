import { useEffect, useState, useSyncExternalStore } from 'react'
import { DrainNodeDocument, type DrainNodeSubscription } from '../gateway/documents.ts'
import { type AnswerError, errorsOf, type Gateway, useGateway } from '../gateway/gateway.ts'

/** How a drain goes on. */
export type DrainProgress = NonNullable<DrainNodeSubscription['drain']>

/** What a drain is asked for. */
export interface DrainOptions {
  readonly id: string
  /** Whether pods without a controller go, too. */
  readonly force: boolean
  /** Whether pods with data in an `emptyDir` go, too. */
  readonly deleteEmptyDirData: boolean
  readonly dryRun: boolean
}

interface DrainState {
  /** `undefined` before the first frame. */
  readonly progress: DrainProgress | undefined
  readonly errors: readonly AnswerError[] | undefined
  readonly isOver: boolean
}

const nothing: DrainState = { progress: undefined, errors: undefined, isOver: false }

/**
 * A drain, or the dry run of one, from its construction until it ends or `stop`. After a lost connection the socket
 * subscribes again, and the drain goes on.
 */
export class DrainRun {
  readonly #listeners = new Set<() => void>()
  readonly #leave: () => void
  #state = nothing

  constructor({ socket }: Gateway, options: DrainOptions) {
    const request = { query: DrainNodeDocument.toString(), variables: { ...options } }
    this.#leave = socket.subscribe(request, {
      next: ({ data, errors }) => {
        const progress = (data as DrainNodeSubscription | null | undefined)?.drain
        if (progress) this.#change({ progress })
        else this.#change({ errors: (errors ?? []) as readonly AnswerError[], isOver: true })
      },
      error: (error) => this.#change({ errors: refusal(error), isOver: true }),
      complete: () => this.#change({ isOver: true }),
    })
  }

  readonly getSnapshot = (): DrainState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends it. Pods that were evicted stay evicted, and the node stays cordoned. */
  readonly stop = (): void => {
    this.#leave()
    this.#change({ isOver: true })
  }

  #change(changed: Partial<DrainState>): void {
    this.#state = { ...this.#state, ...changed }
    for (const listener of this.#listeners) listener()
  }
}

/** The errors of a subscription that ended: those of the operation, an `Error`, or the reason of a closed socket. */
function refusal(error: unknown): readonly AnswerError[] {
  if (Array.isArray(error)) return error as readonly AnswerError[]
  if (error instanceof Error) return errorsOf(error)
  const { reason = '' } = (error ?? {}) as { readonly reason?: string }
  return [{ message: reason }]
}

const runs = new WeakMap<Gateway, Map<string, DrainRun>>()

/** The drains that this page has begun, by the `id` of their node: they go on while the page is open. */
export function drainsOf(gateway: Gateway): Map<string, DrainRun> {
  const known = runs.get(gateway) ?? new Map<string, DrainRun>()
  runs.set(gateway, known)
  return known
}

/** The present state of a drain. */
export function useDrainRun(run: DrainRun): DrainState {
  return useSyncExternalStore(run.subscribe, run.getSnapshot)
}

/** What a drain would do, asked again for other options. */
export function useDryDrain({
  id,
  force,
  deleteEmptyDirData,
}: Omit<DrainOptions, 'dryRun'>): DrainState {
  const gateway = useGateway()
  const [state, setState] = useState(nothing)
  useEffect(() => {
    setState(nothing)
    const run = new DrainRun(gateway, { id, force, deleteEmptyDirData, dryRun: true })
    const leave = run.subscribe(() => setState(run.getSnapshot()))
    return () => {
      leave()
      run.stop()
    }
  }, [gateway, id, force, deleteEmptyDirData])
  return state
}
