/** The types of the events in a watch stream. */
export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** The annotation of the bookmark that ends the initial events of a streaming list (KEP-3157). */
export const initialEventsEndAnnotation = 'k8s.io/initial-events-end'
