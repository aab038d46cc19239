import type { ApiResource } from '../kubernetes/api-resource.ts'
import type { ResourceVersion } from '../kubernetes/resource-version.ts'
import type { Change } from './store/change.ts'
import type { ListStages } from './reflector/list-stages.ts'

/** What can go wrong in an informer without ending it. */
export type InformerFailure =
  /** A LIST or WATCH that failed, or an ERROR event; it is tried again. */
  | 'list'
  | 'watch'
  /** An event or item that is an object of another kind, or without a name; it is dropped. */
  | 'object'
  | 'transform'
  | 'index'
  | 'handler'
  /** The informer's own loop, by a fault of this library or of an observer; it begins again with a list. */
  | 'loop'

/**
 * What an informer reports to whoever runs it: log lines and metrics are made of this (client-go's reflector metrics).
 * Every method is optional and must not throw. Gauges are read from the informer: `queueLength`, `listeners`,
 * `failures`, `lastContactMs`, `store.resourceVersion`, `store.size`.
 */
export interface InformerObserver {
  /** `resource`: of which informer, where one observer is given to many. */
  failed?(failure: InformerFailure, error: Error, resource: ApiResource): void
  /** A list has begun, with as many requests as it takes. */
  listing?(): void
  /** A whole list has been received. */
  listed?(list: { readonly items: number; readonly durationMs: number }): void
  /** A list has been received and applied, and that took longer than `slowListMs`. The stages add up to the duration. */
  slowList?(list: {
    readonly items: number
    readonly durationMs: number
    readonly stages: ListStages
  }): void
  /**
   * The store has come to a position, by these changes; none for a bookmark, and for the first list. Called in the tick in which
   * the listeners are told. `isList`: by a list, of which nobody can tell what has come and gone since the last position.
   */
  advanced?(resourceVersion: ResourceVersion, changes: readonly Change[], isList: boolean): void
  /** A watch has begun. */
  watching?(resourceVersion: string): void
  /** A watch has ended. `isShort`: sooner than `shortWatchMs`, and without an event. */
  watched?(watch: {
    readonly events: number
    readonly durationMs: number
    readonly isShort: boolean
  }): void
}
