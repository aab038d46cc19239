/** `@informerql/client/urql`: lists in urql's Graphcache, followed by subscriptions. */
import './lib/node-version.ts'
export { followUrqlList, liveCache, type UrqlListOptions } from './client/urql.ts'
export { type CachedRow, FollowedList, type FollowOptions } from './client/followed-list.ts'
