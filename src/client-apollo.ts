/** `@informerql/client/apollo`: lists in the cache of Apollo Client 4, followed by subscriptions. */
import './lib/node-version.ts'
export { type ApolloListOptions, followApolloList } from './client/apollo.ts'
export { type CachedRow, FollowedList, type FollowOptions } from './client/followed-list.ts'
