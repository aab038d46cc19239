import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Does work that outlives the request that happens to start it, such as an informer: without the request's async
 * context, which would follow all that the work ever does, and be kept in memory for as long.
 */
export const outsideRequests: <T>(work: () => T) => T = AsyncLocalStorage.snapshot()
