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
  /** Whether the connection is lost: the gateway ends the drain when it notices, and begins it again when the page is back. */
  readonly isCut: boolean
}

const nothing: DrainState = {
  progress: undefined,
  errors: undefined,
  isOver: false,
  isCut: false,
}

/**
 * A drain, or the dry run of one, from its construction until it ends or `stop`. After a lost connection the socket
 * subscribes again, and the drain goes on.
 */
export class DrainRun {
  readonly #listeners = new Set<() => void>()
  readonly #leave: () => void
  #state = nothing
  /** What was known when the connection was lost: the drain that goes on does not know of pods that are gone. */
  #before: DrainProgress | undefined

  constructor({ socket }: Gateway, options: DrainOptions) {
    const request = { query: DrainNodeDocument.toString(), variables: { ...options } }
    const leave = socket.subscribe(request, {
      next: ({ data, errors }) => {
        const progress = (data as DrainNodeSubscription | null | undefined)?.drain
        if (progress) this.#change({ progress: withGone(progress, this.#before), isCut: false })
        else this.#end((errors ?? []) as readonly AnswerError[])
      },
      error: (error) => this.#end(refusal(error)),
      complete: () => this.#end(),
    })
    const forget = socket.on('closed', () => {
      this.#before = this.#state.progress
      this.#change({ isCut: true })
    })
    this.#leave = () => {
      forget()
      leave()
    }
  }

  readonly getSnapshot = (): DrainState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends it. Pods that were evicted stay evicted, and the node stays cordoned. */
  readonly stop = (): void => this.#end()

  #end(errors?: readonly AnswerError[]): void {
    this.#leave()
    this.#change({ errors: errors ?? this.#state.errors, isOver: true, isCut: false })
  }

  #change(changed: Partial<DrainState>): void {
    this.#state = { ...this.#state, ...changed }
    for (const listener of this.#listeners) listener()
  }
}

/** The progress of a drain that goes on after another one, with the pods that have gone since that began. */
function withGone(progress: DrainProgress, before: DrainProgress | undefined): DrainProgress {
  const nameOf = ({ namespace, name }: DrainProgress['pods'][number]): string =>
    `${namespace}/${name}`
  const left = new Set(progress.pods.map(nameOf))
  const gone = (before?.pods ?? [])
    .filter((pod) => pod.state !== 'SKIPPED' && !left.has(nameOf(pod)))
    .map((pod) => ({ ...pod, state: 'GONE' as const, reason: null }))
  return {
    ...progress,
    total: progress.total + gone.length,
    gone: progress.gone + gone.length,
    pods: [...progress.pods, ...gone],
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
