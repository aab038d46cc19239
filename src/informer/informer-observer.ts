/** What can go wrong in an informer without ending it. */
export type InformerFailure =
  /** A LIST or WATCH that failed, or an ERROR event; it is tried again. */
  | 'list'
  | 'watch'
  /** An event or item that is not an object of the kind; it is dropped. */
  | 'object'
  | 'transform'
  | 'index'
  | 'handler'

/**
 * What an informer reports to whoever runs it: log lines and metrics are made of this. Every method is optional and
 * must not throw.
 */
export interface InformerObserver {
  failed?(failure: InformerFailure, error: Error): void
  /** A whole list has been received. */
  listed?(list: { readonly items: number; readonly durationMs: number }): void
  /** A watch has begun. */
  watching?(resourceVersion: string): void
  /** A watch has ended. */
  watched?(watch: { readonly events: number; readonly durationMs: number }): void
}
