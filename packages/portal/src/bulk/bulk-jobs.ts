import { useEffect, useSyncExternalStore } from 'react'
import type { Action } from '../actions/action-list.ts'
import { type Gateway, useGateway } from '../gateway/gateway.ts'
import type { BulkObject } from './bulk-objects.ts'
import type { BulkProgress, BulkRun } from './bulk-run.ts'

/** Writes to many objects that this page has begun. */
export interface BulkJob {
  readonly action: Action
  /** The plural of the kind: `Deployments`. */
  readonly kindTitle: string
  readonly objects: ReadonlyMap<string, BulkObject>
  readonly run: BulkRun
}

/** The job of a page, one at a time: it goes on while the page is open, whatever the user looks at. */
export class BulkJobs {
  readonly #listeners = new Set<() => void>()
  #job: BulkJob | undefined

  /** Works without `this`. */
  readonly getSnapshot = (): BulkJob | undefined => this.#job

  /** Works without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Keeps a job, or forgets the one that is over. */
  keep(job: BulkJob | undefined): void {
    this.#job = job
    for (const listener of this.#listeners) listener()
  }
}

const known = new WeakMap<Gateway, BulkJobs>()

export function bulkJobsOf(gateway: Gateway): BulkJobs {
  const jobs = known.get(gateway) ?? new BulkJobs()
  known.set(gateway, jobs)
  return jobs
}

/** The job of the page, if there is one. */
export function useBulkJob(): BulkJob | undefined {
  const jobs = bulkJobsOf(useGateway())
  return useSyncExternalStore(jobs.subscribe, jobs.getSnapshot)
}

/** How a run goes on. The browser asks before the user leaves the page meanwhile, if the run writes. */
export function useBulkRun(run: BulkRun, isWriting: boolean): BulkProgress {
  const progress = useSyncExternalStore(run.subscribe, run.getSnapshot)
  const isHeld = isWriting && !progress.isOver
  useEffect(() => {
    if (!isHeld) return undefined
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isHeld])
  return progress
}
