/** `@informerql/client/relay`: connections in Relay's store, followed by subscriptions. */
import './lib/node-version.ts'
export { followRelayList, liveEnvironment, type RelayListOptions } from './client/relay.ts'
export { type CachedRow, FollowedList, type FollowOptions } from './client/followed-list.ts'
