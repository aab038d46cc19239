/** `@informerql/client`, and `informerql/client`: for browsers and backends that subscribe to a gateway. No dependencies. */
import './lib/node-version.ts'
export { type CachedList, foldConnection } from './client/cached-lists.ts'
export {
  type ConnectionPages,
  connectionPages,
  type ConnectionPolicy,
} from './client/connection-pages.ts'
export {
  type ClusterGap,
  type Frame,
  type FrameChange,
  FrameFold,
  goneObjects,
  PageFold,
  type PageFrame,
  type PageStep,
  type Removal,
} from './client/frame-fold.ts'
export {
  type AdmissionDenial,
  type ErrorCause,
  type ErrorDetails,
  type FieldConflict,
  type GatewayError,
  type GatewayErrorCode,
  type GatewayErrorExtensions,
  gatewayErrors,
  type RefusedKind,
  type WritePrecondition,
} from './client/gateway-errors.ts'
export {
  type Compare,
  type LiveCollection,
  liveCollection,
  type LiveCollectionOptions,
  type LiveView,
  type RowChange,
  type ViewOptions,
} from './client/live-collection.ts'
export type {
  LiveError,
  LiveRequest,
  LiveResult,
  LiveSink,
  LiveTransport,
} from './client/live-transport.ts'
export type {
  LiveDocument,
  LiveQuery,
  LiveSnapshot,
  LiveStatus,
  RowOf,
  TypedDocument,
} from './client/live-stream.ts'
export {
  type LivePage,
  livePage,
  type LivePageOptions,
  type LivePageSnapshot,
  liveStore,
  type LiveValue,
  liveValue,
  type LiveValueOptions,
  type LiveValueSnapshot,
  type SnapshotStore,
  type ValueOf,
} from './client/live-value.ts'
export { withNewerKinds } from './client/newer-kinds.ts'
export {
  WebSocketClient,
  type WebSocketClientOptions,
  type WebSocketConstructor,
  type WebSocketLike,
} from './client/web-socket-client.ts'
